/**
 * A given number of equal steps between neighbouring times: loops of known length, which have derivatives in all modes and can be
 * written into the kernels of samplers.
 */
import { concat, type Tensor } from "../../tensor/index.js";
import { forLoop, scan } from "../../transforms/control.js";
import type { Method, System } from "./method.js";

/** States at the times, [m, n]; the first time is the start. */
export function fixedStates(method: Method, system: System, y0: Tensor, times: Tensor, steps: number): Tensor {
  const starts = times.at(":-1") as Tensor;
  const lengths = times.at("1:").sub(starts).div(steps) as Tensor;
  const [, later] = scan(
    (y: Tensor, [start, h]: readonly [Tensor, Tensor]) => {
      const after = (y: Tensor, t: Tensor): Tensor => method.step(system, t, y, h, system(t, y)).next;
      const next =
        steps === 1
          ? after(y, start)
          : forLoop(0, steps, (i, y: Tensor) => after(y, start.add(h.mul(i.cast(h.dtype))) as Tensor), y);
      return [next, next] as const;
    },
    y0,
    [starts, lengths] as const,
  );
  return concat([y0.expandDims(0), later], { axis: 0 }) as Tensor;
}
