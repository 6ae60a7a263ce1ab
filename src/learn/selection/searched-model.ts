/** The model that a search ends with: the best candidate, fitted to all samples, and the table of results. */
import { FormatError } from "../../core/errors.js";
import { registerClass } from "../../core/tree.js";
import { isPlainObject } from "../../io/trees/json.js";
import { forwardMethods, type MethodsOf } from "../compose/forwarded.js";
import { partsOf, takenApart } from "../core/kinds.js";
import type { Fitted } from "../core/model.js";
import type { Features } from "../core/samples.js";
import type { Label } from "../core/targets.js";
import type { SearchRow } from "./evaluation.js";

/** The model of a search: the best candidate fitted to all samples, whose methods it has. */
export type SearchedModel<Mo> = {
  readonly kind: string;
  /** The best candidate, fitted to all samples. */
  readonly bestModel: Mo;
  /** The row of the best candidate. */
  readonly best: SearchRow;
  /** A row for each candidate; in a halving search for each candidate of each round. */
  readonly results: readonly SearchRow[];
  readonly features: Features;
  readonly classes: readonly Label[] | null;
} & MethodsOf<Mo>;

interface Outcome {
  readonly results: readonly SearchRow[];
  /** The position of the best row. */
  readonly place: number;
}

export class FittedSearch {
  constructor(
    readonly kind: string,
    readonly bestModel: Fitted,
    private readonly outcome: Outcome,
  ) {
    takenApart("model", kind, this, () => ({ bestModel, results: outcome.results, place: outcome.place }));
    forwardMethods(this, bestModel);
  }

  get results(): readonly SearchRow[] {
    return this.outcome.results;
  }

  get best(): SearchRow {
    return this.outcome.results[this.outcome.place] as SearchRow;
  }

  get features(): Features {
    return this.bestModel.features;
  }

  get classes(): readonly Label[] | null {
    return this.bestModel.classes;
  }

  toString(): string {
    return `${this.kind} of ${this.outcome.results.length} candidates, the best: ${String(this.bestModel)}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  /** @internal for trees */
  static outcomeOf(model: FittedSearch): Outcome {
    return model.outcome;
  }
}

registerClass<FittedSearch, { readonly kind: string; readonly outcome: Outcome }>(FittedSearch, {
  name: "search",
  children: ({ bestModel }) => ({ bestModel }),
  data: (model) => ({ kind: model.kind, outcome: FittedSearch.outcomeOf(model) }),
  rebuild: ({ bestModel }, { kind, outcome }) => new FittedSearch(kind, bestModel as Fitted, outcome),
});

/** The model of a kind from the parts that a file holds. */
export function searchedOf(
  kind: string,
  { bestModel, results, place }: Readonly<Record<string, unknown>>,
): FittedSearch {
  const isModel = typeof bestModel === "object" && bestModel !== null && partsOf(bestModel)?.sort === "model";
  const isRow = (row: unknown): boolean =>
    isPlainObject(row) && isPlainObject(row.options) && isPlainObject(row.scores);
  const isTable = Array.isArray(results) && results.every(isRow) && Number.isInteger(place);
  if (!isModel || !isTable || (results as unknown[])[place as number] === undefined) {
    throw new FormatError(`the results of a ${kind} are not described as they should be.`);
  }
  return new FittedSearch(kind, bestModel as Fitted, { results: results as SearchRow[], place: place as number });
}
