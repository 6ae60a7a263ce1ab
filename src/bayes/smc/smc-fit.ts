/** The result of `smc`. */
import { Approximation } from "../approximation/approximation.js";
import { meanOf, varianceOf } from "../diagnostics/chains.js";
import { type Problem, problem } from "../diagnostics/check.js";
import type { Chains, Draws } from "../draws/draws.js";
import { FORGOTTEN, type SmcStage } from "./stages.js";

/** Fewer first particles than this, and the cloud tells little. */
const FEW_ANCESTORS = 50;

/** The result of `smc`: particles of the posterior, and the log of the evidence. */
export class SmcFit extends Approximation {
  /** The particles' first positions: draws from the prior, or, where it cannot be drawn from, normal free numbers. */
  readonly from: "prior" | "normal";
  readonly stages: readonly SmcStage[];
  /** The estimated logarithm of the evidence, the probability (density) of the data under the model. */
  readonly logEvidence: number;
  /** Its standard error. */
  readonly logEvidenceError: number;
  /** For each particle, the number of the first one it comes from. */
  private readonly ancestors: readonly number[];
  private readonly maxMoves: number;

  /** @internal */
  constructor(
    draws: Draws,
    found: Pick<SmcFit, "from" | "stages" | "logEvidence"> & {
      readonly ancestors: readonly number[];
      readonly maxMoves: number;
    },
  ) {
    super(draws);
    this.from = found.from;
    this.stages = found.stages;
    this.logEvidence = found.logEvidence;
    this.ancestors = found.ancestors;
    this.maxMoves = found.maxMoves;
    const size = this.ancestors.length;
    const ones = new Float64Array(size).fill(1);
    this.logEvidenceError = Math.sqrt(Math.max(0, sumOfSquares(this.ancestors, ones) / size ** 2 - 1 / size));
  }

  /**
   * Particles with the same ancestor may be alike. The sums over those of one ancestor vary as much as a mean does from run to
   * run (Lee and Whiteley 2018).
   */
  protected effectiveDraws({ values, draws }: Chains): number {
    const mean = meanOf(values);
    const variance =
      sumOfSquares(
        this.ancestors,
        values.map((value) => value - mean),
      ) /
      draws ** 2;
    return Math.min(draws, varianceOf(values) / variance);
  }

  protected doubts(): readonly Problem[] {
    return [...this.fewAncestors(), ...this.stiffMoves()];
  }

  private fewAncestors(): Problem[] {
    const count = new Set(this.ancestors).size;
    if (count >= FEW_ANCESTORS && this.logEvidenceError <= 0.5) return [];
    return [
      problem(
        "particles",
        "warning",
        `The particles come from ${count} of the ${this.ancestors.length} that began, and the log evidence is known to ` +
          `± ${this.logEvidenceError.toFixed(2)} only.`,
        "Use more particles, four times as many for half the error; or a prior closer to what is possible.",
      ),
    ];
  }

  private stiffMoves(): Problem[] {
    const last = this.stages[this.stages.length - 1];
    const hasForgotten = last.moves < this.maxMoves || last.correlation <= FORGOTTEN;
    if (hasForgotten && last.acceptance > 0.05) return [];
    return [
      problem(
        "particles",
        "warning",
        `The particles hardly moved at the end: ${(100 * last.acceptance).toFixed(0)}% of moves were accepted, and after ` +
          `${last.moves} moves their places still correlate by ${last.correlation.toFixed(2)} with those before.`,
        "Raise maxMoves or, of Hamiltonian moves, leapfrogs; use more particles, or reparameterise (.noncentered()).",
      ),
    ];
  }

  protected praise(): string {
    const evidence = `log evidence ${this.logEvidence.toFixed(2)} ± ${this.logEvidenceError.toFixed(2)}`;
    const start = this.from === "prior" ? "the prior" : "normal free numbers, since the prior cannot be drawn from";
    return `${this.stages.length} stages from ${start}, ${evidence}, and moves that forget where they began`;
  }
}

/** Sums over the particles of each ancestor, squared and added up. */
function sumOfSquares(ancestors: readonly number[], values: Float64Array): number {
  const sums = new Float64Array(ancestors.length);
  ancestors.forEach((ancestor, i) => {
    sums[ancestor] += values[i];
  });
  return sums.reduce((total, sum) => total + sum * sum, 0);
}
