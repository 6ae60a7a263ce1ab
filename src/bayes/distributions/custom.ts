/** Distributions of the user's own. */
import { UnsupportedError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints/constraint.js";
import { real } from "../constraints/numbers.js";
import { RandomVariable } from "../model/variable.js";
import { completed, type Draws } from "./distribution.js";

export interface CustomDistribution {
  /** Shown in messages; "custom". */
  readonly name?: string;
  /**
   * The log density at x, in tensor operations: one number for each draw. Other variables of the model may be used. A
   * constant factor of the density may be left out.
   */
  logDensity(x: Tensor): Tensor;
  /** Where draws lie; all real numbers. */
  readonly support?: Constraint;
  /** Shape of one draw; [] for numbers. */
  readonly eventShape?: Shape;
  /** Draws of a shape (without that of one draw), for prior and posterior predictions. */
  sample?(draws: Draws): Tensor;
}

/** A distribution by its log density. */
export function custom(own: CustomDistribution): RandomVariable {
  const name = own.name ?? "custom";
  return new RandomVariable(
    completed({
      name,
      batchShape: [],
      eventShape: own.eventShape ?? [],
      support: own.support ?? real,
      arguments: [],
      terms: (x) => [own.logDensity(x)],
      draw(draws) {
        if (own.sample) return own.sample(draws);
        throw new UnsupportedError(`${name}: it has no sample function, so it cannot be drawn from; give it one.`);
      },
    }),
  );
}
