/**
 * Reflections applied to the columns of a matrix one after another, where they are so short that a few lanes hold a column in registers:
 * the products in blocks that otherwise do this (graph/primitives/linalg/householder.ts) take longer to start than to compute. On
 * an H200 256 of them on 256 columns took 180 µs so.
 */
import type { Node } from "../../../../graph/node.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { Routine } from "../../../target/routine.js";
import type { TileProfile } from "../../../target/tile-profile.js";
import { bytesOf, Field, kindOf, type Num, shapeOf } from "../field.js";

/** Lanes that share a column; a column has so many registers of each of them at most. */
const [LANES, REGISTERS] = [32, 16];
/** Columns of a workgroup: while one waits for a sum, the others go on. */
const COLUMNS = 2;
/** Reflections whose vectors are loaded while others are applied, and registers for these. */
const [AHEAD, AHEAD_REGISTERS] = [4, 32];
/** Columns for which products of matrices are better: each workgroup reads all vectors. */
const MANY_COLUMNS = 1024;

/** Whether products of matrices rather than this routine apply a node's reflections. */
export function isExpandedReflections({ primitive, params, dtype, inputs }: Node, tiles: TileProfile): boolean {
  // Complex numbers that lie in memory by turns: this was decided before.
  if (primitive.name !== "reflectedColumns" || params.isComplex !== undefined) return false;
  const [rows, , x] = inputs;
  const [batch, count, n] = rows.shape;
  const columns = batch * x.shape[2];
  if (tiles.kind !== "shared" || count === 0 || columns === 0 || columns > MANY_COLUMNS) return true;
  const words = { f32: 1, f64: 2, c64: 2, c128: 4 }[dtype as "f32" | "f64" | "c64" | "c128"];
  return Math.ceil(n / LANES) * words > REGISTERS;
}

/** Inputs: vectors as rows [B, count, n], factors [B, count], X [B, n, k]. Result: H₁ H₂ … X. */
export const reflectedColumnsRoutine: Routine = (node, { maxLanes }, settings) => {
  const kind = kindOf(node);
  const [batch, count, n] = shapeOf(node.inputs[0], kind.isComplex);
  const columns = shapeOf(node.inputs[2], kind.isComplex)[2] as number;
  const rows = batch * Math.ceil(columns / COLUMNS);
  const k = new KernelBuilder(`reflectedColumns[${[batch, n, columns].join("×")}]`, rows, Math.min(maxLanes, LANES));
  const kernel = new ReflectedColumns(k, new Field(k, kind, settings), { count, n, columns }).write();
  return {
    temporaries: [],
    steps: [
      {
        kernel,
        buffers: [...[0, 1, 2].map((index) => ({ kind: "input", index }) as const), { kind: "result" }],
        formula: ([v, tau, from, to]) => `${to} = ${from} after the reflections with vectors ${v} and factors ${tau}`,
      },
    ],
  };
};

/** A place of a lane in a column or vector; null: it exists in every lane. */
interface Place {
  readonly place: Value;
  readonly isThere: Value | null;
}

/** A kernel in the making: a workgroup has some columns of a matrix. */
class ReflectedColumns {
  private readonly vectors: number;
  private readonly factors: number;
  private readonly x: number;
  private readonly result: number;
  private readonly member: Value;
  private readonly group: Value;
  private readonly places: readonly Place[];

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly size: { readonly count: number; readonly n: number; readonly columns: number },
  ) {
    [this.vectors, this.factors, this.x] = [0, 1, 2].map(() => field.buffer(false)) as [number, number, number];
    this.result = field.buffer(true);
    const groups = this.i(Math.ceil(size.columns / COLUMNS));
    [this.member, this.group] = [k.binary("idiv", k.row, groups), k.binary("irem", k.row, groups)];
    this.places = Array.from({ length: Math.ceil(size.n / k.lanes) }, (_, at) => {
      const place = k.binary("add", k.lane, this.i(at * k.lanes));
      return { place, isThere: (at + 1) * k.lanes <= size.n ? null : k.compare("lt", place, this.i(size.n)) };
    });
  }

  /** Each round of reflections is loaded while the one before is applied. */
  write(): Kernel {
    const { k, field, size, places } = this;
    const held = places.length;
    const words = (held * bytesOf(field)) / 4;
    const ahead = Math.max(1, Math.min(AHEAD, Math.floor(AHEAD_REGISTERS / words), size.count));
    const rounds = Math.ceil(size.count / ahead);
    const given = this.given();
    const last = field.loop(rounds, [...given, ...this.reflections(this.i(0), ahead)], (round, carried) => {
      const next = k.binary("min", k.binary("add", round, this.i(1)), this.i(rounds - 1));
      const loaded = this.reflections(next, ahead);
      let elements = carried.slice(0, given.length);
      for (let at = 0; at < ahead; at++) {
        const first = given.length + at * (held + 1);
        const [tau, ...v] = carried.slice(first, first + held + 1);
        elements = reflected(field, elements, tau, v);
      }
      return [...elements, ...loaded];
    });
    this.store(last.slice(0, given.length));
    return k.finish();
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }

  private column(which: number): Value {
    return this.k.binary("add", this.k.binary("mul", this.group, this.i(COLUMNS)), this.i(which));
  }

  /** An element of the matrix; of the last column where there are no more. */
  private index(place: Value, which: number): Value {
    const { k, size } = this;
    const row = k.binary("add", k.binary("mul", this.member, this.i(size.n)), place);
    const column = k.binary("min", this.column(which), this.i(size.columns - 1));
    return k.binary("add", k.binary("mul", row, this.i(size.columns)), column);
  }

  private load(buffer: number, at: Value, isThere: Value | null): Num {
    const { k, field } = this;
    if (!isThere) return field.load(buffer, at);
    return field.select(isThere, field.load(buffer, k.select(isThere, at, this.i(0))), field.zero);
  }

  /** The elements of a lane, column by column. */
  private given(): Num[] {
    return Array.from({ length: COLUMNS }, (_, which) =>
      this.places.map(({ place, isThere }) => this.load(this.x, this.index(place, which), isThere)),
    ).flat();
  }

  /** τ and the vector of each reflection of a round. The last reflection is applied first. */
  private reflections(round: Value, ahead: number): Num[] {
    const { k, size } = this;
    return Array.from({ length: ahead }, (_, at) => {
      const number = k.binary("sub", this.i(size.count - 1 - at), k.binary("mul", round, this.i(ahead)));
      // Before the first there are none: one with factor zero changes nothing.
      const isThere = size.count % ahead === 0 ? null : k.compare("ge", number, this.i(0));
      const safe = isThere ? k.binary("max", number, this.i(0)) : number;
      const line = k.binary("add", k.binary("mul", this.member, this.i(size.count)), safe);
      const first = k.binary("mul", line, this.i(size.n));
      const vector = this.places.map((each) =>
        this.load(this.vectors, k.binary("add", first, each.place), each.isThere),
      );
      return [this.load(this.factors, line, isThere), ...vector];
    }).flat();
  }

  private store(elements: readonly Num[]): void {
    const { k, field, size, places } = this;
    elements.forEach((value, at) => {
      const [which, { place, isThere }] = [Math.floor(at / places.length), places[at % places.length]];
      const isColumn = size.columns % COLUMNS === 0 ? null : k.compare("lt", this.column(which), this.i(size.columns));
      const gate = isThere && isColumn ? k.binary("and", isThere, isColumn) : (isThere ?? isColumn);
      field.store(this.result, this.index(place, which), value, gate, false);
    });
  }
}

/** x - τ v (vᴴ x) of some columns, of which `elements` are this lane's. */
function reflected(field: Field, elements: readonly Num[], tau: Num, v: readonly Num[]): Num[] {
  const columns = Array.from({ length: elements.length / v.length }, (_, which) =>
    elements.slice(which * v.length, (which + 1) * v.length),
  );
  const sums = columns.map((column) =>
    field.sumLanes(column.reduce((sum, each, at) => field.mulAdd(field.conj(v[at]), each, sum), field.zero)),
  );
  return columns.flatMap((column, which) => {
    const back = field.neg(field.mul(tau, sums[which]));
    return column.map((each, at) => field.mulAdd(back, v[at], each));
  });
}
