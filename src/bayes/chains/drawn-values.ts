/** A block of draws on its way from the device to the host: free numbers become values by name, and notes become statistics. */
import type { DeviceStorage } from "../../runtime/backend.js";
import { adopt } from "../../tensor/index.js";
import type { DrawsByScalar } from "../draws/draws.js";
import { NOTED, NOTED_ENERGIES } from "../kernels/layout.js";
import type { FloatDType } from "../target/target.js";
import { valuesOf } from "../target/values.js";
import type { DrawnBlock } from "./draw-block.js";
import type { Sampling } from "./sampling.js";

/** The first `count` draws of a block, whose memory is freed. */
export async function valuesIn(
  { posterior, density, chains, options }: Sampling,
  block: DrawnBlock,
  count: number,
): Promise<DrawsByScalar> {
  const { dim, backend, dtype } = density;
  const size = options.chains * count;
  // From [draw][element][chain], as chains side by side write it, to draws side by side: the device sorts faster.
  const sorted = (memory: DeviceStorage, elements: number, type: FloatDType) =>
    adopt(memory, [block.rows, elements, options.chains], type, backend)
      .at(`0:${count}`)
      .permute(1, 2, 0)
      .reshape(elements, size);
  const points = sorted(block.draws, dim, dtype);
  const noted = sorted(block.noted, NOTED.length, chains.energyDType);
  const notes = [noted.at(`0:${NOTED_ENERGIES}`), noted.at(`${NOTED_ENERGIES}:`).cast("f32")];
  const [values, ...read] = await Promise.all([
    valuesOf(posterior, points),
    ...notes.map((note) => note.data() as Promise<Float32Array | Float64Array>),
  ]);
  for (const done of [points, ...notes, block.draws, block.noted]) done.dispose();
  const columns = NOTED.map((name, n) => {
    const at = n < NOTED_ENERGIES ? n : n - NOTED_ENERGIES;
    return [name, read[n < NOTED_ENERGIES ? 0 : 1].subarray(at * size, (at + 1) * size)];
  });
  return { values, stats: Object.fromEntries(columns) };
}
