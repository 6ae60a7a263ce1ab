/**
 * Independent components (Hyvärinen & Oja 2000): samples are mixtures of sources that know nothing of each other, and the sources are the
 * directions along which white samples are least normal. The fixed-point iteration for all at once, one loop on the device.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { eigh } from "../../linalg/eigh.js";
import { pinv } from "../../linalg/least-squares.js";
import { key, normal } from "../../random/index.js";
import { finfo, full, isTensor, type Tensor, tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import type { Fitted } from "../core/model.js";
import { checkAmount, checkWholeSetting } from "../core/settings.js";
import { transformer } from "../core/sorts.js";
import { spectrumOf } from "./spectrum.js";

/** How far from normal a source is: by log cosh, −exp(−u²/2) or u⁴/4. */
export type Contrast = "logcosh" | "exp" | "cube";

/** Options of `fastIca`. */
export interface FastIcaOptions {
  /** The number of sources: as many as samples or features allow unless told. */
  readonly nComponents?: number;
  /** Whether sources have variance 1 ("unitVariance"), or the sum of their squares is ("arbitraryVariance", unless told). */
  readonly whiten?: "arbitraryVariance" | "unitVariance";
  /** "logcosh" unless told. */
  readonly fun?: Contrast;
  /** The slope of "logcosh", from 1 to 2: 1 unless told. */
  readonly alpha?: number;
  /** The change of a direction at which the search ends: 1e-4 unless told. */
  readonly tol?: number;
  /** Rounds at most: 200 unless told. */
  readonly maxIter?: number;
  /** Directions to begin with, [sources, sources]; drawn unless told. */
  readonly wInit?: Tensor | readonly (readonly number[])[];
  /** Decides the random start: 0 unless told. */
  readonly seed?: number;
}

/** The way from samples to sources, and back. */
export interface FastIcaLearned {
  /** [sources, features]: sources are centred samples times its transpose. */
  readonly components: Tensor;
  /** Its pseudo-inverse, [features, sources]. */
  readonly mixing: Tensor;
  readonly mean: Tensor;
  /** The way to white samples, [sources, features]. */
  readonly whitening: Tensor;
  /** Rounds, i32. */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

const methods = {
  /** Samples of their sources. */
  inverseTransform: ({ learned }: Fitted<FastIcaLearned>, transformed: Tensor): Tensor =>
    transformed.matmul(learned.mixing.T).add(learned.mean) as Tensor,
};

/** A contrast's slope, and the mean over samples of the slope of that. */
function slopesOf(u: Tensor, { fun = "logcosh", alpha = 1 }: FastIcaOptions): { slope: Tensor; second: Tensor } {
  const mean = (of: Tensor): Tensor => of.mean({ axis: 0 }) as Tensor;
  switch (fun) {
    case "logcosh": {
      const slope = u.mul(alpha).tanh() as Tensor;
      return { slope, second: mean(slope.square().neg().add(1).mul(alpha) as Tensor) };
    }
    case "exp": {
      const weight = u.square().div(-2).exp();
      return { slope: u.mul(weight) as Tensor, second: mean(u.square().neg().add(1).mul(weight) as Tensor) };
    }
    case "cube":
      return { slope: u.pow(3) as Tensor, second: mean(u.square().mul(3) as Tensor) };
  }
}

/** (W·Wᵀ)^−½ W: the nearest rows that are at right angles. */
function decorrelated(w: Tensor): Tensor {
  const { eigenvalues, eigenvectors } = eigh(w.matmul(w.T) as Tensor);
  const roots = eigenvalues.maximum(finfo(w.dtype as "f32").smallestNormal).sqrt();
  return eigenvectors.div(roots).matmul(eigenvectors.T).matmul(w) as Tensor;
}

/** Directions of white samples, [samples, sources], as rows. */
function unmixed(white: Tensor, start: Tensor, options: FastIcaOptions): { w: Tensor; iterations: Tensor } {
  const { tol = 1e-4, maxIter = 200 } = options;
  const { device, dtype } = white;
  const samples = white.shape[0] as number;
  const end = whileLoop(
    ({ change, round }) => change.greaterEqual(tol).logicalAnd(round.less(maxIter)) as Tensor,
    ({ w, round }) => {
      const { slope, second } = slopesOf(white.matmul(w.T) as Tensor, options);
      const next = decorrelated(
        slope.T.matmul(white)
          .div(samples)
          .sub(w.mul(second.expandDims(1))) as Tensor,
      );
      const turned = next.mul(w).sum({ axis: 1 }).abs().sub(1).abs().max() as Tensor;
      return { w: next, change: turned, round: round.add(1) as Tensor };
    },
    {
      w: decorrelated(start),
      change: full([], Number.POSITIVE_INFINITY, { device, dtype }) as Tensor,
      round: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  return { w: end.w, iterations: end.round };
}

function startOf({ wInit, seed = 0 }: FastIcaOptions, count: number, { device, dtype }: Tensor): Tensor {
  if (wInit === undefined) return normal(key(seed, { device }), [count, count], { dtype: dtype as "f32" }) as Tensor;
  const given = (isTensor(wInit) ? wInit.cast(dtype) : tensor(wInit as number[][], { device, dtype })) as Tensor;
  if (given.rank === 2 && given.shape[0] === count && given.shape[1] === count) return given;
  throw new ShapeError(
    `fastIca.fit: wInit has the shape ${formatShape(given.shape)}; for ${count} sources it is [${count}, ${count}].`,
  );
}

/** Sources that know nothing of each other, of which samples are mixtures. */
export const fastIca = transformer<FastIcaLearned, FastIcaOptions, typeof methods>({
  kind: "fastIca",
  options: {
    nComponents: "number",
    whiten: "text",
    fun: "text",
    alpha: "number",
    tol: "number",
    maxIter: "number",
    wInit: "any",
    seed: "number",
  },
  takesWeights: false,
  check({ whiten, fun, alpha = 1, tol = 0, maxIter = 1 }) {
    checkChoice("fastIca", "whiten", whiten, ["arbitraryVariance", "unitVariance"]);
    checkChoice("fastIca", "fun", fun, ["logcosh", "exp", "cube"]);
    checkAmount("fastIca", "alpha", alpha, 1, 2);
    checkAmount("fastIca", "tol", tol);
    checkWhole("fastIca", "maxIter", maxIter, 1);
  },
  learn({ x }, options) {
    const [samples, features] = x.shape as [number, number];
    const most = Math.min(samples, features);
    const count = checkWholeSetting("fastIca.fit", "nComponents", options.nComponents ?? most, most);
    const mean = x.mean({ axis: 0 }) as Tensor;
    const offset = x.sub(mean) as Tensor;
    const { values, rows } = spectrumOf(offset, count, { svdSolver: "full" });
    const sizes = values.at(`:${count}`) as Tensor;
    // As in scikit-learn, a direction's first number is positive. One along which nothing varies has no source.
    const signs = where(rows.at(":", ":1").less(0), -1, 1);
    const least = values.max().mul(Math.max(samples, features) * finfo(x.dtype as "f32").eps);
    const inverse = where(sizes.greater(least), where(sizes.greater(least), sizes, 1).reciprocal(), 0);
    const whitening = rows.mul(signs).mul(inverse.expandDims(1)) as Tensor;
    const white = offset.matmul(whitening.T).mul(Math.sqrt(samples)) as Tensor;
    const { w, iterations } = unmixed(white, startOf(options, count, x), options);
    const plain = w.matmul(whitening) as Tensor;
    const spread = offset.matmul(plain.T).square().mean({ axis: 0 }).sqrt();
    const isUnit = options.whiten === "unitVariance";
    const components = isUnit ? plain.div(where(spread.greater(0), spread, 1).expandDims(1)) : plain;
    return { components: components as Tensor, mixing: pinv(components) as Tensor, mean, whitening, iterations };
  },
  transform: ({ components, mean }, x) => x.sub(mean).matmul(components.T) as Tensor,
  methods,
});
