/** Lowers index expressions to values of a kernel. */
import { type Atom, add as addIndex, constantExpr, type IndexExpr } from "../../core/index-expr.js";
import { MAX_I32, type Value } from "./ir.js";
import type { KernelBuilder } from "./kernel-builder.js";

/** The values of loop variables and computed atoms. */
type Atoms = ReadonlyMap<Atom, Value>;

const isNarrow = ({ min, max }: IndexExpr): boolean => min >= -MAX_I32 && max <= MAX_I32;

/** The last 32 bits of a number. */
const wrapped = (value: number): number => Number(BigInt.asIntN(32, BigInt(value)));

/** An index expression as a value: an i32 where its range allows, else an i64. Parts of an i32 may wrap around. */
export function indexValue(k: KernelBuilder, atoms: Atoms, x: IndexExpr): Value {
  const type = isNarrow(x) ? "i32" : "i64";
  const constant = (value: number) => k.constant(type, type === "i32" ? wrapped(value) : BigInt(value));
  let total: Value | null = null;
  for (const { atom, factor } of x.terms) {
    const value = k.convert(type, atomValue(k, atoms, atom));
    const term = factor === 1 ? value : k.binary("mul", value, constant(factor));
    total = total ? k.binary("add", total, term) : term;
  }
  const rest = constant(x.constant);
  return total ? k.binary("add", total, rest) : rest;
}

function atomValue(k: KernelBuilder, atoms: Atoms, atom: Atom): Value {
  if (atom.kind === "variable" || atom.kind === "computed") {
    const value = atoms.get(atom);
    if (!value) throw new Error("lower: a loop variable is used outside its loop");
    return value;
  }
  // Division truncates in the loop language; shifting by a multiple first makes that a floor.
  const shift = atom.of.min < 0 ? Math.ceil(-atom.of.min / atom.by) : 0;
  const inner = indexValue(k, atoms, addIndex(atom.of, constantExpr(shift * atom.by)));
  const by = k.constant(inner.type, atom.by);
  if (atom.kind === "remainder") return k.binary("irem", inner, by);
  const quotient = k.binary("idiv", inner, by);
  return shift === 0 ? quotient : k.binary("sub", quotient, k.constant(inner.type, shift));
}

/** A position along an axis, clamped to 0 … last, as an i32 where that fits. */
export function clampedIndex(k: KernelBuilder, value: Value, last: number): Value {
  const { type } = value;
  const isSigned = type === "i32" || type === "i64";
  const above = isSigned ? k.binary("max", value, k.constant(type, 0)) : value;
  // A limit beyond the type's range needs no clamp.
  const isLimit = last <= (type === "i32" ? MAX_I32 : type === "u32" ? 2 ** 32 - 1 : Number.POSITIVE_INFINITY);
  const clamped = isLimit ? k.binary("min", above, k.constant(type, last)) : above;
  return k.convert(last <= MAX_I32 ? "i32" : "i64", clamped);
}
