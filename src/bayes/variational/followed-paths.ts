/** Paths of Pathfinder followed to their ends, some iterations of all of them as one program. `advi` starts at one, too. */
import { foldIn, type Key, split } from "../../random/key.js";
import { arange, type Tensor } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { jit } from "../../transforms/jit.js";
import { vmap } from "../../transforms/vmap.js";
import { type AnyPosterior, checkCount, givenPoints, type Setting } from "../approximation/setting.js";
import { startingPoints } from "../approximation/start.js";
import { beginPath, isDone, type Normal, type Path, type PathOptions, walk } from "./path.js";
import type { FoundPath, PathfinderOptions } from "./pathfinder.js";

/** Iterations of a program. */
const BLOCK = 10;

/** The best approximation of every path, and what became of it. */
export async function followedPaths(
  posterior: AnyPosterior,
  setting: Setting,
  options: PathfinderOptions,
): Promise<{ readonly best: Normal; readonly found: readonly FoundPath[] }> {
  const { signal, onProgress } = options;
  const paths = checkCount(options.paths ?? 4, 1, "pathfinder: paths");
  const maxIterations = checkCount(options.maxIterations ?? 1000, BLOCK, "pathfinder: maxIterations");
  const pathOptions: PathOptions = {
    memory: checkCount(options.memory ?? 6, 1, "pathfinder: memory"),
    elboDraws: checkCount(options.elboDraws ?? 25, 1, "pathfinder: elboDraws"),
  };
  const [startKey, walkKey] = split(setting.key);
  const starts = options.starts
    ? givenPoints(options.starts, [paths, posterior.dim], setting, "pathfinder: starts")
    : await startingPoints(posterior, setting, startKey, paths);
  let state = jit(vmap((point: Tensor) => beginPath(posterior, point, pathOptions)))(starts);
  let found = await summarised(state);
  const run = someSteps(posterior, paths, pathOptions);
  // The first steps are taken in any case: without them there is nothing to return.
  for (let i = 0; i * BLOCK < maxIterations && !(signal?.aborted && i > 0); i++) {
    state = run(foldIn(walkKey, i), state);
    found = await summarised(state);
    const active = found.filter(({ hasArrived }) => !hasArrived).length;
    onProgress?.({ iteration: (i + 1) * BLOCK, active, elbo: Math.max(...found.map(({ elbo }) => elbo)) });
    if (active === 0) break;
  }
  return { best: state.best, found };
}

/** Some steps of every path as one program. */
function someSteps(posterior: AnyPosterior, paths: number, options: PathOptions) {
  return jit((key: Key, start: Path): Path => {
    const numbers = arange(0, paths, 1, { dtype: "i32", device: key.device });
    const step = (state: Path, i: Tensor): readonly [Path, null] => {
      const keys = foldIn(key, i);
      const each = vmap((path: Path, n: Tensor) => walk(posterior, path, foldIn(keys, n), options));
      return [each(state, numbers), null];
    };
    return scan(step, start, arange(0, BLOCK, 1, { dtype: "i32", device: key.device }))[0];
  });
}

async function summarised(path: Path): Promise<FoundPath[]> {
  const [elbos, lengths, done] = await Promise.all([path.best.elbo, path.length, isDone(path)].map((x) => x.data()));
  return Array.from(elbos as ArrayLike<number>, (elbo, i) => ({
    elbo,
    iterations: Number(lengths[i]),
    hasArrived: Boolean(done[i]),
  }));
}
