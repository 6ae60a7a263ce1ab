/** The improper prior that is the same everywhere on its support. */
import { checkCount } from "../../core/arity.js";
import { UnsupportedError } from "../../core/errors.js";
import { type Constraint, checkConstraint } from "../constraints/constraint.js";
import { real } from "../constraints/numbers.js";
import { completed } from "../definition/completed.js";
import { RandomVariable } from "../variables/variable.js";

/** Says nothing about a variable but where it lies: `flat()`, `flat(positive)`, `flat(simplex).shape(3)`. */
export function flat(support: Constraint = real): RandomVariable {
  checkCount("flat", 1, arguments);
  checkConstraint("flat", support);
  return new RandomVariable(
    completed({
      name: "flat",
      batchShape: [],
      eventShape: [],
      support,
      isUnnormalized: true,
      isImproper: !support.isBounded,
      arguments: [],
      terms: () => [],
      draw() {
        throw new UnsupportedError("flat: an improper prior cannot be drawn from; give the variable a proper one.");
      },
    }),
  );
}
