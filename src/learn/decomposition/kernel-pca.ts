/**
 * Principal components in the space of a kernel (Schölkopf, Smola & Müller 1997): the eigenvectors of the centred similarities. The way back
 * is learned by kernel ridge. A number of components that is told lets fits trace; else those with eigenvalues above zero are counted.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { eigh } from "../../linalg/eigh.js";
import { solve } from "../../linalg/lu.js";
import { eye, type Tensor, where } from "../../tensor/index.js";
import type { Fitted, LearnedTree } from "../core/model.js";
import { checkAmount, checkWholeSetting } from "../core/settings.js";
import { transformer } from "../core/sorts.js";
import { checkPairwise, gramMatrix, kernelFunction, PAIRWISE, type PairwiseOptions } from "../kernels/pairwise.js";

/** Options of `kernelPca`. The kernel is "linear" unless told. */
export interface KernelPcaOptions extends PairwiseOptions {
  /** The number of components: all with an eigenvalue above zero unless told. */
  readonly nComponents?: number;
  /** False unless told. True: the way back is learned, too. */
  readonly fitInverseTransform?: boolean;
  /** The penalty of the ridge regression that learns the way back: 1 unless told. */
  readonly alpha?: number;
}

/** What `kernelPca` learns. */
export interface KernelPcaLearned extends LearnedTree {
  /** Eigenvalues of the centred similarities, falling, [components]. */
  readonly eigenvalues: Tensor;
  /** Their eigenvectors as columns, [samples, components]. */
  readonly eigenvectors: Tensor;
  /** The samples of the fit; null with similarities that were precomputed. */
  readonly samples: Tensor | null;
  /** The mean similarity of each sample of the fit to the others, [samples]. */
  readonly means: Tensor;
  /** The way back: transformed samples of the fit, and the weights of each in every feature; null unless asked for. */
  readonly inverse: { readonly transformed: Tensor; readonly dualCoefficients: Tensor } | null;
}

type KernelPcaModel = Fitted<KernelPcaLearned, KernelPcaOptions>;

const NAMES = ["linear", "rbf", "polynomial", "sigmoid", "laplacian", "cosine", "precomputed"];

/** Similarities as if the samples of the fit had the mean zero in the space of the kernel. */
const centredBy = (similarities: Tensor, means: Tensor): Tensor =>
  similarities
    .sub(means)
    .sub(similarities.mean({ axis: 1, keepDims: true }))
    .add(means.mean()) as Tensor;

interface Spectrum {
  readonly values: Tensor;
  readonly vectors: Tensor;
}

/** Eigenvalues, falling, with what rounding made of zero as zero, and eigenvectors whose largest element is positive. */
function spectrumOf(gram: Tensor, means: Tensor): Spectrum {
  const { eigenvalues, eigenvectors } = eigh(centredBy(gram, means));
  const falling = eigenvalues.flip(0);
  const least = falling.at("0:1").mul(gram.dtype === "f64" ? 1e-12 : 2e-7);
  const values = where(falling.greater(least.maximum(0)), falling, 0) as Tensor;
  const columns = eigenvectors.flip(1);
  const largest = columns.takeAlongAxis(columns.abs().argmax({ axis: 0, keepDims: true }), { axis: 0 });
  return { values, vectors: columns.mul(where(largest.less(0), -1, 1)) as Tensor };
}

function learned(x: Tensor, spectrum: Spectrum, means: Tensor, count: number, options: KernelPcaOptions) {
  const { kernel, fitInverseTransform = false } = options;
  const eigenvalues = spectrum.values.at(`:${count}`) as Tensor;
  const eigenvectors = spectrum.vectors.at(":", `:${count}`) as Tensor;
  return {
    eigenvalues,
    eigenvectors,
    samples: kernel === "precomputed" ? null : x,
    means,
    inverse: fitInverseTransform ? wayBack(x, eigenvectors.mul(eigenvalues.sqrt()) as Tensor, options) : null,
  };
}

function wayBack(x: Tensor, transformed: Tensor, options: KernelPcaOptions) {
  const gram = kernelFunction("kernelPca.fit", options)(transformed, transformed);
  const unit = eye(gram.shape[0] as number, { device: gram.device, dtype: gram.dtype });
  const dualCoefficients = solve(gram.add(unit.mul(options.alpha ?? 1)) as Tensor, x) as Tensor;
  return { transformed, dualCoefficients };
}

const methods = {
  /** Transformed samples back in their own columns, as near as ridge regression comes. */
  inverseTransform({ learned: { inverse }, options }: KernelPcaModel, transformed: Tensor): Tensor {
    if (!inverse) {
      throw new ArgumentError(
        "kernelPca.inverseTransform: the way back was not learned; fit with kernelPca({ fitInverseTransform: true }).",
      );
    }
    const [, components] = inverse.transformed.shape as [number, number];
    if (transformed.rank !== 2 || transformed.shape[1] !== components) {
      throw new ShapeError(
        `kernelPca.inverseTransform: transformed samples are [samples, ${components}], one column for each component.`,
      );
    }
    const at = transformed.cast(inverse.transformed.dtype) as Tensor;
    const similarities = kernelFunction("kernelPca.inverseTransform", options)(at, inverse.transformed);
    return similarities.matmul(inverse.dualCoefficients) as Tensor;
  },
};

/** The directions in which samples vary most in the space of a kernel. */
export const kernelPca = transformer<KernelPcaLearned, KernelPcaOptions, typeof methods>({
  kind: "kernelPca",
  options: { ...PAIRWISE, nComponents: "number", fitInverseTransform: "flag", alpha: "number" },
  takesWeights: false,
  check(options) {
    const { kernel, fitInverseTransform, alpha = 1 } = options;
    checkPairwise("kernelPca", options, NAMES);
    checkAmount("kernelPca", "alpha", alpha);
    if (kernel !== "precomputed" || !fitInverseTransform) return;
    throw new ArgumentError(
      "kernelPca: from a precomputed kernel there is no way back; leave fitInverseTransform out.",
    );
  },
  learn({ x }, options) {
    const gram = gramMatrix("kernelPca.fit", x, options);
    const means = gram.mean({ axis: 0 }) as Tensor;
    const spectrum = spectrumOf(gram, means);
    const { nComponents } = options;
    if (nComponents !== undefined) {
      checkWholeSetting("kernelPca.fit", "nComponents", nComponents, x.shape[0] as number);
      return learned(x, spectrum, means, nComponents, options);
    }
    return async () => {
      const count = Number(await spectrum.values.greater(0).cast("i32").sum().item());
      if (count > 0) return learned(x, spectrum, means, count, options);
      throw new ArgumentError("kernelPca.fit: all samples are the same to the kernel; there is no component.");
    };
  },
  transform({ eigenvalues, eigenvectors, samples, means }, x, options) {
    const at = x.cast(eigenvectors.dtype) as Tensor;
    const similarities = samples ? kernelFunction("kernelPca.transform", options)(at, samples) : at;
    const isZero = eigenvalues.equal(0);
    const scales = where(isZero, 0, where(isZero, 1, eigenvalues).rsqrt());
    return centredBy(similarities, means).matmul(eigenvectors.mul(scales)) as Tensor;
  },
  methods,
});
