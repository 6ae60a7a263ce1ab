/**
 * Fits of `pumice/learn` as the rows measure them: each from the same start, for the same number of rounds, as the peer's. Inputs as in
 * bench/tensor-work.ts. The rows are in bench/rows/learn.ts, the peers' side in bench/peers/learn.py.
 */
import { jit, type Tensor, tensor } from "../src/index.js";
import { kMeans } from "../src/learn/index.js";
import { plainMeans } from "./data-work.js";
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

/** Samples and rounds that plain loops can follow. */
const [FEW, FEW_ROUNDS] = [2000, 3];

async function checkClose(what: string, found: Tensor, expected: Tensor): Promise<void> {
  const distance = Number(await found.sub(expected).abs().max().item());
  if (!(distance <= 1e-3)) throw new Error(`${what}: off by ${distance}`);
}
