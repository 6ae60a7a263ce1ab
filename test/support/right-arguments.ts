/**
 * Arguments that are right, for every method of `Tensor` and every function of tensors: the last one is the options, where there
 * are any, with each of them. For sweeps that spoil or change them one at a time (tensor/misuse-sweep.test.ts,
 * tensor/number-sweep.test.ts).
 */
import * as pumice from "../../src/index.js";
import { linalg, random, type Tensor, tensor, zeros } from "../../src/index.js";

export type Args = readonly unknown[];

export const rightTensor = (): Tensor => tensor([[1, 5, 3], [4, 2, 6]]); // biome-ignore format: a matrix
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
export const UPDATES = "set addAt mulAt minAt maxAt";
const each = (names: string, args: () => Args) => Object.fromEntries(names.split(" ").map((name) => [name, args]));

/** Arguments that are right for x of [2, 3]; the last one is the options, where there are any. */
export const METHODS: Readonly<Record<string, () => Args>> = {
  ...each(NONE, () => []),
  ...each(BINARY, () => [2]),
  ...each(REDUCTIONS, () => [{ axis: 0, keepDims: true }]),
  ...each(WINDOWS, () => [[2, 2], { axis: [0, 1], stride: 1, padding: "same", dilation: 1 }]),
  ...each(UPDATES, () => [0, "1:", 5]),
  ...each("sum prod", () => [{ axis: 0, keepDims: true, dtype: "f64" }]),
  ...each(QUANTILES, () => [0.5, { axis: 0, keepDims: true, method: "linear" }]),
  ...each(SETS, () => [rightTensor()]),
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
  vecdot: () => [rightTensor(), { axis: 0 }],
  isin: () => [rightTensor(), { invert: true }],
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
  searchSorted: () => [rightTensor(), { side: "left" }],
  scatter: () => [whole(), 5, { axis: 0, op: "add", deterministic: true }],
  putAlongAxis: () => [whole([[0, 1, 0]]), 5, { axis: 0, op: "add", deterministic: true }],
  scatterNd: () => [whole([[0, 1]]), 5, { op: "add", deterministic: true }],
  gatherNd: () => [whole([[0, 1]])],
  gather: () => [whole([[0], [1]]), { axes: [1], batchAxes: [0] }],
  bincount: () => [{ weights: rightTensor(), length: 3, minLength: 2, deterministic: true }],
  histogram: () => [{ bins: 3, range: [0, 9], weights: rightTensor(), density: true, deterministic: true }],
  matmul: () => [rightTensor().T, { precision: "high" }],
  dot: () => [rightTensor().T, { axes: [1, 0], batchAxes: [[], []], dtype: "f32" }],
  tensordot: () => [rightTensor().T, 1],
  inner: () => [rightTensor()],
  outer: () => [rightTensor()],
  vdot: () => [rightTensor()],
  kron: () => [rightTensor()],
  conv: () => [kernel(), { stride: 1, padding: "same", inputDilation: 1, kernelDilation: 1, featureGroups: 1, batchGroups: 1, inputLayout: "NCW", kernelLayout: "OIW", outputLayout: "NCW" }], // biome-ignore format: one row
  windowScatterMax: () => [
    rightTensor(),
    [1, 1],
    { axis: [0, 1], stride: 1, padding: "same", dilation: 1, initial: 0 },
  ],
  windowScatterMin: () => [
    rightTensor(),
    [1, 1],
    { axis: [0, 1], stride: 1, padding: "same", dilation: 1, initial: 0 },
  ],
};

/** Methods whose table row needs another receiver than x. */
export const RECEIVERS: Readonly<Record<string, () => Tensor>> = {
  bitcast: rightTensor,
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
export const FUNCTIONS: Readonly<Record<string, () => Args>> = {
  tensor: () => [[1, 2], { ...options, shape: [2, 1] }],
  fromBytes: () => [new Uint8Array(4), [4], "u8", { device: "cpu" }],
  full: () => [[2], 1, options],
  zeros: () => [[2], options],
  ones: () => [[2], options],
  zerosLike: () => [rightTensor(), options],
  onesLike: () => [rightTensor(), options],
  fullLike: () => [rightTensor(), 1, options],
  empty: () => [[2], options],
  emptyLike: () => [rightTensor(), options],
  asTensor: () => [[1, 2], options],
  asArray: () => [rightTensor(), options],
  logspace: () => [0, 1, 5, { ...options, endpoint: true, base: 2 }],
  geomspace: () => [1, 2, 5, { ...options, endpoint: true }],
  finfo: () => ["f32"],
  iinfo: () => ["i32"],
  resultType: () => [rightTensor(), "i32", 1],
  canCast: () => ["i32", "f32"],
  isDType: () => ["i32", "integral"],
  dtypes: () => [{ device: "cpu", kind: "integral" }],
  defaultDTypes: () => [{ device: "cpu" }],
  capabilities: () => [],
  broadcastArrays: () => [rightTensor(), rightTensor()],
  quantize: () => [rightTensor(), "i8", 0.5, { axis: 0, blockSize: 2, zeroPoint: 1 }],
  dequantize: () => [whole(), 0.5, { axis: 0, blockSize: 2, zeroPoint: 1, dtype: "f16" }],
  quantizationScale: () => [rightTensor(), "i8", { axis: 0, blockSize: 2, symmetric: false }],
  complex: () => [rightTensor(), 1],
  arange: () => [0, 4, 1, options],
  linspace: () => [0, 1, 5, { ...options, endpoint: true }],
  eye: () => [2, 3, { ...options, offset: 1 }],
  tri: () => [2, 3, { ...options, offset: 1 }],
  concat: () => [[rightTensor(), rightTensor()], { axis: 0 }],
  stack: () => [[rightTensor(), rightTensor()], { axis: 0 }],
  meshgrid: () => [[tensor([1, 2]), tensor([3])], { indexing: "ij" }],
  broadcastTensors: () => [rightTensor(), rightTensor()],
  blockDiagonal: () => [[rightTensor(), rightTensor()]],
  where: () => [rightTensor().greater(2), rightTensor(), 0],
  einsum: () => ["ij,jk->ik", rightTensor(), rightTensor().T],
  matmul: () => [rightTensor(), rightTensor().T, { precision: "high" }],
  matmulPrecision: () => [],
  setMatmulPrecision: () => ["highest"],
  dot: () => [rightTensor(), rightTensor().T, { axes: [1, 0], batchAxes: [[], []], dtype: "f32" }],
  tensordot: () => [rightTensor(), rightTensor().T, 1],
  inner: () => [rightTensor(), rightTensor()],
  outer: () => [rightTensor(), rightTensor()],
  vdot: () => [rightTensor(), rightTensor()],
  kron: () => [rightTensor(), rightTensor()],
  attention: () => [
    zeros([1, 2, 3]),
    zeros([1, 4, 3]),
    zeros([1, 4, 3]),
    { causal: true, scale: 1, window: 2, keyLength: 3 },
  ],
  conv: () => [zeros([1, 1, 5]), kernel(), { stride: 1, padding: "same" }],
  explain: () => [rightTensor(), { verbose: true }],
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
  "random.categorical": () => [key(), rightTensor(), { axis: 0, shape: [3] }],
  "random.gamma": () => [key(), 2, [2], { dtype: "f32" }],
  "random.logGamma": () => [key(), 2, [2], { dtype: "f32" }],
  "random.beta": () => [key(), 2, 3, [2], { dtype: "f32" }],
  "random.poisson": () => [key(), 3, [2], { dtype: "i32" }],
  "random.binomial": () => [key(), 9, 0.5, [2], { dtype: "i32" }],
  "random.permutation": () => [key(), 3],
  "random.shuffle": () => [key(), rightTensor(), { axis: 0, independent: false }],
  "random.choice": () => [key(), rightTensor(), { shape: [2], replace: true, p: tensor([0.5, 0.5]), axis: 0 }],
  "random.multivariateNormal": () => [key(), tensor([0, 0]), square(), [2], { dtype: "f32" }],
  ...rowsOf("fft", "fft ifft rfft irfft hfft ihfft", () => [rightTensor(), { n: 3, axis: 0, norm: "ortho" }]),
  ...rowsOf("fft", "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn", () => [
    rightTensor(),
    { s: [3, 4], axes: [0, 1], norm: "forward" },
  ]),
  ...rowsOf("fft", "dct idct dst idst", () => [rightTensor(), { type: 2, n: 3, axis: 0, norm: "ortho" }]),
  ...rowsOf("fft", "fftfreq rfftfreq", () => [4, { d: 0.5, dtype: "f32", device: "cpu" }]),
  ...rowsOf("fft", "fftshift ifftshift", () => [rightTensor(), { axes: 0 }]),
  ...rowsOf("signal", "boxcar bartlett triang cosine hann hamming blackman blackmanharris nuttall flattop", () => [
    5,
    { sym: false, dtype: "f32", device: "cpu" },
  ]),
  ...rowsOf("signal", "kaiser gaussian", () => [5, 2, { sym: false, dtype: "f32", device: "cpu" }]),
  "signal.tukey": () => [5, { alpha: 0.3, sym: false, dtype: "f32", device: "cpu" }],
  "signal.getWindow": () => ["hann", 5, { sym: false, dtype: "f32", device: "cpu" }],
  ...rowsOf("signal", "convolve correlate", () => [rightTensor(), square(), { mode: "same", method: "auto" }]),
  ...rowsOf("signal", "fftConvolve oaConvolve", () => [rightTensor(), rightTensor(), { mode: "same", axes: 1 }]),
  "signal.resample": () => [rightTensor(), 4, { axis: 1 }],
  "signal.hilbert": () => [rightTensor(), { n: 3, axis: 0 }],
  "signal.detrend": () => [rightTensor(), { axis: 0, type: "linear", bp: [1] }],
  "signal.stft": () => [rightTensor(), { ...SEGMENTS, boundary: "zeros", padded: true, scaling: "psd" }],
  "signal.istft": () => [
    rightTensor(),
    { fs: 2, window: "hann", nperseg: 2, noverlap: 1, nfft: 2, scaling: "psd", inputOnesided: true, boundary: true },
  ],
  "signal.welch": () => [rightTensor(), { ...SEGMENTS, scaling: "spectrum", average: "median" }],
  "signal.csd": () => [rightTensor(), rightTensor(), { ...SEGMENTS, scaling: "spectrum", average: "median" }],
  "signal.coherence": () => [rightTensor(), rightTensor(), SEGMENTS],
  "signal.periodogram": () => [
    rightTensor(),
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
export const OF_METHODS: Readonly<Record<string, () => Args>> = Object.fromEntries(
  Object.entries(METHODS)
    .filter(([name]) => name in pumice && !(name in FUNCTIONS))
    .map(([name, right]) => [name, () => [(RECEIVERS[name] ?? rightTensor)(), ...right()]]),
);

export const isOptions = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
