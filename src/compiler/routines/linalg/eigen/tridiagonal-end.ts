/**
 * The last columns of tridiagonal.ts in one kernel: once the rest of a matrix fits the shared memory of a workgroup, it is reduced
 * there (small-tridiagonal.ts), instead of by a kernel to each column, which would take longer to start than to compute.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import { bytesOf, Field, type Num, type NumberKind } from "../field.js";
import { arrayBytes, arrayWorkspace, eachByLane, overLanes } from "../workspace.js";
import { AT_ONCE, smallTridiagonal } from "./small-tridiagonal.js";
import type { TridiagonalSize } from "./tridiagonal-size.js";

const LANES = 128;
/** Rows at most, and at least. */
const [MOST, LEAST] = [96, 16];
/** Lines of the rest beside the matrix itself in shared memory. */
const LINES = 10;

/** Rows of the rest that one kernel reduces; 0 where there is none. */
export function endRows(n: number, kind: NumberKind, profile: TargetProfile): number {
  if (profile.maxLanes === 1) return 0;
  let rows = MOST;
  while (rows > 0 && rows * (rows + LINES) * bytesOf(kind) > arrayBytes(profile)) rows -= AT_ONCE;
  return rows >= LEAST && rows < n ? rows : 0;
}

/**
 * Buffers: the matrix, the product of the vector before and that vector; the diagonal, what is beside it, the vectors, their
 * factors.
 */
export function endKernel(
  { n, batch, padded }: TridiagonalSize,
  rows: number,
  kind: NumberKind,
  { maxLanes }: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const k = new KernelBuilder(`tridiagonal end[${n}]`, batch, Math.min(maxLanes, LANES));
  const field = new Field(k, kind, settings);
  const [matrix, y, before] = [0, 1, 2].map(() => field.buffer(false));
  const results = [k.buffer(kind.type, true), k.buffer(kind.type, true)];
  const [vectors, factors] = [field.buffer(true), field.buffer(true)];
  const i = (value: number) => k.constant("i32", value);
  const add = (a: Value, b: Value | number) => k.binary("add", a, typeof b === "number" ? i(b) : b);
  const mul = (a: Value, by: number) => k.binary("mul", a, i(by));
  const start = n - rows;
  const own = mul(k.row, n);
  const line = add(mul(k.row, padded), start);
  const tau = field.read(factors, add(own, start - 1));
  const a = arrayWorkspace(field, rows * rows);
  const { v, w } = reflectionBefore(k, field, rows, tau, (buffer, at) =>
    field.load(buffer === "y" ? y : before, add(line, at)),
  );
  eachByLane(k, rows * rows, (item) => {
    const [column, row] = [k.binary("idiv", item, i(rows)), k.binary("irem", item, i(rows))];
    // Row `column`, turned around, is the column.
    const given = field.conj(field.load(matrix, add(mul(add(line, column), padded), add(row, start))));
    const less = field.mulSub(v.get(row), field.conj(w.get(column)), given);
    a.set(item, field.mulSub(w.get(row), field.conj(v.get(column)), less));
  });
  k.barrier();
  const [diagonal, beside] = [k.array(kind.type, rows), k.array(kind.type, rows)];
  const keep = (column: Value, factor: Num, vector: (row: Value) => Num) => {
    const to = add(own, add(column, start));
    field.store(factors, to, factor, k.compare("eq", k.lane, i(0)));
    eachByLane(k, n, (at) => {
      const row = k.binary("sub", at, i(start));
      const element = vector(k.binary("max", row, i(0)));
      field.store(vectors, add(mul(to, n), at), field.select(k.compare("ge", row, i(0)), element, field.zero));
    });
  };
  const lost = k.constant(kind.type, 0);
  smallTridiagonal({ k, field, n: rows, padded: rows, a, z: null, diagonal, beside, lost, keep });
  keep(i(rows - 1), field.zero, () => field.zero);
  eachByLane(k, rows, (at) => {
    [diagonal, beside].forEach((array, which) => {
      k.store(results[which], add(own, add(at, start)), k.get(array, at), false);
    });
  });
  return k.finish();
}

/** v and w = x - ½ τ (xᴴ v) v, x = τ A v, of the reflection before: the rest is to be A - v wᴴ - w vᴴ. */
function reflectionBefore(
  k: KernelBuilder,
  field: Field,
  rows: number,
  tau: Num,
  load: (buffer: "y" | "before", at: Value) => Num,
) {
  const [v, w] = [arrayWorkspace(field, rows), arrayWorkspace(field, rows)];
  const [sum] = overLanes(k, field, rows, [field.zero], (at, [total]) => {
    const [x, own] = [field.mul(tau, load("y", at)), load("before", at)];
    v.set(at, own);
    w.set(at, x);
    return [field.mulAdd(field.conj(x), own, total)];
  });
  const back = field.scale(field.mul(tau, field.sumLanes(sum)), k.constant(field.type, -0.5));
  eachByLane(k, rows, (at) => {
    w.set(at, field.mulAdd(back, v.get(at), w.get(at)));
  });
  k.barrier();
  return { v, w };
}
