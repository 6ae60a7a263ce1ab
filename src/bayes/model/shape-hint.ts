/**
 * A hint for errors over shapes. A model's function runs once without data, because names, and with them observations, are
 * known only when it has returned. A variable then has the shape that its arguments and `.shape(…)` say: where that may not be the shape
 * of its data and something fails over shapes, the error says so.
 */
import { ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import type { Tensor } from "../../tensor/index.js";
import type { RandomVariable } from "../variables/variable.js";
import { broadcastsTo } from "./variable-shapes.js";

/** `used`: the variables that have been asked for their values so far. */
export function hintingAtShapes<T>(
  observed: ReadonlyMap<string, Tensor>,
  used: readonly RandomVariable[],
  work: () => T,
): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    for (const { batchShape, shape: own, distribution } of used) {
      if (batchShape) continue;
      const shape = [...own];
      const data = [...observed].find(
        ([, given]) => !sameShape(given.shape, shape) && broadcastsTo(shape, given.shape),
      );
      if (!data) continue;
      const [name, given] = data;
      const extents = given.shape.slice(0, given.rank - distribution.eventShape.length).join(", ");
      throw new ShapeError(
        `${error.message.replace(/\.?$/, ".")} The function uses ${distribution.name}(…), which has the shape ` +
          `${formatShape(shape)} of its arguments; if it is the ${name} that is observed, write ` +
          `${distribution.name}(…).shape(${extents}).`,
        { cause: error },
      );
    }
    throw error;
  }
}
