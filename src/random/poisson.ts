/**
 * Poisson numbers of any rate. Below 10 the distribution function is inverted, term by term; from 10 on candidates are
 * accepted or rejected as in PTRS (Hörmann, The transformed rejection method for generating Poisson random variables,
 * 1993), with a probability of at least 0.75 each, so that all of 16 rounds are rejected in 1 of 4·10^9 draws. Both
 * methods need a bounded number of steps, but their numbers are not JAX's.
 */

import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { DTYPES, type DType, isFloat, isInteger } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import type { Shape } from "../core/shape.js";
import { type Operand, Tensor, where } from "../tensor/index.js";
import { pairOfWords, randomWords, unitFloats } from "./bits.js";
import { drawnShape, parameter } from "./gamma.js";
import { checkKey, type Key, split } from "./key.js";
import { firstAccepted } from "./rejection.js";
import { stirlingSeries } from "./stirling.js";

/** From this rate on rejection is used. */
const LARGE = 10;
/** At a rate of 10, a larger number occurs once in 10^13 draws. */
const LAST_TERM = 40;
const ROUNDS = 16;

/**
 * Poisson numbers: the number of events of the given rate, as in `poisson(key, 4, [1000])`. -1 where the rate is negative or
 * NaN. Rates are floats; from 2^24 on (f32) neighbouring floats are more than 1 apart, and so are the results. Numbers that
 * an integer dtype does not hold become its largest; a rate that is one number and beyond that is refused.
 */
export function poisson<D extends DType = "i32">(
  key: Key,
  rate: Operand,
  shape?: Shape,
  options: { readonly dtype?: D } = {},
): Tensor<D> {
  checkCount("random.poisson", 4, arguments);
  checkOptions<{ readonly dtype?: DType }>("random.poisson", options, { dtype: "dtype" });
  checkKey(key, "poisson");
  const dtype: DType = options.dtype ?? "i32";
  if (typeof rate === "number" && isInteger(dtype) && rate > DTYPES[dtype].max) {
    throw new ArgumentError(
      `random.poisson: numbers of rate ${rate} do not fit ${dtype}; use { dtype: "i64" } or { dtype: "f32" }.`,
    );
  }
  const extent = drawnShape("poisson", shape, rate);
  const work = rate instanceof Tensor && isFloat(rate.dtype) && rate.dtype === "f64" ? "f64" : "f32";
  const rates = parameter(key, rate, extent, work, "poisson");
  const [smallKey, largeKey] = split(key);
  if (typeof rate === "number") {
    const counts = rate >= LARGE ? largePoisson(largeKey, rates) : smallPoisson(smallKey, rates);
    return where(rates.greaterEqual(0), counts, -1).cast(dtype) as Tensor<D>;
  }
  const small = smallPoisson(smallKey, rates.minimum(LARGE));
  const large = largePoisson(largeKey, rates.maximum(LARGE));
  const counts = where(rates.less(LARGE), small, large);
  return where(rates.greaterEqual(0), counts, -1).cast(dtype) as Tensor<D>;
}

/**
 * Inverts the distribution function: the number of k with P(X > k) above a uniform number. Tail probabilities are added up from the far end and compared with a
 * number that is precise near zero, so that rare large counts come up as often as they should.
 */
function smallPoisson(key: Key, rate: Tensor): Tensor {
  const words = randomWords(key, rate.shape, "poisson");
  const u = words
    .first()
    .cast(rate.dtype)
    .mul(2 ** -32)
    .add(
      words
        .second()
        .cast(rate.dtype)
        .add(0.5)
        .mul(2 ** -64),
    );
  const probabilities = [rate.neg().exp()];
  for (let k = 1; k <= LAST_TERM; k++) probabilities.push((probabilities[k - 1] as Tensor).mul(rate.mul(1 / k)));
  let tail = probabilities[LAST_TERM] as Tensor;
  let count = u.less(tail).cast(rate.dtype) as Tensor;
  for (let k = LAST_TERM - 1; k >= 1; k--) {
    tail = tail.add(probabilities[k] as Tensor);
    count = count.add(u.less(tail).cast(rate.dtype));
  }
  return count;
}

function largePoisson(key: Key, rate: Tensor): Tensor {
  const dtype = rate.dtype;
  const b = rate.sqrt().mul(2.53).add(0.931);
  const a = b.mul(0.02483).sub(0.059);
  const logInverseAlpha = b.sub(3.4).reciprocal().mul(1.1328).add(1.1239).log();
  const quick = b.sub(2).reciprocal().mul(-3.6224).add(0.9277);
  const candidate = (round: Tensor) => {
    const [words, others] = pairOfWords(key, rate.shape, "poisson", dtype, round);
    const u = unitFloats(words, dtype, "poisson").sub(0.5);
    const us = u.abs().neg().add(0.5);
    // A number is made where it is asked for: one that nobody reads would keep the round that it belongs to.
    return {
      us,
      v: () => unitFloats(others, dtype, "poisson"),
      k: a.mul(2).div(us).add(b).mul(u).add(rate).add(0.43).floor(),
    };
  };
  const accepted = firstAccepted(key, ROUNDS, rate.rank, (round) => {
    const { us, k, v: accepting } = candidate(round);
    const v = accepting();
    const isQuick = us.greaterEqual(0.07).logicalAnd(v.lessEqual(quick));
    const isHopeless = k.less(0).logicalOr(us.less(0.013).logicalAnd(v.greater(us)));
    const hat = v.log().add(logInverseAlpha).sub(a.div(us.square()).add(b).log());
    const isUnder = hat.lessEqual(logProbability(k.maximum(0), rate));
    return isQuick.logicalOr(isUnder.logicalAnd(isHopeless.logicalNot()));
  });
  return candidate(accepted).k;
}

/**
 * log(rate^k e^-rate / k!), with Stirling's series for k! around k + 1, arranged so that nothing larger than √rate is
 * subtracted: the plain formula loses all digits of f32 at rates of a million. Off by 6·10^-4 at k = 0, less than 10^-7
 * from k = 3 on; at rates of 10 and more that changes probabilities by less than 10^-7.
 */
function logProbability(k: Tensor, rate: Tensor): Tensor {
  const z = k.add(1);
  const distance = z.sub(rate);
  return distance
    .sub(k.mul(distance.div(rate).log1p()))
    .sub(z.log().mul(0.5))
    .sub(0.5 * Math.log(2 * Math.PI))
    .sub(stirlingSeries(z));
}
