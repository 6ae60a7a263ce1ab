/**
 * trigamma: the derivative of digamma, which is positive everywhere.
 *
 *   x >= 1            T(z) z with z = 1 / (x + 1/2): one polynomial serves all of them.
 *   0 < x < 1         trigamma(x) = trigamma(x + 1) + 1/x².
 *   x < 0             reflection: trigamma(x) = (pi / sin(pi x))² - trigamma(1 - x); the first term is much the larger.
 *
 * Two divisions serve all rows. At the poles, zero included, the value is infinity, which it approaches from both sides.
 */
import { divideNormal } from "./correct-rounding.js";
import { constants } from "./float-parts.js";
import { sinPiOverPi } from "./gamma.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** trigamma(y) / z in z = 1 / (y + 1/2) for y from 1 on: right to 2^-30.8 and 2^-59.4. */
const coefficients = {
  f32: [
    1, 0.9999998807907104, 0.9166752099990845, 0.7497871518135071, 0.5317802429199219, 0.29422107338905334,
    0.24260038137435913, -0.10164979100227356, 0.45791709423065186, -0.35790959000587463, 0.2000914067029953,
  ],
  f64: [
    1, 0.9999999999999987, 0.9166666666671079, 0.7499999999483287, 0.5291666697592626, 0.31249988859892713,
    0.16443717221774193, 0.10933098705678762, 0.09610336854356752, 0.030417786631752413, -0.024458159413696532,
    -0.14527103207102277, 0.8024545317784181, -1.1316068318068875, -1.0380348750398432, 7.963268700510757,
    -18.570065924118556, 27.13347872230771, -27.51077640236136, 19.55406678615728, -9.376670519404287,
    2.7391602029877427, -0.36937361059735146,
  ],
} as const;

/** 1/x for any x but zero: very small and very large ones are scaled into the range of the division. */
function reciprocal<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const c = constants(k, type);
  const scale = type === "f32" ? 2 ** 64 : 2 ** 540;
  const magnitude = k.abs(x);
  const ofLarge = k.select(k.gt(magnitude, c(scale)), c(1 / scale), c(1));
  const factor = k.select(k.lt(magnitude, c(1 / scale)), c(scale), ofLarge);
  return k.mul(divideNormal(k, c(1), k.mul(x, factor), type), factor);
}

export function trigamma<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const [zero, one] = [c(0), c(1)];
  const isNegative = k.lt(x, zero);
  const isBelowOne = k.lt(x, one);
  const y = select(isNegative, sub(one, x), select(isBelowOne, add(x, one), x));
  const z = reciprocal(k, add(y, c(0.5)), type);
  const fromOne = mul(z, polynomial(k, z, coefficients[type], type));

  const distance = sub(x, k.roundEven(x));
  const root = reciprocal(k, select(isNegative, sinPiOverPi(k, distance, type), x), type);
  const pole = mul(root, root);
  const small = select(isNegative, sub(pole, fromOne), add(pole, fromOne));
  const finite = select(isBelowOne, small, fromOne);
  const isPole = k.and(k.le(x, zero), k.eq(distance, zero));
  const isInfinite = k.eq(x, c(Infinity));
  return select(isPole, c(Infinity), select(isInfinite, zero, finite));
}
