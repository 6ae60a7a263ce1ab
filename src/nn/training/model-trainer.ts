/**
 * A model, a loss and an optimiser as a trainer. The model computes in bf16 or f16 where that was asked for, from parameters in
 * f32; parameters that are narrow themselves have copies in f32, which the optimiser moves; losses of f16 are scaled so that
 * gradients do not vanish.
 */
import { isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Key } from "../../random/index.js";
import { isTensor, type Tensor, where } from "../../tensor/index.js";
import { valueAndGrad } from "../../transforms/grad.js";
import { placeholderLike, tracedOn } from "../../transforms/trace.js";
import { leaves, map } from "../../transforms/tree.js";
import { flattenTensors, leafPaths, unflatten } from "../../transforms/trees.js";
import { auxiliaryLossIfAny } from "../core/auxiliary-loss.js";
import type { InputSpec } from "../core/input-spec.js";
import type { AnyLayer, Layer } from "../core/layer.js";
import { rematerialize } from "../core/rematerialize.js";
import { mergeTrees, type Variables, type VariableTree, withoutPaths } from "../core/variables.js";
import { counted, countOf } from "../losses/loss.js";
import { accumulate } from "../optimizers/accumulate.js";
import { lossScale, masterWeights, type ScaledOptimizer } from "../optimizers/mixed-precision.js";
import { applyUpdates, describedOptimizer, type Optimizer, type OptimizerState } from "../optimizers/optimizer.js";
import { describedChoice, exampleWeight, type LossOf, lossOf, unless, type Weighted } from "./loss-choice.js";
import { type MetricsOf, metricsOf } from "./metric-choice.js";
import type { ModelOptions } from "./model-options.js";
import { explainNonFinite } from "./non-finite.js";
import { held } from "./program.js";
import { withFactor, withRateFactor } from "./rate-factor.js";
import type { StepMetrics, Trainer } from "./trainer.js";

/** A batch for a model: its input, what it should give, and how much each example counts. */
export interface Example<In> extends Weighted {
  readonly x: In;
  readonly y?: unknown;
}

/** What is trained of a model. */
export interface ModelCarry {
  readonly params: VariableTree;
  readonly state: VariableTree;
  readonly optimizer: OptimizerState;
}

/** The trainer of a model. */
export function modelTrainer<In>(model: Layer<In, unknown>, options: ModelOptions): Trainer<ModelCarry, Example<In>> {
  const used = prepared(model, options);
  const loss = lossOf("train", options.loss, options.lossWeights);
  const metrics = metricsOf("train", options.metrics);
  const optimizerFor = (params: VariableTree) => wrapped(options, params);
  return {
    init: (key, batch) => firstCarry(model, options, key, batch, optimizerFor),
    step: (carry, batch, key) => steppedOn(used, loss, metrics, optimizerFor(carry.params), carry, batch, key),
    evaluate: (carry, batch) => evaluated(used, loss, metrics, carry, batch),
    weigh: exampleWeight,
    describe: () => ({
      model: { layers: String(model) },
      loss: { function: describedChoice(options.loss), weights: describedChoice(options.lossWeights ?? {}) },
      optimizer: { function: describedOptimizer(options.optimizer), "batches for an update": options.accumulate ?? 1 },
      precision: { dtype: options.precision ?? "f32" },
      metrics: { functions: describedChoice(options.metrics ?? []) },
    }),
    // Gradients that overflow by the scale of the loss are skipped; those that do without it will go on to.
    ...(options.precision === "f16" && {
      hasFailed: (before, after) =>
        (optimizerFor(before.params) as ScaledOptimizer).isStuck(before.optimizer, after.optimizer),
    }),
    withRate: (carry, factor) => ({ ...carry, optimizer: withFactor(carry.optimizer, factor) }),
    explain: (carry, batch, key) => explainNonFinite(used, loss, carry, batch, key),
    explainsBy: (path) => !path.startsWith("optimizer"),
  };
}

/** The loss and the metrics of a batch, without training. */
export function evaluated<In>(
  model: Layer<In, unknown>,
  loss: LossOf | null,
  metrics: MetricsOf,
  { params, state }: Variables,
  batch: Example<In>,
): Readonly<Record<string, Tensor>> {
  const predictions = model.apply(params, batch.x, { state });
  const found = loss?.(predictions, batch);
  return { ...(found && { loss: found.loss, ...found.parts }), ...metrics(predictions, batch) };
}

/** What a step finds beside the loss. */
interface Found {
  readonly state: VariableTree;
  readonly metrics: StepMetrics;
  /** What metrics were divided by, for those that tell. */
  readonly counts: Readonly<Record<string, Tensor>>;
  readonly isEmpty?: Tensor;
}

const countsOf = (metrics: StepMetrics): Record<string, Tensor> =>
  Object.fromEntries(
    Object.entries(metrics).flatMap(([name, metric]) => {
      const count = countOf(metric);
      return count ? [[name, count]] : [];
    }),
  );

/** One step: loss and gradients, the optimiser's updates, and the state that the layers set. */
function steppedOn<In>(
  model: Layer<In, unknown>,
  loss: LossOf,
  metrics: MetricsOf,
  optimizer: Optimizer | ScaledOptimizer,
  carry: ModelCarry,
  batch: Example<In>,
  key: Key,
): readonly [ModelCarry, StepMetrics] {
  const isScaled = "scaleLoss" in optimizer;
  let frozen: ReadonlySet<string> = new Set();
  const objective = (params: VariableTree): [Tensor, Found] => {
    const ran = model.applied(params, batch.x, { training: true, key, state: carry.state });
    const { output: predictions, state } = ran;
    frozen = ran.frozen;
    const { loss: found, parts, isEmpty } = loss(predictions, batch);
    // Losses of layers, such as the balance of experts, are trained and reported with the loss, and by themselves.
    const auxiliary = auxiliaryLossIfAny(state);
    const value = auxiliary ? counted(found.add(auxiliary) as Tensor, countOf(found)) : found;
    const reported = { loss: value, ...parts, ...(auxiliary && { auxiliary }), ...metrics(predictions, batch) };
    const counts = countsOf(reported);
    const scaled = isScaled ? optimizer.scaleLoss(value, carry.optimizer) : value;
    return [scaled, { state, metrics: reported, counts, ...(isEmpty && { isEmpty }) }];
  };
  const [[, after], gradients] = valueAndGrad(objective, { aux: true })(carry.params);
  // The results are other tensors than those inside: the counts are noted again.
  for (const [name, count] of Object.entries(after.counts)) counted(after.metrics[name] as Tensor, count);
  const count = after.counts.loss ?? exampleWeight(batch);
  const extras = { value: unless(after.isEmpty, after.metrics.loss, Number.NaN), count };
  // Optimisers do not see frozen parameters: weight decay, noise and averages would move them, or copies of them.
  const [trained, slopes] = [withoutPaths(carry.params, frozen), withoutPaths(gradients, frozen)];
  const [updates, next] = optimizer.update(slopes, carry.optimizer, trained, extras);
  // Where the training goes on after a loss that is not finite, running averages stay free of it.
  const isGood = after.metrics.loss.isFinite();
  const keep = (was: Tensor, is: Tensor) => where(isGood, is, was) as Tensor;
  const state = isScaled ? (map(keep as never, carry.state, after.state) as VariableTree) : after.state;
  const moved = applyUpdates(trained, updates);
  const params = frozen.size === 0 ? moved : mergeTrees(carry.params, moved);
  return [{ params, state, optimizer: next }, after.metrics];
}

/** The paths of parameters that frozen layers use. The model is traced and not computed. */
function frozenPaths<In>(
  model: Layer<In, unknown>,
  { params, state }: Variables,
  batch: Example<In>,
  key: Key,
): ReadonlySet<string> {
  const { leaves: all, structure } = flattenTensors({ params, state, x: batch.x, key }, "train");
  const own = all.map(({ node }) => placeholderLike(node));
  return tracedOn(
    "train",
    own.map(({ node }) => node),
    () => {
      const given = unflatten(structure, own) as Variables & { readonly x: In; readonly key: Key };
      const options = { training: true, key: given.key, state: given.state };
      return model.applied(given.params, given.x, options).frozen;
    },
  );
}

function firstCarry<In>(
  model: Layer<In, unknown>,
  { variables, optimizerState }: ModelOptions,
  key: Key,
  batch: Example<In>,
  optimizerFor: (params: VariableTree) => Optimizer,
): ModelCarry {
  checkExample(batch);
  // The user's own are not given away.
  const { params, state } = variables
    ? { params: held(variables.params), state: held(variables.state ?? {}) }
    : model.init(key, batch.x as InputSpec);
  if (leaves(params).length === 0) {
    throw new ArgumentError(
      `train: the model, ${model.kind}, has no parameters to train; give variables of this model.`,
    );
  }
  const trained = withoutPaths(params, frozenPaths(model, { params, state }, batch, key));
  if (leaves(trained).length === 0) {
    throw new ArgumentError("train: all parameters of the model are frozen; there is nothing to train.");
  }
  const optimizer = optimizerFor(params).init(trained);
  if (optimizerState !== undefined) return { params, state, optimizer: givenState(optimizer, optimizerState) };
  for (const leaf of leaves(optimizer)) leaf.realize();
  return { params, state, optimizer };
}

/** A state that was given, which must have the form of the optimiser's own. */
function givenState(own: OptimizerState, given: OptimizerState): OptimizerState {
  const paths = (tree: OptimizerState) => leafPaths(flattenTensors(tree, "train: the option optimizerState").structure);
  const [wanted, found] = [paths(own), paths(given)];
  const missing = wanted.find((path) => !found.includes(path));
  const extra = found.find((path) => !wanted.includes(path));
  if (missing === undefined && extra === undefined) return held(given);
  const which = missing !== undefined ? `lacks ${missing}` : `has ${extra}, which this one has not`;
  throw new ArgumentError(
    `train: the option optimizerState is of another optimiser or model, or other layers were frozen: it ${which}.`,
  );
}

function checkExample(batch: unknown): void {
  const isTree = typeof batch === "object" && batch !== null && !isTensor(batch);
  if (isTree && "x" in batch) return;
  const what = isTree ? `{ ${Object.keys(batch).join(", ")} }` : shown(batch);
  throw new ArgumentError(`train: a batch is { x, y } with the model's input as x and the targets as y, not ${what}.`);
}

/** The optimiser with what precision and accumulation need around it, for parameters of these dtypes. */
function wrapped({ optimizer, precision, accumulate: count = 1 }: ModelOptions, params: VariableTree): Optimizer {
  let made = withRateFactor(optimizer);
  if (count > 1) made = accumulate(made, count);
  if (leaves(params).some(({ dtype }) => isNarrowFloat(dtype))) made = masterWeights(made);
  return precision === "f16" ? lossScale(made) : made;
}

/** The model in the dtypes and with the rematerialised parts that were asked for. */
function prepared<In>(model: Layer<In, unknown>, options: ModelOptions): Layer<In, unknown> {
  const { precision = "f32", rematerialize: chosen = false } = options;
  // The deepest first: a part inside another one is replaced before that one is.
  const paths = chosen === true ? Object.keys(model.parts) : chosen === false ? [] : [...chosen].sort().reverse();
  const again = paths.reduce(
    (whole, path) => whole.replace(path, (part: AnyLayer) => rematerialize(part)),
    chosen === true && paths.length === 0 ? rematerialize(model) : model,
  );
  return precision === "f32" ? again : again.withDTypes({ compute: precision, output: "f32" });
}
