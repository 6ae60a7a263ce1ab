/**
 * Models compared by how well they predict: differences of PSIS-LOO with their standard errors (paired, since the observations
 * are the same), and the weights that make the best mixture of the models.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { meanOf } from "./chains.js";
import { checkNumbers } from "./check-numbers.js";
import { Loo, standardErrorOfSum } from "./loo.js";
import { alignColumns } from "./table.js";

/** A model in a comparison. Differences are to the best one: 0 for it, negative for the others. */
export interface ComparisonRow {
  readonly name: string;
  readonly elpd: number;
  readonly se: number;
  readonly elpdDiff: number;
  readonly seDiff: number;
  readonly pLoo: number;
  /** The stacking weight. */
  readonly weight: number;
  /** The number of observations whose Pareto k is too large to trust. */
  readonly unreliable: number;
}

/** The result of `compare`, the best model first. Prints as a table. */
export class Comparison implements Iterable<ComparisonRow> {
  constructor(readonly rows: readonly ComparisonRow[]) {}

  [Symbol.iterator](): Iterator<ComparisonRow> {
    return this.rows[Symbol.iterator]();
  }

  /** The interpretation, in words. */
  get verdict(): string {
    const [best, second] = this.rows;
    const doubtful = this.rows.filter((row) => row.unreliable > 0).map((row) => row.name);
    const caution = doubtful.length ? ` Pareto k is too large in ${doubtful.join(", ")}: see their loo.` : "";
    if (!second) return `There is one model.${caution}`;
    const gap = -second.elpdDiff;
    const figures = `${gap.toFixed(1)} ± ${second.seDiff.toFixed(1)}`;
    if (gap < 4) return `${best.name} and ${second.name} predict alike (a difference of ${figures}).${caution}`;
    const isClear = gap > 2 * second.seDiff;
    return `${best.name} predicts ${isClear ? "better" : "perhaps better"} than ${second.name} (by ${figures}).${caution}`;
  }

  toString(): string {
    const table = [
      ["", "elpd_diff", "se_diff", "elpd_loo", "se", "p_loo", "weight"],
      ...this.rows.map((row) => [
        row.name,
        ...[row.elpdDiff, row.seDiff, row.elpd, row.se, row.pLoo].map((value) => value.toFixed(1)),
        row.weight.toFixed(2),
      ]),
    ];
    return `${alignColumns(table)}\n${this.verdict}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/** Compares models of the same observations: `compare({ pooled: loo(a), hierarchical: loo(b) })`. */
export function compare(models: Readonly<Record<string, Loo>>): Comparison {
  const isNamed = typeof models === "object" && models !== null;
  const wrong = isNamed ? Object.entries(models).find(([, model]) => !(model instanceof Loo)) : ["models", models];
  if (wrong) {
    throw new ArgumentError(
      `compare: takes results of loo by name, { a: await a.loo(), b: await b.loo() }; ${wrong[0]} is ${shown(wrong[1])}.`,
    );
  }
  const entries = Object.entries(models).sort(([, a], [, b]) => b.elpd - a.elpd);
  if (entries.length === 0) throw new ArgumentError("compare: no models; give some, as in { a: loo(…), b: loo(…) }.");
  const best = entries[0][1];
  const other = entries.find(([, { pointwise }]) => pointwise.elpd.length !== best.pointwise.elpd.length);
  if (other) {
    throw new ArgumentError(
      `compare: ${entries[0][0]} has ${best.pointwise.elpd.length} observations and ${other[0]} has ` +
        `${other[1].pointwise.elpd.length}; only models of the same observations can be compared.`,
    );
  }
  const weights = stackingWeights(entries.map(([, { pointwise }]) => pointwise.elpd));
  const rows = entries.map(([name, model], i) => {
    const difference = model.pointwise.elpd.map((value, j) => value - best.pointwise.elpd[j]);
    return {
      name,
      elpd: model.elpd,
      se: model.se,
      elpdDiff: model.elpd - best.elpd,
      seDiff: i === 0 ? 0 : standardErrorOfSum(difference),
      pLoo: model.pLoo,
      weight: weights[i],
      unreliable: model.unreliable.length,
    };
  });
  return new Comparison(rows);
}

/**
 * The weights of the mixture of predictive distributions that predicts best (Yao, Vehtari, Simpson and Gelman 2018), by the
 * EM iteration for mixture weights: the objective is concave, every step raises it, and the largest gradient bounds what
 * is left to gain.
 */
export function stackingWeights(pointwise: readonly Float64Array[]): number[] {
  if (!Array.isArray(pointwise) || pointwise.length === 0) {
    throw new ArgumentError(`stackingWeights: takes a list of log densities for each model, not ${shown(pointwise)}.`);
  }
  const observations = pointwise[0]?.length;
  for (const elpd of pointwise) {
    checkNumbers("stackingWeights", "the log densities of a model", elpd);
    if (elpd.length === observations) continue;
    throw new ShapeError(`stackingWeights: a model has ${elpd.length} log densities, the first ${observations}.`);
  }
  const densities = pointwise.map((elpd) => new Float64Array(elpd));
  for (let i = 0; i < observations; i++) {
    const top = Math.max(...densities.map((elpd) => elpd[i]));
    for (const elpd of densities) elpd[i] = Math.exp(elpd[i] - top);
  }
  let weights = densities.map(() => 1 / densities.length);
  for (let step = 0; step < 20_000; step++) {
    const mixture = new Float64Array(observations);
    densities.forEach((density, model) => {
      for (let i = 0; i < observations; i++) mixture[i] += weights[model] * density[i];
    });
    const gradient = densities.map((density) => meanOf(density.map((value, i) => value / mixture[i])));
    weights = weights.map((weight, model) => weight * gradient[model]);
    if (Math.max(...gradient) < 1 + 1e-7) break;
  }
  return weights;
}
