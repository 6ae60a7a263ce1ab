/** The result of `advi`. */
import type { Tensor } from "../../tensor/index.js";
import type { Approximation } from "../approximation/approximation.js";
import type { Weighing } from "../approximation/importance.js";
import { WeighedApproximation } from "../approximation/weighed-approximation.js";
import { type Problem, problem } from "../diagnostics/check.js";
import type { Chains, Draws } from "../draws/draws.js";
import type { AdviProgress } from "./advi.js";
import { BLOCK, type Climb } from "./elbo-climb.js";
import type { families } from "./families.js";

/** The result of `advi`: a normal approximation of the posterior, its draws and their weights. */
export class AdviFit extends WeighedApproximation {
  readonly family: keyof typeof families;
  /** The approximation in free numbers: u = mean + scale·ε, with ε standard normal. */
  readonly mean: Tensor;
  /** Scales [dim] of a mean-field fit, a factor of the covariance [dim, dim] of a full-rank one. */
  readonly scale: Tensor;
  /** The share of the normal distribution inside the support of the posterior, from which the draws are: at least 0.99. */
  readonly inside: number;
  /** The lower bound of the log evidence that was reached, estimated from the draws. */
  readonly elbo: number;
  /** The standard error of `elbo`. */
  readonly elboError: number;
  /** The ELBO after every hundred steps. */
  readonly trace: readonly AdviProgress[];
  /** Smoothed logarithms of the weights that correct the draws, which sum to 1. */
  readonly logWeights: Float64Array;
  private readonly ending: Climb["ending"];

  /** @internal */
  constructor(
    draws: Draws,
    found: Omit<AdviFit, keyof Approximation | "hasConverged" | "paretoK"> & {
      readonly ending: Climb["ending"];
      readonly weighing: Weighing;
    },
  ) {
    super(draws, found.weighing);
    this.family = found.family;
    this.mean = found.mean;
    this.scale = found.scale;
    this.inside = found.inside;
    this.elbo = found.elbo;
    this.elboError = found.elboError;
    this.trace = found.trace;
    this.logWeights = found.logWeights;
    this.ending = found.ending;
  }

  get hasConverged(): boolean {
    return this.ending === "converged";
  }

  protected effectiveDraws({ draws }: Chains): number {
    return draws;
  }

  protected remedy(): string {
    const mayCorrelate = this.family === "mean-field" && this.mean.size > 1;
    return (
      (mayCorrelate ? 'Correlations are not in it: try { family: "full-rank" }, a' : "A") +
      " model with variables non-centred or on other scales, Pathfinder, or sample."
    );
  }

  protected unfinished(): readonly Problem[] {
    if (this.hasConverged) return [];
    const iterations = this.trace.length * BLOCK;
    const wasStopped = this.ending === "stopped";
    return [
      problem(
        wasStopped ? "stopped" : "elbo",
        "warning",
        `The ELBO was still rising after ${iterations} steps${wasStopped ? ", when the run was stopped" : ""}.`,
        wasStopped ? "Let it run to the end." : "Raise maxIterations, or standardise the data.",
      ),
    ];
  }

  protected success(): string {
    return `the ELBO converged to ${this.elbo.toFixed(2)}`;
  }
}
