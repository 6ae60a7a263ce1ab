/**
 * Fits of `pumice/learn` as users write them, awaited, with scikit-learn's options: what the rows of bench/rows/learn.ts measure beside
 * scikit-learn itself. The samples and labels are the same on both sides (bench/peers/fits.py). Each fit gives what is compared: parameters
 * where the optimum is unique, otherwise counts or scores.
 */
import { type Tensor, tensor } from "../src/index.js";
import {
  dbscan,
  histGradientBoostingClassifier,
  logisticRegression,
  pca,
  randomForestClassifier,
  ridge,
  tsne,
} from "../src/learn/index.js";
import { timed } from "./harness.js";
import type { Closeness } from "./results.js";
import { centred, engineOf, free, positions, probes, type TensorContext } from "./tensor-work.js";

/** Samples, and a fit of them. */
export interface Fit {
  readonly inputs: readonly Tensor[];
  fit(): Promise<Found>;
  readonly closeness?: Closeness;
}

/**
 * The results of a fit, and those that peers must find too. The latter are computed after the measurement, as by the peers; null where
 * they draw other random numbers.
 */
interface Found {
  readonly learned: readonly Tensor[];
  readonly compared: (() => Promise<readonly Tensor[]>) | null;
}

const same = (...learned: Tensor[]): Found => ({ learned, compared: async () => learned });
const own = (...learned: Tensor[]): Found => ({ learned, compared: null });

export type FitOf = (device: string, samples: number) => Fit;

const FEATURES = 50;
/** Features of the samples that trees are grown on. */
const TREE_FEATURES = 28;

/** Numbers that depend on the features linearly, and noise. */
function linearTargets(device: string, x: Tensor): Tensor {
  const [samples, features] = x.shape as [number, number];
  const weights = centred(device, [features], 1).cast("f64");
  const noise = centred(device, [samples], 2).cast("f64");
  return x.cast("f64").matmul(weights).add(noise) as Tensor;
}

/** Labels 0 and 1 by a rule of products, which no linear model finds. */
function ruledLabels(device: string, x: Tensor): Tensor {
  const [samples] = x.shape as [number, number];
  const column = (j: number): Tensor => x.at(":", j).cast("f64");
  const rule = column(0).mul(column(1)).add(column(2).square()).sub(column(3).mul(0.5));
  const noise = centred(device, [samples], 2).cast("f64").mul(0.25);
  return rule.add(noise).greater(0.3).cast("i32").realize() as Tensor;
}

/** The variances along all principal components. */
const components: FitOf = (device, samples) => {
  const x = centred(device, [samples, 256], 0);
  return {
    inputs: [x],
    fit: async () => same((await pca().fit(x)).learned.explainedVariance),
  };
};

/** The coefficients of a logistic regression, with scikit-learn's tolerance. */
const logistic: FitOf = (device, samples) => {
  const x = centred(device, [samples, FEATURES], 0);
  const y = linearTargets(device, x).greater(0).cast("i32").realize() as Tensor;
  return {
    inputs: [x, y],
    fit: async () => same((await logisticRegression().fit(x, y)).learned.coefficients),
    closeness: { relative: 1e-2, floor: 1e-2 },
  };
};

/** The coefficients of a ridge regression. */
const ridges: FitOf = (device, samples) => {
  const x = centred(device, [samples, FEATURES], 0);
  const y = linearTargets(device, x).cast("f32").realize() as Tensor;
  return { inputs: [x, y], fit: async () => same((await ridge().fit(x, y)).learned.coefficients) };
};

/** Places of the clusters of `density`, and how far apart their samples are. */
const [CLUSTERS, EXTENT, RADIUS] = [20, 0.05, 0.004];

/** How many core samples and how many clusters there are. */
const density: FitOf = (device, samples) => {
  const centres = centred(device, [CLUSTERS, 2], 3);
  const places = positions(device, samples, CLUSTERS, 4);
  const x = centres
    .take(places, { axis: 0 })
    .add(centred(device, [samples, 2], 0).mul(EXTENT / 2))
    .realize() as Tensor;
  return {
    inputs: [x],
    fit: async () => {
      const { labels, coreIndices } = (await dbscan({ eps: RADIUS, minSamples: 10 }).fit(x)).learned;
      return same(tensor([coreIndices.size], { device }), labels.max().add(1) as Tensor);
    },
  };
};

/** The share of samples that a model of 100 trees names rightly. */
const boosting: FitOf = (device, samples) => {
  const x = centred(device, [samples, TREE_FEATURES], 0);
  const y = ruledLabels(device, x);
  return {
    inputs: [x, y],
    fit: async () => {
      const model = await histGradientBoostingClassifier({ earlyStopping: false }).fit(x, y);
      const { baseline, trees } = model.learned;
      const compared = async () => [baseline, tensor([await model.score(x, y)], { device })];
      return { learned: [trees.value], compared };
    },
    closeness: { relative: 1e-2, floor: 1e-2 },
  };
};

/** What a model of trees of depth 8 begins with: its scores would take 4 GB for so many samples and trees. */
export const deepBoosting = (device: string, samples: number, trees: number): Fit => {
  const x = centred(device, [samples, TREE_FEATURES], 0);
  const y = ruledLabels(device, x);
  return {
    inputs: [x, y],
    fit: async () => {
      const model = await histGradientBoostingClassifier({ earlyStopping: false, maxDepth: 8, maxIter: trees }).fit(
        x,
        y,
      );
      return { learned: [model.learned.trees.value], compared: async () => [model.learned.baseline] };
    },
  };
};

/** A forest of 100 trees. */
const forest: FitOf = (device, samples) => {
  const x = centred(device, [samples, TREE_FEATURES], 0);
  const y = ruledLabels(device, x);
  return {
    inputs: [x, y],
    fit: async () => {
      const model = await randomForestClassifier({ nEstimators: 100 }).fit(x, y);
      return own(model.learned.trees.value);
    },
  };
};

/** The divergence of an embedding of ten clusters after 250 rounds. */
const embedding: FitOf = (device, samples) => {
  const centres = centred(device, [10, FEATURES], 3);
  const x = centres
    .take(positions(device, samples, 10, 4), { axis: 0 })
    .add(centred(device, [samples, FEATURES], 0).mul(0.5))
    .realize() as Tensor;
  return {
    inputs: [x],
    fit: async () => own((await tsne({ maxIter: 250 }).fit(x)).learned.klDivergence),
  };
};

/** The fits by the names of their rows. */
export const FITS = { pca: components, logistic, ridge: ridges, dbscan: density, boosting, forest, tsne: embedding };

/** Milliseconds of a fit, what it has learned computed. */
export async function fitMilliseconds(context: TensorContext, { inputs, fit, closeness }: Fit): Promise<number[]> {
  const engine = engineOf(context.tensors);
  const once = async (): Promise<void> => {
    for (const each of (await fit()).learned) each.realize();
    await engine.finish();
  };
  try {
    const samples = await context.sample(() => timed(once));
    const { compared } = await fit();
    if (compared) context.show((await Promise.all((await compared()).map(probed))).flat(), closeness);
    return samples;
  } finally {
    free(context.tensors, inputs);
  }
}

/** Elements of a result at the places that peers show. */
async function probed(result: Tensor): Promise<number[]> {
  const values = await result.flatten().cast("f64").data();
  return probes(values.length).map((place) => Number(values[place]));
}
