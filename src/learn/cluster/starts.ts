/** The best of several starts, one after the other. k-means and mixtures of normal distributions run theirs by it. */
import { type Key, split } from "../../random/index.js";
import { type Tensor, where } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { map } from "../../transforms/tree.js";

/** The best of as many runs as asked for, each from a key of its own. Of equals, the first. */
export function bestStart<T extends object>(
  starts: number,
  from: Key,
  run: (key: Key) => T,
  isBetter: (found: T, best: T) => Tensor,
): T {
  if (starts === 1) return run(from);
  const [firstKey, restKey] = split(from) as [Key, Key];
  const round = (best: T, key: Tensor): readonly [T, null] => {
    const found = run(key as Key);
    const takes = isBetter(found, best);
    return [map((a: Tensor, b: unknown) => where(takes, a, b as Tensor) as Tensor, found, best) as T, null];
  };
  return scan(round, run(firstKey), split(restKey, [starts - 1]) as Tensor)[0];
}

type Measured = { readonly inertia: Tensor };

export const isOfLessInertia = (found: Measured, best: Measured): Tensor => found.inertia.less(best.inertia) as Tensor;
