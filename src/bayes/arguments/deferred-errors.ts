/**
 * When a wrong argument is reported. Outside of models: at once. While a model's function runs: later, because the name of
 * the variable is not known yet; `given` checks all arguments again when it is, and names the variable in the error.
 * Distributions and constraints ask before they throw; `during` in variables/variable.ts says when a model runs.
 */

let areDeferred = false;

/** Whether errors about arguments are left to `given`. */
export const areErrorsDeferred = (): boolean => areDeferred;

export function deferringErrors<T>(work: () => T): T {
  const before = areDeferred;
  areDeferred = true;
  try {
    return work();
  } finally {
    areDeferred = before;
  }
}
