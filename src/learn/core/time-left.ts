/** How long is left of a fit, told by its pace so far. All fits that yield progress go through here; searches reckon by themselves. */
import type { FitProgress } from "./estimator.js";

/** Steps that are done, with the share of the one under way that is known. */
function stepsDone({ step, within }: FitProgress): number {
  return within?.steps ? step + stepsDone(within) / within.steps : step;
}

/** The same work, whose progress tells the seconds that the rest takes. */
export async function* withTimeLeft<R>(work: AsyncGenerator<FitProgress, R>): AsyncGenerator<FitProgress, R> {
  const began = performance.now();
  try {
    for (;;) {
      const { done, value } = await work.next();
      if (done) return value;
      const { steps } = value;
      const past = stepsDone(value);
      const elapsed = (performance.now() - began) / 1000;
      yield { ...value, secondsLeft: steps === null || past === 0 ? null : (elapsed / past) * (steps - past) };
    }
  } finally {
    // Whoever watched may have stopped half-way.
    await work.return(undefined as R);
  }
}
