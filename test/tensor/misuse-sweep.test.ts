/**
 * Every method and every function with wrong arguments: what comes back is a value, or an error of ours that names the
 * operation that was called. Each row below has arguments that are right; the sweep spoils them one at a time. A method
 * that is missing from the table fails the test.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import * as pumice from "../../src/index.js";
import { fft, linalg, PumiceError, random, setDefaultDevice, signal, Tensor, tensor, zeros } from "../../src/index.js";
import { operations } from "../support/tensor-members.js";

before(() => setDefaultDevice("cpu"));

type Args = readonly unknown[];
type Call = (args: Args) => unknown;

/** What people pass by mistake. */
const WRONG: Readonly<Record<string, unknown>> = {
  undefined: undefined,
  null: null,
  "an object": {},
  "a foreign object": { values: [1, 2], shape: [2], node: {} },
  "a string": "x",
  "a number as a string": "1",
  "a slice that is none": "a:b",
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "a negative number": -7,
  "a fraction": 1.5,
  "a huge number": 2 ** 60,
  "a bigint": 10n ** 30n,
  true: true,
  "an empty list": [],
  "a list of strings": ["a", "b"],
  "a list of nothing": [null],
  "a ragged list": [[1], [2, 3]],
  "a typed array": new Float32Array([1, 2, 3]),
  "a DataView": new DataView(new ArrayBuffer(4)),
  "a date": new Date(0),
  "a function": () => 1,
  "a symbol": Symbol("no"),
};

/** They have no argument to get wrong. */
const WITHOUT_ARGUMENTS = ["T", "mT", "ndim"];

const x = (): Tensor => tensor([[1, 5, 3], [4, 2, 6]]); // biome-ignore format: a matrix
const whole = (values: number[] | number[][] = [0, 1]): Tensor => tensor(values, { dtype: "i32" });
const kernel = (): Tensor => zeros([1, 1, 2]);
const square = (): Tensor => tensor([[2, 1], [1, 2]]); // biome-ignore format: a matrix

const NONE =
  "asin acos atan asinh acosh atanh cbrt erf erfc erfInv lgamma digamma trigamma popcount countLeadingZeros neg abs sign square reciprocal sqrt rsqrt floor ceil trunc exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sigmoid softplus relu logicalNot bitwiseNot isNaN isInf isFinite real imag conj phase flatten nonzero argwhere negative positive bitwiseInvert signbit matrixTranspose corrcoef uniqueAll uniqueCounts uniqueInverse uniqueValues dataSync itemSync realize data bytes item";
const BINARY =
  "add sub mul div pow maximum minimum equal notEqual less lessEqual greater greaterEqual logicalAnd logicalOr logicalXor bitwiseAnd bitwiseOr bitwiseXor leftShift rightShift remainder mod fmod floorDivide logaddexp hypot atan2 quotient subtract multiply divide bitwiseLeftShift bitwiseRightShift copysign nextAfter";
const REDUCTIONS =
  "sum prod max min all any mean logsumexp countNonzero median mode nanSum nanProd nanMax nanMin nanMean nanMedian";
const QUANTILES = "quantile percentile nanQuantile nanPercentile";
const SETS = "union1d intersect1d setdiff1d setxor1d";
const WINDOWS = "windowSum windowMean windowProduct windowMax windowMin";
const UPDATES = "set addAt mulAt minAt maxAt";
const each = (names: string, args: () => Args) => Object.fromEntries(names.split(" ").map((name) => [name, args]));

/** Arguments that are right for x of [2, 3]; the last one is the options, where there are any. */
const METHODS: Readonly<Record<string, () => Args>> = {
  ...each(NONE, () => []),
  ...each(BINARY, () => [2]),
  ...each(REDUCTIONS, () => [{ axis: 0, keepDims: true }]),
  ...each(WINDOWS, () => [[2, 2], { axis: [0, 1], stride: 1, padding: "same", dilation: 1 }]),
  ...each(UPDATES, () => [0, "1:", 5]),
  ...each("sum prod", () => [{ axis: 0, keepDims: true, dtype: "f64" }]),
  ...each(QUANTILES, () => [0.5, { axis: 0, keepDims: true, method: "linear" }]),
  ...each(SETS, () => [x()]),
  ...each("nanVariance nanStd var", () => [{ axis: 0, keepDims: true, correction: 1 }]),
  ...each("argmax argmin nanArgmax nanArgmin", () => [{ axis: 0, keepDims: true, tie: "last" }]),
  ...each("nanCumsum nanCumprod", () => [{ axis: 0, reverse: true, exclusive: true }]),
  ...each("cumulativeSum cumulativeProd", () => [{ axis: 0, dtype: "f32", includeInitial: true }]),
  ...each("partition argpartition", () => [1, { axis: 0 }]),
  round: () => [{ decimals: 1 }],
  unique: () => [{ axis: 0, sorted: false, counts: false, inverse: true, equalNaN: true }],
  asType: () => ["i32"],
  toDevice: () => ["cpu"],
  permuteDims: () => [1, 0],
  vecdot: () => [x(), { axis: 0 }],
  isin: () => [x(), { invert: true }],
  interp: () => [[0, 1], [2, 3], { left: 0, right: 1 }], // biome-ignore format: pairs
  convolve: () => [tensor([1, 2]), { mode: "same" }],
  rot90: () => [1, { axes: [0, 1] }],
  unravelIndex: () => [[3, 2]],
  nanToNum: () => [{ nan: 0, posinf: 1, neginf: 2 }],
  clip: () => [0, 1],
  cast: () => ["i32", { saturate: true }],
  quantize: () => ["i8", 0.5, { axis: 0, blockSize: 2, zeroPoint: 1 }],
  dequantize: () => [0.5, { axis: 0, blockSize: 2, zeroPoint: 1, dtype: "f16" }],
  quantizationScale: () => ["i8", { axis: 0, blockSize: 2, symmetric: false }],
  bitcast: () => ["u32"],
  to: () => ["cpu"],
  isClose: () => [2, { rtol: 1, atol: 1, equalNaN: true }],
  allClose: () => [2, { rtol: 1, atol: 1, equalNaN: true }],
  variance: () => [{ axis: 0, keepDims: true, correction: 1 }],
  std: () => [{ axis: 0, keepDims: true, correction: 1 }],
  softmax: () => [{ axis: 0 }],
  norm: () => [{ axis: 0, keepDims: true, order: 1 }],
  covariance: () => [{ correction: 1 }],
  cumsum: () => [{ axis: 0, reverse: true, exclusive: true }],
  array: () => [{ rank: 2 }],
  arraySync: () => [{ rank: 2 }],
  cumprod: () => [{ axis: 0, reverse: true, exclusive: true }],
  cummax: () => [{ axis: 0, reverse: true }],
  cummin: () => [{ axis: 0, reverse: true }],
  cumlogsumexp: () => [{ axis: 0, reverse: true }],
  reshape: () => [3, 2],
  permute: () => [1, 0],
  transpose: () => [1, 0],
  swapAxes: () => [0, 1],
  moveAxis: () => [0, 1],
  squeeze: () => [[]],
  expandDims: () => [0],
  broadcastTo: () => [[2, 2, 3]],
  flip: () => [0],
  at: () => [0, "1:"],
  pad: () => [[[0, 1], [1, 0]], { value: 0, interior: [0, 1], mode: "constant" }], // biome-ignore format: pairs
  take: () => [whole(), { axis: 0 }],
  takeAlongAxis: () => [whole([[0, 1, 0]]), { axis: 0 }],
  roll: () => [1, { axis: 0 }],
  tile: () => [2, 1],
  repeat: () => [2, { axis: 0 }],
  split: () => [3, { axis: 1 }],
  unstack: () => [{ axis: 0 }],
  triu: () => [1],
  tril: () => [1],
  diagonal: () => [{ offset: 1, axes: [0, 1] }],
  trace: () => [{ offset: 1, axes: [0, 1] }],
  diagonalMatrix: () => [1],
  putDiagonal: () => [7, { offset: 1 }],
  oneHot: () => [7, { dtype: "f32", axis: 0 }],
  diff: () => [{ axis: 0, order: 1 }],
  sort: () => [{ axis: 0, descending: true }],
  argsort: () => [{ axis: 0, descending: true }],
  topK: () => [1, { axis: 0, largest: false }],
  searchSorted: () => [x(), { side: "left" }],
  scatter: () => [whole(), 5, { axis: 0, op: "add", deterministic: true }],
  putAlongAxis: () => [whole([[0, 1, 0]]), 5, { axis: 0, op: "add", deterministic: true }],
  scatterNd: () => [whole([[0, 1]]), 5, { op: "add", deterministic: true }],
  gatherNd: () => [whole([[0, 1]])],
  gather: () => [whole([[0], [1]]), { axes: [1], batchAxes: [0] }],
  bincount: () => [{ weights: x(), length: 3, minLength: 2, deterministic: true }],
  histogram: () => [{ bins: 3, range: [0, 9], weights: x(), density: true, deterministic: true }],
  matmul: () => [x().T, { precision: "high" }],
  dot: () => [x().T, { axes: [1, 0], batchAxes: [[], []], dtype: "f32" }],
  tensordot: () => [x().T, 1],
  inner: () => [x()],
  outer: () => [x()],
  vdot: () => [x()],
  kron: () => [x()],
  conv: () => [kernel(), { stride: 1, padding: "same", inputDilation: 1, kernelDilation: 1, featureGroups: 1, batchGroups: 1, inputLayout: "NCW", kernelLayout: "OIW", outputLayout: "NCW" }], // biome-ignore format: one row
  windowScatterMax: () => [x(), [1, 1], { axis: [0, 1], stride: 1, padding: "same", dilation: 1, initial: 0 }],
  windowScatterMin: () => [x(), [1, 1], { axis: [0, 1], stride: 1, padding: "same", dilation: 1, initial: 0 }],
};

/** Methods whose table row needs another receiver than x. */
const RECEIVERS: Readonly<Record<string, () => Tensor>> = {
  bitcast: x,
  dequantize: () => whole(),
  popcount: () => whole(),
  countLeadingZeros: () => whole(),
  bitwiseNot: () => whole(),
  ...Object.fromEntries(
    "bitwiseAnd bitwiseOr bitwiseXor leftShift rightShift quotient bitwiseInvert bitwiseLeftShift bitwiseRightShift unravelIndex"
      .split(" ")
      .map((n) => [n, () => whole()]),
  ),
  oneHot: () => whole(),
  bincount: () => whole([[0, 1, 2], [2, 1, 0]]), // biome-ignore format: a matrix
  item: () => tensor(1),
  itemSync: () => tensor(1),
  conv: () => zeros([1, 1, 5]),
  convolve: () => tensor([1, 2, 3]),
};

/** The same arguments for functions of a namespace. */
const rowsOf = (space: string, names: string, right: () => Args): Record<string, () => Args> =>
  Object.fromEntries(names.split(" ").map((name) => [`${space}.${name}`, right]));

const SEGMENTS = {
  fs: 2,
  window: "hann",
  nperseg: 2,
  noverlap: 1,
  nfft: 4,
  detrend: "constant",
  returnOnesided: true,
  axis: 1,
} as const;

const key = () => random.key(0);
const options = { dtype: "f32", device: "cpu" };
const FLOATS = "uniform normal exponential gumbel";

/** The same for functions. */
const FUNCTIONS: Readonly<Record<string, () => Args>> = {
  tensor: () => [[1, 2], { ...options, shape: [2, 1] }],
  fromBytes: () => [new Uint8Array(4), [4], "u8", { device: "cpu" }],
  full: () => [[2], 1, options],
  zeros: () => [[2], options],
  ones: () => [[2], options],
  zerosLike: () => [x(), options],
  onesLike: () => [x(), options],
  fullLike: () => [x(), 1, options],
  empty: () => [[2], options],
  emptyLike: () => [x(), options],
  asTensor: () => [[1, 2], options],
  asArray: () => [x(), options],
  logspace: () => [0, 1, 5, { ...options, endpoint: true, base: 2 }],
  geomspace: () => [1, 2, 5, { ...options, endpoint: true }],
  finfo: () => ["f32"],
  iinfo: () => ["i32"],
  resultType: () => [x(), "i32", 1],
  canCast: () => ["i32", "f32"],
  isDType: () => ["i32", "integral"],
  dtypes: () => [{ device: "cpu", kind: "integral" }],
  defaultDTypes: () => [{ device: "cpu" }],
  capabilities: () => [],
  broadcastArrays: () => [x(), x()],
  quantize: () => [x(), "i8", 0.5, { axis: 0, blockSize: 2, zeroPoint: 1 }],
  dequantize: () => [whole(), 0.5, { axis: 0, blockSize: 2, zeroPoint: 1, dtype: "f16" }],
  quantizationScale: () => [x(), "i8", { axis: 0, blockSize: 2, symmetric: false }],
  complex: () => [x(), 1],
  arange: () => [0, 4, 1, options],
  linspace: () => [0, 1, 5, { ...options, endpoint: true }],
  eye: () => [2, 3, { ...options, offset: 1 }],
  tri: () => [2, 3, { ...options, offset: 1 }],
  concat: () => [[x(), x()], { axis: 0 }],
  stack: () => [[x(), x()], { axis: 0 }],
  meshgrid: () => [[tensor([1, 2]), tensor([3])], { indexing: "ij" }],
  broadcastTensors: () => [x(), x()],
  blockDiagonal: () => [[x(), x()]],
  where: () => [x().greater(2), x(), 0],
  einsum: () => ["ij,jk->ik", x(), x().T],
  matmul: () => [x(), x().T, { precision: "high" }],
  matmulPrecision: () => [],
  setMatmulPrecision: () => ["highest"],
  dot: () => [x(), x().T, { axes: [1, 0], batchAxes: [[], []], dtype: "f32" }],
  tensordot: () => [x(), x().T, 1],
  inner: () => [x(), x()],
  outer: () => [x(), x()],
  vdot: () => [x(), x()],
  kron: () => [x(), x()],
  attention: () => [
    zeros([1, 2, 3]),
    zeros([1, 4, 3]),
    zeros([1, 4, 3]),
    { causal: true, scale: 1, window: 2, keyLength: 3 },
  ],
  conv: () => [zeros([1, 1, 5]), kernel(), { stride: 1, padding: "same" }],
  explain: () => [x(), { verbose: true }],
  withDevice: () => ["cpu", () => 1],
  setDefaultDevice: () => ["cpu"],
  scope: () => [() => 1],
  "random.key": () => [0, { device: "cpu" }],
  "random.split": () => [key(), 2],
  "random.foldIn": () => [key(), 2],
  "random.bits": () => [key(), [2], { dtype: "u32" }],
  ...Object.fromEntries(FLOATS.split(" ").map((name) => [`random.${name}`, () => [key(), [2], { dtype: "f32" }]])),
  "random.uniform": () => [key(), [2], { dtype: "f32", low: 0, high: 2 }],
  "random.truncatedNormal": () => [key(), -1, 1, [2], { dtype: "f32" }],
  "random.randint": () => [key(), [2], 0, 5, { dtype: "i32" }],
  "random.bernoulli": () => [key(), 0.5, [2]],
  "random.categorical": () => [key(), x(), { axis: 0, shape: [3] }],
  "random.gamma": () => [key(), 2, [2], { dtype: "f32" }],
  "random.logGamma": () => [key(), 2, [2], { dtype: "f32" }],
  "random.beta": () => [key(), 2, 3, [2], { dtype: "f32" }],
  "random.poisson": () => [key(), 3, [2], { dtype: "i32" }],
  "random.binomial": () => [key(), 9, 0.5, [2], { dtype: "i32" }],
  "random.permutation": () => [key(), 3],
  "random.shuffle": () => [key(), x(), { axis: 0, independent: false }],
  "random.choice": () => [key(), x(), { shape: [2], replace: true, p: tensor([0.5, 0.5]), axis: 0 }],
  "random.multivariateNormal": () => [key(), tensor([0, 0]), square(), [2], { dtype: "f32" }],
  ...rowsOf("fft", "fft ifft rfft irfft hfft ihfft", () => [x(), { n: 3, axis: 0, norm: "ortho" }]),
  ...rowsOf("fft", "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn", () => [
    x(),
    { s: [3, 4], axes: [0, 1], norm: "forward" },
  ]),
  ...rowsOf("fft", "dct idct dst idst", () => [x(), { type: 2, n: 3, axis: 0, norm: "ortho" }]),
  ...rowsOf("fft", "fftfreq rfftfreq", () => [4, { d: 0.5, dtype: "f32", device: "cpu" }]),
  ...rowsOf("fft", "fftshift ifftshift", () => [x(), { axes: 0 }]),
  ...rowsOf("signal", "boxcar bartlett triang cosine hann hamming blackman blackmanharris nuttall flattop", () => [
    5,
    { sym: false, dtype: "f32", device: "cpu" },
  ]),
  ...rowsOf("signal", "kaiser gaussian", () => [5, 2, { sym: false, dtype: "f32", device: "cpu" }]),
  "signal.tukey": () => [5, { alpha: 0.3, sym: false, dtype: "f32", device: "cpu" }],
  "signal.getWindow": () => ["hann", 5, { sym: false, dtype: "f32", device: "cpu" }],
  ...rowsOf("signal", "convolve correlate", () => [x(), square(), { mode: "same", method: "auto" }]),
  ...rowsOf("signal", "fftConvolve oaConvolve", () => [x(), x(), { mode: "same", axes: 1 }]),
  "signal.resample": () => [x(), 4, { axis: 1 }],
  "signal.hilbert": () => [x(), { n: 3, axis: 0 }],
  "signal.detrend": () => [x(), { axis: 0, type: "linear", bp: [1] }],
  "signal.stft": () => [x(), { ...SEGMENTS, boundary: "zeros", padded: true, scaling: "psd" }],
  "signal.istft": () => [
    x(),
    { fs: 2, window: "hann", nperseg: 2, noverlap: 1, nfft: 2, scaling: "psd", inputOnesided: true, boundary: true },
  ],
  "signal.welch": () => [x(), { ...SEGMENTS, scaling: "spectrum", average: "median" }],
  "signal.csd": () => [x(), x(), { ...SEGMENTS, scaling: "spectrum", average: "median" }],
  "signal.coherence": () => [x(), x(), SEGMENTS],
  "signal.periodogram": () => [
    x(),
    { fs: 2, window: "hann", nfft: 3, detrend: "constant", returnOnesided: true, axis: 1, scaling: "density" },
  ],
  "linalg.cholesky": () => [square(), { upper: true }],
  "linalg.triangularSolve": () => [
    square(),
    square(),
    { lower: true, transposed: false, unitDiagonal: false, left: true },
  ],
  "linalg.choSolve": () => [square(), square(), { upper: false }],
  "linalg.qr": () => [square(), { mode: "reduced", pivoting: false }],
  "linalg.eigh": () => [square(), { upper: true }],
  "linalg.eig": () => [square()],
  "linalg.eigvals": () => [square()],
  "linalg.ldl": () => [square(), { upper: true }],
  "linalg.hermitianFunction": () => [square(), (v: Tensor) => v, { upper: true }],
  "linalg.solveSylvester": () => [square(), square(), square()],
  "linalg.eigvalsh": () => [square(), { upper: true }],
  "linalg.svd": () => [square(), { full: true }],
  "linalg.svdvals": () => [square()],
  "linalg.randomizedSvd": () => [key(), square(), 1, { oversampling: 1, iterations: 1 }],
  "linalg.polar": () => [square()],
  "linalg.cond": () => [square(), { order: 1 }],
  "linalg.matrixRank": () => [square(), { rtol: 0.001 }],
  "linalg.pinv": () => [square(), { rtol: 0.001 }],
  "linalg.lstsq": () => [square(), square(), { rtol: 0.001 }],
  "linalg.lu": () => [square()],
  "linalg.luFactor": () => [square()],
  "linalg.luSolve": () => [linalg.luFactor(square()), square(), { transposed: true }],
  "linalg.solve": () => [square(), square()],
  "linalg.inv": () => [square()],
  "linalg.det": () => [square()],
  "linalg.slogdet": () => [square()],
  "linalg.matrixExp": () => [square()],
  "linalg.matrixPower": () => [square(), 3],
  "linalg.matrixNorm": () => [square(), { keepDims: true, order: 1 }],
  "linalg.vectorNorm": () => [square(), { axis: 0, keepDims: true, order: 1 }],
  "linalg.adjoint": () => [square()],
  "linalg.cross": () => [tensor([1, 2, 3]), tensor([1, 2, 3]), { axis: 0 }],
  "linalg.multiDot": () => [[square(), square()]],
};

/** Methods as functions: the receiver is the first argument. */
const OF_METHODS: Readonly<Record<string, () => Args>> = Object.fromEntries(
  Object.entries(METHODS)
    .filter(([name]) => name in pumice && !(name in FUNCTIONS))
    .map(([name, right]) => [name, () => [(RECEIVERS[name] ?? x)(), ...right()]]),
);

/** Exported, and not about tensors given by users, or tested in test/transforms, test/io and test/tensor/tune.test.ts. */
const ELSEWHERE = new Set([
  ...["version", "newAxis", "defaultDevice", "devices", "profile", "tune", "io", "tree", "Tensor", "random", "linalg"],
  ...["fft", "signal"],
  // It waits for the device (test/linalg/check.test.ts); it calls a function of the user's (iterative.test.ts).
  ...["linalg.check", "linalg.cg", "linalg.gmres"],
  // The same functions as without `linalg.`.
  ...["diagonal", "matmul", "matrixTranspose", "outer", "tensordot", "trace", "vecdot"].map((name) => `linalg.${name}`),
  ...["associativeScan", "cond", "forLoop", "scan", "switchCase", "whileLoop", "checkpoint", "customGradient", "grad"],
  ...["jvp", "linearize", "stopGradient", "valueAndGrad", "vjp", "jit", "hessian", "hvp", "jacobian", "vmap"],
]);

const isOptions = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** The tensors in what came back are computed: an error must come when the operation is called. */
function compute(value: unknown): void {
  if (value instanceof Tensor) {
    if (value.size <= 1000) value.dataSync();
  } else if (Array.isArray(value)) for (const part of value) compute(part);
  else if (isOptions(value)) for (const part of Object.values(value)) compute(part);
}

/** Nothing when the call gives a value or a good error, else what is wrong. */
function complaint(name: string, what: string, call: () => unknown): string | null {
  let value: unknown;
  try {
    value = call();
  } catch (error) {
    if (!(error instanceof PumiceError)) return `${what} gave ${error}`;
    const named = new RegExp(`^${name.replace(".", "\\.")}\\b`);
    return named.test(error.message) ? null : `${what} does not name the operation: ${error.message}`;
  }
  if (value instanceof Promise) {
    value.catch(() => {});
    return null;
  }
  try {
    compute(value);
  } catch (error) {
    return `${what} failed when it was computed: ${error}`;
  }
  return null;
}

/** Complaints about every way to spoil the arguments. */
function complaints(name: string, right: () => Args, call: Call): string[] {
  const found: (string | null)[] = [];
  const args = right();
  assert.doesNotThrow(() => call(right()), `the row of ${name} is right`);
  const at = (position: number, value: unknown): Args => right().map((arg, i) => (i === position ? value : arg));
  for (const [what, value] of Object.entries(WRONG)) {
    for (let i = 0; i < Math.max(1, args.length); i++) {
      const spoilt = args.length === 0 ? [value] : at(i, value);
      found.push(complaint(name, `${what} as argument ${i}`, () => call(spoilt)));
    }
    const last = args.at(-1);
    if (!isOptions(last)) continue;
    for (const option of Object.keys(last)) {
      const spoilt = at(args.length - 1, { ...last, [option]: value });
      found.push(complaint(name, `${what} as the option ${option}`, () => call(spoilt)));
    }
  }
  for (let count = 0; count < args.length; count++) {
    found.push(complaint(name, `${count} arguments`, () => call(right().slice(0, count))));
  }
  return found.filter((each) => each !== null);
}

function checkOptionsOf(right: () => Args, call: Call): void {
  const args = right();
  const last = args.at(-1);
  if (!isOptions(last)) return;
  const before = args.slice(0, -1);
  assert.throws(
    () => call([...before, { ...last, nonsense: 1 }]),
    /there is no option "nonsense"; (there are|the only one is) /,
  );
  assert.throws(() => call([...before, Symbol("no")]), /options/);
}

/** They take any number of arguments. */
const ANY_NUMBER = new Set(
  `${UPDATES} at reshape permute transpose tile arange eye tri broadcastTensors broadcastArrays permuteDims resultType einsum`.split(
    " ",
  ),
);

/** One argument more than the row has, which has all of them. */
function checkSurplus(name: string, right: () => Args, call: Call): void {
  if (ANY_NUMBER.has(name)) return;
  const message = new RegExp(
    `^${name.replace(".", "\\.")}: takes (no|one|\\d) arguments?( at most)?, but (also )?got 7; leave`,
  );
  assert.throws(() => call([...right(), 7]), { name: "ArgumentError", message });
  assert.doesNotThrow(() => call([...right(), undefined]), "an argument that is left undefined");
}

describe("wrong arguments of methods", () => {
  const names = operations().filter((name) => !WITHOUT_ARGUMENTS.includes(name));

  test("every method is in the table", () => {
    assert.deepEqual(names.filter((name) => !(name in METHODS)), []); // biome-ignore format: one line
  });

  for (const [name, right] of Object.entries(METHODS)) {
    const call: Call = (args) => {
      const receiver = (RECEIVERS[name] ?? x)();
      return (receiver as unknown as Record<string, (...args: Args) => unknown>)[name]!(...args);
    };
    test(`${name} gives a value or names itself`, () => assert.deepEqual(complaints(name, right, call), []));
    test(`${name} knows its options`, () => checkOptionsOf(right, call));
    test(`${name} refuses surplus arguments`, () => checkSurplus(name, right, call));
  }
});

describe("receivers that do not fit", () => {
  const receivers: Readonly<Record<string, () => Tensor>> = {
    bool: () => x().greater(2),
    i32: () => x().cast("i32"),
    u8: () => x().cast("u8"),
    c64: () => x().cast("c64"),
    "a scalar": () => tensor(3),
    "no elements": () => zeros([0, 3]),
    "a vector": () => tensor([1, 2, 3]),
  };
  for (const [name, right] of Object.entries(METHODS)) {
    test(`${name} gives a value or names itself`, () => {
      const found = Object.entries(receivers).map(([what, receiver]) =>
        complaint(name, what, () =>
          (receiver() as unknown as Record<string, (...args: Args) => unknown>)[name]!(...right()),
        ),
      );
      assert.deepEqual(found.filter((each) => each !== null), []); // biome-ignore format: one line
    });
  }
});

describe("wrong arguments of functions", () => {
  const spaces = { "": pumice, "random.": random, "linalg.": linalg, "fft.": fft, "signal.": signal } as const;
  const exported: Record<string, (...args: Args) => unknown> = Object.fromEntries(
    Object.entries(spaces).flatMap(([prefix, space]) =>
      Object.entries(space)
        .filter(([name]) => !name.endsWith("Error") && !ELSEWHERE.has(prefix + name))
        .map(([name, value]) => [prefix + name, value as (...args: Args) => unknown]),
    ),
  );

  test("every function is in the table", () => {
    const all = { ...FUNCTIONS, ...OF_METHODS };
    assert.deepEqual(Object.keys(exported).filter((name) => !(name in all)), []); // biome-ignore format: one line
  });

  for (const [name, right] of Object.entries({ ...FUNCTIONS, ...OF_METHODS })) {
    const call: Call = (args) => exported[name]!(...args);
    test(`${name} gives a value or names itself`, () => assert.deepEqual(complaints(name, right, call), []));
    test(`${name} knows its options`, () => checkOptionsOf(right, call));
    test(`${name} refuses surplus arguments`, () => checkSurplus(name, right, call));
  }

  test("transforms, files and trees refuse surplus arguments too", async () => {
    const others = { "": pumice, "io.": pumice.io, "tree.": pumice.tree };
    const takesAny = "cond switchCase vjp linearize tree.map".split(" ");
    for (const [prefix, space] of Object.entries(others)) {
      for (const [key, value] of Object.entries(space as Record<string, unknown>)) {
        const name = prefix + key;
        if (typeof value !== "function" || /^class/.test(String(value))) continue;
        if (ANY_NUMBER.has(name) || takesAny.includes(name)) continue;
        // The arguments are counted before they are looked at.
        await assert.rejects(async () => value(...new Array(8), 7), {
          message: new RegExp(`^${name}: takes .* got .*7; `),
        });
      }
    }
  });
});
