/** Distributions of the user's own. */

import { checkOptions } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import { ArgumentError, ShapeError, UnsupportedError } from "../../core/errors.js";
import { checkShape, formatShape, type Shape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { Tensor } from "../../tensor/index.js";
import { type Constraint, checkConstraint } from "../constraints/constraint.js";
import { real } from "../constraints/numbers.js";
import { completed, type DrawRequest } from "../definition/completed.js";
import { RandomVariable } from "../variables/variable.js";

/** A distribution of your own, for `custom`: its log density, and what else it has. */
export interface CustomDistribution {
  /** Shown in messages; "custom". */
  readonly name?: string;
  /**
   * The log density at x, in tensor operations: one number for each draw. Other variables of the model may be used. A
   * constant factor of the density may be left out.
   */
  logDensity(x: Tensor): Tensor;
  /** The support of draws; all real numbers unless told. */
  readonly support?: Constraint;
  /** Shape of one draw; [] for numbers. */
  readonly eventShape?: Shape;
  /** DrawRequest of a shape (without that of one draw), for prior and posterior predictions. */
  sample?(draws: DrawRequest): Tensor;
}

/** A sum over draws would count once for each of them. */
function checkOneEach(name: string, density: unknown, x: Tensor, eventShape: Shape): void {
  const wanted = x.shape.slice(0, x.rank - eventShape.length);
  if (density instanceof Tensor && sameShape(density.shape, wanted)) return;
  const found = density instanceof Tensor ? formatShape(density.shape) : typeof density;
  throw new ShapeError(
    `${name}: logDensity gives ${found} for values of ${formatShape(x.shape)}, but one number for each draw is ` +
      `${formatShape(wanted)}; write it without .sum(), or, where a draw is a vector, give its eventShape and sum over the last axis.`,
  );
}

function checkedDraws(name: string, drawn: unknown, wanted: Shape): Tensor {
  if (drawn instanceof Tensor && sameShape(drawn.shape, wanted)) return drawn;
  const found = drawn instanceof Tensor ? formatShape(drawn.shape) : shown(drawn);
  throw new ShapeError(`${name}: sample gives ${found}, where draws of ${formatShape(wanted)} are asked for.`);
}

/** A distribution by its log density. */
export function custom(own: CustomDistribution): RandomVariable {
  checkCount("custom", 1, arguments);
  if (typeof own?.logDensity !== "function") {
    throw new ArgumentError("custom: give { logDensity: (x) => … }, one number for each draw.");
  }
  checkOptions("custom", own, {
    name: "text",
    logDensity: "function",
    support: "any",
    eventShape: "list",
    sample: "function",
  });
  const name = own.name ?? "custom";
  checkShape(own.eventShape ?? [], `${name}: eventShape`);
  checkConstraint(name, own.support ?? real);
  return new RandomVariable(
    completed({
      name,
      batchShape: [],
      eventShape: own.eventShape ?? [],
      support: own.support ?? real,
      isUnnormalized: true,
      arguments: [],
      terms(x) {
        const density = own.logDensity(x);
        checkOneEach(name, density, x, own.eventShape ?? []);
        return [density];
      },
      draw(draws) {
        if (own.sample) return checkedDraws(name, own.sample(draws), [...draws.shape, ...(own.eventShape ?? [])]);
        throw new UnsupportedError(`${name}: it has no sample function, so it cannot be drawn from; give it one.`);
      },
    }),
  );
}
