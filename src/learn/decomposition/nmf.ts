/**
 * Non-negative matrix factorisation (Lee & Seung 1999): samples as sums of a few parts, none of which is taken away. X ≈ W·H for W, H ≥ 0 by
 * coordinate descent (Cichocki & Phan 2009), as scikit-learn's solver "cd": a column of W at a time, for all samples at once, then a row of
 * H. All of it is one loop on the device, so that fits trace.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { svd } from "../../linalg/svd.js";
import { key, normal, split } from "../../random/index.js";
import { arange, eye, full, type Tensor, where, zeros } from "../../tensor/index.js";
import { forLoop, whileLoop } from "../../transforms/control.js";
import type { Fitted } from "../core/model.js";
import { checkAmount, checkWholeSetting } from "../core/settings.js";
import { transformer } from "../core/sorts.js";

/** The factors that a factorisation begins with. */
export type NmfStart = "nndsvd" | "nndsvda" | "random";

/** Options of `nmf`. `tol` is 1e-4 unless told: the share of the first violation of the conditions at which the search ends. */
export interface NmfOptions {
  /** The number of parts: as many as features unless told. */
  readonly nComponents?: number;
  /**
   * "nndsvda" (from singular vectors, zeros filled with the mean) unless told, or where there are more parts than samples or features,
   * "random".
   */
  readonly init?: NmfStart;
  /** The weight of the penalty on W: 0 unless told. */
  readonly alphaW?: number;
  /** The weight of the penalty on H: that on W unless told. */
  readonly alphaH?: number;
  /** The share of absolute values in the penalties: 0 unless told. */
  readonly l1Ratio?: number;
  readonly tol?: number;
  /** Rounds at most: 200 unless told. */
  readonly maxIter?: number;
  /** Decides a random start: 0 unless told. */
  readonly seed?: number;
}

/** The parts as rows, [components, features], zero or more. */
export interface NmfLearned {
  readonly components: Tensor;
  /** The length of what is left of the samples of the fit. */
  readonly reconstructionError: Tensor;
  /** Rounds, i32. */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

const methods = {
  /** Samples of their shares in the parts. */
  inverseTransform: (model: Fitted<NmfLearned>, transformed: Tensor): Tensor =>
    transformed.matmul(model.learned.components) as Tensor,
};

/** Shares W and, of each sample, how far its conditions were violated. */
interface Swept {
  readonly shares: Tensor;
  readonly violations: Tensor;
}

/** The quadratic ½ tr(W·G·Wᵀ) − tr(W·Tᵀ) of shares W ≥ 0: G is [parts, parts], T is [samples, parts]. */
interface ShareProblem {
  readonly gram: Tensor;
  readonly targets: Tensor;
}

function problemOf(x: Tensor, parts: Tensor, l1: number, l2: number): ShareProblem {
  const gram = parts.matmul(parts.T) as Tensor;
  const unit = eye(gram.shape[0] as number, { device: x.device, dtype: x.dtype });
  return {
    gram: (l2 === 0 ? gram : gram.add(unit.mul(l2))) as Tensor,
    targets: x.matmul(parts.T).sub(l1) as Tensor,
  };
}

/** Each part in order: its shares in all samples go to their minimum, or to zero. */
function sweep({ gram, targets }: ShareProblem, shares: Tensor): Swept {
  const [, count] = shares.shape as [number, number];
  const places = arange(count, { device: shares.device, dtype: "i32" });
  const none = shares.at(":", 0).mul(0) as Tensor;
  return forLoop(
    0,
    count,
    (t, { shares, violations }: Swept) => {
      const row = gram.take(t, { axis: 0 });
      const own = shares.take(t, { axis: 1 });
      const slope = shares.matmul(row).sub(targets.take(t, { axis: 1 }));
      const curvature = row.take(t);
      const isCurved = curvature.greater(0);
      const projected = where(own.equal(0), slope.minimum(0), slope);
      const moved = own.sub(slope.div(where(isCurved, curvature, 1))).relu();
      const next = where(isCurved, moved, own);
      return {
        shares: where(places.equal(t), next.expandDims(1), shares) as Tensor,
        violations: violations.add(projected.abs()) as Tensor,
      };
    },
    { shares, violations: none },
  );
}

/** W and H to begin with, from singular vectors: the positive or the negative parts of a pair, whichever are longer (Boutsidis & Gallopoulos 2008). */
function fromVectors(x: Tensor, count: number, isFilled: boolean): readonly [Tensor, Tensor] {
  const { u, s, vh } = svd(x);
  const [left, right] = [u.at(":", `:${count}`), vh.at(`:${count}`).T] as [Tensor, Tensor];
  const lengths = (of: Tensor): Tensor => of.square().sum({ axis: 0 }).sqrt() as Tensor;
  const halves = [left.relu(), right.relu(), left.neg().relu(), right.neg().relu()] as Tensor[];
  const [leftUp, rightUp, leftDown, rightDown] = halves as [Tensor, Tensor, Tensor, Tensor];
  const up = lengths(leftUp).mul(lengths(rightUp)) as Tensor;
  const down = lengths(leftDown).mul(lengths(rightDown)) as Tensor;
  const isUp = up.greater(down);
  // The first pair has one sign, but for rounding.
  const isFirst = arange(count, { device: x.device, dtype: "i32" }).equal(0);
  const begun = (plus: Tensor, minus: Tensor): Tensor => {
    const half = where(isUp, plus, minus) as Tensor;
    const length = lengths(half);
    const unit = half.div(where(length.greater(0), length, 1));
    const size = s.at(`:${count}`).mul(up.maximum(down)).sqrt();
    const all = where(isFirst, plus.add(minus).mul(s.at(`:${count}`).sqrt()), unit.mul(size));
    const kept = where(all.less(1e-6), 0, all) as Tensor;
    return (isFilled ? where(kept.equal(0), x.mean(), kept) : kept) as Tensor;
  };
  return [begun(leftUp, leftDown), begun(rightUp, rightDown).T as Tensor];
}

function started(x: Tensor, count: number, { init, seed = 0 }: NmfOptions): readonly [Tensor, Tensor] {
  const [samples, features] = x.shape as [number, number];
  const chosen = init ?? (count <= Math.min(samples, features) ? "nndsvda" : "random");
  if (chosen !== "random") return fromVectors(x, count, chosen === "nndsvda");
  const { device, dtype } = x;
  const size = x.mean().div(count).sqrt();
  const [first, second] = split(key(seed, { device }));
  const drawn = (from: typeof first, shape: number[]): Tensor =>
    normal(from, shape, { dtype: dtype as "f32" })
      .abs()
      .mul(size) as Tensor;
  return [drawn(second, [samples, count]), drawn(first, [count, features])];
}

/** Weights of the penalties, beside samples or features of which there are so many. */
function penaltiesOf({ alphaW = 0, alphaH = alphaW, l1Ratio = 0 }: NmfOptions, samples: number, features: number) {
  return {
    shares: { l1: features * alphaW * l1Ratio, l2: features * alphaW * (1 - l1Ratio) },
    parts: { l1: samples * alphaH * l1Ratio, l2: samples * alphaH * (1 - l1Ratio) },
  };
}

function learned(x: Tensor, count: number, options: NmfOptions): NmfLearned {
  const { tol = 1e-4, maxIter = 200 } = options;
  const [samples, features] = x.shape as [number, number];
  const penalty = penaltiesOf(options, samples, features);
  const [w, h] = started(x, count, options);
  const { device, dtype } = x;
  const scalar = (value: number): Tensor => full([], value, { device, dtype }) as Tensor;
  const end = whileLoop(
    ({ violation, first, round }) =>
      round.less(maxIter).logicalAnd(violation.greater(first.mul(tol)).logicalOr(round.equal(0))) as Tensor,
    ({ w, h, first, round }) => {
      const ofShares = sweep(problemOf(x, h, penalty.shares.l1, penalty.shares.l2), w);
      const columns = ofShares.shares.T as Tensor;
      const ofParts = sweep(problemOf(x.T as Tensor, columns, penalty.parts.l1, penalty.parts.l2), h.T as Tensor);
      const violation = ofShares.violations.sum().add(ofParts.violations.sum()) as Tensor;
      return {
        w: ofShares.shares,
        h: ofParts.shares.T as Tensor,
        violation,
        first: where(round.equal(0), violation, first) as Tensor,
        round: round.add(1) as Tensor,
      };
    },
    { w, h, violation: scalar(0), first: scalar(0), round: full([], 0, { device, dtype: "i32" }) as Tensor },
  );
  const rest = x.sub(end.w.matmul(end.h)).square().sum().sqrt() as Tensor;
  return { components: end.h, reconstructionError: rest, iterations: end.round };
}

/** Shares of samples in given parts. A sample ends when its own conditions hold, so that it does not depend on those beside it. */
function sharesOf({ components }: NmfLearned, x: Tensor, options: NmfOptions): Tensor {
  const { tol = 1e-4, maxIter = 200 } = options;
  const { shares: penalty } = penaltiesOf(options, 1, components.shape[1] as number);
  const problem = problemOf(x, components, penalty.l1, penalty.l2);
  const { device, dtype } = x;
  const none = zeros([x.shape[0] as number, components.shape[0] as number], { device, dtype }) as Tensor;
  const begun = sweep(problem, none);
  const end = whileLoop(
    ({ isOpen, round }) => isOpen.any().logicalAnd(round.less(maxIter)) as Tensor,
    ({ shares, isOpen, round }) => {
      const next = sweep(problem, shares);
      return {
        shares: where(isOpen.expandDims(1), next.shares, shares) as Tensor,
        isOpen: isOpen.logicalAnd(next.violations.greater(begun.violations.mul(tol))) as Tensor,
        round: round.add(1) as Tensor,
      };
    },
    {
      shares: begun.shares,
      isOpen: begun.violations.greater(0) as Tensor,
      round: full([], 1, { device, dtype: "i32" }) as Tensor,
    },
  );
  return end.shares;
}

/** Samples, which are zero or more, as sums of a few parts. */
export const nmf = transformer<NmfLearned, NmfOptions, typeof methods>({
  kind: "nmf",
  options: {
    nComponents: "number",
    init: "text",
    alphaW: "number",
    alphaH: "number",
    l1Ratio: "number",
    tol: "number",
    maxIter: "number",
    seed: "number",
  },
  takesWeights: false,
  check({ init, alphaW = 0, alphaH = 0, l1Ratio = 0, tol = 0, maxIter = 1 }) {
    checkChoice("nmf", "init", init, ["nndsvd", "nndsvda", "random"]);
    checkAmount("nmf", "alphaW", alphaW);
    checkAmount("nmf", "alphaH", alphaH);
    checkAmount("nmf", "l1Ratio", l1Ratio, 0, 1);
    checkAmount("nmf", "tol", tol);
    checkWhole("nmf", "maxIter", maxIter, 1);
  },
  async checkSamples(operation, x) {
    const least = Number(await x.min().item());
    if (least >= 0) return;
    throw new ArgumentError(`${operation}: a value is ${least}; parts add up, so samples are zero or more.`);
  },
  learn({ x }, options) {
    const [samples, features] = x.shape as [number, number];
    const { nComponents = features, init } = options;
    const most = init === undefined || init === "random" ? Number.MAX_SAFE_INTEGER : Math.min(samples, features);
    return learned(x, checkWholeSetting("nmf.fit", "nComponents", nComponents, most), options);
  },
  transform: sharesOf,
  methods,
});
