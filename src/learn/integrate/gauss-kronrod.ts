/** Gauss's rule of 10 places within Kronrod's of 21: integrals over many pieces at once, with errors estimated as QUADPACK does. */
import { type Tensor, tensor, where } from "../../tensor/index.js";
import { valuesAt } from "./integrand.js";

/** Places of the rule on the positive half of [-1, 1], the outermost first, and the middle. */
const PLACES = [
  0.9956571630258081, 0.9739065285171717, 0.9301574913557082, 0.8650633666889845, 0.7808177265864169,
  0.6794095682990244, 0.5627571346686047, 0.4333953941292472, 0.2943928627014602, 0.14887433898163122, 0.0,
];

/** Kronrod's weights there. */
const WEIGHTS = [
  0.011694638867371874, 0.032558162307964725, 0.054755896574351995, 0.07503967481091996, 0.0931254545836976,
  0.10938715880229764, 0.12349197626206584, 0.13470921731147334, 0.14277593857706009, 0.14773910490133849,
  0.1494455540029169,
];

/** Gauss's weights at every second of them. */
const GAUSS_WEIGHTS = [
  0.06667134430868814, 0.1494513491505806, 0.21908636251598204, 0.26926671930999635, 0.29552422471475287,
];

const mirrored = (half: readonly number[], sign: number): number[] => [
  ...half,
  ...half
    .slice(0, -1)
    .map((each) => sign * each)
    .reverse(),
];
/** Gauss's places are every second of Kronrod's. */
const gaussHalf = WEIGHTS.map((_, i) => (i % 2 === 1 ? GAUSS_WEIGHTS[(i - 1) / 2] : 0));

/** Integrals over pieces: [pieces, size] and [pieces]. */
export interface PieceAreas {
  readonly area: Tensor;
  readonly error: Tensor;
  /** The error that rounding alone makes. */
  readonly rounding: Tensor;
}

/** Integrals of g, of vectors, over pieces from and to: [pieces]. */
export function pieceAreas(g: (t: Tensor) => Tensor, from: Tensor, to: Tensor): PieceAreas {
  const { dtype, device } = from;
  const constants = (values: number[]): Tensor => tensor(values, { dtype, device }) as Tensor;
  const half = to.sub(from).mul(0.5).expandDims(1) as Tensor;
  const middle = to.add(from).mul(0.5).expandDims(1);
  const places = middle.add(half.mul(constants(mirrored(PLACES, -1)))) as Tensor;
  const values = valuesAt(g, places.flatten() as Tensor).reshape([from.size, WEIGHTS.length * 2 - 1, -1]) as Tensor;
  const weights = constants(mirrored(WEIGHTS, 1)).expandDims(-1);
  const summed = (of: Tensor, by: Tensor): Tensor => of.mul(by).sum({ axis: 1 }).mul(half) as Tensor;
  const area = summed(values, weights as Tensor);
  const coarse = summed(values, constants(mirrored(gaussHalf, 1)).expandDims(-1) as Tensor);
  const mean = area.div(half.mul(2)).expandDims(1);
  const spread = summed(values.sub(mean).abs() as Tensor, weights as Tensor);
  const size = summed(values.abs() as Tensor, weights as Tensor);
  const difference = area.sub(coarse).abs();
  const isBent = spread.greater(0).logicalAnd(difference.greater(0));
  const safe = where(isBent, spread, 1);
  const fine = safe.mul(difference.mul(200).div(safe).minimum(1).pow(1.5));
  const rounding = size.mul(50 * (dtype === "f64" ? 2 ** -52 : 2 ** -23));
  const error = where(isBent, fine, difference).maximum(rounding);
  return { area, error: error.max({ axis: 1 }) as Tensor, rounding: rounding.max({ axis: 1 }) as Tensor };
}
