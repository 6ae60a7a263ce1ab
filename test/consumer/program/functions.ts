/** A consumer's program, second part: every function, class and constant of `pumice`. */
import * as pumice from "pumice";
import {
  arange,
  grad,
  io,
  jit,
  linalg,
  type PadOptions,
  type ReduceOptions,
  random,
  scan,
  type Tensor,
  tensor,
  tree,
  zeros,
} from "pumice";
import { path } from "./folder.js";
import { freeFunctions } from "./free-functions.js";
import type { Calls } from "./methods.js";
import { signals } from "./signals.js";

const v = (): Tensor<"f32"> => tensor([1, 2, 3]);
const m = (): Tensor<"f32"> => tensor([[2, 1], [1, 2]]); // biome-ignore format: a matrix
const yes = (): Tensor<"bool"> => tensor(true);
const loss = (w: Tensor, y: Tensor): Tensor => w.mul(y).sum();

const classes: Calls = {
  ArgumentError: () => new pumice.ArgumentError("why"),
  DTypeError: () => new pumice.DTypeError("why"),
  DeviceError: () => new pumice.DeviceError("why"),
  DeviceLostError: () => new pumice.DeviceLostError("why"),
  DisposedError: () => new pumice.DisposedError("why"),
  FormatError: () => new pumice.FormatError("why"),
  OutOfMemoryError: () => new pumice.OutOfMemoryError("why"),
  PumiceError: (): Error => new pumice.PumiceError("why", { cause: 1 }),
  LinalgError: () => new pumice.LinalgError("why"),
  ShapeError: () => new pumice.ShapeError("why"),
  SizeMismatchError: () => new pumice.SizeMismatchError("why"),
  TraceError: () => new pumice.TraceError("why"),
  UnsupportedError: () => new pumice.UnsupportedError("why"),
  Tensor: (): boolean => (v() as unknown) instanceof pumice.Tensor,
  newAxis: () => v().at(pumice.newAxis),
  version: (): string => pumice.version,
};

const creation: Calls = {
  arange: () => [arange(5), arange(1, 5), arange(0, 1, 0.25), arange(5, { dtype: "f64" })],
  blockDiagonal: () => pumice.blockDiagonal([m(), m()]),
  broadcastTensors: () => pumice.broadcastTensors(v(), m().at(0, 0)),
  complex: (): Tensor<"c64"> => pumice.complex(v(), 1),
  concat: () => pumice.concat([m(), m()], { axis: 1 }),
  eye: () => [pumice.eye(2), pumice.eye(2, 3, { offset: 1, dtype: "f64" })],
  fromBytes: (): Tensor<"u16"> => pumice.fromBytes(new Uint8Array([1, 0]), [1], "u16", { device: "cpu" }),
  full: (): Tensor<"i64"> => pumice.full([2], 3n),
  fullLike: () => pumice.fullLike(v(), 2),
  linspace: () => pumice.linspace(0, 1, 3, { endpoint: false, dtype: "f64" }),
  meshgrid: () => pumice.meshgrid([v(), v()], { indexing: "ij" }),
  ones: () => pumice.ones([2]),
  onesLike: () => pumice.onesLike(v()),
  stack: () => pumice.stack([v(), v()], { axis: -1 }),
  tensor: (): Tensor<"f64"> => tensor([[1], [2]], { dtype: "f64", device: "cpu", shape: [1, 2] }),
  tri: () => [pumice.tri(2), pumice.tri(2, 3, { offset: 1 })],
  where: () => pumice.where(v().greater(1), v(), 0),
  zeros: () => zeros([2, 2], { dtype: "i32" }),
  zerosLike: (): Tensor<"i32"> => pumice.zerosLike(v(), { dtype: "i32" }),
};

const products: Calls = {
  attention: () =>
    pumice.attention(zeros([1, 4, 3, 2]), zeros([1, 2, 5, 2]), zeros([1, 2, 5, 2]), {
      ...{ causal: true, scale: 0.5, window: [2, 1], keyLength: 4 },
      mask: pumice.ones([3, 5], { dtype: "bool" }),
      bias: zeros([4, 1, 5]),
    }),
  conv: () => pumice.conv(zeros([1, 1, 4]), zeros([1, 1, 2]), { stride: 2 }),
  dot: () => pumice.dot(m(), m()),
  einsum: () => pumice.einsum("ij,jk->ik", m(), m()),
  inner: () => pumice.inner(v(), v()),
  kron: () => pumice.kron(m(), m()),
  matmul: () => pumice.matmul(m(), m(), { precision: "high" }),
  matmulPrecision: () => pumice.matmulPrecision(),
  outer: () => pumice.outer(v(), v()),
  tensordot: () => pumice.tensordot(m(), m(), 1),
  vdot: () => pumice.vdot(v(), v()),
};

const quantized: Calls = {
  dequantize: (): Tensor<"f16"> => pumice.dequantize(pumice.quantize(v(), "i8", 0.5), 0.5, { dtype: "f16" }),
  quantizationScale: () => pumice.quantizationScale(v(), "u8", { symmetric: false }).zeroPoint,
  quantize: (): Tensor<"f8e4m3"> => pumice.quantize(v(), "f8e4m3", 0.5),
};

const devices: Calls = {
  defaultDevice: (): string => pumice.defaultDevice(),
  devices: (): string[] => pumice.devices(),
  explain: (): string => pumice.explain(v().add(1), { verbose: true }),
  profile: async () => (await pumice.profile(() => v().add(1).dataSync(), { device: "cpu" })).toString(),
  scope: () => pumice.scope(() => v().add(1)),
  setDefaultDevice: () => pumice.setDefaultDevice("cpu"),
  setMatmulPrecision: () => pumice.setMatmulPrecision("highest"),
  tune: async (): Promise<string[]> =>
    (await pumice.tune(["16x16x16:f32"], { device: "cpu" })).map(({ product, tiling }) => product + tiling),
  withDevice: () => pumice.withDevice("cpu", () => v()),
};

const transforms: Calls = {
  associativeScan: () => pumice.associativeScan((a: Tensor, b: Tensor) => a.add(b), v() as Tensor, { reverse: true }),
  checkpoint: () => pumice.checkpoint((x: Tensor) => x.exp())(v()),
  cond: () =>
    pumice.cond(
      yes(),
      (x: Tensor) => x.add(1),
      (x: Tensor) => x,
      v(),
    ),
  customGradient: () => pumice.customGradient((x: Tensor) => x.exp(), { vjp: (ct, y) => [ct.mul(y)] })(v()),
  forLoop: () => pumice.forLoop(0, 3, (i, x: Tensor) => x.add(i), v()),
  grad: () => [grad(loss)(v(), v()), grad(loss, { argument: [0, 1] })(v(), v())[1].add(1)],
  hessian: () => pumice.hessian((x: Tensor) => x.square().sum())(v()),
  hvp: () => pumice.hvp((x: Tensor) => x.square().sum(), v() as Tensor, v()),
  jacobian: () => pumice.jacobian((x: Tensor) => x.square(), { mode: "forward" })(v()),
  jit: () => jit((x: Tensor, n: number) => x.mul(n), { static: 1, maxPrograms: 4 })(v(), 2),
  jvp: () => pumice.jvp(loss, [v(), v()], [v(), v()])[1],
  linearize: () => pumice.linearize(loss, v(), v())[1](v(), v()),
  scan: () => scan((sum: Tensor, x: Tensor) => [sum.add(x), sum], zeros([]) as Tensor, v() as Tensor)[1],
  stopGradient: () => pumice.stopGradient({ w: v() }).w,
  switchCase: () => pumice.switchCase(tensor(1, { dtype: "i32" }), [(x: Tensor) => x, (x: Tensor) => x.neg()], v()),
  valueAndGrad: () => pumice.valueAndGrad(loss)(v(), v())[1],
  vjp: () => pumice.vjp(loss, v(), v())[1](tensor(1)),
  vmap: () => pumice.vmap(loss, { in: [0, null] })(m(), m().at(0)),
  whileLoop: () =>
    pumice.whileLoop(
      (x: Tensor) => x.less(3),
      (x: Tensor) => x.add(1),
      tensor(0) as Tensor,
    ),
};

const key = () => random.key(1n, { device: "cpu" });

const randomNumbers: Calls = {
  "random.key": () => key(),
  "random.split": () => [random.split(key())[0], random.split(key(), [2, 2])],
  "random.foldIn": () => random.foldIn(key(), 3),
  "random.bits": (): Tensor<"u8"> => random.bits(key(), [2], { dtype: "u8" }),
  "random.uniform": () => random.uniform(key(), [2], { low: -1, high: 1 }),
  "random.normal": (): Tensor<"f64"> => random.normal(key(), [2], { dtype: "f64" }),
  "random.truncatedNormal": () => random.truncatedNormal(key(), -1, 1, [2]),
  "random.bernoulli": () => random.bernoulli(key(), 0.3, [2]),
  "random.randint": () => random.randint(key(), [2], 0, 10),
  "random.exponential": () => random.exponential(key(), [2]),
  "random.gumbel": () => random.gumbel(key(), [2]),
  "random.categorical": () => random.categorical(key(), v(), { shape: [2] }),
  "random.gamma": () => random.gamma(key(), 2, [2]),
  "random.logGamma": () => random.logGamma(key(), 2, [2]),
  "random.beta": () => random.beta(key(), 2, 3, [2]),
  "random.poisson": () => random.poisson(key(), 4, [2]),
  "random.binomial": () => random.binomial(key(), 10, 0.5, [2]),
  "random.multivariateNormal": () => random.multivariateNormal(key(), zeros([2]), m(), [3]),
  "random.permutation": () => random.permutation(key(), 5),
  "random.shuffle": (): Tensor<"f32"> => random.shuffle(key(), v(), { axis: 0 }),
  "random.choice": () => random.choice(key(), 5, { shape: [2], replace: false }),
};

const files: Calls = {
  "io.saveNpy": () => io.saveNpy(path("a.npy"), v()),
  "io.loadNpy": async () => (await io.loadNpy(path("a.npy"), { device: "cpu" })).add(1),
  "io.saveNpz": () => io.saveNpz(path("a.npz"), { a: v() }, { compress: true }),
  "io.loadNpz": async () => (await io.loadNpz(path("a.npz"))).a?.add(1),
  "io.saveSafetensors": () => io.saveSafetensors(path("a.safetensors"), { a: v() }, { about: "test" }),
  "io.loadSafetensors": async () => (await io.loadSafetensors(path("a.safetensors"))).a?.add(1),
  "io.openSafetensors": async () => {
    const opened = await io.openSafetensors(path("a.safetensors"));
    const slice = await opened.slice("a", "1:");
    await opened.close();
    return slice.add(1);
  },
};

class Pair {
  constructor(
    readonly a: Tensor,
    readonly b: Tensor,
  ) {}
}

const spaces: Calls = {
  "linalg.cholesky": () => linalg.cholesky(m(), { upper: true }),
  "linalg.choSolve": () => linalg.choSolve(linalg.cholesky(m()), m(), { upper: false }),
  "linalg.qr": () => linalg.qr(m(), { mode: "complete", pivoting: true }).pivots,
  "linalg.eigh": () => linalg.eigh(m(), { upper: true }).eigenvectors,
  "linalg.eig": () => linalg.eig(m()).eigenvectors,
  "linalg.eigvals": () => linalg.eigvals(m()),
  "linalg.ldl": () => linalg.ldl(m(), { upper: true }).d,
  "linalg.hermitianFunction": () => linalg.hermitianFunction(m(), (x) => x.exp(), { upper: false }),
  "linalg.solveSylvester": () => linalg.solveSylvester(m(), m(), m()),
  "linalg.gmres": () =>
    linalg.gmres((a: Tensor, v) => a.matmul(v), m(), m(), { restart: 2, maxRestarts: 3, tolerance: 0.1 }),
  "linalg.diagonal": () => linalg.diagonal(m()),
  "linalg.eigvalsh": () => linalg.eigvalsh(m()),
  "linalg.svd": () => linalg.svd(m(), { full: true }).vh,
  "linalg.svdvals": () => linalg.svdvals(m()),
  "linalg.randomizedSvd": () => linalg.randomizedSvd(random.key(0), m(), 1, { oversampling: 1, iterations: 1 }).s,
  "linalg.polar": () => linalg.polar(m()).p,
  "linalg.cond": () => linalg.cond(m(), { order: 1 }),
  "linalg.matrixRank": () => linalg.matrixRank(m(), { rtol: 1e-3 }),
  "linalg.pinv": () => linalg.pinv(m(), { rtol: 1e-3 }),
  "linalg.lstsq": () => linalg.lstsq(m(), m(), { rtol: 1e-3 }).residuals,
  "linalg.lu": () => linalg.lu(m()).p,
  "linalg.luFactor": () => linalg.luFactor(m()).pivots,
  "linalg.luSolve": () => linalg.luSolve(linalg.luFactor(m()), m(), { transposed: true }),
  "linalg.solve": () => linalg.solve(m(), m()),
  "linalg.inv": () => linalg.inv(m()),
  "linalg.det": () => linalg.det(m()),
  "linalg.matrixExp": () => linalg.matrixExp(m()),
  "linalg.matrixPower": () => linalg.matrixPower(m(), 2),
  "linalg.matrixNorm": () => linalg.matrixNorm(m(), { order: 1 }),
  "linalg.vectorNorm": () => linalg.vectorNorm(v()),
  "linalg.adjoint": () => linalg.adjoint(m()),
  "linalg.cross": () => linalg.cross(tensor([1, 2, 3]), tensor([3, 2, 1])),
  "linalg.multiDot": () => linalg.multiDot([m(), m()]),
  "linalg.cg": () => linalg.cg((a, x) => a.matmul(x), m(), m().at(0), { maxRounds: 2 }),
  "linalg.check": () => linalg.check(m(), { as: "finite", solves: [m(), m()], tolerance: 0.1 }),
  "linalg.matmul": () => linalg.matmul(m(), m()),
  "linalg.matrixTranspose": () => linalg.matrixTranspose(m()),
  "linalg.outer": () => linalg.outer(v(), v()),
  "linalg.tensordot": () => linalg.tensordot(m(), m()),
  "linalg.trace": () => linalg.trace(m()),
  "linalg.vecdot": () => linalg.vecdot(v(), v()),
  "linalg.slogdet": () => linalg.slogdet(m()).logAbsDet,
  "linalg.triangularSolve": () => linalg.triangularSolve(m(), m(), { lower: true, transposed: true }),
  "tree.map": () => tree.map((x) => x.add(1), { a: v() }).a.add(1),
  "tree.flatten": () => tree.flatten({ a: v() }).leaves[0],
  "tree.leaves": () => tree.leaves([v(), { b: m() }]),
  "tree.reduce": () => tree.reduce((sum, x) => sum.add(x.sum()), { a: v() }, tensor(0) as Tensor),
  "tree.registerClass": () =>
    tree.registerClass(Pair, {
      name: "Pair",
      children: ({ a, b }) => ({ a, b }),
      rebuild: ({ a, b }) => new Pair(a as Tensor, b as Tensor),
    }),
};

/** Types of options that a consumer names. */
export const options: { readonly reduce: ReduceOptions; readonly pad: PadOptions } = {
  reduce: { axis: 0, keepDims: true },
  pad: { mode: "reflect" },
};

export const functions: Calls = {
  ...classes,
  ...creation,
  ...products,
  ...quantized,
  ...devices,
  ...transforms,
  ...randomNumbers,
  ...files,
  ...spaces,
  ...signals,
  ...freeFunctions,
};
