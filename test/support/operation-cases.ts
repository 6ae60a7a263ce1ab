/**
 * Every operation of tensors as a function to try: on generic inputs, small enough to be differentiated numerically and
 * to be looped over. The sweeps of gradients and of vmap walk this list. The first word of a case's name is the method
 * or function it is about; a test checks that none is missing.
 */
import type { Node } from "../../src/graph/node.js";
import {
  arange,
  attention,
  blockDiagonal,
  broadcastTensors,
  complex,
  concat,
  einsum,
  fft,
  linalg,
  meshgrid,
  random,
  signal,
  stack,
  type Tensor,
  Tensor as TensorClass,
  where,
} from "../../src/index.js";
import { backendOf, makeNode } from "../../src/tensor/build.js";
import { countingLike } from "../../src/tensor/index.js";
import { type ElementwiseEntry, entries } from "./element-oracle.js";
import { randomFrom } from "./random.js";
import { count, type Plain } from "./tensors.js";

/** Values for an input; another seed gives others of the same kind. */
export interface Input extends Plain {
  readonly dtype: "float" | "i32" | "bool";
}
export type InputRule = (seed: number) => Input;

export interface OperationCase {
  readonly name: string;
  readonly inputs: readonly InputRule[];
  readonly f: (...inputs: Tensor[]) => Tensor | readonly Tensor[];
  /** Results hold no floats: there is nothing to differentiate. */
  readonly isDiscrete?: boolean;
  /** Runs on GPUs too; the others are for the CPU. */
  readonly isEverywhere?: boolean;
  /** It has a loop whose rounds depend on the data: it reads a few words back, and jit runs it in steps, not as one recording. */
  readonly isLooping?: boolean;
}

const uniform = (random: { below(n: number): number }): number => random.below(2 ** 30) / 2 ** 30;

function shuffled(n: number, random: { below(n: number): number }): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/**
 * Floats between two ends, no two of them near each other or, between symmetric ends, near zero: no extreme changes and
 * no sign flips within a step of a difference quotient.
 */
export const floats =
  (shape: readonly number[], low = -2, high = 2, shaped: (x: number) => number = (x) => x): InputRule =>
  (seed) => {
    const random = randomFrom(seed);
    const cells = Math.max(2, count(shape) + (count(shape) % 2));
    const order = shuffled(cells, random).slice(0, count(shape));
    const values = order.map((cell) => shaped(low + ((high - low) * (cell + 0.25 + 0.5 * uniform(random))) / cells));
    return { shape, values, dtype: "float" };
  };

/** Whole numbers from low to high - 1. */
export const integers =
  (shape: readonly number[], low: number, high: number): InputRule =>
  (seed) => {
    const random = randomFrom(seed);
    const values = Array.from({ length: count(shape) }, () => low + random.below(high - low));
    return { shape, values, dtype: "i32" };
  };

export const booleans =
  (shape: readonly number[]): InputRule =>
  (seed) => ({ ...integers(shape, 0, 2)(seed), dtype: "bool" });

/** The same values whatever the seed. */
export const fixed =
  (shape: readonly number[], values: readonly number[], dtype: Input["dtype"] = "float"): InputRule =>
  () => ({ shape, values, dtype });

/** Symmetric matrices with eigenvalues well above zero. */
const positiveDefinite =
  (batch: readonly number[], n: number): InputRule =>
  (seed) => {
    const random = randomFrom(seed);
    const matrices = Array.from({ length: count(batch) }, () => {
      const a = Array.from({ length: n * n }, () => 2 * uniform(random) - 1);
      return Array.from({ length: n * n }, (_, at) => {
        const [i, j] = [Math.floor(at / n), at % n];
        let sum = i === j ? n : 0;
        for (let k = 0; k < n; k++) sum += a[i * n + k]! * a[j * n + k]!;
        return sum;
      });
    });
    return { shape: [...batch, n, n], values: matrices.flat(), dtype: "float" };
  };

/** Matrices with a diagonal well away from zero. */
const triangular =
  (batch: readonly number[], n: number): InputRule =>
  (seed) => {
    const plain = floats([...batch, n, n], -1, 1)(seed);
    const isDiagonal = (at: number) => Math.floor(at / n) % n === at % n;
    return { ...plain, values: plain.values.map((x, at) => (isDiagonal(at) ? x + Math.sign(x) * 2 : x)) };
  };

const list: OperationCase[] = [];

function add(
  name: string,
  inputs: readonly InputRule[],
  f: OperationCase["f"],
  traits: Partial<OperationCase> = {},
): void {
  list.push({ name, inputs, f, ...traits });
}

const everywhere = { isEverywhere: true } as const;
const looping = { isLooping: true } as const;
const discrete = { isDiscrete: true } as const;

// ------------------------------------------------------------------------------------------------ elementwise

/** Where functions are tried, unless over the middle of their domain: [low, high] for each operand. */
const ranges: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  pow: [
    [0.3, 4],
    [-3, 3],
  ],
  rem: [
    [-9, 9],
    [1.3, 4],
  ],
  div: [
    [-2, 2],
    [0.5, 3],
  ],
  reciprocal: [[0.4, 3]],
  rsqrt: [[0.3, 9]],
  sqrt: [[0.3, 9]],
  tan: [[-1.3, 1.3]],
  exp: [[-3, 3]],
  exp2: [[-3, 3]],
  expm1: [[-3, 3]],
  sinh: [[-3, 3]],
  cosh: [[-3, 3]],
  lgamma: [[0.3, 6]],
  digamma: [[0.3, 6]],
  trigamma: [[0.3, 6]],
  erf: [[-2, 2]],
  erfc: [[-2, 2]],
};

const isRounding = (name: string): boolean => ["floor", "ceil", "trunc", "round"].includes(name);

function rangeOf({ name, domain }: ElementwiseEntry, operand: number): readonly [number, number] {
  const [low, high] = domain ?? [-2, 2];
  const margin = (high - low) / 20;
  // Half a cell of `floats` apart, so that no two operands are near each other.
  const apart = operand === 1 ? (high - low) / 12 : 0;
  return ranges[name]?.[operand] ?? [low + margin + apart, high - margin];
}

/** A fraction that is at least 0.05 from a whole number and from a half. */
const unround = (x: number): number => Math.floor(x) + 0.55 + 0.4 * (x - Math.floor(x));

export const applied =
  (entry: ElementwiseEntry) =>
  (...operands: Tensor[]): Tensor => {
    const nodes = operands.map(({ node }) => node);
    return new TensorClass(makeNode(entry, nodes, {}, backendOf(nodes[0]!)));
  };

const converting = ["cast", "bitcast"];
for (const entry of entries) {
  const { name, arity, kinds } = entry;
  if (converting.includes(name)) continue;
  const isOfFloats = kinds.includes("float");
  const inputs = Array.from({ length: arity }, (_, operand): InputRule => {
    if (name === "where" && operand === 0) return booleans([6]);
    if (!isOfFloats) return integers([6], 0, 9);
    const [low, high] = rangeOf(entry, operand);
    return floats([6], low, high, isRounding(name) ? unround : undefined);
  });
  const operand = { shape: [], dtype: "f64" } as unknown as Node;
  const isFloatResult = isOfFloats && entry.infer(new Array(arity).fill(operand), {}).dtype === "f64";
  add(`${name} (primitive)`, inputs, applied(entry), {
    isDiscrete: !isFloatResult || (entry.slopes ?? entry.vjp) === undefined,
    isEverywhere: ["tanh", "pow", "maximum", "sigmoid", "atan2"].includes(name),
  });
}

const pair = [floats([2, 3]), floats([2, 3], -2 + 1 / 3, 2 + 1 / 3)];
for (const [name, f] of Object.entries({
  add: (x: Tensor, y: Tensor) => x.add(y),
  sub: (x: Tensor, y: Tensor) => x.sub(y),
  mul: (x: Tensor, y: Tensor) => x.mul(y),
  div: (x: Tensor, y: Tensor) => x.div(y.add(3)),
  maximum: (x: Tensor, y: Tensor) => x.maximum(y),
  where: (x: Tensor, y: Tensor) => where(x.less(y), x.mul(y), x.sub(y)),
})) {
  add(`${name} of a column and a row`, [floats([3, 1]), floats([1, 4])], f, everywhere);
  add(`${name} of a matrix and a scalar`, [floats([2, 3]), floats([])], f);
  add(`${name} of a vector and a matrix`, [floats([3]), floats([2, 3])], f);
}
add("neg by number", [floats([3])], (x) => x.neg().mul(2).sub(1));
add("relu", [floats([6])], (x) => x.relu());
add("clip", [floats([8])], (x) => x.clip(-1, 0.7));
add("clip with tensors", [floats([4]), floats([4], -3, -1), floats([4], 1, 3)], (x, low, high) => x.clip(low, high));
add("remainder", [floats([6], -9, 9), floats([6], 1.3, 4)], (x, y) => x.remainder(y));
add("mod", [floats([6], -9, 9), floats([6], -4, -1.3)], (x, y) => x.mod(y));
add("fmod", [floats([6], -9, 9), floats([6], 1.3, 4)], (x, y) => x.fmod(y));
add("floorDivide", [floats([6], -9, 9), floats([6], 1.3, 4)], (x, y) => x.floorDivide(y));
add("quotient", [integers([6], -9, 9), integers([6], 1, 4)], (x, y) => x.quotient(y), discrete);
add("logaddexp", pair, (x, y) => x.logaddexp(y));
add("hypot", pair, (x, y) => x.hypot(y));
add("atan2", pair, (x, y) => x.atan2(y));
add("pow with a number", [floats([4])], (x) => x.pow(3));
add("pow of a number", [floats([4])], (x) => x.mul(0).add(2).pow(x));
add("isFinite", [floats([4])], (x) => x.isFinite(), discrete);
add("isNaN", [floats([4])], (x) => x.isNaN(), discrete);
add("isInf", [floats([4])], (x) => x.isInf(), discrete);
add("isClose", pair, (x, y) => x.isClose(y), discrete);
add("allClose", pair, (x, y) => x.allClose(y), discrete);
for (const name of ["equal", "notEqual", "less", "lessEqual", "greater", "greaterEqual"] as const) {
  add(name, pair, (x, y) => x[name](y), discrete);
}
for (const name of ["logicalAnd", "logicalOr", "logicalXor"] as const) {
  add(name, [booleans([6]), booleans([6])], (x, y) => x[name](y), discrete);
}
for (const name of ["bitwiseAnd", "bitwiseOr", "bitwiseXor", "leftShift", "rightShift"] as const) {
  add(name, [integers([6], 0, 9), integers([6], 0, 5)], (x, y) => x[name](y), discrete);
}
add("logicalNot", [booleans([4])], (x) => x.logicalNot(), discrete);
add("bitwiseNot", [integers([4], 0, 9)], (x) => x.bitwiseNot(), discrete);
for (const name of [
  ...["abs", "sign", "square", "reciprocal", "sqrt", "rsqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"],
  ...["sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "atanh", "sigmoid", "softplus"],
  ...["cbrt", "erf", "erfc", "erfInv", "lgamma", "digamma", "trigamma"],
] as const) {
  type Unary = "abs";
  add(`${name} as a method`, [floats([3], 0.2, 0.9)], (x) => x[name as Unary]());
}
add("acosh as a method", [floats([3], 1.2, 3)], (x) => x.acosh());
for (const name of ["floor", "ceil", "trunc", "round"] as const) {
  add(name, [floats([4], -3, 3, unround)], (x) => x[name]());
}
for (const name of ["popcount", "countLeadingZeros"] as const) {
  add(name, [integers([4], 0, 99)], (x) => x[name](), discrete);
}
add("cast to f32 and back", [floats([4])], (x) => x.cast("f32").cast(x.dtype).mul(x), discrete);
add("cast to integers", [floats([4], -3, 3, unround)], (x) => x.cast("i32").cast(x.dtype).mul(x));
add("quantize", [floats([2, 3], -3, 3, unround)], (x) => x.quantize("i8", 1).cast(x.dtype));
add("quantizationScale", [floats([2, 3])], (x) => x.quantizationScale("i8", { axis: 0 }).scale.cast(x.dtype));
add("dequantize by a scale for each column", [floats([2, 3], -3, 3, unround), floats([3])], (x, scale) =>
  x.cast("i8").dequantize(scale, { axis: 1, dtype: scale.dtype }).mul(scale),
);
add("cast of a comparison", pair, (x, y) => x.greater(y).cast(x.dtype).mul(x));

// ------------------------------------------------------------------------------------------------ reductions

const cube = [floats([2, 3, 4])];
const positive = [floats([2, 3, 4], 0.3, 2)];
for (const [name, inputs, f] of [
  ["sum", cube, (x, o) => x.sum(o)],
  ["mean", cube, (x, o) => x.mean(o)],
  ["prod", positive, (x, o) => x.prod(o)],
  ["max", cube, (x, o) => x.max(o)],
  ["min", cube, (x, o) => x.min(o)],
  ["variance", cube, (x, o) => x.variance({ ...o, correction: 1 })],
  ["std", cube, (x, o) => x.std(o)],
  ["logsumexp", cube, (x, o) => x.logsumexp(o)],
  ["norm", cube, (x, o) => x.norm(o)],
  ["median", cube, (x, o) => x.median(o)],
] as const satisfies readonly (readonly [
  string,
  readonly InputRule[],
  (x: Tensor, options: { axis?: number | number[]; keepDims?: boolean }) => Tensor,
])[]) {
  add(`${name} of all`, inputs, (x) => f(x, {}), everywhere);
  add(`${name} along the last axis`, inputs, (x) => f(x, { axis: -1 }));
  add(`${name} along the first axis, kept`, inputs, (x) => f(x, { axis: 0, keepDims: true }));
  add(`${name} along two axes`, inputs, (x) => f(x, { axis: [2, 0] }));
  add(`${name} along an axis of one`, [floats([3, 1], 0.5, 2)], (x) => f(x, { axis: name === "variance" ? 0 : 1 }));
}
for (const order of [0, 1, 3, 1.5, Infinity, -Infinity]) {
  add(`norm of order ${order}`, [floats([3, 4])], (x) => x.norm({ order, axis: 1 }));
}
add("softmax", [floats([2, 5])], (x) => x.softmax(), everywhere);
add("softmax along the first axis", [floats([4, 3])], (x) => x.softmax({ axis: 0 }));
add("covariance", [floats([2, 5, 3])], (x) => x.covariance({ correction: 1 }));
for (const name of ["all", "any", "countNonzero"] as const) {
  add(`${name} along an axis`, [booleans([3, 4])], (x) => x[name]({ axis: 1 }), discrete);
}
add("max of booleans", [booleans([3, 4])], (x) => x.max({ axis: 1 }), discrete);
for (const name of ["argmax", "argmin"] as const) {
  add(`${name} along an axis`, [floats([3, 4])], (x) => x[name]({ axis: 0 }), discrete);
  add(`${name} of all`, [floats([3, 4])], (x) => x[name](), discrete);
}
add("mode", [integers([4, 6], 0, 3)], (x) => x.mode({ axis: 1 }), discrete);
add("mode of floats", [floats([4, 6])], (x) => x.mode({ axis: 1 }));

// ------------------------------------------------------------------------------------------------ cumulative

for (const name of ["cumsum", "cumprod"] as const) {
  for (const reverse of [false, true]) {
    for (const exclusive of [false, true]) {
      const how = `${reverse ? ", reverse" : ""}${exclusive ? ", exclusive" : ""}`;
      add(`${name} along axis 1${how}`, cube, (x) => x[name]({ axis: 1, reverse, exclusive }));
    }
  }
  add(`${name} of all`, [floats([2, 3])], (x) => x[name]());
}
for (const name of ["cummax", "cummin", "cumlogsumexp"] as const) {
  for (const reverse of [false, true]) {
    add(`${name} along axis 0${reverse ? ", reverse" : ""}`, [floats([7, 2])], (x) => x[name]({ axis: 0, reverse }));
  }
  add(`${name} along the last axis`, [floats([2, 5])], (x) => x[name]({ axis: -1 }));
}
add("cumsum on every device", [floats([3, 40])], (x) => x.cumsum({ axis: 1 }), everywhere);
add("cumprod of one element", [floats([3, 1])], (x) => x.cumprod({ axis: 1 }));
add("diff", [floats([3, 6])], (x) => x.diff({ order: 2 }));

// ------------------------------------------------------------------------------------------------ movement

const grid = [floats([3, 4])];
/** Padded by so much before and after each of two axes. */
const padded =
  (before: readonly [number, number], after: readonly [number, number], options: object = {}) =>
  (x: Tensor): Tensor =>
    x.pad(
      [0, 1].map((axis) => [before[axis], after[axis]] as [number, number]),
      options as { mode: "constant" },
    );

const movements: Readonly<Record<string, (x: Tensor) => Tensor | Tensor[]>> = {
  reshape: (x) => x.reshape(2, -1),
  flatten: (x) => x.flatten(),
  permute: (x) => x.permute(1, 0),
  transpose: (x) => x.transpose(),
  T: (x) => x.T,
  mT: (x) => x.mT,
  swapAxes: (x) => x.swapAxes(0, -1),
  moveAxis: (x) => x.moveAxis(0, 1),
  squeeze: (x) => x.reshape(3, 1, 4, 1).squeeze(1),
  expandDims: (x) => x.expandDims(1),
  broadcastTo: (x) => x.expandDims(1).broadcastTo([2, 3, 5, 4]),
  flip: (x) => x.flip(),
  "flip of one axis": (x) => x.flip(1),
  "at with a range": (x) => x.at("1:3", "0:4:2"),
  "at backwards": (x) => x.at("::-1", "3:0:-2"),
  "at with a step over one element": (x) => x.at("0:1:2", "::-7"),
  "at with numbers": (x) => x.at(1, -1),
  "at with nothing left": (x) => x.at("2:2"),
  "at with an ellipsis": (x) => x.at("...", 2),
  "pad with a value": padded([1, 0], [2, 3], { value: 7 }),
  "pad by negative amounts": padded([-1, 1], [2, -2]),
  "pad between elements": padded([1, 0], [0, 1], { interior: [2, 1] }),
  "pad between elements and cut": padded([-2, -1], [0, -3], { interior: [2, 1] }),
  "pad in mode edge": padded([2, 0], [1, 3], { mode: "edge" }),
  "pad in mode reflect": padded([2, 3], [5, 1], { mode: "reflect" }),
  "pad in mode symmetric": padded([2, 5], [4, 1], { mode: "symmetric" }),
  "pad in mode wrap": padded([2, 5], [7, 0], { mode: "wrap" }),
  roll: (x) => x.roll(2),
  "roll along axes": (x) => x.roll([1, -6], { axis: [0, 1] }),
  tile: (x) => x.tile(2, 3),
  "tile with more axes": (x) => x.tile(2, 1, 2),
  repeat: (x) => x.repeat(3, { axis: 1 }),
  "repeat of all": (x) => x.repeat(2),
  split: (x) => x.split(2, { axis: 1 }),
  "split at positions": (x) => x.split([1, 1, -1], { axis: 1 }),
  unstack: (x) => x.unstack(),
  triu: (x) => x.triu(1),
  tril: (x) => x.tril(-1),
  diagonal: (x) => x.diagonal({ offset: 1 }),
  trace: (x) => x.trace(),
  diagonalMatrix: (x) => x.diagonalMatrix(-1),
  putDiagonal: (x) => x.putDiagonal(2, { offset: 1 }),
  concat: (x) => concat([x, x.mul(2), x.at("0:1")]),
  "concat along the last axis": (x) => concat([x.at(":", "1:"), x], { axis: -1 }),
  stack: (x) => stack([x, x.square()], { axis: 1 }),
  meshgrid: (x) => meshgrid([x.at(0), x.at(":", 1)]),
  broadcastTensors: (x) => broadcastTensors(x.at("0:1"), x),
  blockDiagonal: (x) => blockDiagonal([x, x.at("0:1").mul(3)]),
};
for (const [name, f] of Object.entries(movements)) add(name, grid, (x) => f(x));
add("concat of two", [floats([2, 3]), floats([4, 3])], (x, y) => concat([x, y, x]), everywhere);
add("stack of three", [floats([2]), floats([2]), floats([2])], (x, y, z) => stack([x, y, z], { axis: -1 }));
add("pad in every way", grid, (x) => padded([1, -1], [2, 2], { interior: [0, 1] })(x).flip(0), everywhere);
add("oneHot", [integers([4], -1, 6)], (x) => x.oneHot(5), discrete);

// ------------------------------------------------------------------------------------------------ indexing

// Repeated positions, negative ones, and some outside.
const rows = integers([5], -4, 5);
add("take along axis 0", [floats([3, 4]), rows], (x, i) => x.take(i, { axis: 0 }), everywhere);
add("take along axis 1", [floats([2, 3, 2]), integers([2, 2], -3, 3)], (x, i) => x.take(i, { axis: 1 }));
add("take of all", [floats([2, 3]), integers([4], 0, 6)], (x, i) => x.take(i));
add("take with one position", [floats([3, 2]), integers([], 0, 3)], (x, i) => x.take(i, { axis: 0 }));
add("takeAlongAxis", [floats([3, 4]), integers([3, 6], -4, 5)], (x, i) => x.takeAlongAxis(i, { axis: 1 }));
add("takeAlongAxis 0", [floats([3, 2]), integers([2, 2], 0, 3)], (x, i) => x.takeAlongAxis(i, { axis: 0 }));
add("at with positions", [floats([4, 3]), rows], (x, i) => x.at(i), everywhere);
add("at with positions in two axes", [floats([4, 3, 2]), integers([5], 0, 4), integers([5], 0, 3)], (x, i, j) =>
  x.at(i, j),
);
add("at with positions apart", [floats([4, 3, 2]), integers([2], 0, 4), integers([3, 1], 0, 2)], (x, i, j) =>
  x.at(i, ":", j),
);
add("at with positions and ranges", [floats([4, 3, 5]), integers([4], 0, 3)], (x, i) => x.at("::-2", i, "1:4:2"));
add("gatherNd", [floats([4, 3, 2]), integers([5, 2], 0, 3)], (x, i) => x.gatherNd(i));
add("gather along other axes", [floats([4, 3, 2]), integers([5, 2], 0, 2)], (x, i) => x.gather(i, { axes: [2, 0] }));
add("putDiagonal of values", [floats([2, 3, 4]), floats([2, 2])], (x, y) => x.putDiagonal(y, { offset: -1 }));
for (const [name, op] of [
  ["set", "set"],
  ["addAt", "add"],
  ["mulAt", "mul"],
  ["minAt", "min"],
  ["maxAt", "max"],
] as const) {
  add(`${name} of a range`, [floats([3, 4]), floats([2, 2])], (x, v) => x[name]("0:2", "::-2", v));
  add(`${name} at positions`, [floats([4, 3]), rows, floats([5, 3])], (x, i, v) => x[name](i, v));
  add(
    `${name} at positions in two axes`,
    [floats([4, 3]), integers([5], 0, 4), integers([5], 0, 3), floats([5])],
    (x, i, j, v) => x[name](i, j, v),
  );
  add(`${name} under a mask`, [floats([3, 4]), floats([])], (x, v) => x[name](x.greater(0), v));
  add(
    `scatter with ${op}`,
    [floats([3, 4]), rows, floats([5, 4])],
    (x, i, v) => x.scatter(i, v, { axis: 0, op }),
    everywhere,
  );
  add(`scatter with ${op} along axis 1`, [floats([2, 3]), integers([2, 2], 0, 3), floats([2, 2, 2])], (x, i, v) =>
    x.scatter(i, v, { axis: 1, op }),
  );
  add(`scatterNd with ${op}`, [floats([3, 2, 2]), integers([4, 2], 0, 2), floats([4, 2])], (x, i, v) =>
    x.scatterNd(i, v, { op }),
  );
  add(`putAlongAxis with ${op}`, [floats([3, 4]), integers([3, 3], -4, 5), floats([3, 3])], (x, i, v) =>
    x.putAlongAxis(i, v, { axis: 1, op }),
  );
}
for (const op of ["add", "mul"] as const) {
  add(`scatter with ${op}, deterministic`, [floats([3, 2]), integers([6], -1, 4), floats([6, 2])], (x, i, v) =>
    x.scatter(i, v, { axis: 0, op, deterministic: true }),
  );
}
add("bincount with weights", [integers([6], 0, 4), floats([6])], (x, weights) => x.bincount({ length: 4, weights }));
add("bincount", [integers([6], 0, 4)], (x) => x.bincount({ length: 4 }), discrete);
add("histogram", [floats([9]), floats([9])], (x, weights) => x.histogram({ bins: 4, range: [-2, 2], weights }).counts);

// ------------------------------------------------------------------------------------------------ order

add("sort", [floats([3, 5])], (x) => x.sort(), everywhere);
add("sort descending along axis 0", [floats([5, 2])], (x) => x.sort({ axis: 0, descending: true }));
add("argsort", [floats([3, 5])], (x) => x.argsort(), discrete);
add("topK", [floats([3, 6])], (x) => x.topK(2).values);
add("topK of the smallest along axis 0", [floats([6, 2])], (x) => x.topK(3, { axis: 0, largest: false }).values);
add("searchSorted", [fixed([4], [-2, -1, 1, 2]), floats([3, 2])], (x, y) => x.searchSorted(y), discrete);
add(
  "searchSorted in rows",
  [fixed([2, 3], [-1, 0, 1, -2, 1, 2]), floats([2, 4])],
  (x, y) => x.searchSorted(y),
  discrete,
);

// ------------------------------------------------------------------------------------------------ contraction

add("matmul", [floats([3, 4]), floats([4, 2])], (x, y) => x.matmul(y), everywhere);
add("matmul of batches", [floats([2, 3, 4]), floats([2, 4, 2])], (x, y) => x.matmul(y));
add("matmul of batches that broadcast", [floats([2, 1, 3, 4]), floats([3, 4, 2])], (x, y) => x.matmul(y));
add("matmul of one matrix for all", [floats([2, 3, 4]), floats([4, 2])], (x, y) => x.matmul(y));
add("matmul with a vector", [floats([3, 4]), floats([4])], (x, y) => x.matmul(y));
add("matmul of a vector", [floats([4]), floats([2, 4, 3])], (x, y) => x.matmul(y));
add("dot", [floats([2, 3]), floats([3, 2])], (x, y) => x.dot(y));
add("dot of vectors", [floats([3]), floats([3])], (x, y) => x.dot(y));
add("dot over pairs of axes", [floats([2, 3, 4]), floats([4, 2, 5])], (x, y) =>
  x.dot(y, { axes: [[2], [0]], batchAxes: [[0], [1]] }),
);
add("tensordot", [floats([2, 3, 4]), floats([3, 4, 2])], (x, y) => x.tensordot(y));
add("inner", [floats([2, 3]), floats([4, 3])], (x, y) => x.inner(y));
add("outer", [floats([3]), floats([2, 2])], (x, y) => x.outer(y));
add("vdot", [floats([2, 3]), floats([3, 2])], (x, y) => x.vdot(y));
add("kron", [floats([2, 3]), floats([3, 2])], (x, y) => x.kron(y));
for (const [subscripts, ...shapes] of [
  ["ij,jk->ik", [2, 3], [3, 2]],
  ["bij,bkj->bik", [2, 2, 3], [2, 4, 3]],
  ["ij->ji", [2, 3]],
  ["ii->i", [3, 3]],
  ["ii", [3, 3]],
  ["ij->", [2, 3]],
  ["i,j->ij", [2], [3]],
  ["ij,ij->ij", [2, 3], [2, 3]],
  ["i,ij,j->", [2], [2, 3], [3]],
  ["...ij,...j->...i", [2, 3, 4], [4]],
] as const) {
  const inputs = shapes.map((shape) => floats(shape));
  add(`einsum ${subscripts}`, inputs, (...x) => einsum(subscripts, ...x), { isEverywhere: subscripts === "i,ij,j->" });
}

const grouped = [floats([1, 4, 3, 2]), floats([1, 2, 4, 2]), floats([1, 2, 4, 3])];
add("attention with shared key heads", grouped, (q, k, v) => attention(q, k, v), everywhere);
add("attention causal", grouped, (q, k, v) => attention(q, k, v, { causal: true, scale: 0.7 }));
add("attention in a window", grouped, (q, k, v) => attention(q, k, v, { window: [1, 2], keyLength: 3 }));
add("attention with bias and mask", [...grouped, floats([4, 1, 4]), booleans([3, 4])], (q, k, v, bias, mask) =>
  attention(q, k, v, { bias, mask }),
);
add("attention of itself", [floats([2, 3, 4])], (x) => attention(x, x.mul(2), x.square(), { causal: true }));

// ------------------------------------------------------------------------------------------------ windows, convolution

const line = floats([2, 2, 7]);
const kernel = floats([3, 2, 3]);
for (const [name, inputs, options] of [
  ["conv in one dimension", [line, kernel], {}],
  ["conv with a stride", [line, kernel], { stride: 2 }],
  ["conv with padding same", [line, kernel], { padding: "same" }],
  ["conv with padding same and a stride", [line, kernel], { padding: "same", stride: 3 }],
  ["conv with padding given", [line, kernel], { padding: [[2, 1]] }],
  ["conv with negative padding", [line, kernel], { padding: [[-1, 2]] }],
  ["conv with a dilated kernel", [line, kernel], { kernelDilation: 2 }],
  ["conv with a dilated input", [line, kernel], { inputDilation: 2, padding: [[2, 1]], stride: 2 }],
  ["conv in feature groups", [floats([2, 4, 5]), floats([6, 2, 3])], { featureGroups: 2 }],
  ["conv depthwise", [floats([1, 3, 5]), floats([3, 1, 2])], { featureGroups: 3, padding: "same" }],
  ["conv in batch groups", [floats([4, 2, 5]), floats([4, 2, 3])], { batchGroups: 2 }],
  ["conv in two dimensions", [floats([1, 2, 4, 5]), floats([2, 2, 2, 3])], { stride: [1, 2], padding: "same" }],
  ["conv in three dimensions", [floats([1, 1, 3, 3, 4]), floats([2, 1, 2, 2, 2])], { kernelDilation: [1, 2, 1] }],
  ["conv with the channels last", [floats([1, 4, 2]), floats([3, 2, 3])], { inputLayout: "NWC", kernelLayout: "WIO" }],
] as const) {
  add(name, inputs, (x, w) => x.conv(w, options as object), {
    isEverywhere: name === "conv with padding same and a stride",
  });
}
for (const name of ["windowSum", "windowMean", "windowProduct", "windowMax", "windowMin"] as const) {
  add(`${name} overlapping`, [floats([2, 6], 0.3, 2)], (x) => x[name](3, { axis: 1 }));
  add(
    `${name} strided, padded`,
    [floats([5, 6], 0.3, 2)],
    (x) => x[name]([2, 3], { stride: 2, padding: "same" }),
    everywhere,
  );
  add(`${name} dilated`, [floats([7], 0.3, 2)], (x) => x[name](2, { dilation: 3, padding: [[1, 0]] }));
}
for (const name of ["windowScatterMax", "windowScatterMin"] as const) {
  add(name, [floats([4, 4]), floats([2, 2])], (x, source) => x[name](source, 2, { stride: 2 }));
  add(`${name} overlapping`, [floats([5]), floats([4])], (x, source) => x[name](source, 2));
}

// ------------------------------------------------------------------------------------------------ NumPy, the array API

add("subtract", pair, (x, y) => x.subtract(y));
add("multiply", pair, (x, y) => x.multiply(y));
add("divide", [floats([3]), floats([3], 0.5, 2)], (x, y) => x.divide(y));
add("negative", [floats([3])], (x) => x.negative());
add("positive", [floats([3])], (x) => x.positive().mul(2));
add("bitwiseInvert", [integers([4], 0, 9)], (x) => x.bitwiseInvert(), discrete);
for (const name of ["bitwiseLeftShift", "bitwiseRightShift"] as const) {
  add(name, [integers([6], 0, 9), integers([6], 0, 5)], (x, y) => x[name](y), discrete);
}
add("asType", [floats([4], -3, 3, unround)], (x) => x.asType("i32").asType(x.dtype).mul(x));
add("permuteDims", [floats([2, 3, 2])], (x) => x.permuteDims(1, 2, 0));
add("matrixTranspose", [floats([2, 3])], (x) => x.matrixTranspose());
add("var", [floats([3, 4])], (x) => x.var({ axis: 0, correction: 1 }));
for (const name of ["cumulativeSum", "cumulativeProd"] as const) {
  add(name, [floats([3, 4])], (x) => x[name]({ axis: 1, includeInitial: true }));
}
add("vecdot", [floats([2, 4]), floats([4])], (x, y) => x.vecdot(y), everywhere);
add("vecdot along axis 0", [floats([4, 2]), floats([4, 1])], (x, y) => x.vecdot(y, { axis: 0 }));
add("corrcoef", [floats([6, 3])], (x) => x.corrcoef());
add("signbit", [floats([6])], (x) => x.signbit(), discrete);
add("copysign", pair, (x, y) => x.copysign(y), everywhere);
// Its slope is 0, and a quotient of differences sees another number.
add("nextAfter", pair, (x, y) => x.nextAfter(y), discrete);
add("nanToNum", [floats([6])], (x) => x.nanToNum());
/** Every third element NaN. */
const gaps = (x: Tensor): Tensor =>
  where(countingLike(x, x.size).remainder(3).equal(0).reshape(x.shape), Number.NaN, x);
for (const name of [
  "nanSum",
  "nanProd",
  "nanMax",
  "nanMin",
  "nanMean",
  "nanVariance",
  "nanStd",
  "nanMedian",
] as const) {
  add(`${name} along an axis`, [floats([3, 5], 0.3, 2)], (x) => gaps(x)[name]({ axis: 1 }), {
    isEverywhere: name === "nanMean",
  });
}
for (const name of ["nanArgmax", "nanArgmin"] as const) {
  add(name, [floats([3, 5])], (x) => gaps(x)[name]({ axis: 1 }), discrete);
}
for (const name of ["nanCumsum", "nanCumprod"] as const) {
  add(name, [floats([3, 5])], (x) => gaps(x)[name]({ axis: 1 }));
}
add("quantile", [floats([3, 6])], (x) => x.quantile(0.3, { axis: 1 }), everywhere);
add("quantile by a tensor", [floats([3, 6]), fixed([2], [0.3, 0.8])], (x, q) => x.quantile(q, { axis: 0 }));
add("percentile", [floats([3, 6])], (x) => x.percentile(40, { axis: 1, method: "midpoint" }));
add("nanQuantile", [floats([3, 6])], (x) => gaps(x).nanQuantile(0.3, { axis: 1 }));
add("nanPercentile", [floats([3, 6])], (x) => gaps(x).nanPercentile(60, { axis: 1, method: "hazen" }));
add(
  "interp",
  [floats([5], -1, 4), fixed([4], [-0.4, 0.3, 1.1, 3.6]), floats([4])],
  (x, p, v) => x.interp(p, v),
  everywhere,
);
add("interp in a period", [floats([5], -1, 4), fixed([3], [0.1, 2.3, 1.2]), floats([3])], (x, p, v) =>
  x.interp(p, v, { period: 3 }),
);
for (const mode of ["full", "same", "valid"] as const) {
  add(`convolve, ${mode}`, [floats([6]), floats([3])], (x, y) => x.convolve(y, { mode }));
}
add("partition", [floats([3, 5])], (x) => x.partition(2));
add("argpartition", [floats([3, 5])], (x) => x.argpartition([0, 2], { axis: 0 }), discrete);
add("rot90", [floats([2, 3, 2])], (x) => x.rot90(1, { axes: [0, 2] }));
add("unravelIndex", [integers([6], -4, 12)], (x) => x.unravelIndex([3, 2, 2]), discrete);
add("isin", [integers([3, 4], 0, 9), integers([5], 0, 9)], (x, y) => x.isin(y), discrete);
add("round to decimals", [floats([4], -3, 3, unround)], (x) => x.round({ decimals: 1 }));
add("argmax of the last tie", [integers([3, 6], 0, 3)], (x) => x.argmax({ axis: 1, tie: "last" }), discrete);
add("split by sizes", [floats([5, 2])], (x) => x.split({ sizes: [1, -1, 2] }));
add("at with a slice in numbers", [floats([5, 3])], (x) => x.at({ from: 3, step: -2 }, { to: -1 }));
add("gather with batch axes", [floats([2, 3, 4]), integers([2, 5, 1], 0, 3)], (x, i) =>
  x.gather(i, { batchAxes: [0] }),
);

// ------------------------------------------------------------------------------------------------ linear algebra

add("cholesky", [positiveDefinite([], 4)], (a) => linalg.cholesky(a), everywhere);
add("cholesky of a batch", [positiveDefinite([2], 3)], (a) => linalg.cholesky(a));
add("cholesky, upper", [positiveDefinite([], 3)], (a) => linalg.cholesky(a, { upper: true }));
for (const lower of [true, false]) {
  for (const transposed of [false, true]) {
    for (const left of [true, false]) {
      const unitDiagonal = lower !== transposed && left;
      const how = `${lower ? "lower" : "upper"}${transposed ? ", transposed" : ""}${left ? "" : ", from the right"}`;
      add(
        `triangularSolve ${how}${unitDiagonal ? ", unit diagonal" : ""}`,
        [triangular([], 3), floats(left ? [3, 2] : [2, 3])],
        (a, b) => linalg.triangularSolve(a, b, { lower, transposed, left, unitDiagonal }),
        { isEverywhere: lower && left && !transposed },
      );
    }
  }
}
add("triangularSolve of a vector", [triangular([], 3), floats([3])], (a, b) => linalg.triangularSolve(a, b));
add("triangularSolve of batches that broadcast", [triangular([2, 1], 2), floats([3, 2, 1])], (a, b) =>
  linalg.triangularSolve(a, b),
);

add("choSolve", [positiveDefinite([], 3), floats([3, 2])], (a, b) => linalg.choSolve(linalg.cholesky(a), b));
add("solve", [positiveDefinite([], 3), floats([3, 2])], (a, b) => linalg.solve(a, b), everywhere);
add("solve of a vector", [positiveDefinite([2], 3), floats([3])], (a, b) => linalg.solve(a, b));
add("inv", [positiveDefinite([2], 3)], (a) => linalg.inv(a), everywhere);
add("det", [positiveDefinite([2], 3)], (a) => linalg.det(a), everywhere);
add("det by factors", [positiveDefinite([2], 4)], (a) => linalg.det(a));
add("slogdet", [positiveDefinite([2], 3)], (a) => linalg.slogdet(a).logAbsDet, everywhere);
add("matrixExp", [floats([2, 3, 3], -1, 1)], (a) => linalg.matrixExp(a));
add("matrixPower", [floats([2, 2], -1, 1)], (a) => linalg.matrixPower(a, 3));
add("matrixPower, negative", [positiveDefinite([], 2)], (a) => linalg.matrixPower(a, -2));
for (const order of ["fro", 1, -1, Infinity, -Infinity] as const) {
  add(`matrixNorm ${order}`, [floats([2, 3], 0.3, 2)], (a) => linalg.matrixNorm(a, { order }));
}
add("vectorNorm", [floats([2, 3], 0.3, 2)], (a) => linalg.vectorNorm(a, { axis: 1, order: 3 }));
add("adjoint", [floats([2, 3])], (a) => linalg.adjoint(a));
add("cross", [floats([2, 3]), floats([3])], (a, b) => linalg.cross(a, b));
add("multiDot", [floats([2]), floats([2, 3]), floats([3, 2])], (a, b, c) => linalg.multiDot([a, b, c!]));
add("lu", [floats([4, 4], -2, 2)], (a) => Object.values(linalg.lu(a)).slice(1));
add("luFactor of a tall matrix", [floats([5, 3], -2, 2)], (a) => linalg.luFactor(a).lu);
add("luFactor of a wide matrix", [floats([2, 3, 5], -2, 2)], (a) => linalg.luFactor(a).lu);
for (const transposed of [false, true]) {
  add(`luSolve${transposed ? ", transposed" : ""}`, [floats([3, 3], 1, 2), floats([3, 2])], (a, b) =>
    linalg.luSolve(linalg.luFactor(a), b, { transposed }),
  );
}

// Eigenvalues and singular values that are well apart, so that derivatives are as exact as differences of values.
const spread = (rows: number, columns: number) => (a: Tensor) => {
  const place = (extent: number) => arange(extent, { dtype: "i32", device: a.device });
  return where(place(rows).expandDims(1).equal(place(columns)), place(columns).add(1).mul(4).cast(a.dtype), 0).add(a);
};
add(
  "eigh",
  [floats([4, 4])],
  (a) => {
    const { eigenvalues, eigenvectors } = linalg.eigh(spread(4, 4)(a));
    return [eigenvalues, eigenvectors.square()];
  },
  everywhere,
);
add(
  "eig",
  [floats([3, 3])],
  (a) => {
    const { eigenvalues, eigenvectors } = linalg.eig(spread(3, 3)(a));
    return [eigenvalues.real(), eigenvectors.real()];
  },
  looping,
);
add("eigvals of a batch", [floats([2, 3, 3])], (a) => linalg.eigvals(spread(3, 3)(a)).real(), looping);
add("ldl", [floats([3, 3])], (a) => {
  const { l, d } = linalg.ldl(spread(3, 3)(a));
  return [l, d];
});
add("hermitianFunction", [floats([3, 3])], (a) => linalg.hermitianFunction(spread(3, 3)(a), (x) => x.exp().mul(1e-4)));
add(
  "solveSylvester",
  [floats([3, 3]), floats([2, 2]), floats([3, 2])],
  (a, b, c) => {
    return linalg.solveSylvester(spread(3, 3)(a), spread(2, 2)(b), c);
  },
  looping,
);
add("eigvalsh of a batch, upper", [floats([2, 3, 3])], (a) => linalg.eigvalsh(spread(3, 3)(a), { upper: true }));
for (const [m, n] of [
  [3, 3],
  [4, 2],
  [2, 4],
] as const) {
  add(`svd of ${m}×${n}`, [floats([m, n])], (a) => {
    const { u, s, vh } = linalg.svd(spread(m, n)(a));
    return [u.square(), s, vh.square()];
  });
  add(`qr of ${m}×${n}`, [floats([m, n])], (a) => {
    const { q, r } = linalg.qr(spread(m, n)(a));
    return [q, r];
  });
  add(`pinv of ${m}×${n}`, [floats([m, n])], (a) => linalg.pinv(spread(m, n)(a)));
}
add("svdvals", [floats([2, 3, 4])], (a) => linalg.svdvals(spread(3, 4)(a)), everywhere);
add("lstsq", [floats([4, 2]), floats([4, 3])], (a, b) => linalg.lstsq(spread(4, 2)(a), b).x, everywhere);
add("lstsq of a vector", [floats([2, 3]), floats([2])], (a, b) => linalg.lstsq(spread(2, 3)(a), b).x);
add("cond", [floats([3, 3])], (a) => linalg.cond(spread(3, 3)(a)));
add("matrixRank", [floats([2, 3, 3])], (a) => linalg.matrixRank(spread(3, 3)(a)), discrete);
/** A key on each device, uploaded once. */
const keys = new Map<string, random.Key>();
const keyOn = (device: string): random.Key => {
  const made = keys.get(device) ?? random.key(0, { device });
  keys.set(device, made);
  return made;
};
add("randomizedSvd", [floats([4, 3])], (a) => {
  return linalg.randomizedSvd(keyOn(a.device), spread(4, 3)(a), 2).s;
});
add("polar", [floats([3, 3])], (a) => Object.values(linalg.polar(spread(3, 3)(a))));
// ------------------------------------------------------------------------------------------------ Fourier transforms

/** Complex results by their parts, and complex inputs made of two real ones. */
const parts = (z: Tensor): Tensor[] => [z.real(), z.imag()];
const ofComplex =
  (f: (z: Tensor) => Tensor) =>
  (re: Tensor, im: Tensor): Tensor | Tensor[] => {
    const y = f(complex(re, im) as Tensor);
    return y.dtype === "c64" || y.dtype === "c128" ? parts(y) : y;
  };
const two = (shape: readonly number[]) => [floats(shape), floats(shape)];

add("fft", [floats([2, 6])], (x) => parts(fft.fft(x)), everywhere);
add(
  "fft of complex numbers, cut",
  two([2, 7]),
  ofComplex((z) => fft.fft(z, { n: 5 })),
);
add(
  "fft along columns, filled",
  two([3, 2]),
  ofComplex((z) => fft.fft(z, { n: 5, axis: 0, norm: "ortho" })),
);
add("fft of a prime", two([17]), ofComplex(fft.fft));
add("ifft", two([4]), ofComplex(fft.ifft), everywhere);
for (const n of [5, 6, 8]) {
  add(`rfft of 6 as ${n}`, [floats([2, 6])], (x) => parts(fft.rfft(x, { n })));
  add(
    `irfft of 4 to ${n}`,
    two([2, 4]),
    ofComplex((z) => fft.irfft(z, { n })),
  );
}
add("rfft of a square", [floats([8])], (x) => fft.rfft(x).abs().square(), everywhere);
add("hfft", two([4]), ofComplex(fft.hfft));
add("ihfft", [floats([6])], (x) => parts(fft.ihfft(x)));
add("fft2", two([2, 3]), ofComplex(fft.fft2));
add("ifft2", two([2, 3]), ofComplex(fft.ifft2));
add("rfft2", [floats([3, 4])], (x) => parts(fft.rfft2(x)));
add("irfft2", two([3, 3]), ofComplex(fft.irfft2));
add("fftn", two([2, 2, 2]), ofComplex(fft.fftn));
add("ifftn", [floats([2, 3])], (x) => parts(fft.ifftn(x)));
add("rfftn", [floats([2, 3])], (x) => parts(fft.rfftn(x, { s: [3, 4] })));
add(
  "irfftn",
  two([2, 3]),
  ofComplex((z) => fft.irfftn(z, { s: [2, 5] })),
);
add("hfft2", two([3, 3]), ofComplex(fft.hfft2));
add("ihfft2", [floats([3, 4])], (x) => parts(fft.ihfft2(x)));
add("hfftn", two([2, 3]), ofComplex(fft.hfftn));
add("ihfftn", [floats([2, 3])], (x) => parts(fft.ihfftn(x)));
add("fftshift", [floats([2, 3])], (x) => fft.fftshift(x));
add("ifftshift", [floats([2, 3])], (x) => fft.ifftshift(x, { axes: 1 }));
for (const type of [1, 2, 3, 4] as const) {
  add(`dct of type ${type}`, [floats([2, 4])], (x) => fft.dct(x, { type }));
  add(`idst of type ${type}`, [floats([4])], (x) => fft.idst(x, { type, norm: "ortho" }));
}
add("idct", [floats([4])], (x) => fft.idct(x));
add("dst", [floats([4])], (x) => fft.dst(x));

// ------------------------------------------------------------------------------------------------ signals

const byParts = { nperseg: 4, noverlap: 2 };
add("convolve of signals, direct", [floats([6]), floats([3])], (a, b) => signal.convolve(a, b, { method: "direct" }));
add("convolve of signals, by transforms", [floats([6]), floats([3])], (a, b) =>
  signal.convolve(a, b, { method: "fft", mode: "same" }),
);
add("correlate", [floats([6]), floats([3])], (a, b) => signal.correlate(a, b));
add("fftConvolve", [floats([2, 6]), floats([1, 3])], (a, b) => signal.fftConvolve(a, b, { axes: 1 }));
add("oaConvolve", [floats([2, 40]), floats([1, 3])], (a, b) => signal.oaConvolve(a, b, { axes: 1, mode: "same" }));
add("stft", [floats([10])], (x) => parts(signal.stft(x, byParts).values), everywhere);
add("istft", two([3, 5]), (re, im) => signal.istft(complex(re, im), byParts).values);
add("welch", [floats([12])], (x) => signal.welch(x, byParts).values);
add("welch, median", [floats([14])], (x) => signal.welch(x, { ...byParts, average: "median" }).values);
add("csd", [floats([12]), floats([12])], (x, y) => parts(signal.csd(x, y, byParts).values));
add("coherence", [floats([12]), floats([12])], (x, y) => signal.coherence(x, y, byParts).values);
add("periodogram", [floats([7])], (x) => signal.periodogram(x).values);
add("resample", [floats([6])], (x) => signal.resample(x, 9));
add("hilbert", [floats([6])], (x) => signal.hilbert(x).abs());
add("detrend", [floats([2, 5])], (x) => signal.detrend(x));
add("detrend in pieces", [floats([2, 7])], (x) => signal.detrend(x, { bp: [3] }));

export const operationCases: readonly OperationCase[] = list;
