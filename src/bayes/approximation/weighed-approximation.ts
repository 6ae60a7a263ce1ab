/** The result of a method whose draws have importance weights: the tail of the weights tells how far it is off. */
import type { Problem } from "../diagnostics/check.js";
import type { Draws } from "../draws/draws.js";
import { Approximation } from "./approximation.js";
import { shownWeighing, tailProblem, type Weighing } from "./importance.js";

export abstract class WeighedApproximation extends Approximation {
  constructor(
    draws: Draws,
    private readonly weighing: Weighing,
  ) {
    super(draws);
  }

  /**
   * The shape of the tail of the weights: above 0.7 the approximation is far from the posterior, if they are not nearly equal.
   */
  get paretoK(): number {
    return this.weighing.paretoK;
  }

  /** Problems of the search for the approximation. */
  protected abstract unfinished(): readonly Problem[];

  /** Advice for weights with a heavy tail. */
  protected abstract remedy(): string;

  /** A sentence on how the search ended; shown only if `check()` finds no problem. */
  protected abstract success(): string;

  protected doubts(): readonly Problem[] {
    const tail = tailProblem(this.weighing, this.remedy());
    return [...this.unfinished(), ...(tail ? [tail] : [])];
  }

  protected praise(): string {
    return `${this.success()}, ${shownWeighing(this.weighing)}`;
  }
}
