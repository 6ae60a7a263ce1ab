/**
 * erf, erfc and erfInv.
 *
 * erf: up to 0.9 the odd polynomial x + x P(x²); beyond, 1 - exp(p(|x|)) with a polynomial p for log(erfc), fitted
 * where it matters, since erfc is soon too small to show next to 1. This costs no division.
 *
 * erfc, which must keep relative precision down to the denormals: exp(-x²) times erfcx(x) = t Q(t), t = 1 / (x + 3),
 * one polynomial for the whole range (the change of variable goes back to Schonfelder 1978). x² is formed exactly, as a
 * pair, since its error times 700 would show. Up to 0.75 it is (1 - x) - x P(x²), and 2 - erfc(-x) on the left.
 *
 * erfInv: x F(w) with w = -log(1 - x²), in pieces (Giles 2010; the coefficients are our own): in w for f32, in w and sqrt(w)
 * for f64. Their coefficients are selected, so that one evaluation serves all pieces. F is 0.886 at 0 and steepest there
 * with 0.23, so w needs no relative precision: f32 takes 1 - x² as a product and its logarithm by a plain polynomial.
 *
 * Each polynomial's centre was chosen among many so that its constant term is almost exactly a float.
 */
import { divideNormal, squareRoot } from "./correct-rounding.js";
import { fastTwoSum, twoProduct, twoSum } from "./error-free.js";
import { clampForExp, expBounded, expParts } from "./exponential.js";
import { constants, scaleByPowers, splitExponent, withSignOf } from "./float-parts.js";
import { log1pOfPair } from "./logarithm.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** erf(x) / x - 1 in x² for |x| <= 0.9: right to 2^-30.1 and 2^-56.3. */
const innerCoefficients = {
  f32: [
    0.12837916612625122, -0.37612631916999817, 0.1128367930650711, -0.026858819648623466, 0.005200081504881382,
    -0.0008135699899867177, 8.352298027602956e-5,
  ],
  f64: [
    0.1283791670955126, -0.37612638903184, 0.11283791670965515, -0.026866170646893936, 0.0052239776408170525,
    -0.0008548327797815398, 0.00012055356627367604, -1.4926084781075949e-5, 1.6466400630807002e-6,
    -1.637491131580648e-7, 1.454743096046579e-8, -9.577087646421232e-10,
  ],
} as const;

/** log(erfc(x)) in x - 0.9 up to x = 4 and 6: erf is right to 2^-26.5 and 2^-55.2. */
const logErfcCoefficients = {
  f32: [
    -1.5940971374511719, -2.4716365337371826, -0.829997181892395, -0.04582219943404198, 0.011080458760261536,
    -0.0020942322444170713, 0.00022158339561428875,
  ],
  f64: [
    -1.5940972465793175, -2.4716340341907044, -0.8300167687147937, -0.04577705701051727, 0.011057253345401084,
    -0.0021131329086380504, 0.00021047778156526128, 5.170893430352605e-5, -3.675129457636452e-5, 1.173421128836098e-5,
    -2.161321089712138e-6, 7.677922180261142e-9, 1.589933855042043e-7, -6.507724788795462e-8, 1.559826896573528e-8,
    -2.457916202986913e-9, 2.456813378397165e-10, -1.356405428847713e-11, 2.811579648794383e-13,
  ],
} as const;

/** exp(x²) erfc(x) / t in t - centre, t = 1 / (x + 3), for x from 0.75 up to `end`: right to 2^-30.0 and 2^-58.3. */
const scaledErfc = {
  f32: {
    centre: 0.145355224609375,
    coefficients: [
      0.9700808525085449, 4.480297565460205, 17.36256980895996, 54.80812454223633, 132.56582641601562,
      208.35946655273438, 56.73215866088867, -669.6901245117188, -1289.435546875, 2585.56884765625,
    ],
    end: 10.1,
  },
  f64: {
    centre: 0.118438720703125,
    coefficients: [
      0.8610639123426995, 3.6549430978539936, 13.473103823741832, 42.01142835656567, 105.54358033474486,
      190.70598828705315, 152.1406804013189, -359.01800237048536, -1359.9771871070318, -712.2299582804436,
      5915.172196789112, 11691.281232849333, -22855.178959567525, -95469.30540358297, 90332.8853799226,
      732310.3022853915, -495392.33811810904, -5611010.310302761, 5934185.94020279, 31489493.45923511,
      -62419210.218871534,
    ],
    end: 27.3,
  },
} as const;

const innerLimit = 0.9;

/** erf(x) - x for |x| <= 0.9: at most a seventh of x. */
function erfLessX<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  return k.mul(x, polynomial(k, k.mul(x, x), innerCoefficients[type], type));
}

export function erf<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const c = constants(k, type);
  const magnitude = k.abs(x);
  const limit = c(innerLimit);
  const end = c(type === "f32" ? 4 : 6);
  const bounded = k.select(k.gt(magnitude, end), end, magnitude);
  const tail = expBounded(k, polynomial(k, k.sub(bounded, limit), logErfcCoefficients[type], type), type);
  const outer = withSignOf(k, k.sub(c(1), tail), x, type);
  // Scaled up where x P would be denormal, and might be flushed, though the result is not.
  const [tiny, scale] = type === "f32" ? [2 ** -100, 2 ** 50] : [2 ** -960, 2 ** 200];
  const isTiny = k.lt(magnitude, c(tiny));
  const scaled = k.select(isTiny, k.mul(x, c(scale)), x);
  const near = k.add(scaled, erfLessX(k, scaled, type));
  const inner = k.select(isTiny, k.mul(near, c(1 / scale)), near);
  return k.select(k.lt(magnitude, limit), inner, outer);
}

export function erfc<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const { centre, coefficients, end } = scaledErfc[type];
  const magnitude = k.abs(x);
  const bounded = select(k.gt(magnitude, c(end)), c(end), magnitude);
  const square = twoProduct(k, bounded, bounded, type);
  const { significand, rest, powers } = expParts(k, clampForExp(k, k.neg(square.high), type), type, k.neg(square.low));
  const shifted = twoSum(k, c(3), bounded);
  const t = divideNormal(k, c(1), shifted.high, type);
  const d = sub(t, c(centre));
  const [constant, ...higher] = coefficients;
  const factor = twoSum(k, c(constant), mul(d, polynomial(k, d, higher, type)));

  // exp * t * factor with the rounding errors of all three put back, to first order. That of t counts for more, because
  // erfcx is steeper than t: d log erfcx / d log t is 0.75 + 7 t, to one digit.
  const inverse = twoProduct(k, t, shifted.high, type);
  const lostFromT = sub(sub(sub(c(1), inverse.high), inverse.low), mul(t, shifted.low));
  const steepness = add(c(0.75), mul(t, c(7)));
  const first = twoProduct(k, significand, t, type);
  const second = twoProduct(k, first.high, factor.high, type);
  const firstLow = add(first.low, mul(rest, t));
  const low = add(mul(firstLow, factor.high), mul(first.high, factor.low));
  const correction = add(add(second.low, low), mul(second.high, mul(steepness, lostFromT)));
  const tail = scaleByPowers(k, add(second.high, correction), powers);

  const difference = fastTwoSum(k, c(1), k.neg(x));
  const inner = add(difference.high, sub(difference.low, erfLessX(k, x, type)));
  const outer = select(k.lt(x, c(0)), sub(c(2), tail), tail);
  return select(k.lt(magnitude, c(0.75)), inner, outer);
}

interface InversePiece {
  readonly centre: number;
  readonly coefficients: readonly number[];
}

/** erfInv(x) / x in w = -log(1 - x²), of f64 beyond the first piece in sqrt(w); each up to `limits`. */
const inversePieces: Readonly<Record<FloatType, { pieces: readonly InversePiece[]; limits: readonly number[] }>> = {
  f32: {
    limits: [5],
    pieces: [
      {
        centre: 0.6142578125,
        coefficients: [
          1.032545566558838, 0.24347415566444397, 0.007066891994327307, -0.002469498198479414, 1.8011383872362785e-5,
          4.592255936586298e-5, -1.95592883756035e-6, -1.199293251374911e-6, 2.2062133098188497e-7,
          -1.5100436456805255e-8, 3.3555261347295584e-10,
        ],
      },
      {
        centre: 10.505859375,
        coefficients: [
          3.0751144886016846, 0.15505695343017578, -0.0035596229135990143, 0.00015532759425695986, -7.61239925850532e-6,
          3.0735554901184514e-7, -6.290863940883185e-10, -1.9196977341096044e-9, 3.4937175374949447e-10,
          -3.935990769421416e-11, 1.9221937409830137e-12,
        ],
      },
    ],
  },
  f64: {
    limits: [6.25, 16],
    pieces: [
      {
        centre: 3.068359375,
        coefficients: [
          1.6400326326723595, 0.24083441888929333, -0.005904189858034667, -0.0007834497608415819,
          0.00019059735843710728, -1.3389656552893898e-5, -1.5359181991097753e-6, 4.3615325077307684e-7,
          -2.6820579832839273e-8, -4.717094908029083e-9, 1.082070780938159e-9, -4.4658581909452616e-11,
          -1.4935618591764347e-11, 2.68041832996908e-12, -4.426909416851507e-14, -4.593404779093458e-14,
          6.5069887920203444e-15, 9.420786936407454e-17, -1.3952316711499268e-16, 1.452778180268161e-17,
          1.1123941039415572e-18, -3.6706440551763567e-19, 1.2424655158338394e-20, 3.6348867450274576e-21,
          -3.0581336613376975e-22,
        ],
      },
      {
        centre: 3.28515625,
        coefficients: [
          3.1192332250413806, 1.0056231215090392, 0.004993043105311398, -0.0034209063630759482, 0.002211811421124589,
          -0.001496335152260909, 0.0008669827906078116, -0.00034548088485481047, 4.309739965651869e-5,
          5.252212298786058e-5, -4.230823123028554e-5, 1.3341308198824903e-5, 1.2762989601433584e-6,
          -3.265633628915535e-6, 1.4346922270917858e-6, -1.443012560691032e-7, -1.717468422668779e-7,
          1.1538019008219452e-7, -2.910793872712568e-8, -9.855783863803671e-9, 7.621924578945115e-9,
        ],
      },
      {
        centre: 5.048828125,
        coefficients: [
          4.899237123455701, 1.0102854148769544, -0.00016915328229572278, -0.0002006461980851166, 7.134806512854501e-5,
          -1.8404051081311183e-5, 4.201302799916381e-6, -9.089734938055254e-7, 2.0219795351305557e-7,
          -5.5210423915419246e-8, 2.1972225273022454e-8, -1.1237547066370968e-8, 5.836661986057105e-9,
          -2.7227834790982922e-9, 1.0648176076678387e-9, -3.2463506854725054e-10, 7.151956010310185e-11,
          -6.193551096372896e-13, -1.4203023927170814e-11, 5.915405128794458e-12,
        ],
      },
    ],
  },
};

/** -log1p(f) / f on sqrt(1/2) - 1 <= f <= sqrt(2) - 1; the logarithm's absolute error is below 2^-27.6. */
const minusLogCoefficients = [
  -0.9999998807907104, 0.4999997317790985, -0.3333500921726227, 0.25003287196159363, -0.19938839972019196,
  0.16532905399799347, -0.1506759524345398, 0.14577127993106842, -0.08692928403615952,
] as const;

/** w = -log(1 - x²) for |x| < 1. */
function inverseVariable<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  if (type === "f64") {
    const square = twoProduct(k, x, x, type);
    return k.neg(log1pOfPair(k, k.neg(square.high), k.neg(square.low), type));
  }
  const c = constants(k, type);
  const magnitude = k.abs(x);
  const rest = k.mul(k.sub(c(1), magnitude), k.add(c(1), magnitude));
  const { exponent, significand } = splitExponent(k, rest, type);
  const f = k.sub(significand, c(1));
  const series = k.mul(f, polynomial(k, f, minusLogCoefficients, type));
  return k.add(k.mul(k.convert(type, exponent), c(-Math.LN2)), series);
}

/** erfInv(x) / x from w. Branches leave out all pieces but one; where there are none, the coefficients are chosen instead. */
function inverseFactor<V>(k: ScalarOps<V>, w: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const { pieces, limits } = inversePieces[type];
  const isBeyond = limits.map((limit) => k.gt(w, c(limit)));
  const rootOf = () => squareRoot(k, w, type);
  if (!k.usesNative("div", type)) {
    const from = (i: number, variable: V): V => {
      const { centre, coefficients } = pieces[i];
      const here = () => polynomial(k, sub(variable, c(centre)), coefficients, type);
      const beyond = () => from(i + 1, i === 0 && type === "f64" ? rootOf() : variable);
      return i === limits.length ? here() : k.either(isBeyond[i], beyond, here);
    };
    return from(0, w);
  }
  const choose = (read: (piece: InversePiece) => number): V =>
    isBeyond.reduce((chosen, beyond, i) => select(beyond, c(read(pieces[i + 1])), chosen), c(read(pieces[0])));
  const d = sub(
    type === "f64" ? select(isBeyond[0], rootOf(), w) : w,
    choose((piece) => piece.centre),
  );
  const terms = Math.max(...pieces.map((piece) => piece.coefficients.length));
  let factor = choose((piece) => piece.coefficients[terms - 1] ?? 0);
  for (let i = terms - 2; i >= 0; i--) {
    factor = add(
      mul(factor, d),
      choose((piece) => piece.coefficients[i] ?? 0),
    );
  }
  return factor;
}

/** The inverse of erf on (-1, 1); ±1 give infinities. */
export function erfInv<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const c = constants(k, type);
  const factor = inverseFactor(k, inverseVariable(k, x, type), type);
  const magnitude = k.abs(x);
  const atEnd = k.select(k.eq(magnitude, c(1)), withSignOf(k, c(Infinity), x, type), c(NaN));
  return k.select(k.lt(magnitude, c(1)), k.mul(x, factor), atEnd);
}
