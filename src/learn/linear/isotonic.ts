/**
 * Isotonic regression: the closest function that never falls (or never climbs). Adjacent violators are pooled, as always, but all at
 * once: a round joins every run of blocks whose means fall, since neighbours that violate the order end in one block whatever is joined
 * first. Rounds are few for noisy data; data that climb and end far below take one for each sample. On the device, so that fits trace.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { arange, full, type Tensor, where, zeros } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { regressor } from "../core/sorts.js";
import { checkOneOutput } from "./generalized.js";

/** Options of `isotonicRegression`. */
export interface IsotonicOptions {
  /** True unless told: predictions never fall. False: they never climb. "auto": by the sign of Spearman's correlation. */
  readonly increasing?: boolean | "auto";
  /** The least prediction; none unless told. */
  readonly yMin?: number;
  /** The largest prediction; none unless told. */
  readonly yMax?: number;
  /** Samples outside of those of the fit: NaN ("nan", unless told), or the nearest prediction ("clip"). */
  readonly outOfBounds?: "nan" | "clip";
}

/** The places in order and the function there, [samples]. It is linear between them. */
export interface IsotonicLearned {
  readonly thresholds: Tensor;
  readonly values: Tensor;
  /** bool: the function climbs. */
  readonly increasing: Tensor;
  readonly [name: string]: Tensor;
}

/** The monotone function of one feature that is closest to the targets. */
export const isotonicRegression = regressor<IsotonicLearned, IsotonicOptions>({
  kind: "isotonicRegression",
  options: { increasing: "any", yMin: "number", yMax: "number", outOfBounds: "text" },
  check({ increasing = true, yMin = Number.NEGATIVE_INFINITY, yMax = Number.POSITIVE_INFINITY, outOfBounds }) {
    checkChoice("isotonicRegression", "outOfBounds", outOfBounds, ["nan", "clip"]);
    if (typeof increasing !== "boolean") checkChoice("isotonicRegression", "increasing", increasing, ["auto"]);
    if (yMin <= yMax) return;
    throw new ArgumentError(`isotonicRegression: yMin is ${yMin} and yMax ${yMax}; the least comes first.`);
  },
  learn({ x, y, weights }, { increasing = true, yMin, yMax }) {
    if (x.shape[1] !== 1) {
      throw new ArgumentError(
        `isotonicRegression.fit: the samples have ${x.shape[1]} features; it takes one, [samples, 1].`,
      );
    }
    checkOneOutput("isotonicRegression", y);
    const given = x.squeeze(1) as Tensor;
    const { device } = x;
    const climbs = (
      increasing === "auto" ? rankProduct(given, y).greaterEqual(0) : full([], increasing, { device, dtype: "bool" })
    ) as Tensor;
    const sign = where(climbs, 1, -1).cast(x.dtype) as Tensor;
    const { places, means, counts } = ordered(given, y.mul(sign) as Tensor, weights);
    const fitted = pooled(places, means, counts).mul(sign) as Tensor;
    const bounded = fitted.clip(yMin ?? Number.NEGATIVE_INFINITY, yMax ?? Number.POSITIVE_INFINITY) as Tensor;
    return { thresholds: places, values: bounded, increasing: climbs };
  },
  predict({ thresholds, values }, x, { outOfBounds = "nan" }) {
    const at = x.cast(thresholds.dtype).reshape([-1]) as Tensor;
    const last = (thresholds.shape[0] as number) - 1;
    const [least, most] = [thresholds.at(0), thresholds.at(last)];
    const inside = at.clip(least, most) as Tensor;
    // The first place that is not below, and the one before it.
    const right = thresholds.searchSorted(inside).clip(Math.min(1, last), last);
    const left = right.sub(1).clip(0, last);
    const [x0, x1] = [thresholds.take(left), thresholds.take(right)];
    const [y0, y1] = [values.take(left), values.take(right)];
    const width = x1.sub(x0);
    const share = where(width.greater(0), inside.sub(x0).div(where(width.greater(0), width, 1)), 1);
    const found = y0.add(y1.sub(y0).mul(share));
    if (outOfBounds === "clip") return found as Tensor;
    // One place alone makes a constant, which has no outside.
    const isOutside = at.less(least).logicalOr(at.greater(most)).logicalAnd(least.less(most));
    return where(isOutside, Number.NaN, found) as Tensor;
  },
});

/** Σ of the products of the ranks, from their middle: the sign of Spearman's correlation. Equal values share their mean rank. */
function rankProduct(x: Tensor, y: Tensor): Tensor {
  const middle = ((x.shape[0] as number) - 1) / 2;
  const ranks = (of: Tensor): Tensor => {
    const sorted = of.sort();
    const sides = sorted
      .searchSorted(of)
      .add(sorted.searchSorted(of, { side: "right" }))
      .sub(1);
    return sides.cast(of.dtype).mul(0.5).sub(middle) as Tensor;
  };
  return ranks(x).mul(ranks(y)).sum() as Tensor;
}

/** Places in order with their targets and weights. A sample without weight repeats the last place, with none. */
function ordered(x: Tensor, y: Tensor, weights: Tensor | null): { places: Tensor; means: Tensor; counts: Tensor } {
  const key = (weights ? where(weights.greater(0), x, Number.POSITIVE_INFINITY) : x) as Tensor;
  const order = key.argsort();
  const sorted = key.take(order) as Tensor;
  const last = where(sorted.isFinite(), sorted, Number.NEGATIVE_INFINITY).max();
  return {
    places: where(sorted.isFinite(), sorted, last) as Tensor,
    means: y.take(order) as Tensor,
    counts: weights ? (weights.take(order) as Tensor) : (y.mul(0).add(1) as Tensor),
  };
}

/**
 * The means of the blocks that pooling ends with, at every place. Places climb; samples at one place are a block from the beginning.
 * `mds` asks here, too.
 */
export function pooled(places: Tensor, y: Tensor, weights: Tensor): Tensor {
  const [samples] = y.shape as [number];
  const { dtype, device } = y;
  const positions = arange(samples, { device, dtype: "i32" });
  const before = (of: Tensor): Tensor => of.take(positions.sub(1).clip(0, samples - 1)) as Tensor;
  const isFirst = positions.equal(0);
  const products = y.mul(weights) as Tensor;
  const meansOf = (begins: Tensor): Tensor => {
    const block = begins.cast("i32").cumsum().sub(1).cast("i32") as Tensor;
    const none = zeros([samples], { dtype, device });
    const total = (of: Tensor): Tensor => none.scatter(block, of, { op: "add", deterministic: true }) as Tensor;
    return total(products).div(total(weights)).take(block) as Tensor;
  };
  const start = isFirst.logicalOr(places.greater(before(places))) as Tensor;
  const end = whileLoop(
    ({ goesOn }) => goesOn,
    ({ begins, means }) => {
      const violates = begins.logicalAnd(isFirst.logicalNot()).logicalAnd(before(means).greater(means));
      const next = begins.logicalAnd(violates.logicalNot()) as Tensor;
      return { begins: next, means: meansOf(next), goesOn: violates.any() as Tensor };
    },
    { begins: start, means: meansOf(start), goesOn: full([], true, { device, dtype: "bool" }) as Tensor },
  );
  // The loop decides where blocks begin; their means are taken outside, so that they have derivatives.
  return meansOf(end.begins);
}
