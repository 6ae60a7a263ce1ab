/**
 * Rows of data processing, on the GPU beside PyTorch and JAX: random numbers (`random-…`), and sorting, selecting, awkward
 * axes, other dtypes and whole expressions (`data-…`). The work is in bench/data-work.ts, the peers' in bench/peers/data.py.
 */
import {
  argsort,
  bodies,
  crossEntropy,
  cumsumMiddle,
  gammas,
  gelu,
  kMeans,
  medianRows,
  nearest,
  normals,
  permuted,
  sortRows,
  stdFirst,
  topRows,
  wideChain,
} from "../data-work.js";
import type { Row } from "../row.js";
import { edge, length, pythonPeers, type Sized, timeOf, to } from "../sizes.js";
import type { TensorContext } from "../tensor-work.js";

interface Definition {
  readonly name: string;
  readonly title: string;
  readonly work: Sized;
  /** The goal beside the best peer. */
  readonly ratio: number;
  /** Bytes that must be read and written. */
  bytes?(context: TensorContext): number;
}

const row = ({ name, title, work, ratio, bytes }: Definition): Row => ({
  name,
  title,
  unit: "ms",
  better: "lower",
  targets: [to(ratio, "torch", "jax")],
  ...(bytes ? { limit: { of: "bandwidth", work: bytes } } : {}),
  peers: pythonPeers(name),
  run: timeOf(work),
});

const [F64, F32, BF16] = [8, 4, 2];
const cube = (context: TensorContext) => [edge(256, context), edge(1024, context), edge(256, context)] as const;
const cubeSize = (context: TensorContext): number => cube(context).reduce((size, extent) => size * extent, 1);

const definitions: readonly Definition[] = [
  {
    name: "random-normal",
    title: "1e8 normal numbers in f32",
    work: (device, context) => normals(device, length(1e8, context)),
    ratio: 0.9,
    bytes: (context) => F32 * length(1e8, context),
  },
  {
    name: "random-gamma",
    title: "1e7 gamma numbers of shape 2.5 in f32",
    work: (device, context) => gammas(device, length(1e7, context)),
    ratio: 0.5,
  },
  {
    name: "data-argsort",
    title: "positions that sort 1e7 f32",
    work: (device, context) => argsort(device, length(1e7, context)),
    ratio: 0.9,
  },
  {
    name: "data-sort-rows",
    title: "sort of the rows of 4096×4096 f32",
    work: (device, context) => sortRows(device, edge(4096, context)),
    ratio: 0.9,
  },
  {
    name: "data-top-rows",
    title: "the 32 largest of each row of 4096×4096 f32, and where they are",
    work: (device, context) => topRows(device, edge(4096, context), 32),
    ratio: 0.9,
    bytes: (context) => F32 * edge(4096, context) ** 2,
  },
  {
    name: "data-median-rows",
    title: "median of each row of 4096×4096 f32",
    work: (device, context) => medianRows(device, edge(4096, context)),
    ratio: 0.9,
    bytes: (context) => F32 * edge(4096, context) ** 2,
  },
  {
    name: "data-cumsum-middle",
    title: "cumulative sum of 256×1024×256 f32 along axis 1",
    work: (device, context) => cumsumMiddle(device, cube(context)),
    ratio: 1,
    bytes: (context) => 2 * F32 * cubeSize(context),
  },
  {
    name: "data-std-first",
    title: "standard deviation of 256×1024×256 f32 over axis 0",
    work: (device, context) => stdFirst(device, cube(context)),
    ratio: 0.9,
    bytes: (context) => F32 * cubeSize(context),
  },
  {
    name: "data-permute",
    title: "256×1024×256 f32 with its axes in the order 2, 0, 1, materialised",
    work: (device, context) => permuted(device, cube(context)),
    ratio: 0.95,
    bytes: (context) => 2 * F32 * cubeSize(context),
  },
  {
    name: "data-gelu-bf16",
    title: "x·½(1+erf(x/√2)) of 2048×8192 bf16",
    work: (device, context) => gelu(device, edge(2048, context), edge(8192, context)),
    ratio: 1,
    bytes: (context) => 2 * BF16 * edge(2048, context) * edge(8192, context),
  },
  {
    name: "data-chain-f64",
    title: "tanh(x*y+1)*sigmoid(x) of 1e7 f64",
    work: (device, context) => wideChain(device, length(1e7, context)),
    ratio: 0.8,
    bytes: (context) => 3 * F64 * length(1e7, context),
  },
  {
    name: "data-cross-entropy",
    title: "cross-entropy of 8192×50257 f32 logits, and its gradient",
    work: (device, context) => crossEntropy(device, edge(8192, context), edge(50257, context)),
    ratio: 1,
    bytes: (context) => 2 * F32 * edge(8192, context) * edge(50257, context),
  },
  {
    name: "data-neighbours",
    title: "the 10 nearest of 1e5 points to each of 1e4, in 64 dimensions",
    work: (device, context) => nearest(device, length(1e4, context), length(1e5, context), 64, 10),
    ratio: 1.5,
  },
  {
    name: "data-bodies",
    title: "forces between 20000 bodies, as one broadcast expression",
    work: (device, context) => bodies(device, length(20000, context)),
    ratio: 1,
  },
  {
    name: "data-k-means",
    title: "20 rounds of k-means of 1e6 points in 32 dimensions, 64 clusters",
    work: (device, context) => kMeans(device, length(1e6, context), 32, 64, 20),
    ratio: 2,
  },
];

export const dataRows: readonly Row[] = definitions.map(row);
