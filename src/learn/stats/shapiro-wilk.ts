/**
 * Shapiro and Wilk's test of normality: the squared correlation of the ordered observations with what is expected of normal ones, with the
 * weights and p values of Royston (1995, AS R94), which hold for 3 to 5000 observations. NaN among them, and equal ones, give NaN.
 */
import { ArgumentError } from "../../core/errors.js";
import { normalQuantile } from "../../core/normal-quantile.js";
import { type Tensor, tensor, where } from "../../tensor/index.js";
import { correlationOf } from "./correlations.js";
import type { TestResult } from "./results.js";
import { countOf, SAMPLE, type Sample, type SampleOptions, samplesOf } from "./samples.js";
import { normalUpper } from "./tails.js";

/** A polynomial, from the constant on. */
const at = (coefficients: readonly number[], x: number): number => coefficients.reduceRight((sum, c) => sum * x + c, 0);

/** The last weight and the one before it, less those of expected order statistics, by 1/√n. */
const LAST = [0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056];
const BEFORE = [0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633];
/** Of the logarithm of 1 - W: a bound, mean and log deviation by n up to 11, mean and log deviation by log n beyond. */
const BOUND = [-2.273, 0.459];
const SMALL = { mean: [0.544, -0.39978, 0.025054, -6.714e-4], deviation: [1.3822, -0.77857, 0.062767, -0.0020322] };
const LARGE = { mean: [-1.5861, -0.31082, -0.083751, 0.0038915], deviation: [-0.4803, -0.082676, 0.0030302] };

/** Weights of the ordered observations: odd about the middle. */
function weightsOf(n: number): number[] {
  if (n === 3) return [-Math.SQRT1_2, 0, Math.SQRT1_2];
  const expected = Array.from({ length: n }, (_, i) => normalQuantile((i + 0.625) / (n + 0.25)));
  const squares = expected.reduce((sum, each) => sum + each * each, 0);
  const corrected = (n > 5 ? [LAST, BEFORE] : [LAST]).map(
    (coefficients, i) => (expected[n - 1 - i] as number) / Math.sqrt(squares) + at(coefficients, 1 / Math.sqrt(n)),
  );
  const others = corrected.reduce((sum, _, i) => sum - 2 * (expected[i] as number) ** 2, squares);
  const share = corrected.reduce((sum, each) => sum - 2 * each * each, 1);
  const weights = expected.map((each) => each * Math.sqrt(share / others));
  corrected.forEach((weight, i) => {
    weights[i] = -weight;
    weights[n - 1 - i] = weight;
  });
  return weights;
}

/** Whether a sample is from a normal distribution. */
export function shapiroWilk(x: Sample, options: SampleOptions = {}): TestResult {
  const operation = "stats.shapiroWilk";
  const [given] = samplesOf(operation, [x], options, SAMPLE) as readonly [Tensor];
  const n = countOf(given);
  if (n < 3) throw new ArgumentError(`${operation}: a sample has ${n} observations; it takes three or more.`);
  const { dtype, device } = given;
  const sorted = given.sort();
  const weights = tensor(weightsOf(n), { dtype, device }) as Tensor;
  const { statistic: correlation, apart, opposed } = correlationOf(sorted, weights);
  const statistic = correlation.square();
  const rest = apart.mul(opposed);
  return { statistic, pValue: n === 3 ? ofThree(statistic) : normalised(rest, n) };
}

/** The distribution of W of three observations, which is at least 3/4. */
function ofThree(w: Tensor): Tensor {
  const angle = w
    .sqrt()
    .asin()
    .sub(Math.asin(Math.sqrt(0.75)));
  return angle.mul(6 / Math.PI).clip(0, 1) as Tensor;
}

/** The p value by a function of 1 - W that is about normal. */
function normalised(rest: Tensor, n: number): Tensor {
  const y = rest.log();
  const { mean, deviation } = n <= 11 ? SMALL : LARGE;
  const by = n <= 11 ? n : Math.log(n);
  const z = (value: Tensor): Tensor => value.sub(at(mean, by)).div(Math.exp(at(deviation, by))) as Tensor;
  if (n > 11) return normalUpper(z(y));
  const room = y.neg().add(at(BOUND, n)) as Tensor;
  const isBeyond = room.lessEqual(0);
  const value = normalUpper(z((where(isBeyond, 1, room) as Tensor).log().neg()));
  return where(isBeyond, 0, value) as Tensor;
}
