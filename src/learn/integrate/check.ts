/** Solutions and integrals once they are known to be good: reading their status is a step of its own, since it waits for the device. */
import { ArgumentError, PumiceError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor } from "../../tensor/index.js";
import { STATUS } from "./adaptive-steps.js";
import { QUAD_STATUS } from "./halving.js";
import type { OdeSolution } from "./ode.js";
import type { Quadrature } from "./quad.js";

/** The solution or integral once it is known to be good; else a PumiceError that says what happened. */
export async function check<S extends OdeSolution<unknown> | Quadrature>(solution: S): Promise<S> {
  const status = solution?.status;
  if (!isTensor(status)) {
    throw new ArgumentError(`integrate.check: takes what odeSolve or quad gives, not ${shown(solution)}.`);
  }
  const found = Array.from((await status.data()) as Int32Array);
  const at = found.findIndex((each) => each !== 0);
  if (at < 0) return solution;
  const which = found.length > 1 ? ` of member ${at}` : "";
  const failure =
    "pieces" in solution
      ? `integrate.quad: the integral${which} ${QUAD_FAILURES[found[at]]}`
      : `integrate.odeSolve: the solution${which} ${ODE_FAILURES[found[at]]}`;
  throw new PumiceError(failure);
}

const ODE_FAILURES: Readonly<Record<number, string>> = {
  [STATUS.tooManySteps]:
    'did not reach the last time within maxSteps; allow more steps or larger errors, or take the method "rodas5p" for a stiff system.',
  [STATUS.stepTooSmall]:
    "needs steps shorter than the rounding of the time; there is a singularity, or the tolerances are too small for the dtype.",
  [STATUS.notFinite]: "became NaN or infinite; look at f, the first state and the parameters.",
};

const QUAD_FAILURES: Readonly<Record<number, string>> = {
  [QUAD_STATUS.tooManyPieces]:
    "did not reach its precision within maxPieces; allow more pieces or larger errors, or cut the range where f is not smooth.",
  [QUAD_STATUS.rounding]:
    "has errors of rounding above what is allowed; the tolerances are too small for the dtype, or f cancels or is singular.",
  [QUAD_STATUS.notFinite]:
    "met NaN or infinite values; look at f, and cut the range where f is infinite: ends are never evaluated.",
};
