/**
 * Rows on `pumice/learn`: on the CPU engine beside scikit-learn, on the GPU beside the same fit written for PyTorch and JAX. The
 * work is in bench/learn-work.ts, the peers' in bench/peers/learn.py; both sides state the same sizes.
 */
import { deepBoosting, FITS, fitMilliseconds } from "../fit-work.js";
import { centres, type FitSize, mixture, neighbors, type SearchSize } from "../learn-work.js";
import type { Row } from "../row.js";
import { length, noteSize, pythonPeers, type Sized, timeOf, to } from "../sizes.js";
import type { Work } from "../tensor-work.js";

/** Work at a size, and the size in words. */
interface Measured {
  readonly size: string;
  readonly work: Sized;
}

interface Definition {
  readonly name: string;
  /** The work in words; the size and the place are added. */
  readonly title: string;
  readonly cpu: Measured;
  /** Left out where nobody has written the work for a GPU. */
  readonly gpu?: Measured;
}

const count = (value: number): string => value.toExponential().replace("+", "");

/** Rounds of a fit. */
const fitOf = (fit: (device: string, size: FitSize) => Work, size: FitSize): Measured => ({
  size: `${size.rounds} rounds, ${count(size.samples)}×${size.features} f32, ${size.clusters} clusters`,
  work: (device, context) => fit(device, { ...size, samples: length(size.samples, context) }),
});

const searchOf = (size: SearchSize): Measured => ({
  size: `${count(size.queries)} of ${count(size.samples)}×${size.features} f32, ${size.nNeighbors} neighbours`,
  work: (device, context) =>
    neighbors(device, { ...size, samples: length(size.samples, context), queries: length(size.queries, context) }),
});

const NEAREST = searchOf({ samples: 1e5, queries: 1e4, features: 64, nNeighbors: 10 });

const definitions: readonly Definition[] = [
  {
    name: "k-means",
    title: "k-means",
    cpu: fitOf(centres, { samples: 1e5, features: 32, clusters: 64, rounds: 20 }),
    gpu: fitOf(centres, { samples: 1e6, features: 32, clusters: 64, rounds: 20 }),
  },
  {
    name: "gaussian-mixture",
    title: "mixture of normal distributions, full covariances",
    cpu: fitOf(mixture, { samples: 1e5, features: 16, clusters: 16, rounds: 5 }),
  },
  { name: "neighbors", title: "nearest neighbours, exactly", cpu: NEAREST, gpu: NEAREST },
];

function rowsOf(definition: Definition): Row[] {
  const { name, title, cpu, gpu } = definition;
  const common = { unit: "ms", better: "lower" } as const;
  const onGpu: Row[] = gpu
    ? [
        {
          ...common,
          name: `learn-${name}`,
          title: `${title}: ${gpu.size}`,
          targets: [to(1, "torch", "jax")],
          peers: pythonPeers(`learn-${name}`),
          run: timeOf(gpu.work),
        },
      ]
    : [];
  return [
    ...onGpu,
    {
      ...common,
      name: `cpu-learn-${name}`,
      title: `${title}: ${cpu.size}, on the CPU engine`,
      place: "cpu",
      targets: [to(1, "scikit-learn")],
      peers: { "scikit-learn": `sklearn/learn-${name}` },
      run: timeOf(cpu.work),
    },
  ];
}

/** Fits as users write them, with the options of scikit-learn's row of the same name. */
const fits: readonly { readonly name: keyof typeof FITS; readonly title: string; readonly samples: number }[] = [
  { name: "pca", title: "principal components of 1e5×256 f32, all of them", samples: 1e5 },
  { name: "logistic", title: "logistic regression of 1e5×50 f32", samples: 1e5 },
  { name: "ridge", title: "ridge regression of 1e5×50 f32", samples: 1e5 },
  { name: "dbscan", title: "DBSCAN of 1e5×2 f32, some 100 neighbours each", samples: 1e5 },
  { name: "boosting", title: "histogram gradient boosting of 1e5×28 f32, 100 trees", samples: 1e5 },
  { name: "forest", title: "random forest of 1e4×28 f32, 100 trees", samples: 1e4 },
  { name: "tsne", title: "t-SNE of 5000×50 f32, 250 rounds", samples: 5000 },
];

const fitRow = ({ name, title, samples }: (typeof fits)[number]): Row => ({
  name: `cpu-learn-${name}`,
  title: `${title}, on the CPU engine`,
  unit: "ms",
  better: "lower",
  place: "cpu",
  targets: [to(1, "scikit-learn")],
  peers: { "scikit-learn": `sklearn/learn-${name}` },
  run: (context) => {
    noteSize(context);
    return fitMilliseconds(context, FITS[name](context.tensors, length(samples, context)));
  },
});

/** The same on the GPU, beside the products and the eigenvalues of PyTorch and JAX. */
const componentsRow: Row = {
  name: "learn-pca",
  title: "principal components of 1e5×256 f32, all of them",
  unit: "ms",
  better: "lower",
  targets: [to(1.5, "torch", "jax")],
  peers: pythonPeers("learn-pca"),
  run: (context) => {
    noteSize(context);
    return fitMilliseconds(context, FITS.pca(context.tensors, length(1e5, context)));
  },
};

/** A fit on the GPU that has no peer there: a time is asked for. */
const deepBoostingRow: Row = {
  name: "learn-boosting",
  title: "histogram gradient boosting of 1e7×28 f32, 100 trees of depth 8",
  unit: "ms",
  better: "lower",
  targets: [{ atMost: 10_000 }],
  run: (context) => {
    noteSize(context);
    return fitMilliseconds(context, deepBoosting(context.tensors, length(1e7, context), length(100, context)));
  },
};

export const learnRows: readonly Row[] = [
  ...definitions.flatMap(rowsOf),
  ...fits.map(fitRow),
  componentsRow,
  deepBoostingRow,
];
