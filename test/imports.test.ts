/**
 * A file of src/ works whichever file was imported first. The files from the tensor layer upwards are imported alone, into
 * module graphs of their own, and must find the same `Tensor` as everybody else; namespaces are then called there. Layers
 * below those that a graph is about are the same in all graphs: they know nothing of what lies above them.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { register } from "node:module";
import { dirname, join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { KERNEL_LANGUAGES } from "../src/core/encoded-kernel.js";
import type { random, Tensor, tensor } from "../src/index.js";

const built = join(dirname(dirname(fileURLToPath(import.meta.url))), "src");

/** Layers below the tensors. */
const BELOW_TENSORS = ["core", "graph", "compiler", "runtime", "engines", ...KERNEL_LANGUAGES, "vulkan"];

/** Libraries on tensors. Their graphs share the tensors too. */
const LIBRARIES = ["bayes", "learn", "nn", "plots", "runs"];

/**
 * The query of a module's address names its graph; files that it imports get the same one, unless they are shared: those in
 * a folder below the tensors, and for a graph of libraries those outside the libraries.
 */
const HOOKS = `export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const [query, ofLibraries] = /\\?graph=\\d+(-libraries)?$/.exec(context.parentURL ?? "") ?? [];
  if (query === undefined || !found.url.includes("/dist/src/")) return found;
  const isOwn = ofLibraries
    ? /\\/dist\\/src\\/(${LIBRARIES.join("|")})\\//.test(found.url)
    : !/\\/dist\\/src\\/(${BELOW_TENSORS.join("|")})\\//.test(found.url);
  return isOwn ? { ...found, url: found.url + query } : found;
}`;
register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);

/** Imports files into one graph. */
type Load = <M>(path: string) => Promise<M>;

let graphs = 0;
const layerOf = (path: string): string => path.split("/")[0] ?? "";

/** A graph to import a file into. */
function newGraph(path: string): Load {
  const ofLibraries = LIBRARIES.includes(layerOf(path));
  const query = `?graph=${++graphs}${ofLibraries ? "-libraries" : ""}`;
  return (path) => {
    const isOwn = !ofLibraries || LIBRARIES.includes(layerOf(path));
    return import(`${pathToFileURL(join(built, path))}${isOwn ? query : ""}`);
  };
}

/** Programs of worker threads start when they are imported. */
const isProgram = (path: string): boolean => path.endsWith("-worker.js");

const files = readdirSync(built, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".js") && !isProgram(path) && !path.startsWith("cli/"))
  .filter((path) => !BELOW_TENSORS.includes(layerOf(path)))
  .sort();

const membersOf = (type: { readonly prototype: object }): string[] =>
  Reflect.ownKeys(type.prototype).map(String).sort();

interface TensorModule {
  readonly Tensor: typeof Tensor;
}

describe("imported alone, a file finds all methods of Tensor", () => {
  let all: string[] = [];
  before(async () => {
    const load = newGraph("index.js");
    for (const surface of ["index.js", "bayes/index.js", "learn/index.js", "nn/index.js"]) await load(surface);
    all = membersOf((await load<TensorModule>("tensor/tensor.js")).Tensor);
  });
  for (const folder of new Set(files.map((path) => dirname(path)))) {
    test(folder === "." ? "src" : `src/${folder}`, async () => {
      for (const path of files.filter((path) => dirname(path) === folder)) {
        const load = newGraph(path);
        await load(path);
        assert.deepEqual(membersOf((await load<TensorModule>("tensor/tensor.js")).Tensor), all, path);
      }
    });
  }
});

/** What the calls below need besides the file itself, from the same graph. */
interface Inputs {
  /** [0.5, 1, 2] */
  readonly x: Tensor;
  /** A positive definite matrix. */
  readonly m: Tensor;
  readonly key: random.Key;
}

// biome-ignore lint/suspicious/noExplicitAny: modules as they come
type Call = (file: any, inputs: Inputs) => unknown;

/** A call for each file of the namespaces, of functions whose work is made of methods. */
const CALLS: Readonly<Record<string, Call>> = {
  "tensor/creation.js": (f) => [f.eye(3), f.tri(3), f.linspace(0, 1, 5), f.complex(1, 2)],
  "tensor/methods/joining.js": (f, { x, m }) => [f.stack([x, x], { axis: 1 }), f.blockDiagonal([m, m])],
  "tensor/methods/contraction.js": (f, { m }) => [f.kron(m, m), f.matmul(m, m)],
  "tensor/methods/einsum.js": (f, { m }) => f.einsum("ij,jk->ik", m, m),
  "tensor/methods/where.js": (f, { x }) => f.where(x.greater(1), x, 0),
  "transforms/control.js": (f, { x }) => f.associativeScan((a: Tensor, b: Tensor) => a.add(b), x),
  "transforms/custom.js": (f, { x }) => f.checkpoint((y: Tensor) => y.softmax())(x),
  "transforms/grad.js": (f, { x }) => f.grad((y: Tensor) => y.cumsum().median())(x),
  "transforms/matrices.js": (f, { x }) => [
    f.hessian((y: Tensor) => y.norm())(x),
    f.jacobian((y: Tensor) => y.sort())(x),
  ],
  "transforms/vmap.js": (f, { m }) => f.vmap((y: Tensor) => y.expandDims(0).tile(2, 2))(m),
  "random/binomial.js": (f, { key }) => f.binomial(key, 10, 0.5, [2]),
  "random/bits.js": (f, { key }) => f.bits(key, [2], { dtype: "u8" }),
  "random/exponential.js": (f, { key, x }) => [f.exponential(key, [2]), f.gumbel(key), f.categorical(key, x)],
  "random/gamma.js": (f, { key, x }) => [f.gamma(key, x), f.logGamma(key, 2), f.beta(key, x, 1)],
  "random/key.js": (f, { key }) => [f.foldIn(key, 1), ...f.split(key, 3)],
  "random/multivariate-normal.js": (f, { key, x, m }) => f.multivariateNormal(key, x.at("1:"), m, [4]),
  "random/normal.js": (f, { key }) => [f.normal(key, [2]), f.truncatedNormal(key, -1, 1)],
  "random/permutation.js": (f, { key, m }) => [
    f.permutation(key, 5),
    f.shuffle(key, m, { independent: true }),
    f.choice(key, 9),
  ],
  "random/poisson.js": (f, { key }) => f.poisson(key, 4, [2]),
  "random/rejection.js": (f, { key, x }) => f.firstAccepted(key, 2, 1, () => x.greater(1)),
  "random/stirling.js": (f, { x }) => f.stirlingSeries(x),
  "random/uniform.js": (f, { key }) => [f.uniform(key, [2]), f.bernoulli(key), f.randint(key, [2], 0, 9)],
  "linalg/arguments.js": (f, { m }) => f.adjointOf(m),
  "linalg/eig.js": (f, { m }) => [f.eig(m).eigenvectors, f.eigvals(m)],
  "linalg/determinant.js": (f, { m }) => [f.det(m), f.slogdet(m).sign],
  "linalg/ldl.js": (f, { m }) => [f.ldl(m).l, f.ldl(m).order],
  "linalg/limited-memory.js": (f, { x }) => f.emptyHistory(3, 3, { dtype: x.dtype, device: x.device }).steps,
  "linalg/hermitian-function.js": (f, { m }) => f.hermitianFunction(m, (v: typeof m) => v.exp()),
  "linalg/sylvester.js": (f, { m }) => f.solveSylvester(m, m, m),
  "linalg/gmres.js": (f, { m }) => f.gmres((a: typeof m, v: typeof m) => a.matmul(v), m, m),
  "linalg/eigh.js": (f, { m }) => [f.eigh(m).eigenvectors, f.eigvalsh(m)],
  "linalg/pivoted-columns.js": (f, { m }) => f.pivotedColumns(m),
  "linalg/qr.js": (f, { m }) => [f.qr(m).q, f.qr(m, { pivoting: true }).r],
  "linalg/svd.js": (f, { m }) => [f.svd(m).u, f.matrixRank(m)],
  "linalg/least-squares.js": (f, { m }) => [f.lstsq(m, m).x, f.pinv(m)],
  "linalg/check.js": (f, { m }) => {
    f.check(m);
    return m.add(1);
  },
  "linalg/iteration-start.js": (f, { m }) => f.startOf("cg", m, m)[0],
  "linalg/iterative.js": (f, { m }) => f.cg((a: typeof m, v: typeof m) => a.matmul(v), m, m),
  "linalg/matrix-functions.js": (f, { m }) => [f.matrixExp(m), f.matrixPower(m, -2)],
  "linalg/norms.js": (f, { m }) => [f.matrixNorm(m), f.vectorNorm(m)],
  "linalg/products.js": (f, { m }) => [f.adjoint(m), f.multiDot([m, m])],
  "linalg/lu.js": (f, { m }) => [f.solve(m, m), f.lu(m).p],
  "fft/cosine.js": (f, { x }) => [f.dct(x), f.idst(x, { type: 3 })],
  "fft/frequencies.js": (f, { x }) => [f.fftfreq(3, { device: "cpu" }), f.fftshift(x)],
  "fft/half-cosine.js": (f, { x }) =>
    f.halfCosineSums(x, 0, 3, false, { before: () => 1, after: () => 1, key: "ones" }),
  "fft/norms.js": (f, { x }) => f.asComplex(x),
  "fft/one-axis.js": (f, { x }) => [f.fft(x), f.irfft(x)],
  "fft/several-axes.js": (f, { m }) => [f.fftn(m), f.irfft2(m)],
  "signal/convolution.js": (f, { x }) => [f.convolve(x, x), f.fftConvolve(x, x)],
  "signal/overlap-add.js": (f, { x }) => f.oaConvolve(x, x),
  "signal/resampling.js": (f, { x }) => [f.resample(x, 5), f.hilbert(x)],
  "signal/spectral.js": (f, { x }) => [f.stft(x, { nperseg: 2 }).values, f.welch(x, { nperseg: 2 }).values],
  "signal/trends.js": (f, { x }) => f.detrend(x),
  "signal/window-values.js": (f, { x }) => x.mul(f.windowValue("hann", 1, 4, true, 0)),
  "signal/windows.js": (f) => f.getWindow(["kaiser", 3], 4, { device: "cpu" }),
  "linalg/triangular.js": (f, { m }) => [f.cholesky(m), f.triangularSolve(m, m, { left: false })],
  "bayes/distributions/student-t.js": (f, { key }) => f.studentT(3, 0, 1).distribution.sample(key, [2]),
  "bayes/distributions/lkj-cholesky.js": (f, { key }) => f.lkjCholesky(3).distribution.sample(key, [2]),
  "bayes/constraints/vectors.js": (f, { x }) => f.simplex.bijection.forward(x, [4]).value,
};

describe("imported alone, a namespace works", () => {
  test("every file of them has a call", () => {
    const spaces = files.filter((path) => /^(?:random|linalg|fft|signal)\//.test(path) && !path.endsWith("/index.js"));
    assert.deepEqual(spaces.filter((path) => !(path in CALLS)), []); // biome-ignore format: one line
  });
  for (const [path, call] of Object.entries(CALLS)) {
    test(path, async () => {
      const load = newGraph(path);
      const file = await load<unknown>(path);
      const make = await load<{ readonly tensor: typeof tensor; readonly Tensor: typeof Tensor }>("tensor/index.js");
      const keys = await load<typeof random>("random/key.js");
      const options = { dtype: "f32", device: "cpu" } as const;
      const x: Tensor = make.tensor([0.5, 1, 2], options);
      const m: Tensor = make.tensor([[2, 1], [1, 2]], options); // biome-ignore format: a matrix
      const made = [call(file, { x, m, key: keys.key(0, { device: "cpu" }) })].flat();
      for (const result of made) assert.ok(result instanceof make.Tensor);
    });
  }
});
