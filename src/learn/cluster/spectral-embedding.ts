/**
 * Spectral embeddings (Shi & Malik 2000; Ng, Jordan & Weiss 2001): samples as places where those that are alike lie together. Affinities make
 * a graph; the eigenvectors of its normalised Laplacian with the least eigenvalues change least along strong edges. A function of tensors.
 */
import { checkChoice, checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { eigh } from "../../linalg/eigh.js";
import { arange, eye, type Tensor, where } from "../../tensor/index.js";
import { numberSamples, type Placing, type Samples } from "../core/samples.js";
import { checkWholeSetting } from "../core/settings.js";
import { nearestOfAll } from "../neighbors/brute-force.js";
import { normOf, spaceOf } from "../neighbors/metric.js";
import { checkSquareShape } from "./distances.js";

/** Options that say how alike samples are. */
export interface AffinityOptions {
  /**
   * "rbf": exp(−γ |a − b|²). "nearestNeighbors": 1 for samples that are neighbours of each other, ½ where only one is of the other.
   * "precomputed": the samples are a symmetric matrix of affinities, 0 or more.
   */
  readonly affinity?: "rbf" | "nearestNeighbors" | "precomputed";
  /** γ of "rbf": how fast affinities fall. */
  readonly gamma?: number;
  /** Neighbours of "nearestNeighbors", a sample itself among them. */
  readonly nNeighbors?: number;
}

/** What options of affinities are. */
export const AFFINITY_KINDS = { affinity: "text", gamma: "number", nNeighbors: "number" } as const;

/** Options of `spectralEmbedding`. */
export interface SpectralEmbeddingOptions extends AffinityOptions, Placing {
  /** The columns of the embedding: 2 unless told. */
  readonly nComponents?: number;
}

const OPTIONS: OptionKinds<SpectralEmbeddingOptions> = {
  nComponents: "number",
  device: "text",
  dtype: "dtype",
  ...AFFINITY_KINDS,
};

/** Throws on affinities that there are not. */
export function checkAffinity(operation: string, { affinity, gamma = 1, nNeighbors = 1 }: AffinityOptions): void {
  checkChoice(operation, "affinity", affinity, ["rbf", "nearestNeighbors", "precomputed"]);
  checkWhole(operation, "nNeighbors", nNeighbors, 1);
  if (gamma > 0) return;
  throw new ArgumentError(`${operation}: gamma is ${gamma}; it is a number above 0.`);
}

/** How alike samples are, [samples, samples]. */
export function affinitiesOf(operation: string, x: Tensor, options: Required<AffinityOptions>): Tensor {
  const count = x.shape[0] as number;
  const space = spaceOf({ metric: "sqeuclidean" });
  switch (options.affinity) {
    case "precomputed":
      checkSquareShape(operation, "affinities", x);
      return x;
    case "rbf":
      return normOf(x.expandDims(1).sub(x) as Tensor, space)
        .mul(-options.gamma)
        .exp() as Tensor;
    case "nearestNeighbors": {
      const k = checkWholeSetting(operation, "nNeighbors", options.nNeighbors, count);
      const { indices } = nearestOfAll(x, x, k, space);
      const places = arange(count, { device: x.device, dtype: "i32" });
      const isNear = indices.expandDims(2).equal(places).any({ axis: 1 }).cast(x.dtype) as Tensor;
      return isNear.add(isNear.T).div(2) as Tensor;
    }
  }
}

/** The embedding of a graph of affinities, [samples, count], the eigenvector that changes least first. */
export function embeddingOf(affinities: Tensor, count: number): Tensor {
  const { device, dtype } = affinities;
  const unit = eye(affinities.shape[0] as number, { device, dtype });
  // A sample's affinity to itself is no edge.
  const edges = where(unit.equal(1), 0, affinities);
  const degrees = edges.sum({ axis: 0 });
  const lengths = where(degrees.equal(0), 1, degrees).sqrt();
  const laplacian = unit.sub(edges.div(lengths).div(lengths.expandDims(1)));
  const { eigenvectors } = eigh(laplacian as Tensor);
  const columns = eigenvectors.at(":", `:${count}`).div(lengths.expandDims(1)) as Tensor;
  // Eigenvectors have no sign; the largest number of each is made positive.
  const largest = columns.takeAlongAxis(columns.abs().argmax({ axis: 0, keepDims: true }), { axis: 0 });
  return columns.mul(where(largest.less(0), -1, 1)) as Tensor;
}

/**
 * Samples as points of a few columns, [samples, nComponents], where samples lie together that are alike. "nearestNeighbors" unless
 * told, each with a tenth of the samples; γ is 1 / features unless told.
 */
export function spectralEmbedding(samples: Samples, options: SpectralEmbeddingOptions = {}): Tensor {
  const operation = "spectralEmbedding";
  checkOptions(operation, options, OPTIONS);
  checkAffinity(operation, options);
  const { matrix: x } = numberSamples.read(operation, samples, options, options);
  const [count, features] = x.shape as [number, number];
  const { nComponents = 2, affinity = "nearestNeighbors", gamma = 1 / features } = options;
  const { nNeighbors = Math.max(1, Math.floor(count / 10)) } = options;
  checkWholeSetting(operation, "nComponents", nComponents, count - 1);
  const affinities = affinitiesOf(operation, x, { affinity, gamma, nNeighbors });
  // The first eigenvector is the same for all samples.
  return embeddingOf(affinities, nComponents + 1).at(":", "1:") as Tensor;
}
