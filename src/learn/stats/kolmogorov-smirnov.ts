/**
 * Kolmogorov and Smirnov's test: how far an empirical distribution function is from a given one, or from that of another sample. NaN among
 * the observations gives NaN.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { concat, countingLike, isTensor, type Tensor, where } from "../../tensor/index.js";
import { checkVector, methodOf, RANK, type RankTestOptions, read, scalarLike } from "./exactness.js";
import { kolmogorovChance, pathChance } from "./kolmogorov-chances.js";
import { type Alternative, alternativeOf, type TestResult } from "./results.js";
import { countOf, type Sample, samplesOf } from "./samples.js";
import { kolmogorovUpper } from "./tails.js";

/** A distribution function: the share of a distribution below each number, as a tensor of the same shape. */
export type Distribution = (x: Tensor) => Tensor;

/**
 * Whether a sample has a distribution, or two samples the same one. "greater": the distribution function of the first is above the other
 * somewhere, so its observations are smaller there.
 */
export function kolmogorovSmirnov(
  x: Sample,
  against: Distribution | Sample,
  options: RankTestOptions = {},
): TestResult {
  const operation = "stats.kolmogorovSmirnov";
  const given = typeof against === "function" ? [x] : [x, against];
  const [first, second] = samplesOf(operation, given, options, RANK) as readonly [Tensor, Tensor | undefined];
  const [alternative, method] = [alternativeOf(operation, options), methodOf(operation, options)];
  for (const each of second ? [first, second] : [first]) {
    if (countOf(each) === 0)
      throw new ArgumentError(`${operation}: a sample is empty; it has one observation or more.`);
  }
  const found = second
    ? betweenSamples(first, second, alternative)
    : fromDistribution(first, against as Distribution, alternative);
  const { statistic, chance, limit } = found;
  if (method === "exact") checkVector(operation, first);
  const isLimit = method === "asymptotic" || first.rank !== 1;
  return { statistic, pValue: isLimit ? limit() : scalarLike(chance(read(statistic), method === "exact"), statistic) };
}

interface Distance {
  readonly statistic: Tensor;
  /** The p value of a statistic that was read. */
  readonly chance: (statistic: number, isExact: boolean) => number;
  /** The p value for large samples. */
  readonly limit: () => Tensor;
}

/** The largest distances on the side of the alternative, of distances above and below; NaN where an observation is. */
function largest(plus: Tensor, minus: Tensor, x: Tensor, alternative: Alternative): Tensor {
  const most = (each: Tensor): Tensor => each.max({ axis: -1 }) as Tensor;
  const sides = { greater: () => most(plus), less: () => most(minus), twoSided: () => most(plus).maximum(most(minus)) };
  const isNone = x.isNaN().any({ axis: -1 });
  return where(isNone, Number.NaN, sides[alternative]()) as Tensor;
}

function fromDistribution(x: Tensor, distribution: Distribution, alternative: Alternative): Distance {
  const operation = "stats.kolmogorovSmirnov";
  const n = countOf(x);
  const sorted = x.sort();
  const shares = distribution(sorted);
  if (!isTensor(shares)) throw new ArgumentError(`${operation}: the distribution function gives no tensor.`);
  if (!sameShape(shares.shape, sorted.shape)) {
    throw new ShapeError(
      `${operation}: the distribution function makes ${formatShape(shares.shape)} of ${formatShape(sorted.shape)}; it keeps the shape.`,
    );
  }
  const places = countingLike(x, n).cast(x.dtype) as Tensor;
  const plus = places.add(1).div(n).sub(shares) as Tensor;
  const statistic = largest(plus, shares.sub(places.div(n)) as Tensor, x.add(shares), alternative);
  return {
    statistic,
    chance: (d) => kolmogorovChance(d, n, alternative),
    limit: () =>
      alternative === "twoSided" ? kolmogorovUpper(statistic.mul(Math.sqrt(n))) : oneSided(statistic.mul(Math.sqrt(n))),
  };
}

/** e^(-2z²), the limit on one side. */
const oneSided = (z: Tensor): Tensor => z.square().mul(-2).exp();

/** Up to so many observations in the larger sample p values are exact without being told. */
const MOST = 10_000;

/** Products of counts up to here are whole numbers of i32. */
const MOST_WHOLE = 2 ** 31;

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

function betweenSamples(x: Tensor, y: Tensor, alternative: Alternative): Distance {
  const [m, n] = [countOf(x), countOf(y)];
  const common = divisor(m, n);
  const steps = (m / common) * n;
  const both = concat([x, y], { axis: -1 }) as Tensor;
  const order = both.argsort();
  const dtype = steps < MOST_WHOLE ? "i32" : x.dtype;
  const isFirst = order.less(m);
  // In steps of both functions, which are whole numbers: to the right n / common for one of x, downwards m / common for one of y.
  const rises = where(isFirst, n / common, -m / common)
    .cast(dtype)
    .cumsum({ axis: -1 }) as Tensor;
  const sorted = both.takeAlongAxis(order, { axis: -1 });
  const last = m + n - 1;
  const after = countingLike(x, m + n)
    .add(1)
    .clip(0, last);
  const isEnd = sorted.notEqual(sorted.take(after, { axis: -1 })).logicalOr(countingLike(x, m + n).equal(last));
  const distances = where(isEnd, rises, 0).cast(x.dtype).div(steps) as Tensor;
  const statistic = largest(distances, distances.neg(), both, alternative);
  const effective = (m * n) / (m + n);
  const z = statistic.mul(Math.sqrt(effective));
  const chance = (d: number, isExact: boolean): number => {
    if (Number.isNaN(d)) return d;
    if (isExact || Math.max(m, n) <= MOST) {
      const far = Math.round(d * steps);
      const isOutside = (i: number, j: number): boolean => {
        const distance = (i * n - j * m) / common;
        return (alternative === "twoSided" ? Math.abs(distance) : alternative === "less" ? -distance : distance) >= far;
      };
      return pathChance(m, n, isOutside);
    }
    if (alternative === "twoSided") return kolmogorovChance(d, Math.round(effective), alternative);
    const [large, small] = [Math.max(m, n), Math.min(m, n)];
    const at = Math.sqrt(effective) * d;
    // Hodges' (1958) correction of the limit.
    return Math.exp(-2 * at * at - (2 * at * (large + 2 * small)) / Math.sqrt(large * small * (large + small)) / 3);
  };
  return { statistic, chance, limit: () => (alternative === "twoSided" ? kolmogorovUpper(z) : oneSided(z)) };
}
