/** The result of `pathfinder`. */
import type { Tensor } from "../../tensor/index.js";
import type { Weighing } from "../approximation/importance.js";
import { WeighedApproximation } from "../approximation/weighed-approximation.js";
import { type Problem, problem } from "../diagnostics/check.js";
import type { Chains, Draws } from "../draws/draws.js";
import type { FoundPath } from "./pathfinder.js";

/** The result of `pathfinder`: normal approximations along paths to the mode, their draws and weights. */
export class PathfinderFit extends WeighedApproximation {
  readonly paths: readonly FoundPath[];
  /** The mean [dim], in free numbers, of the approximation with the highest ELBO: a good place to start. */
  readonly mean: Tensor;
  private readonly effective: number;
  private readonly wasStopped: boolean;

  /** @internal */
  constructor(
    draws: Draws,
    found: {
      readonly paths: readonly FoundPath[];
      readonly mean: Tensor;
      readonly weighing: Weighing;
      readonly effective: number;
      readonly wasStopped: boolean;
    },
  ) {
    super(draws, found.weighing);
    this.paths = found.paths;
    this.mean = found.mean;
    this.effective = found.effective;
    this.wasStopped = found.wasStopped;
  }

  /** The highest ELBO of a path: a lower bound of the log evidence. */
  get elbo(): number {
    return Math.max(...this.paths.map(({ elbo }) => elbo));
  }

  protected effectiveDraws(_: Chains): number {
    return this.effective;
  }

  protected remedy(): string {
    return "Run more paths; write hierarchical variables non-centred; or take a few of the draws as starting points and sample.";
  }

  protected unfinished(): readonly Problem[] {
    const { wasStopped } = this;
    const count = this.paths.length;
    const active = this.paths.filter(({ hasArrived }) => !hasArrived).length;
    const failed = this.paths.filter(({ elbo }) => !Number.isFinite(elbo)).length;
    const onTheWay = problem(
      wasStopped ? "stopped" : "paths",
      "warning",
      `${active} of ${count} paths had not come to a maximum when ${wasStopped ? "the run was stopped" : "their steps were used up"}.`,
      wasStopped ? "Let it run to the end." : "Raise maxIterations, or standardise the data.",
    );
    const without = problem(
      "paths",
      "warning",
      `${failed} of ${count} paths found no approximation with a finite ELBO.`,
      "Run more paths, or start them where the density is high.",
    );
    return [...(active > 0 ? [onTheWay] : []), ...(failed > 0 ? [without] : [])];
  }

  protected success(): string {
    const count = this.paths.length;
    return `${count === 1 ? "the path" : `all ${count} paths`} came to a maximum`;
  }
}
