/** Integrals of functions by a given number of places: Gauss's and Legendre's, and Romberg's. Sums, with derivatives in all modes. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { linspace, type Tensor, tensor } from "../../tensor/index.js";
import { mapped, RANGE, type RangeOptions, valuesAt } from "./integrand.js";

/** Options of `gaussLegendre`. */
export interface GaussLegendreOptions extends RangeOptions {
  /** Places: 20 unless told. Polynomials of a degree below twice as many are integrated exactly. */
  readonly points?: number;
}

/** Options of `romberg`. */
export interface RombergOptions extends RangeOptions {
  /** Halvings of the range: 8 unless told, which are 2⁸ + 1 places. */
  readonly levels?: number;
}

/** The integral of f between finite ends by Gauss's rule: `gaussLegendre(f, 0, 1, { points: 40 })`. For smooth f. */
export function gaussLegendre(
  f: (x: Tensor) => Tensor,
  lower: number | Tensor,
  upper: number | Tensor,
  options: GaussLegendreOptions = {},
): Tensor {
  const operation = "integrate.gaussLegendre";
  checkOptions(operation, options, { points: "number", ...RANGE });
  const { points = 20, ...range } = options;
  checkWhole(operation, "points", points, 1);
  checkFinite(operation, lower, upper);
  const { ends, at } = mapped(operation, f, lower, upper, range);
  const { dtype, device } = ends[0];
  const { places, weights } = legendreRule(points);
  const halves = places.map((place) => (1 + place) / 2);
  const values = valuesAt((t) => at(t, ...ends), tensor(halves, { dtype, device }) as Tensor);
  const shares = tensor(weights, { dtype, device }).div(2);
  return values.mul(shares.reshape([points, ...new Array<number>(values.rank - 1).fill(1)])).sum({ axis: 0 }) as Tensor;
}

/**
 * The integral of f between finite ends by trapezoids of halved widths, extrapolated to width 0; and its error, estimated by the last
 * extrapolation, of the number with the largest.
 */
export function romberg(
  f: (x: Tensor) => Tensor,
  lower: number | Tensor,
  upper: number | Tensor,
  options: RombergOptions = {},
): { readonly value: Tensor; readonly error: Tensor } {
  const operation = "integrate.romberg";
  checkOptions(operation, options, { levels: "number", ...RANGE });
  const { levels = 8, ...range } = options;
  checkWhole(operation, "levels", levels, 1);
  if (levels > 24) throw new ArgumentError(`${operation}: ${levels} levels are 2^${levels} places; take 24 at most.`);
  checkFinite(operation, lower, upper);
  const { ends, at } = mapped(operation, f, lower, upper, range);
  const { dtype, device } = ends[0];
  const count = 2 ** levels;
  const values = valuesAt((t) => at(t, ...ends), linspace(0, 1, count + 1, { dtype, device }) as Tensor);
  const edges = values.at(0).add(values.at(-1)).mul(0.5);
  const trapezoids = Array.from({ length: levels + 1 }, (_, level) => {
    const step = count / 2 ** level;
    const inner = values.at(`${step}:${count}:${step}`).sum({ axis: 0 });
    return edges.add(inner).div(2 ** level) as Tensor;
  });
  let row = trapezoids;
  let before = row[0];
  for (let order = 1; order <= levels; order++) {
    const factor = 4 ** order - 1;
    before = row[row.length - 1];
    row = row.slice(1).map((fine, i) => fine.add(fine.sub(row[i]).div(factor)) as Tensor);
  }
  return { value: row[0], error: row[0].sub(before).abs().max() as Tensor };
}

function checkFinite(operation: string, ...ends: readonly (number | Tensor)[]): void {
  const infinite = ends.find((end) => typeof end === "number" && !Number.isFinite(end));
  if (infinite === undefined) return;
  throw new ArgumentError(`${operation}: an end is ${shown(infinite)}; integrate.quad takes infinite ends.`);
}

/** Places and weights on [-1, 1]: roots of Legendre's polynomial by Newton's method, from Tricomi's guess. */
function legendreRule(points: number): { readonly places: number[]; readonly weights: number[] } {
  const [places, weights] = [new Array<number>(points), new Array<number>(points)];
  for (let i = 0; i < points; i++) {
    let x = -Math.cos((Math.PI * (i + 0.75)) / (points + 0.5));
    for (let round = 0; round < 8; round++) {
      const { value, slope } = legendre(points, x);
      x -= value / slope;
    }
    if (2 * i + 1 === points) x = 0;
    places[i] = x;
    weights[i] = 2 / ((1 - x * x) * legendre(points, x).slope ** 2);
  }
  return { places, weights };
}

/** Legendre's polynomial and its slope. */
function legendre(degree: number, x: number): { readonly value: number; readonly slope: number } {
  let [before, value] = [1, x];
  for (let k = 2; k <= degree; k++) [before, value] = [value, ((2 * k - 1) * x * value - (k - 1) * before) / k];
  return { value, slope: (degree * (x * value - before)) / (x * x - 1) };
}
