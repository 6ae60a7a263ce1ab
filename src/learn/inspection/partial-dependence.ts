/**
 * Partial dependence (Friedman 2001): the mean prediction over the samples when some features have given values in all of them, and
 * with `kind: "individual"` the prediction of each sample (Goldstein et al. 2015). Copies of the samples are predicted together.
 */
import { checkChoice, checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { concat, type Tensor, tensor, where } from "../../tensor/index.js";
import type { Samples } from "../core/samples.js";
import { checkInspected, copiesTogether, featurePlace, type Inspected, inspectedMatrix } from "./inspected.js";

/** Options of `partialDependence`. */
export interface PartialDependenceOptions {
  /**
   * Values of each feature: a list for every one of them, or how many, evenly between two quantiles. 100 unless told; features that have
   * fewer values take those.
   */
  readonly grid?: number | readonly (readonly number[])[];
  /** The quantiles between which values lie: [0.05, 0.95] unless told. */
  readonly percentiles?: readonly [number, number];
  /** The mean over samples, unless told, or a curve for each sample. */
  readonly kind?: "average" | "individual";
  /** What is predicted: the first that the model has of "predictProbability" and "decisionFunction" for classes, else "predict". */
  readonly response?: "predict" | "predictProbability" | "decisionFunction";
  readonly signal?: AbortSignal;
}

/** Predictions over a grid. */
export interface PartialDependence {
  /** The values of each feature. */
  readonly grid: readonly (readonly number[])[];
  /**
   * [outputs, values, …]: an axis for each feature; for curves of samples [outputs, samples, values, …]. Outputs are targets or classes;
   * of two classes the second is the one.
   */
  readonly values: Tensor;
}

const OPTIONS: OptionKinds<PartialDependenceOptions> = {
  grid: "any",
  percentiles: "list",
  kind: "text",
  response: "text",
  signal: "signal",
};

const OPERATION = "partialDependence";

/** How predictions depend on one feature, or on several together, by number or by name. */
export async function partialDependence(
  model: Inspected,
  samples: Samples,
  features: number | string | readonly (number | string)[],
  options: PartialDependenceOptions = {},
): Promise<PartialDependence> {
  checkOptions(OPERATION, options, OPTIONS);
  checkInspected(OPERATION, model);
  const { kind = "average", signal } = options;
  checkChoice(OPERATION, "kind", kind, ["average", "individual"]);
  const places = (Array.isArray(features) ? features : [features]).map((each) => featurePlace(OPERATION, model, each));
  if (places.length === 0 || new Set(places).size < places.length) {
    throw new ArgumentError(`${OPERATION}: features are ${shown(features)}; they are one or more, each once.`);
  }
  const predict = responseOf(model, options);
  const x = inspectedMatrix(OPERATION, model, samples).realize() as Tensor;
  const grid = await gridOf(x, places, options);
  const points = product(grid);
  const together = Math.min(points.length, copiesTogether(x));
  const parts: Tensor[] = [];
  for (let first = 0; first < points.length; first += together) {
    signal?.throwIfAborted();
    const some = points.slice(first, first + together);
    const outputs = outputsOf(predict(replaced(x, places, some)), some.length, model);
    parts.push((kind === "average" ? outputs.mean({ axis: 2, keepDims: true }) : outputs).realize() as Tensor);
  }
  const sizes = grid.map(({ length }) => length);
  const all = concat(parts, { axis: 1 }).permute([0, 2, 1]) as Tensor;
  const [outputs, curves] = all.shape as [number, number, number];
  return {
    grid,
    values: all.reshape(kind === "average" ? [outputs, ...sizes] : [outputs, curves, ...sizes]).realize() as Tensor,
  };
}

function responseOf(model: Inspected, { response }: PartialDependenceOptions): (x: Samples) => Tensor {
  const order = model.classes ? (["predictProbability", "decisionFunction"] as const) : (["predict"] as const);
  if (response !== undefined) {
    checkChoice(OPERATION, "response", response, ["predict", "predictProbability", "decisionFunction"]);
  }
  const name = response ?? order.find((each) => model[each] !== undefined);
  if (name && model[name]) return (x) => (model[name] as (x: Samples) => Tensor).call(model, x);
  throw new ArgumentError(
    `${OPERATION}: ${model.kind} has no ${response ?? order.join(" or ")}; take a model that predicts numbers or probabilities.`,
  );
}

/** Predictions of copies as [outputs, copies, samples]. Of the probabilities of two classes the second is taken. */
function outputsOf(predicted: Tensor, copies: number, { classes }: Inspected): Tensor {
  const columns = (predicted.rank === 1 ? predicted.expandDims(1) : predicted) as Tensor;
  const width = columns.shape[1] as number;
  const wanted = (classes?.length === 2 && width === 2 ? columns.at(":", "1:") : columns) as Tensor;
  const float = wanted.dtype === "f64" ? wanted : wanted.cast("f32");
  return float.reshape([copies, -1, wanted.shape[1] as number]).permute([2, 0, 1]) as Tensor;
}

/** Copies of samples, in each of which some features have the values of a point: [points · samples, features]. */
function replaced(x: Tensor, places: readonly number[], points: readonly (readonly number[])[]): Tensor {
  const [samples, features] = x.shape as [number, number];
  const { device, dtype } = x;
  const values = new Float64Array(points.length * features);
  const keeps = new Float64Array(features).fill(1);
  for (const place of places) keeps[place] = 0;
  points.forEach((point, p) => {
    places.forEach((place, at) => {
      values[p * features + place] = point[at] as number;
    });
  });
  const given = tensor(values, { device, dtype, shape: [points.length, 1, features] });
  const isKept = tensor(keeps, { device, dtype }).notEqual(0);
  const all = where(isKept, x.expandDims(0), given).broadcastTo([points.length, samples, features]);
  return all.reshape([points.length * samples, features]).realize() as Tensor;
}

/** The values of each feature: as told, all that there are, or evenly between quantiles. */
async function gridOf(
  x: Tensor,
  places: readonly number[],
  { grid = 100, percentiles = [0.05, 0.95] }: PartialDependenceOptions,
): Promise<readonly (readonly number[])[]> {
  if (Array.isArray(grid)) {
    const isRight = grid.length === places.length && grid.every((list) => Array.isArray(list) && list.length > 0);
    if (isRight) return grid as readonly (readonly number[])[];
    throw new ArgumentError(
      `${OPERATION}: grid is ${shown(grid)}; it has a list of values for each of ${places.length} features.`,
    );
  }
  const count = checkWhole(OPERATION, "grid", grid as number, 2);
  const [low, high] = percentiles;
  if (!(low >= 0 && low < high && high <= 1)) {
    throw new ArgumentError(
      `${OPERATION}: percentiles are ${shown(percentiles)}; they are two shares, the smaller first.`,
    );
  }
  return Promise.all(
    places.map(async (place) => {
      const sorted = Array.from((await x.at(":", place).cast("f64").data()) as Float64Array)
        .filter((value) => !Number.isNaN(value))
        .sort((a, b) => a - b);
      const unique = [...new Set(sorted)];
      if (unique.length < count) return unique;
      const [from, to] = [quantile(sorted, low), quantile(sorted, high)];
      if (from < to) return Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));
      throw new ArgumentError(
        `${OPERATION}: the ${low} and ${high} quantiles of feature ${place} are both ${from}; set percentiles further apart, or give the grid.`,
      );
    }),
  );
}

/** The quantile by Cunnane's rule, as scikit-learn takes it here (SciPy's mquantiles). */
function quantile(sorted: readonly number[], share: number): number {
  const place = sorted.length * share + 0.4 + 0.2 * share;
  const at = Math.floor(Math.min(Math.max(place, 1), sorted.length - 1));
  const rest = Math.min(Math.max(place - at, 0), 1);
  return (1 - rest) * (sorted[at - 1] as number) + rest * (sorted[at] ?? (sorted[at - 1] as number));
}

/** All points of a grid, the last feature fastest. */
const product = (grid: readonly (readonly number[])[]): readonly (readonly number[])[] =>
  grid.reduce<readonly (readonly number[])[]>(
    (points, list) => points.flatMap((point) => list.map((value) => [...point, value])),
    [[]],
  );
