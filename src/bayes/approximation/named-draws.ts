/** From free numbers to the container of draws: every point's values by name, computed on the device and read once. */
import type { Tensor } from "../../tensor/tensor.js";
import { jit } from "../../transforms/jit.js";
import { vmap } from "../../transforms/vmap.js";
import { Draws } from "../draws.js";
import type { AnyPosterior } from "./setting.js";

/** Points [draws, dim] as one chain, with the log density of each where it is known. */
export async function namedDraws(posterior: AnyPosterior, points: Tensor, lp: ArrayLike<number>): Promise<Draws> {
  const shapes = [...posterior.latents, ...posterior.deterministics].map(({ name, shape }) => [name, shape] as const);
  const constrain = vmap((point: Tensor): Readonly<Record<string, Tensor>> => posterior.constrain(point));
  const constrained = jit(constrain)(points);
  const values = await Promise.all(
    shapes.map(async ([name]) => [name, Float64Array.from((await constrained[name].data()) as never, Number)] as const),
  );
  const draws = new Draws({ chains: 1, variables: Object.fromEntries(shapes), capacity: points.shape[0] });
  draws.append({ values: Object.fromEntries(values), stats: { lp } });
  return draws;
}
