/**
 * From free numbers to values by name: many points at once, on the device, by a program that is compiled once for a
 * posterior. Values leave it sorted by scalar, which is how draws are kept. `sample` and the approximations use it.
 */
import { type Shape, sizeOf } from "../../core/shape.js";
import type { Tensor } from "../../tensor/index.js";
import { type Jitted, jit } from "../../transforms/jit.js";
import { vmap } from "../../transforms/vmap.js";
import type { NamedValues } from "./target.js";

type Constrain = Jitted<[Tensor], Readonly<Record<string, Tensor>>>;
const programs = new WeakMap<NamedValues, Constrain>();

/** Names and shapes of what `valuesOf` finds. */
export function variablesOf({ latents, deterministics }: NamedValues): Readonly<Record<string, Shape>> {
  return Object.fromEntries([...latents, ...deterministics].map(({ name, shape }) => [name, shape]));
}

/** The values at points [dim, points], by name: elements × points. What is to be computed is under way when this returns. */
export async function valuesOf(
  posterior: NamedValues,
  points: Tensor,
): Promise<Record<string, Float32Array | Float64Array>> {
  const constrain = programs.get(posterior) ?? compiled(posterior);
  programs.set(posterior, constrain);
  const found = Object.entries(constrain(points));
  const read = found.map(async ([name, value]) => [name, asFloats(await value.data())] as const);
  const values = Object.fromEntries(await Promise.all(read));
  for (const [, value] of found) value.dispose();
  return values;
}

function compiled(posterior: NamedValues): Constrain {
  const all = vmap((u: Tensor): Readonly<Record<string, Tensor>> => ({ ...posterior.constrain(u) }), { in: 1 });
  return jit((points: Tensor) =>
    Object.fromEntries(
      Object.entries(all(points)).map(([name, value]) => {
        const [count, ...shape] = value.shape;
        return [name, value.reshape(count, sizeOf(shape)).T];
      }),
    ),
  );
}

const asFloats = (values: ArrayLike<unknown>): Float32Array | Float64Array =>
  values instanceof Float32Array || values instanceof Float64Array ? values : Float64Array.from(values, Number);
