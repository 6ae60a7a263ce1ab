/** A function of a posterior's values at each draw of a fit, compiled, many draws at a time. Predictions are such. */
import { type Shape, sizeOf } from "../../core/shape.js";
import { arange, type Tensor, tensor } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { vmap } from "../../transforms/vmap.js";
import { Draws } from "../draws/draws.js";
import type { FloatDType } from "../target/target.js";

type TensorsByName = Readonly<Record<string, Tensor>>;

export interface PointwiseSetting {
  readonly dtype: FloatDType;
  readonly device: string;
  /** The arguments of the function: latent variables. */
  readonly takes: readonly { readonly name: string; readonly shape: Shape }[];
  /** Its results: observed variables. */
  readonly gives: readonly { readonly name: string; readonly shape: Shape }[];
}

/** Numbers that a batch of draws takes and gives, about. */
const BATCH = 1 << 21;

/** The results of a function of the latent variables' values and the draw's number, as draws of their own. */
export async function atEachDraw(
  draws: Draws,
  { dtype, device, takes, gives }: PointwiseSetting,
  fn: (values: TensorsByName, number: Tensor) => TensorsByName,
): Promise<Draws> {
  const program = jit(vmap(fn));
  const total = draws.chains * draws.length;
  const elements = [...takes, ...gives].reduce((sum, { shape }) => sum + sizeOf(shape), 1);
  const batch = Math.max(1, Math.min(total, Math.floor(BATCH / elements)));
  const given = takes.map(({ name, shape }) => ({ name, shape, values: draws.values(name) }));
  const found = new Map<string, { readonly shape: Shape; readonly values: Float64Array }>();
  for (let first = 0; first < total; first += batch) {
    const count = Math.min(batch, total - first);
    const values = given.map(({ name, shape, values: all }) => {
      const size = sizeOf(shape);
      const part = all.subarray(first * size, (first + count) * size);
      // Rounded here: the device may have no doubles.
      const own = dtype === "f64" ? part : Float32Array.from(part);
      return [name, tensor(own, { dtype, device, shape: [count, ...shape] })] as const;
    });
    const numbers = arange(first, first + count, 1, { dtype: "u32", device });
    for (const [name, result] of Object.entries(program(Object.fromEntries(values), numbers))) {
      const shape = result.shape.slice(1);
      const all = found.get(name) ?? { shape, values: new Float64Array(total * sizeOf(shape)) };
      found.set(name, all);
      all.values.set(Float64Array.from((await result.data()) as ArrayLike<number>, Number), first * sizeOf(shape));
      result.dispose();
    }
  }
  const variables = Object.fromEntries([...found].map(([name, { shape }]) => [name, shape]));
  const made = new Draws({ chains: draws.chains, variables, dtype, device });
  made.append({ values: Object.fromEntries([...found].map(([name, { values }]) => [name, values])) });
  return made;
}
