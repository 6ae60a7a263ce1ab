/** Searches whose results have derivatives forwards, which follow the search, but none backwards: they are refused by name. */
import { UnsupportedError } from "../../core/errors.js";
import type { Tensor } from "../../tensor/index.js";
import { customGradient } from "../../transforms/custom.js";
import { jvp } from "../../transforms/grad.js";

/** The same search. `why` tells what of the kind has no derivative, and what to take instead; `real` are the results that have one. */
export function forwardOnly<G, R extends object>(
  search: (given: G) => R,
  why: string,
  real: readonly (keyof R)[],
): (given: G) => R {
  return customGradient(search, {
    vjp(): never {
      throw new UnsupportedError(`grad: ${why}, or forward mode (jvp), which follows the search.`);
    },
    jvp([moved], given) {
      const picked = (each: G) => {
        const found = search(each);
        return Object.fromEntries(real.map((name) => [name, found[name]]));
      };
      const [shape, tangents] = [search(given), jvp(picked, [given], [moved])[1] as Readonly<Record<string, Tensor>>];
      return Object.fromEntries(Object.keys(shape).map((name) => [name, tangents[name] ?? null])) as R;
    },
  });
}
