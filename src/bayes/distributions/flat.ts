/** The improper prior that is the same everywhere on its support. */
import { UnsupportedError } from "../../core/errors.js";
import type { Constraint } from "../constraints/constraint.js";
import { real } from "../constraints/numbers.js";
import { RandomVariable } from "../model/variable.js";
import { completed } from "./distribution.js";

/** Says nothing about a variable but where it lies: `flat()`, `flat(positive)`, `flat(simplex).shape(3)`. */
export const flat = (support: Constraint = real): RandomVariable =>
  new RandomVariable(
    completed({
      name: "flat",
      batchShape: [],
      eventShape: [],
      support,
      isUnnormalized: true,
      arguments: [],
      terms: () => [],
      draw() {
        throw new UnsupportedError("flat: an improper prior cannot be drawn from; give the variable a proper one.");
      },
    }),
  );
