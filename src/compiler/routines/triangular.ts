/**
 * Cholesky factors and triangular solutions. Column j of a factor needs the columns before it, row i of a solution the
 * rows before it, so there is a kernel run per column or row; all matrices of a batch and all elements of the column go
 * in parallel. The same kernel serves every step: it reads the step's number from memory, where the kernel before wrote it.
 * (Kernels with the step built in would be n kernels to compile.)
 *
 * Each element is its right side minus a dot product with known elements; where elements are few, lanes share the product.
 */
import type { DType } from "../../core/dtype.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { type Element, elementOps } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { TargetProfile } from "../target/profile.js";
import type { Routine, RoutineBuffer, RoutinePlan, RoutineStep } from "../target/routine.js";

/** Rows with fewer threads than this share dot products among lanes. */
const MANY_ROWS = 4096;
const SHARED_LANES = 32;

export const choleskyRoutine: Routine = (node, profile, settings) => {
  const n = node.shape.at(-1) as number;
  const batch = productOf(node.shape.slice(0, -2));
  const matrix = ":, ".repeat(node.shape.length - 2);
  return inSteps(
    node,
    n,
    (k, step, [a], l) => {
      const { dtype } = node;
      const type = dtype as "f32" | "f64";
      const i = (value: number) => k.constant("i32", value);
      const at = (row: Value, column: Value) => k.binary("add", k.binary("mul", row, i(n)), column);
      const own = k.binary("irem", k.row, i(n));
      const pivot = k.binary("add", k.binary("sub", k.row, own), step);
      const ops = elementOps(k, settings);
      const element = (value: Value): Element => ({ dtype, value });
      const [product, square] = dots(k, dtype, n, step, 2, (column) => {
        const mine = k.load(l, at(k.row, column), type);
        const its = k.load(l, at(pivot, column), type);
        return [k.binary("mul", mine, its), k.binary("mul", its, its)];
      });
      const load = (row: Value) => element(k.load(a, at(row, step), type));
      const diagonal = ops.sqrt(ops.sub(load(pivot), element(square)));
      const below = ops.div(ops.sub(load(k.row), element(product)), diagonal);
      const lower = k.select(k.compare("eq", own, step), diagonal.value, below.value);
      const value = k.select(k.compare("lt", own, step), k.constant(lower.type, 0), lower);
      k.store(l, at(k.row, step), value, true);
    },
    batch * n,
    profile,
    ([a, step, l, next]) =>
      `${l}[${matrix}:, ${step}] = column ${step} of the lower L with L · Lᵀ = ${a}; ${next} = ${step} + 1`,
  );
};

export const solveLowerRoutine: Routine = (node, profile, settings) => {
  const [n, m] = node.shape.slice(-2) as [number, number];
  const batch = productOf(node.shape.slice(0, -2));
  const matrix = ":, ".repeat(node.shape.length - 2);
  return inSteps(
    node,
    n,
    (k, step, [l, b], x) => {
      const { dtype } = node;
      const type = dtype as "f32" | "f64";
      const i = (value: number) => k.constant("i32", value);
      const column = k.binary("irem", k.row, i(m));
      const first = k.binary("mul", k.binary("idiv", k.row, i(m)), i(n));
      const row = k.binary("add", first, step);
      const inMatrix = (at: Value) => k.binary("add", k.binary("mul", row, i(n)), at);
      const inColumn = (at: Value) => k.binary("add", k.binary("mul", at, i(m)), column);
      const ops = elementOps(k, settings);
      const element = (value: Value): Element => ({ dtype, value });
      const [product] = dots(k, dtype, n, step, 1, (at) => {
        const known = k.load(x, inColumn(k.binary("add", first, at)), type);
        return [k.binary("mul", k.load(l, inMatrix(at), type), known)];
      });
      const rest = ops.sub(element(k.load(b, inColumn(row), type)), element(product));
      const value = node.params.isUnit ? rest : ops.div(rest, element(k.load(l, inMatrix(step), type)));
      k.store(x, inColumn(row), value.value, true);
    },
    batch * m,
    profile,
    ([l, b, step, x, next]) => {
      const unit = node.params.isUnit ? `, with ones for the diagonal of ${l}` : "";
      return `${x}[${matrix}${step}, :] = row ${step} of the X with ${l} · X = ${b}${unit}; ${next} = ${step} + 1`;
    },
  );
};

/** Sums over the positions before the step; later ones are not computed yet and are masked. */
function dots(
  k: KernelBuilder,
  dtype: DType,
  n: number,
  step: Value,
  count: number,
  terms: (at: Value) => readonly Value[],
): Value[] {
  const zero = k.constant(dtype as "f32" | "f64", 0);
  const sums = k.loop(
    n,
    new Array<Value>(count).fill(zero),
    (at, totals) => {
      const isKnown = k.compare("lt", at, step);
      const found = terms(at);
      return totals.map((total, i) => k.binary("add", total, k.select(isKnown, found[i], zero)));
    },
    { isLaneLoop: true },
  );
  return sums.map((sum) => k.combineLanes("add", sum));
}

/** Runs a kernel `steps` times; each run writes the number of the next step. */
function inSteps(
  node: Node,
  steps: number,
  body: (k: KernelBuilder, step: Value, inputs: readonly number[], result: number) => void,
  rows: number,
  profile: TargetProfile,
  formula: RoutineStep["formula"],
): RoutinePlan {
  const isShared = profile.maxLanes > 1 && rows < MANY_ROWS && steps >= 2 * SHARED_LANES;
  const name = `${node.primitive.name}[${node.shape.join("×")}]`;
  const k = new KernelBuilder(name, productOf(node.shape) === 0 ? 0 : rows, isShared ? SHARED_LANES : 1);
  const inputs = node.inputs.map(({ dtype }) => k.buffer(dtype, false));
  const now = k.buffer("i32", false);
  const result = k.buffer(node.dtype, true);
  const next = k.buffer("i32", true);
  const zero = k.constant("i32", 0);
  const step = k.load(now, zero, "i32");
  body(k, step, inputs, result);
  k.store(next, zero, k.binary("add", step, k.constant("i32", 1)), true, k.compare("eq", k.row, zero));
  const kernel = k.finish();
  const counter = (which: number): RoutineBuffer => ({ kind: "temporary", index: which % 2 });
  const given = node.inputs.map((_, index): RoutineBuffer => ({ kind: "input", index }));
  return {
    temporaries: [
      { dtype: "i32", shape: [] },
      { dtype: "i32", shape: [] },
    ],
    steps: [
      { kernel: startKernel(), buffers: [counter(0)], formula: ([step]) => `${step} = 0` },
      ...Array.from({ length: Math.max(1, steps) }, (_, i) => ({
        kernel,
        buffers: [...given, counter(i), { kind: "result" } as const, counter(i + 1)],
        formula,
      })),
    ],
  };
}

function startKernel(): Kernel {
  const k = new KernelBuilder("first step", 1);
  k.store(k.buffer("i32", true), k.constant("i32", 0), k.constant("i32", 0), true);
  return k.finish();
}
