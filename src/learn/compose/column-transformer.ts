/**
 * Columns, each in its own way: a table's numbers are scaled, its categories encoded, its texts counted, and what comes out lies side by
 * side. Columns are chosen when it is fitted, and found by their names afterwards.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { Run } from "../../runs/run.js";
import { concat, type Tensor } from "../../tensor/index.js";
import { changedOption, changedOptions } from "../core/changed-options.js";
import type { Estimator, FitOptions, FitProgress } from "../core/estimator.js";
import { inputNames } from "../core/feature-names.js";
import { registerKind, takenApart } from "../core/kinds.js";
import { type Features, numberSamples, type Samples, tableOfText, withoutArrow } from "../core/samples.js";
import { type Ignored, placeOf } from "../core/sorts.js";
import { withTimeLeft } from "../core/time-left.js";
import { type Column, Table } from "../tables/table.js";
import { functionTransformer } from "./function-transformer.js";
import { columnsAt, FittedJoined, joinedOf } from "./joined.js";
import {
  type AnyEstimator,
  checkEstimator,
  type FittedTransformer,
  fittedAndTransformed,
  fittedWithin,
  somePartTells,
  transformerOptions,
  transforming,
} from "./steps.js";

/** Which columns: by name, by place, all of a kind, or those that a function takes. */
export type ColumnChoice =
  | string
  | number
  | readonly (string | number)[]
  | { readonly kind: Column["kind"] }
  | ((name: string, kind: Column["kind"]) => boolean);

/** What is done with columns that are chosen: an estimator changes them, or they stay, or are left out. */
type Use = AnyEstimator | "passthrough" | "drop";

/** Options of the estimators of parts, or others in their place, by the place or the name of the part; and the remainder. */
export type ColumnTransformerChanges = ColumnTransformerOptions & Readonly<Record<string | number, unknown>>;

/** Some columns, and what is done with them. */
export interface ColumnPart {
  readonly columns: ColumnChoice;
  readonly use: Use;
}

/** Options of `columnTransformer`. */
export interface ColumnTransformerOptions {
  /** What is done with columns that no part chooses: "drop" unless told. */
  readonly remainder?: Use;
}

/** The model of a `columnTransformer` or a `featureUnion`. */
export type JoinedModel = FittedJoined;

const EXAMPLE = "columnTransformer({ city: oneHotEncoder() })";

/**
 * An estimator that changes columns, each in its own way: `columnTransformer({ city: oneHotEncoder(), age: standardScaler() })`, or
 * `columnTransformer([{ columns: { kind: "category" }, use: oneHotEncoder() }], { remainder: "passthrough" })`.
 */
export function columnTransformer(
  given: Readonly<Record<string, Use>> | readonly ColumnPart[],
  options: ColumnTransformerOptions = {},
): Estimator<Ignored, FittedJoined, ColumnTransformerChanges> {
  checkOptions("columnTransformer", options, { remainder: "any" });
  const { remainder = "drop" } = options;
  const parts = partsOf(given);
  for (const { use } of [...parts, { use: remainder }]) {
    if (use !== "drop" && use !== "passthrough") checkEstimator("columnTransformer: a part", use, EXAMPLE);
  }
  const made: Estimator<Ignored, FittedJoined, ColumnTransformerChanges> = {
    kind: "columnTransformer",
    predictsLabels: false,
    takesWeights: true,
    // Those that cannot handle missing values say so themselves.
    allowsMissing: true,
    options: { ...options },
    fit: (samples, targets, fit: FitOptions = {}) =>
      new Run(() => withTimeLeft(fitting(parts, remainder, samples, targets, fit, null))),
    ...(somePartTells([...parts.map(({ use }) => use), remainder])
      ? {
          async fitTransform(samples: Samples, targets: Ignored, fit: FitOptions = {}) {
            const columns: Tensor[] = [];
            const model = await new Run(() => withTimeLeft(fitting(parts, remainder, samples, targets, fit, columns)));
            return { model, transformed: concat(columns, { axis: 1 }) as Tensor };
          },
        }
      : {}),
    fitTensors(samples, targets, fit: FitOptions = {}) {
      const { features, chosen } = planned("columnTransformer.fitTensors", parts, remainder, samples, fit);
      const models = chosen.map(({ use, columns }) =>
        changing(
          use,
          use.fitTensors(
            columnsAt(samples, columns, null) as Tensor,
            targets,
            optionsOf(use, features, columns, fit, samples),
          ),
        ),
      );
      return joined(features, chosen, models, samples);
    },
    with: (others) => columnTransformer(changedParts(given, others), changedOptions(options, remainderOf(others))),
  };
  return takenApart("estimator", "columnTransformer", made, () => ({ parts, options }));
}

registerKind("columnTransformer", {
  estimator: ({ parts, options }) =>
    columnTransformer(parts as readonly ColumnPart[], (options ?? {}) as ColumnTransformerOptions),
  model: (parts) => joinedOf("columnTransformer", parts),
});

const remainderOf = ({ remainder }: ColumnTransformerChanges): ColumnTransformerOptions =>
  remainder === undefined ? {} : { remainder };

/** The parts, some of which are changed. */
function changedParts(
  given: Readonly<Record<string, Use>> | readonly ColumnPart[],
  changes: ColumnTransformerChanges,
): Readonly<Record<string, Use>> | readonly ColumnPart[] {
  const isList = Array.isArray(given);
  const { remainder: _, ...ofParts } = changes;
  const stray = Object.keys(ofParts).find((name) => !(name in given));
  if (stray !== undefined) {
    throw new ArgumentError(
      `columnTransformer.with: there is no part ${shown(stray)}; there are ${Object.keys(given).join(", ")} and remainder.`,
    );
  }
  if (!isList) return changedOptions(given as Readonly<Record<string, Use>>, ofParts as Record<string, Use>);
  return (given as readonly ColumnPart[]).map((part, place) =>
    place in ofParts ? { ...part, use: changedOption(part.use, ofParts[place]) as Use } : part,
  );
}

function partsOf(given: Readonly<Record<string, Use>> | readonly ColumnPart[]): readonly ColumnPart[] {
  if (typeof given !== "object" || given === null) {
    throw new ArgumentError(`columnTransformer: takes estimators by column, not ${shown(given)}, as in ${EXAMPLE}.`);
  }
  if (!Array.isArray(given)) return Object.entries(given).map(([columns, use]) => ({ columns, use: use as Use }));
  for (const part of given as readonly unknown[]) {
    if (typeof part === "object" && part !== null && "columns" in part && "use" in part) continue;
    throw new ArgumentError(`columnTransformer: a part is ${shown(part)}; it is { columns, use }.`);
  }
  return given as readonly ColumnPart[];
}

/** Columns of samples: a table's, or those of a matrix, whose kind is "number". */
interface Columns {
  readonly names: readonly string[];
  readonly kinds: readonly Column["kind"][];
}

/** The positions of the columns of a choice, in the order in which it names them. */
function placesOf(operation: string, choice: ColumnChoice, { names, kinds }: Columns): readonly number[] {
  const all = [...names.keys()];
  if (typeof choice === "function") {
    return all.filter((j) => choice(names[j] as string, kinds[j] as Column["kind"]));
  }
  if (typeof choice === "object" && !Array.isArray(choice)) {
    return all.filter((j) => kinds[j] === (choice as { readonly kind: string }).kind);
  }
  return [choice as string | number].flat().map((each) => {
    const place = typeof each === "number" ? (each < 0 ? each + names.length : each) : names.indexOf(each);
    if (Number.isInteger(place) && place >= 0 && place < names.length) return place;
    throw new ArgumentError(`${operation}: there is no column ${shown(each)}; there are ${names.join(", ")}.`);
  });
}

interface Chosen {
  readonly use: AnyEstimator;
  readonly columns: readonly number[];
}

interface Plan {
  readonly features: Features;
  readonly chosen: readonly Chosen[];
}

/** Which columns go where. Parts without a column are left out. */
function planned(
  operation: string,
  parts: readonly ColumnPart[],
  remainder: Use,
  samples: Samples,
  { featureNames }: FitOptions,
): Plan {
  const isTable = samples instanceof Table;
  const names = isTable ? samples.names : (featureNames ?? null);
  const count = isTable ? samples.columns.size : ((samples as Tensor).shape[1] as number);
  const features: Features = { count, names, categories: null };
  const columns: Columns = {
    names: inputNames(features),
    kinds: isTable ? [...samples.columns.values()].map(({ kind }) => kind) : Array<"number">(count).fill("number"),
  };
  const all = parts.map((part) => ({ use: part.use, columns: placesOf(operation, part.columns, columns) }));
  const taken = new Set(all.flatMap((part) => part.columns));
  const rest = { use: remainder, columns: [...columns.names.keys()].filter((place) => !taken.has(place)) };
  const chosen = [...all, rest]
    .filter((part) => part.use !== "drop" && part.columns.length > 0)
    .map(
      (part): Chosen => ({
        ...part,
        use: part.use === "passthrough" ? functionTransformer() : (part.use as AnyEstimator),
      }),
    );
  if (chosen.length > 0) return { features, chosen };
  throw new ArgumentError(`${operation}: no column is left of ${columns.names.join(", ")}.`);
}

/** Options of the fit of a part: its columns keep their names. */
function optionsOf(
  use: AnyEstimator,
  { names }: Features,
  columns: readonly number[],
  options: FitOptions,
  samples: Samples,
): FitOptions {
  const { featureNames: _, featureCategories: lists, ...rest } = transformerOptions(use, options);
  if (samples instanceof Table) return rest;
  return {
    ...rest,
    ...(names
      ? { featureNames: columns.map((place) => names[place] as string) }
      : { featureNames: columns.map((place) => `x${place}`) }),
    ...(lists ? { featureCategories: columns.map((place) => lists[place] ?? null) } : {}),
  };
}

const changing = (use: AnyEstimator, model: unknown): FittedTransformer =>
  transforming(`columnTransformer: ${use.kind}`, model as FittedTransformer, `each must, as in ${EXAMPLE}`);

const joined = (features: Features, chosen: readonly Chosen[], models: readonly FittedTransformer[], x: Tensor) =>
  new FittedJoined(
    "columnTransformer",
    models,
    { features, columns: chosen.map(({ columns }) => columns) },
    placeOf(x).place,
  );

/** Fits part after part; its progress counts them. `onto`: where the columns of the samples go, if they are wanted. */
async function* fitting(
  parts: readonly ColumnPart[],
  remainder: Use,
  given: Samples,
  targets: Ignored,
  options: FitOptions,
  onto: Tensor[] | null,
): AsyncGenerator<FitProgress, FittedJoined> {
  const operation = "columnTransformer.fit";
  const { samples: read, names } = tableOfText(withoutArrow(given));
  const samples = read instanceof Table ? read : numberSamples.read(operation, read, options, {}).matrix;
  const plan = planned(operation, parts, remainder, samples, options);
  const { chosen } = plan;
  const features = { ...plan.features, names: read instanceof Table ? names : plan.features.names };
  const models: FittedTransformer[] = [];
  for (const { use, columns } of chosen) {
    options.signal?.throwIfAborted();
    const own = columnsAt(samples, columns, null);
    const ownOptions = optionsOf(use, features, columns, options, samples);
    const checked = (model: FittedTransformer) => changing(use, model);
    const at = { step: models.length, steps: chosen.length };
    if (onto) {
      const { model, transformed } = yield* fittedAndTransformed(use, own, targets, ownOptions, at, checked);
      models.push(model);
      onto.push(transformed);
    } else models.push(checked(yield* fittedWithin(use, own, targets, ownOptions, at)));
    yield { step: models.length, steps: chosen.length };
  }
  const first = chosen[0] as Chosen;
  const x = onto?.[0] ?? (models[0] as FittedTransformer).transform(columnsAt(samples, first.columns, null));
  return joined(features, chosen, models, x);
}
