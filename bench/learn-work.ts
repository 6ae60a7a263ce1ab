/**
 * Fits of `pumice/learn` as the rows measure them: each from the same start, for the same number of rounds, as the peer's. Inputs as in
 * bench/tensor-work.ts. The rows are in bench/rows/learn.ts, the peers' side in bench/peers/learn.py.
 */
import { eye, jit, ones, type Tensor, tensor } from "../src/index.js";
import { gaussianMixture, kMeans, nearestNeighbors } from "../src/learn/index.js";
import { nearest, plainMeans } from "./data-work.js";
import { uniform, type Work } from "./tensor-work.js";

/** The shape of samples, and how many clusters or parts are fitted in how many rounds. */
export interface FitSize {
  readonly samples: number;
  readonly features: number;
  readonly clusters: number;
  readonly rounds: number;
}

const kMeansFrom = (x: Tensor, clusters: number, rounds: number) =>
  kMeans({ nClusters: clusters, init: x.at(`:${clusters}`) as Tensor, tol: 0, maxIter: rounds }).fitTensors(x).learned;

/** Rounds of k-means from the first samples; the result is the inertia. */
export function centres(device: string, { samples, features, clusters, rounds }: FitSize): Work {
  const x = uniform(device, [samples, features], 0);
  const fit = jit((x: Tensor) => kMeansFrom(x, clusters, rounds).inertia);
  return {
    inputs: [x],
    compute: () => fit(x),
    check: async () => {
      const found = kMeansFrom(uniform(device, [FEW, features], 0), clusters, FEW_ROUNDS).centers;
      await checkClose("k-means", found, tensor(plainMeans(FEW, features, clusters, FEW_ROUNDS), { device }));
    },
  };
}

/** The precision of the features of first components: that of uniform numbers. */
const PRECISION = 12;

/** The likelihood of a mixture with full covariances after rounds from the first samples as means. */
function likelihoodAfter(x: Tensor, components: number, rounds: number): Tensor {
  const features = x.shape[1] as number;
  const { device } = x;
  const mixture = gaussianMixture({
    nComponents: components,
    tol: 0,
    maxIter: rounds,
    initParams: "random",
    weightsInit: ones([components], { device }).div(components) as Tensor,
    meansInit: x.at(`:${components}`) as Tensor,
    precisionsInit: eye(features, { device }).mul(PRECISION).broadcastTo([components, features, features]) as Tensor,
  });
  return mixture.fitTensors(x).learned.lowerBound;
}

/** Rounds of expectation and maximisation; the result is the mean log-likelihood. */
export function mixture(device: string, { samples, features, clusters, rounds }: FitSize): Work {
  const x = uniform(device, [samples, features], 0);
  const fit = jit((x: Tensor) => likelihoodAfter(x, clusters, rounds));
  return {
    inputs: [x],
    compute: () => fit(x),
    check: async ([likelihood]) => {
      const [before, after] = [await likelihoodAfter(x, clusters, 1).item(), await (likelihood as Tensor).item()];
      if (!(Number(after) > Number(before))) throw new Error(`mixture: the likelihood went from ${before} to ${after}`);
    },
  };
}

/** How many samples of how many features are searched for the neighbours of how many queries. */
export interface SearchSize {
  readonly samples: number;
  readonly queries: number;
  readonly features: number;
  readonly nNeighbors: number;
}

/** Squared distances to the nearest samples, and which they are: the expression of bench/data-work.ts by `nearestNeighbors`. */
export function neighbors(device: string, { samples, queries, features, nNeighbors }: SearchSize): Work {
  const plain = nearest(device, queries, samples, features, nNeighbors);
  const [q, x] = plain.inputs as [Tensor, Tensor];
  const estimator = nearestNeighbors({ nNeighbors, metric: "sqeuclidean", algorithm: "brute" });
  const search = jit((q: Tensor, x: Tensor) => {
    const { distances, indices } = estimator.fitTensors(x).kNeighbors(q);
    return [distances, indices];
  });
  return { ...plain, compute: () => search(q, x) };
}

/** Samples and rounds that plain loops can follow. */
const [FEW, FEW_ROUNDS] = [2000, 3];

async function checkClose(what: string, found: Tensor, expected: Tensor): Promise<void> {
  const distance = Number(await found.sub(expected).abs().max().item());
  if (!(distance <= 1e-3)) throw new Error(`${what}: off by ${distance}`);
}
