/** From free numbers to the container of draws: every point's values by name, computed on the device and read once. */
import type { Tensor } from "../../tensor/index.js";
import { Draws } from "../draws/draws.js";
import { valuesOf, variablesOf } from "../target/values.js";
import type { AnyPosterior } from "./setting.js";

/** Points [draws, dim] as one chain, with the log density of each where it is known. */
export async function namedDraws(posterior: AnyPosterior, points: Tensor, lp: ArrayLike<number>): Promise<Draws> {
  const { dtype, device } = points as Tensor<"f32" | "f64">;
  const draws = new Draws({ chains: 1, variables: variablesOf(posterior), dtype, device });
  draws.appendByScalar({ values: await valuesOf(posterior, points.T), stats: { lp: Float64Array.from(lp) } });
  return draws;
}
