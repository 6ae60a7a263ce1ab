/**
 * Rows on `pumice/learn`: on the CPU engine beside scikit-learn, on the GPU beside the same fit written for PyTorch and JAX. The
 * work is in bench/learn-work.ts, the peers' in bench/peers/learn.py; both sides state the same sizes.
 */
import { centres, type FitSize, mixture } from "../learn-work.js";
import type { Row } from "../row.js";
import { length, pythonPeers, timeOf, to } from "../sizes.js";
import type { Work } from "../tensor-work.js";

interface Definition {
  readonly name: string;
  /** The fit in words; the size and the place are added. */
  readonly title: string;
  readonly fit: (device: string, size: FitSize) => Work;
  readonly cpu: FitSize;
  /** Left out where nobody has written the fit for a GPU. */
  readonly gpu?: FitSize;
}

const definitions: readonly Definition[] = [
  {
    name: "k-means",
    title: "k-means",
    fit: centres,
    cpu: { samples: 1e5, features: 32, clusters: 64, rounds: 20 },
    gpu: { samples: 1e6, features: 32, clusters: 64, rounds: 20 },
  },
  {
    name: "gaussian-mixture",
    title: "mixture of normal distributions, full covariances",
    fit: mixture,
    cpu: { samples: 1e5, features: 16, clusters: 16, rounds: 5 },
  },
];

const shown = ({ samples, features, clusters, rounds }: FitSize): string =>
  `${rounds} rounds, ${samples.toExponential().replace("+", "")}×${features} f32, ${clusters} clusters`;

const measured = ({ fit }: Definition, size: FitSize): Row["run"] =>
  timeOf((device, context) => fit(device, { ...size, samples: length(size.samples, context) }));

function rowsOf(definition: Definition): Row[] {
  const { name, title, cpu, gpu } = definition;
  const common = { unit: "ms", better: "lower" } as const;
  const onGpu: Row[] = gpu
    ? [
        {
          ...common,
          name: `learn-${name}`,
          title: `${title}: ${shown(gpu)}`,
          targets: [to(1, "torch", "jax")],
          peers: pythonPeers(`learn-${name}`),
          run: measured(definition, gpu),
        },
      ]
    : [];
  return [
    ...onGpu,
    {
      ...common,
      name: `cpu-learn-${name}`,
      title: `${title}: ${shown(cpu)}, on the CPU engine`,
      place: "cpu",
      targets: [to(1, "scikit-learn")],
      peers: { "scikit-learn": `sklearn/learn-${name}` },
      run: measured(definition, cpu),
    },
  ];
}

export const learnRows: readonly Row[] = definitions.flatMap(rowsOf);
