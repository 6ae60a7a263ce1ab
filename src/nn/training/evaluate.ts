/** A model on data without training: metrics over many batches, and predictions in batches. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { arange, concat, type Tensor } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { flattenTensors, unflatten } from "../../transforms/trees.js";
import { Layer } from "../core/layer.js";
import type { Variables, VariableTree } from "../core/variables.js";
import type { RunningMean } from "../metrics/running.js";
import { type DataSource, dataOf } from "./data-source.js";
import { exampleWeight, type LossChoice, type LossWeights, lossOf } from "./loss-choice.js";
import { type Means, type Metrics, readMeans, startMeans } from "./meter.js";
import { type MetricChoice, metricsOf } from "./metric-choice.js";
import { type Example, evaluated } from "./model-trainer.js";
import { evaluateProgram, held, noFailure } from "./program.js";

/** Options of `evaluate`. */
export interface EvaluateOptions<In> {
  /** Batches, or `{ x, y }` as tensors of all examples. */
  readonly data: DataSource<Example<In>>;
  /** Examples in a batch, where the data are whole tensors: 256 unless told. */
  readonly batchSize?: number;
  readonly loss?: LossChoice;
  readonly lossWeights?: LossWeights;
  readonly metrics?: MetricChoice;
}

/** Options of `predict`. */
export interface PredictOptions {
  /** Examples that are computed at a time: 256 unless told. */
  readonly batchSize?: number;
}

/** Milliseconds of work before others have their turn. */
const PIECE_MS = 60;

/** The loss and the metrics of a model: means over all batches. `variables`: what `init` or `train` gave. */
export async function evaluate<In>(
  model: Layer<In, unknown>,
  variables: Variables,
  options: EvaluateOptions<In>,
): Promise<Metrics> {
  checkOptions("evaluate", options, {
    data: "any",
    batchSize: "number",
    loss: "any",
    lossWeights: "any",
    metrics: "any",
  });
  checkModel("evaluate", model, variables);
  const { loss, metrics } = options;
  if (loss === undefined && metrics === undefined) {
    throw new ArgumentError(`evaluate: nothing to compute; give { loss } or { metrics: ["accuracy"] }.`);
  }
  const [lossFunction, metricFunction] = [
    loss === undefined ? null : lossOf("evaluate", loss, options.lossWeights),
    metricsOf("evaluate", metrics),
  ];
  const run = (carry: Variables, batch: Example<In>) => evaluated(model, lossFunction, metricFunction, carry, batch);
  const program = evaluateProgram(run, exampleWeight);
  const carry = { params: variables.params, state: variables.state };
  let means: Means | null = null;
  let began = performance.now();
  for await (const batch of dataOf("evaluate", options.data, { batchSize: options.batchSize ?? 256 }).epoch(0)) {
    means ??= startMeans(run, carry, batch);
    means = program(means, carry, batch);
    if (performance.now() - began < PIECE_MS) continue;
    const [first] = Object.values(held(means));
    await first?.weight.data();
    began = performance.now();
  }
  if (!means) throw new ArgumentError("evaluate: the data have no batches.");
  const [first] = Object.values(means);
  return (await readMeans(means, noFailure((first as RunningMean).mean.device), 0)).metrics;
}

/** The model's output for all examples of an input, computed in batches and put together. */
export function predict<In, Out>(
  model: Layer<In, Out>,
  variables: Variables,
  input: In,
  options: PredictOptions = {},
): Out {
  checkOptions("predict", options, { batchSize: "number" });
  checkModel("predict", model, variables);
  const { batchSize = 256 } = options;
  checkWhole("predict", "the option batchSize", batchSize, 1);
  const { leaves, structure } = flattenTensors(input, "predict");
  const count = exampleCount("predict", leaves);
  const run = jit((params: VariableTree, state: VariableTree, x: In): Out => model.apply(params, x, { state }));
  const apply = (x: In): Out => (run as (...args: unknown[]) => Out)(variables.params, variables.state ?? {}, x);
  if (count <= batchSize) return apply(input);
  const parts: { readonly leaves: readonly Tensor[]; readonly back: (all: readonly Tensor[]) => Out }[] = [];
  for (let start = 0; start < count; start += batchSize) {
    const rows = rowsFrom(leaves, start as never, Math.min(batchSize, count - start));
    const output = flattenTensors(apply(unflatten(structure, rows) as In), "predict");
    parts.push({ leaves: output.leaves, back: (all) => unflatten(output.structure, all) as Out });
  }
  const [first] = parts as [(typeof parts)[number]];
  return first.back(first.leaves.map((_, i) => concat(parts.map((part) => part.leaves[i] as Tensor))));
}

/** So many rows from `start` on: one program for all batches of a size. */
const rowsFrom = jit(
  (tensors: readonly Tensor[], start: Tensor, rows: number): Tensor[] => {
    const [{ device }] = tensors as [Tensor];
    const places = arange(rows, { dtype: "i32", device }).add(start.cast("i32"));
    return tensors.map((each) => each.take(places, { axis: 0 }));
  },
  { static: 2 },
);

/** The extent of the first axis, which all tensors of the input share. */
function exampleCount(operation: string, tensors: readonly Tensor[]): number {
  const counts = tensors.map(({ shape }) => shape[0]);
  const [count] = counts;
  if (count !== undefined && counts.every((each) => each === count)) return count;
  const shapes = tensors.map(({ shape }) => formatShape(shape)).join(", ");
  throw new ShapeError(
    `${operation}: the first axis of all inputs counts the examples; they have shapes ${shapes || "of nothing"}.`,
  );
}

function checkModel(operation: string, model: unknown, variables: unknown): void {
  if (!(model instanceof Layer)) throw new ArgumentError(`${operation}: takes a model first.`);
  if (typeof variables === "object" && variables !== null && "params" in variables) return;
  throw new ArgumentError(`${operation}: takes { params, state } second, as init of the model or train gave them.`);
}
