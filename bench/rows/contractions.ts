/**
 * Rows on contractions, on the GPU beside PyTorch and JAX: matrix products (`product-…`, in TFLOP/s), causal attention
 * written by hand (`attention-…`) and convolutions with their gradients (`convolution-…`). The work is in
 * bench/contraction-work.ts, the peers' in bench/peers/contractions.py; both sides state the same sizes.
 */
import type { DType } from "../../src/index.js";
import {
  attention,
  type Convolution,
  convolution,
  convolutionGradients,
  convolutionOperations,
  matrixProduct,
  operationsOf,
  type Product,
} from "../contraction-work.js";
import type { Row, Target } from "../row.js";
import { atLeastOne, edge, length, noteSize, productEdge, pythonPeers, timeOf, to } from "../sizes.js";
import { milliseconds, type TensorContext } from "../tensor-work.js";

// ---------------------------------------------------------------------------------------------- products

type SizedProduct = (context: TensorContext) => Product;

const both = (ratio: number): readonly Target[] => [to(ratio, "torch", "jax")];

/** The ceiling of f32 multiply-adds says nothing of other dtypes. */
const limitOf = (dtype: DType, work?: (context: TensorContext) => number): Pick<Row, "limit"> =>
  dtype === "f32" ? { limit: { of: "flops", ...(work ? { work } : {}) } } : {};

const product = (name: string, title: string, ratio: number, dtype: DType, sized: SizedProduct): Row => ({
  name: `product-${name}`,
  title,
  unit: "TFLOP/s",
  better: "higher",
  ...limitOf(dtype),
  targets: both(ratio),
  peers: pythonPeers(`product-${name}`),
  async run(context) {
    noteSize(context);
    const shape = sized(context);
    const samples = await milliseconds(context, matrixProduct(context.tensors, shape));
    return samples.map((ms) => operationsOf(shape) / (1e9 * ms));
  },
});

function square(full: number, dtype: DType, ratio: number, transposed?: "a" | "b"): Row {
  const suffix = transposed ? { a: "-tn", b: "-nt" }[transposed] : "";
  const what = transposed ? { a: ", aᵀ·b", b: ", a·bᵀ" }[transposed] : "";
  return product(
    `${dtype}-${full}${suffix}`,
    `product of two ${full}×${full} ${dtype} matrices${what}`,
    ratio,
    dtype,
    (context) => {
      const size = productEdge(full, context);
      return { m: size, k: size, n: size, dtype, ...(transposed ? { transposed } : {}) };
    },
  );
}

/** On matrix units, as two f16 parts: beside the peers' plain f32. */
const atHigh = (full: number): Row => ({
  ...product(
    `f32-${full}-high`,
    `product of two ${full}×${full} f32 matrices at precision "high"`,
    1.6,
    "f32",
    (context) => {
      const size = productEdge(full, context);
      return { m: size, k: size, n: size, dtype: "f32", precision: "high" };
    },
  ),
  peers: pythonPeers(`product-f32-${full}`),
});

const batched = (dtype: DType, ratio: number): Row =>
  product(`batched-${dtype}`, `64 products of 512×512 ${dtype} matrices`, ratio, dtype, (context) => {
    const size = edge(512, context);
    return { m: size, k: size, n: size, batch: atLeastOne(64, context), dtype };
  });

const products: readonly Row[] = [
  square(4096, "f16", 0.5),
  square(8192, "f16", 0.5),
  square(4096, "bf16", 0.5),
  square(8192, "bf16", 0.5),
  square(8192, "f32", 0.97),
  square(4096, "f32", 0.97, "b"),
  square(4096, "f32", 0.97, "a"),
  atHigh(4096),
  atHigh(8192),
  square(2048, "f64", 0.5),
  batched("f32", 0.95),
  batched("bf16", 0.5),
  product("long", "product of 128×262144 and 262144×128 f32: few results of many terms", 1, "f32", (context) => ({
    m: edge(128, context),
    k: length(262144, context),
    n: edge(128, context),
    dtype: "f32",
  })),
  product("slim", "product of 100003×37 and 37×53 f32: tall, and odd in every extent", 1, "f32", (context) => ({
    m: length(100003, context),
    k: 37,
    n: 53,
    dtype: "f32",
  })),
];

// ---------------------------------------------------------------------------------------------- attention and convolutions

const inMilliseconds = { unit: "ms", better: "lower" } as const;

const attentionRow = (dtype: DType, ratio: number): Row => ({
  name: `attention-${dtype}`,
  title: `causal attention of [8, 16, 1024, 64] ${dtype}, written by hand: product, mask, softmax, product`,
  ...inMilliseconds,
  targets: both(ratio),
  peers: pythonPeers(`attention-${dtype}`),
  run: timeOf((device, context) =>
    attention(device, [atLeastOne(8, context), atLeastOne(16, context), edge(1024, context), 64], dtype),
  ),
});

type SizedConvolution = (context: TensorContext, dtype: DType) => Convolution;

const threeByThree: SizedConvolution = (context, dtype) => {
  const channels = edge(64, context);
  return { batch: atLeastOne(32, context), channels, results: channels, side: 56, kernel: 3, stride: 1, dtype };
};
const sevenBySeven: SizedConvolution = (context, dtype) => ({
  batch: atLeastOne(32, context),
  channels: 3,
  results: edge(64, context),
  side: edge(224, context),
  kernel: 7,
  stride: 2,
  dtype,
});

interface ConvolutionRow {
  readonly name: string;
  readonly title: string;
  readonly dtype: DType;
  readonly sized: SizedConvolution;
  readonly ratio: number;
  readonly gradients?: true;
}

const convolutionRow = ({ name, title, dtype, sized, ratio, gradients }: ConvolutionRow): Row => ({
  name: `convolution-${name}-${dtype}`,
  title: `${title}, ${dtype}`,
  ...inMilliseconds,
  ...limitOf(dtype, (context) => (gradients ? 2 : 1) * convolutionOperations(sized(context, dtype))),
  targets: both(ratio),
  peers: pythonPeers(`convolution-${name}-${dtype}`),
  run: timeOf((device, context) => (gradients ? convolutionGradients : convolution)(device, sized(context, dtype))),
});

const FORWARD = "convolution of 32×64×56×56 by 64 kernels of 3×3";
const BACKWARD = "both gradients of the convolution of 32×64×56×56 by 64 kernels of 3×3";
const forward = { name: "3x3", title: FORWARD, sized: threeByThree } as const;
const backward = { name: "3x3-gradients", title: BACKWARD, sized: threeByThree, gradients: true } as const;

export const contractionRows: readonly Row[] = [
  ...products,
  attentionRow("f32", 1),
  attentionRow("bf16", 0.35),
  convolutionRow({ ...forward, dtype: "f32", ratio: 1 }),
  convolutionRow({ ...forward, dtype: "bf16", ratio: 0.5 }),
  convolutionRow({ ...backward, dtype: "f32", ratio: 1 }),
  convolutionRow({ ...backward, dtype: "bf16", ratio: 1 }),
  convolutionRow({
    name: "7x7",
    title: "convolution of 32×3×224×224 by 64 kernels of 7×7, stride 2",
    dtype: "f32",
    sized: sevenBySeven,
    ratio: 1,
  }),
];
