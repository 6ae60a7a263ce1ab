/** The start of a search: random free numbers at which the log density and its gradient are finite. */
import { ArgumentError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import type { Key } from "../../random/key.js";
import { uniform } from "../../random/uniform.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { vmap } from "../../transforms/vmap.js";
import { blamed } from "./outside.js";
import type { AnyPosterior, Setting } from "./setting.js";

/** Beyond how many random points there is no use in trying more. */
const TRIED = 32;

/** The log density [n] and its gradient [n, dim] at points [n, dim]. */
export const densitiesAndGradients = (posterior: AnyPosterior) =>
  vmap((point: Tensor): [value: Tensor, gradient: Tensor] => [...posterior.logDensityAndGrad(point)]);

/** Points [count, dim]: the first of random ones between -2 and 2, where Stan starts too, at which all is finite. */
export async function startingPoints(
  posterior: AnyPosterior,
  { dtype, device }: Setting,
  key: Key,
  count: number,
): Promise<Tensor> {
  const tried = Math.max(TRIED, 4 * count);
  const points = uniform(key, [tried, posterior.dim], { dtype, low: -2, high: 2 }).realize();
  const [densities, gradients] = await Promise.all(
    jit(densitiesAndGradients(posterior))(points).map(async (x) => (await x.data()) as ArrayLike<number>),
  );
  const slopes = (point: number) =>
    Array.from({ length: posterior.dim }, (_, i) => gradients[point * posterior.dim + i]);
  const usable = Array.from({ length: tried }, (_, i) => i).filter(
    (i) => Number.isFinite(densities[i]) && slopes(i).every(Number.isFinite),
  );
  if (usable.length === 0) throw nowhereFinite(posterior, slopes(0), await blamed(posterior, points, densities), tried);
  // If there are too few, several start at one point.
  const chosen = Array.from({ length: count }, (_, i) => usable[i % usable.length]);
  return points.take(tensor(chosen, { dtype: "i32", device }), { axis: 0 });
}

function nowhereFinite(
  posterior: AnyPosterior,
  slopes: readonly number[],
  culprits: string,
  tried: number,
): ArgumentError {
  const bad = posterior.latents.filter(({ offset, freeShape }) =>
    slopes.slice(offset, offset + sizeOf(freeShape)).some((slope) => !Number.isFinite(slope)),
  );
  const named = bad.length > 0 ? `; its gradient is not finite by ${bad.map(({ name }) => name).join(", ")}` : "";
  return new ArgumentError(
    `The log density is not finite at any of ${tried} random points${culprits && `: ${culprits}`}${named}. Look for data ` +
      "the model cannot produce and for 0/0 or log of 0 in it, or say where to start.",
  );
}
