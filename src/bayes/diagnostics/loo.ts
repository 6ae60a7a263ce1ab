/**
 * PSIS-LOO: how well a model predicts an observation it has not seen, from one fit to all of them (Vehtari, Gelman and Gabry
 * 2017). Leaving an observation out reweighs the draws by 1/likelihood; Pareto smoothing tames the weights and
 * its shape k says whether they can be trusted. Works on the log-likelihood of every observation under every draw.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Chains, Draws } from "../draws/draws.js";
import { varianceOf } from "./chains.js";
import { essMean } from "./effective-sample-size.js";
import { logSumExp, smoothWeights } from "./pareto.js";

/** chains × draws × observations, the observations fastest. */
export interface LogLikelihood {
  readonly values: ArrayLike<number>;
  readonly chains: number;
  readonly draws: number;
}

/** Options of `loo`. */
export interface LooOptions {
  /** ESS over draws of the likelihoods; estimated for each observation when it is not given. 1 for independent draws. */
  readonly relativeEfficiency?: number;
}

/** Results for each observation. */
export interface PointwiseLoo {
  readonly names: readonly string[];
  /** log p(y_i | the others). */
  readonly elpd: Float64Array;
  /** The shape of the tail of its weights. */
  readonly paretoK: Float64Array;
}

/** The result of `loo`. Prints with its warning in words. */
export class Loo {
  /** The expected log pointwise predictive density: the sum over observations. */
  readonly elpd: number;
  /** The standard error of `elpd`. */
  readonly se: number;

  constructor(
    readonly pointwise: PointwiseLoo,
    /** The effective number of parameters: how much better the seen observations are predicted. */
    readonly pLoo: number,
    readonly draws: number,
  ) {
    this.elpd = pointwise.elpd.reduce((sum, value) => sum + value, 0);
    this.se = standardErrorOfSum(pointwise.elpd);
  }

  /** k above this makes the estimate unreliable with this number of draws; 0.7 from 2200 on. */
  get goodK(): number {
    return Math.max(0, Math.min(1 - 1 / Math.log10(this.draws), 0.7));
  }

  /** The observations whose k is too large, the worst first. */
  get unreliable(): readonly { readonly name: string; readonly k: number }[] {
    const { names, paretoK } = this.pointwise;
    return names
      .map((name, i) => ({ name, k: paretoK[i] }))
      .filter(({ k }) => k > this.goodK)
      .sort((a, b) => b.k - a.k);
  }

  /** The meaning of the values of k, in words. */
  get verdict(): string {
    if (this.goodK === 0) {
      return `There are ${this.draws} draws, too few for weights that can be trusted: draw 100 at least, better 2200.`;
    }
    const limit = this.goodK.toFixed(2);
    const bad = this.unreliable;
    if (bad.length === 0) return `All Pareto k are at most ${limit}: the estimate can be trusted.`;
    const named = bad.slice(0, 5).map(({ name, k }) => `${name} (${k.toFixed(2)})`);
    const more = bad.length > 5 ? ` and ${bad.length - 5} more` : "";
    return (
      `Pareto k is above ${limit} for ${bad.length} of ${this.pointwise.names.length} observations, ` +
      `${named.join(", ")}${more}: they move the posterior too much for reweighing, and elpd is too optimistic. ` +
      `Fit again without each of them and add their log predictive densities, or use K-fold cross-validation; ` +
      `look whether the model can produce such values at all.`
    );
  }

  toString(): string {
    const rows = [
      ["elpd_loo", this.elpd.toFixed(1), `± ${this.se.toFixed(1)}`],
      ["p_loo", this.pLoo.toFixed(1), ""],
    ];
    const width = Math.max(...rows.map(([, value]) => value.length));
    const lines = rows.map(([name, value, error]) => `${name.padEnd(8)}  ${value.padStart(width)} ${error}`.trimEnd());
    return `${lines.join("\n")}\n${this.pointwise.names.length} observations, ${this.draws} draws. ${this.verdict}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/** Leave-one-out cross-validation from the log-likelihoods of one fit. */
export function loo(logLikelihood: Draws | LogLikelihood, options: LooOptions = {}): Loo {
  checkOptions("loo", options, { relativeEfficiency: "number" });
  const { relativeEfficiency: given } = options;
  if (given !== undefined && !(given > 0 && given < Infinity)) {
    throw new ArgumentError(`loo: relativeEfficiency is ${given}; it is a positive number, 1 for independent draws.`);
  }
  const draws = logLikelihood instanceof Draws ? logLikelihood : asDraws(logLikelihood);
  const names = draws.names;
  const size = draws.chains * draws.length;
  if (names.length === 0) throw new ArgumentError("loo: there are no observations to leave out.");
  if (size < 2) {
    throw new ArgumentError(
      `loo: there ${size === 1 ? "is 1 draw" : "are no draws"}; it takes 2 to reweigh, and 100 to trust.`,
    );
  }
  const elpd = new Float64Array(names.length);
  const paretoK = new Float64Array(names.length);
  let inSample = 0;
  names.forEach((name, i) => {
    const logs = draws.scalar(name);
    const at = logs.values.findIndex((value) => !Number.isFinite(value));
    if (at >= 0) {
      throw new ArgumentError(
        `loo: the log-likelihood of ${name} is ${logs.values[at]} in draw ${at % logs.draws} of chain ` +
          `${Math.floor(at / logs.draws)}; a draw of the posterior makes every observation possible.`,
      );
    }
    const efficiency = given ?? relativeEfficiency(logs);
    const { logWeights, k } = smoothWeights(
      logs.values.map((value) => -value),
      efficiency,
    );
    elpd[i] = logSumExp(logWeights.map((weight, draw) => weight + logs.values[draw]));
    paretoK[i] = k;
    inSample += logSumExp(logs.values) - Math.log(size);
  });
  const total = elpd.reduce((sum, value) => sum + value, 0);
  return new Loo({ names, elpd, paretoK }, inSample - total, size);
}

function asDraws(given: LogLikelihood): Draws {
  if (typeof given?.values?.length !== "number") {
    throw new ArgumentError(
      `loo: takes log-likelihoods, as fit.logLikelihood() or { values, chains, draws }, not ${shown(given)}; of a fit, ` +
        "await fit.loo().",
    );
  }
  const { values, chains, draws } = given;
  const observations = values.length / (chains * draws);
  if (!Number.isInteger(observations)) {
    throw new ShapeError(`loo: ${values.length} numbers are not ${chains} chains × ${draws} draws × observations.`);
  }
  const result = new Draws({ chains, variables: { y: [observations] } });
  result.append({ values: { y: values } });
  return result;
}

/** ESS over draws of the likelihood; 1 where it cannot be told. */
function relativeEfficiency(logs: Chains): number {
  const top = logs.values.reduce((most, value) => Math.max(most, value), -Infinity);
  const ess = essMean({ ...logs, values: logs.values.map((value) => Math.exp(value - top)) });
  return Number.isNaN(ess) ? 1 : ess / logs.values.length;
}

/** Of a sum over observations, which are taken for independent. */
export function standardErrorOfSum(values: Float64Array): number {
  return Math.sqrt(values.length * varianceOf(values));
}
