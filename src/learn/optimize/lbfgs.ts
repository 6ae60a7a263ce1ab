/** L-BFGS (Liu & Nocedal 1989): curvature from the last few steps, for functions of many parameters. */
import { checkFunction, checkOptions, checkWhole } from "../../core/arguments.js";
import { descentDirection, emptyHistory, remembered } from "../../linalg/limited-memory.js";
import type { Tensor } from "../../tensor/index.js";
import { descend } from "./descent.js";
import { checkStop, type Minimum, STOP, type StopOptions } from "./result.js";

/** Options of `lbfgs`. The search ends when no element of the gradient is larger than `tol`: 1e-5 unless told; 1000 rounds at most. */
export interface LbfgsOptions extends StopOptions {
  /** Steps that are remembered: 10 unless told. */
  readonly memory?: number;
}

/**
 * A minimum by L-BFGS with a strong Wolfe line search: `lbfgs(f, x0)`. `x0` is a tensor or a tree of them. The whole search is one
 * loop on the device.
 */
export function lbfgs<T>(f: (x: T) => Tensor, x0: T, options: LbfgsOptions = {}): Minimum<T> {
  checkFunction("optimize.lbfgs", f);
  checkOptions("optimize.lbfgs", options, { ...STOP, memory: "number" });
  checkStop("optimize.lbfgs", options);
  const { memory = 10, tol = 1e-5, maxIter = 1000 } = options;
  checkWhole("optimize.lbfgs", "the memory", memory, 1);
  const curvature = {
    fresh: ({ shape, dtype, device }: Tensor) => emptyHistory(memory, shape[0] as number, { dtype, device }),
    direction: descentDirection,
    after: remembered,
  };
  return descend("optimize.lbfgs", f, x0, curvature, { tol, maxIter });
}
