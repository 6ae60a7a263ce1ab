/**
 * Binomial numbers of any size. Of an expected number below 10 the distribution function is inverted, term by term; from
 * 10 on candidates are accepted or rejected as in BTRS (Hörmann, The generation of binomial random variates, 1993), with
 * a probability of at least 0.7 each, so that all of 18 rounds are rejected in less than 1 of 10^9 draws. As for Poisson
 * numbers, both need a bounded number of steps.
 */

import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, isFloat } from "../core/dtype.js";
import type { Shape } from "../core/shape.js";
import { type Operand, Tensor, where } from "../tensor/index.js";
import { pairOfWords, randomWords, unitFloats } from "./bits.js";
import { drawnShape, parameter } from "./gamma.js";
import { checkKey, type Key, split } from "./key.js";
import { firstAccepted } from "./rejection.js";
import { stirlingSeries } from "./stirling.js";

/** From this expected number on rejection is used. */
const LARGE = 10;
/** With an expected number of 10, a larger number occurs once in 10^13 draws. */
const LAST_TERM = 40;
const ROUNDS = 18;

const isDouble = (value: Operand): boolean => value instanceof Tensor && isFloat(value.dtype) && value.dtype === "f64";

/** The number of successes among `trials`, each with probability p: `binomial(key, 10, 0.3, [1000])`. -1 for impossible arguments. */
export function binomial<D extends DType = "i32">(
  key: Key,
  trials: Operand,
  p: Operand,
  shape?: Shape,
  options: { readonly dtype?: D } = {},
): Tensor<D> {
  checkCount("random.binomial", 5, arguments);
  checkOptions<{ readonly dtype?: DType }>("random.binomial", options, { dtype: "dtype" });
  checkKey(key, "binomial");
  const dtype: DType = options.dtype ?? "i32";
  const extent = drawnShape("binomial", shape, trials, p);
  const work = isDouble(trials) || isDouble(p) ? "f64" : "f32";
  const n = parameter(key, trials, extent, work, "binomial");
  const chance = parameter(key, p, extent, work, "binomial");
  const isValid = n.greaterEqual(0).logicalAnd(chance.greaterEqual(0)).logicalAnd(chance.lessEqual(1));
  // The rarer of success and failure is counted.
  const isFlipped = chance.greater(0.5);
  const rare = where(isFlipped, chance.neg().add(1), chance);
  const expected = n.mul(rare);
  const isSmall = expected.less(LARGE);
  const [smallKey, largeKey] = split(key);
  const small = smallBinomial(smallKey, n, where(isSmall, rare, 0));
  // Elements that do not use rejection get parameters that it can handle.
  const large = largeBinomial(largeKey, where(isSmall, 4 * LARGE, n), where(isSmall, 0.5, rare));
  const found = where(isSmall, small, large).minimum(n);
  return where(isValid, where(isFlipped, n.sub(found), found), -1).cast(dtype) as Tensor<D>;
}

/** Inverts the distribution function: the number of k with P(X > k) above a uniform number. Tails are added up from the far end. */
function smallBinomial(key: Key, n: Tensor, p: Tensor): Tensor {
  const words = randomWords(key, n.shape, "binomial");
  const { dtype } = n;
  const low = words.second().cast(dtype).add(0.5);
  const u = words
    .first()
    .cast(dtype)
    .mul(2 ** -32)
    .add(low.mul(2 ** -64));
  const odds = p.div(p.neg().add(1));
  const probabilities = [p.neg().log1p().mul(n).exp()];
  for (let k = 1; k <= LAST_TERM; k++) {
    const ratio = n
      .sub(k - 1)
      .maximum(0)
      .mul(odds)
      .mul(1 / k);
    probabilities.push(probabilities[k - 1].mul(ratio));
  }
  let tail = probabilities[LAST_TERM];
  let count: Tensor = u.less(tail).cast(dtype);
  for (let k = LAST_TERM - 1; k >= 1; k--) {
    tail = tail.add(probabilities[k]);
    count = count.add(u.less(tail).cast(dtype));
  }
  return count;
}

function largeBinomial(key: Key, n: Tensor, p: Tensor): Tensor {
  const { shape, dtype } = n;
  const spread = n.mul(p).mul(p.neg().add(1)).sqrt();
  const b = spread.mul(2.53).add(1.15);
  const a = b.mul(0.0248).sub(0.0873).add(p.mul(0.01));
  const quick = b.reciprocal().mul(-4.2).add(0.92);
  const alpha = b.reciprocal().mul(5.1).add(2.83).mul(spread);
  const mode = n.add(1).mul(p).floor();
  const candidate = (round: Tensor) => {
    const [words, others] = pairOfWords(key, shape, "binomial", dtype, round);
    const u = unitFloats(words, dtype, "binomial").sub(0.5);
    const us = u.abs().neg().add(0.5);
    // A number is made where it is asked for: one that nobody reads would keep the round that it belongs to.
    return {
      us,
      v: () => unitFloats(others, dtype, "binomial"),
      k: a.mul(2).div(us).add(b).mul(u).add(n.mul(p)).add(0.5).floor(),
    };
  };
  const accepted = firstAccepted(key, ROUNDS, n.rank, (round) => {
    const { us, k, v: accepting } = candidate(round);
    const v = accepting();
    const isInside = k.greaterEqual(0).logicalAnd(k.lessEqual(n));
    const isQuick = us.greaterEqual(0.07).logicalAnd(v.lessEqual(quick));
    const hat = v.mul(alpha).div(a.div(us.square()).add(b)).log();
    const clipped = k.clip(0, n);
    const isUnder = hat.lessEqual(logProbability(clipped, n, p).sub(logProbability(mode, n, p)));
    return isInside.logicalAnd(isQuick.logicalOr(isUnder));
  });
  return candidate(accepted).k;
}

/**
 * log P(X = k) without the terms that do not depend on k, with Stirling's series around k + 1 and n - k + 1, arranged so that
 * nothing larger than the standard deviation is subtracted: the plain formula loses all digits of f32 at n of a million.
 */
function logProbability(k: Tensor, n: Tensor, p: Tensor): Tensor {
  const q = p.neg().add(1);
  const [whole, z, y] = [n.add(1), k.add(1), n.sub(k).add(1)];
  const distance = z.sub(whole.mul(p));
  const successes = k.mul(distance.div(whole.mul(p)).log1p());
  const failures = n.sub(k).mul(distance.neg().add(1).div(whole.mul(q)).log1p());
  return successes.add(failures).add(z.log().add(y.log()).mul(0.5)).add(stirlingSeries(z)).add(stirlingSeries(y)).neg();
}
