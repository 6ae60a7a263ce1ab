/**
 * A result is a handle of its own, also where an operation has nothing to do: whoever disposes of the result keeps the
 * tensor. Every method is called in forms that do nothing, on tensors of which there is little to change.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import * as pumice from "../../src/index.js";
import { fft, linalg, PumiceError, random, setDefaultDevice, Tensor, tensor, zeros } from "../../src/index.js";
import { operations } from "../support/tensor-members.js";

before(() => setDefaultDevice("cpu"));

type Args = readonly unknown[];

const RECEIVERS: Readonly<Record<string, () => Tensor>> = {
  "one f32": () => tensor([3]),
  "one i32": () => tensor([1], { dtype: "i32" }),
  "one bool": () => tensor([true]),
  "one u64": () => tensor([1n], { dtype: "u64" }),
  "one c64": () => tensor([{ re: 1, im: 2 }]),
  "a matrix of one": () => tensor([[2]]),
  "three axes of one": () => tensor([[[2]]]),
  "a scalar": () => tensor(2),
  "no elements": () => zeros([0]),
  "no rows": () => zeros([0, 3]),
  five: () => tensor([1, 2, 3, 4, 5]),
};

/** Operations that give no tensor. */
const VALUES = new Set("data bytes item array dataSync itemSync arraySync".split(" "));

/** `realize` starts the work on a tensor and gives that tensor back, so that it can stand in a chain. */
const SELF = new Set(["realize"]);

const none = () => tensor([], { dtype: "i32" });
const each = (names: string, forms: (x: Tensor) => Args[]) =>
  Object.fromEntries(names.split(" ").map((name) => [name, forms]));
const noPositions = (x: Tensor) => tensor([], { dtype: "i32", shape: [0, ...x.shape.slice(1)] });

/** Arguments with which there is nothing to do; [] where a method is missing here. */
const FORMS: Readonly<Record<string, (x: Tensor) => Args[]>> = {
  ...each("add sub bitwiseOr bitwiseXor leftShift rightShift logicalOr logicalXor", () => [[0], [false]]),
  ...each("mul div pow floorDivide quotient logicalAnd", () => [[1], [true]]),
  ...each("bitwiseAnd", () => [[-1], [true]]),
  ...each("maximum minimum remainder mod fmod hypot atan2 logaddexp isClose allClose", (x) => [[x], [0]]),
  ...each("equal notEqual less lessEqual greater greaterEqual", (x) => [[x], [0]]),
  ...each("sum prod max min all any mean logsumexp countNonzero median mode norm variance std softmax", () => [
    [],
    [{ axis: [] }],
    [{ axis: 0, keepDims: true }],
  ]),
  ...each("cumsum cumprod cummax cummin cumlogsumexp argmax argmin sort argsort", () => [[], [{ axis: 0 }]]),
  ...each("windowSum windowMean windowProduct windowMax windowMin", () => [[1]]),
  ...each("windowScatterMax windowScatterMin", (x) => [[x, 1]]),
  ...each("set addAt mulAt minAt maxAt", (x) => [
    ["5:", 1],
    [none(), 1],
    ["...", 1],
    [x, 1],
    [x.cast("bool"), 1],
    ["5:", 1, { deterministic: true }],
  ]),
  ...each("scatter", () => [
    [none(), 1],
    [none(), 1, { axis: 0, op: "add" }],
    [[0], 1],
  ]),
  ...each("putAlongAxis", (x) => [
    [noPositions(x), 1, { axis: 0 }],
    [noPositions(x), 1, { axis: 0, op: "add" }],
  ]),
  ...each("scatterNd", () => [
    [zeros([0, 1], { dtype: "i32" }), 1],
    [zeros([0, 0], { dtype: "i32" }), 1],
  ]),
  ...each("gatherNd gather", () => [[zeros([0], { dtype: "i32" })], [zeros([1], { dtype: "i32" })]]),
  ...each("reshape broadcastTo", (x) => [[x.shape]]),
  ...each("permute transpose", (x) => [[x.shape.map((_, i) => i)], []]),
  ...each("swapAxes moveAxis", () => [[0, 0]]),
  ...each("squeeze flip", () => [[[]], []]),
  ...each("expandDims", () => [[[]], [0]]),
  ...each("at", () => [[], ["..."], [":"], [none()]]),
  ...each("pad", (x) =>
    [{}, ...["constant", "edge", "reflect", "symmetric", "wrap"].map((mode) => ({ mode }))].map((options) => [
      x.shape.map(() => [0, 0]),
      options,
    ]),
  ),
  ...each("roll", (x) => [[0], [0, { axis: 0 }], [5, { axis: 0 }], [[], { axis: [] }], [x.size]]),
  ...each("tile", (x) => [[1], [x.shape.map(() => 1)], []]),
  ...each("repeat", () => [[1], [1, { axis: 0 }]]),
  ...each("split", () => [[1], [[]], [[0]]]),
  ...each("unstack topK", () => [[], [0], [1]]),
  ...each("triu tril", () => [[-9], [9]]),
  ...each("diagonalMatrix putDiagonal", () => [[0], [0, { offset: 9 }]]),
  ...each("diff", () => [[{ order: 0 }], [{ order: 1 }], []]),
  ...each("clip", () => [[-9, 9], [], [null, null], [-9], [undefined, 9], [false, true]]),
  ...each("cast bitcast", (x) => [[x.dtype]]),
  ...each("to toDevice", (x) => [[x.device]]),
  ...each("quantize", () => [["i8", 0.5]]),
  ...each("dequantize", () => [[0.5], [0.5, { zeroPoint: 1 }]]),
  ...each("quantizationScale", () => [["i8"]]),
  ...each("take", () => [[none()], [[0]], [[0], { axis: 0 }]]),
  ...each("takeAlongAxis", (x) => [[noPositions(x), { axis: 0 }]]),
  ...each("oneHot", () => [[0], [1]]),
  ...each("searchSorted", (x) => [[x], [none()]]),
  ...each("bincount", (x) => [[{ weights: x, length: 1 }], [{ weights: x, length: 0 }], []]),
  ...each("histogram", (x) => [[{ bins: tensor([0, 1]), weights: x }], [{ bins: 1 }]]),
  ...each("matmul dot inner outer vdot kron", (x) => [[x]]),
  ...each("tensordot", (x) => [[x, 0]]),
  ...each("conv", () => [[tensor([[[1]]])]]),
  ...each("subtract bitwiseLeftShift bitwiseRightShift", () => [[0], [false]]),
  ...each("multiply divide", () => [[1], [true]]),
  ...each("copysign nextAfter", (x) => [[x], [0]]),
  ...each("nanSum nanProd nanMax nanMin nanMean nanVariance nanStd nanMedian var", () => [[], [{ axis: [] }]]),
  ...each("nanArgmax nanArgmin nanCumsum nanCumprod cumulativeSum cumulativeProd", () => [[], [{ axis: 0 }]]),
  ...each("quantile percentile nanQuantile nanPercentile", () => [[1], [[0, 1]], [0, { axis: [] }]]),
  ...each("interp", () => [[[0], [1]], [[0, 1], [2, 3], { period: 2 }]]), // biome-ignore format: pairs
  ...each("convolve vecdot union1d intersect1d setdiff1d setxor1d isin", (x) => [[x]]),
  ...each("partition argpartition", () => [[0], [[]]]),
  ...each("rot90", () => [[0], [4], [1]]),
  ...each("unravelIndex", (x) => [[x.shape], [[1]], [[]]]),
  ...each("unique", () => [[], [{ axis: 0 }], [{ sorted: false, counts: false }]]),
  ...each("round", () => [[], [{ decimals: 3 }], [{ decimals: -99 }], [{ decimals: 400 }]]),
  ...each("asType", (x) => [[x.dtype]]),
  ...each("permuteDims", (x) => [[x.shape.map((_, i) => i)]]),
};

/** The tensors in what an operation gave. */
function tensorsIn(value: unknown): Tensor[] {
  if (value instanceof Tensor) return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(tensorsIn);
}

function checkHandles(given: readonly Tensor[], result: unknown, what: string): void {
  const made = tensorsIn(result);
  const all = [...given, ...made];
  assert.ok(
    made.every((tensor) => !given.includes(tensor)),
    `${what} gives back a tensor that it was given`,
  );
  assert.equal(new Set(made).size, made.length, `${what} gives a tensor twice`);
  for (const tensor of made) tensor.dispose();
  for (const tensor of given) assert.ok(!tensor.isDisposed && tensor.dataSync(), what);
  assert.ok(all.length > 0);
}

describe("results are handles of their own", () => {
  const names = operations().filter((name) => !VALUES.has(name));
  for (const name of names.filter((each) => !SELF.has(each))) {
    test(name, () => {
      let calls = 0;
      for (const [what, receiver] of Object.entries(RECEIVERS)) {
        for (const i of (FORMS[name] ?? (() => [[]]))(receiver()).keys()) {
          const x = receiver();
          const args = (FORMS[name] ?? (() => [[]]))(x)[i] as Args;
          let result: unknown;
          try {
            const method = (x as unknown as Record<string, unknown>)[name];
            result = typeof method === "function" ? method.apply(x, args) : method;
          } catch (error) {
            if (!(error instanceof PumiceError)) throw error;
            continue;
          }
          calls++;
          checkHandles([x, ...args.flatMap(tensorsIn)], result, `${name} of ${what}, form ${i},`);
        }
      }
      assert.ok(calls > 0, `no form of ${name} fits any receiver`);
    });
  }

  const one = () => tensor([2]);
  const FUNCTIONS: Readonly<Record<string, () => readonly [readonly Tensor[], (...given: Tensor[]) => unknown]>> = {
    "broadcastTensors of one": () => [[one()], (x) => pumice.broadcastTensors(x)],
    "concat of one": () => [[one()], (x) => pumice.concat([x])],
    "meshgrid of one": () => [[one()], (x) => pumice.meshgrid([x])],
    "blockDiagonal of one": () => [[tensor([[2]])], (x) => pumice.blockDiagonal([x])],
    "einsum without sums": () => [[one()], (x) => pumice.einsum("i->i", x)],
    "where of one value": () => [[one()], (x) => pumice.where(true, x, x)],
    stopGradient: () => [[one()], (x) => pumice.stopGradient(x)],
    "linalg.triangularSolve with nothing": () => [
      [zeros([0, 0]), zeros([0, 0])],
      (a, b) => linalg.triangularSolve(a, b, { unitDiagonal: true }),
    ],
    "fft.fftshift of no axes": () => [[tensor(2)], (x) => fft.fftshift(x)],
    "fft.fftn along no axes": () => [[pumice.complex(one(), one())], (x) => fft.fftn(x, { axes: [] })],
    "linalg.cholesky of nothing": () => [[zeros([0, 0])], (a) => linalg.cholesky(a)],
    "random.shuffle of one": () => [[one()], (x) => random.shuffle(random.key(0), x)],
    "random.shuffle of one, independent": () => [
      [one()],
      (x) => random.shuffle(random.key(0), x, { independent: true }),
    ],
    "random.split of one": () => [[random.key(0)], (key) => random.split(key as random.Key, 1)],
  };
  for (const [name, make] of Object.entries(FUNCTIONS)) {
    test(name, () => {
      const [given, call] = make();
      checkHandles(given, call(...given), name);
    });
  }

  test("a loop may dispose of what roll gave in every round", async () => {
    const x = pumice.arange(5);
    for (let s = 0; s < 5; s++) {
      const y = x.roll(s, { axis: 0 });
      assert.deepEqual([...(await y.data())], [0, 1, 2, 3, 4].map((i) => (i + 5 - s) % 5)); // biome-ignore format: one line
      y.dispose();
    }
  });
});
