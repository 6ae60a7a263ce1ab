/**
 * Rows on `pumice/learn`: on the CPU engine beside scikit-learn, on the GPU beside the same fit written for PyTorch and JAX. The
 * work is in bench/learn-work.ts, the peers' in bench/peers/learn.py; both sides state the same sizes.
 */
import { centres, type FitSize, mixture, neighbors, type SearchSize } from "../learn-work.js";
import type { Row } from "../row.js";
import { length, pythonPeers, type Sized, timeOf, to } from "../sizes.js";
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

export const learnRows: readonly Row[] = definitions.flatMap(rowsOf);
