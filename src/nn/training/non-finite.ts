/**
 * Where a loss that is not finite came from. The step is run again, forward and backward, on the same batch from the state before
 * it, and whatever it computes is looked at in the order in which it comes up: parameters, inputs, the layers' outputs, the loss,
 * the gradients. The first that is not finite is named by its path.
 */
import { isFloat } from "../../core/dtype.js";
import { PumiceError } from "../../core/errors.js";
import type { Key } from "../../random/index.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { grad } from "../../transforms/grad.js";
import { flattenTensors, leafPaths } from "../../transforms/trees.js";
import type { Layer } from "../core/layer.js";
import type { Variables, VariableTree } from "../core/variables.js";
import type { LossOf } from "./loss-choice.js";
import type { Example } from "./model-trainer.js";

/** The loss of a training is NaN or infinite, or gradients of f16 are without a scale. The message names the layer, parameter or gradient that was so first. */
export class NonFiniteLossError extends PumiceError {
  /** @internal `step` counts from 1. */
  constructor(
    message: string,
    readonly step: number,
    readonly epoch: number,
  ) {
    super(message);
  }
}

/** The first thing that is not finite, in words. */
export async function explainNonFinite<In>(
  model: Layer<In, unknown>,
  loss: LossOf,
  { params, state }: Variables,
  batch: Example<In>,
  key: Key,
): Promise<string> {
  const given =
    (await badParameter(params)) ??
    (await firstBad(state, (path) => `the state ${path}`)) ??
    (await firstBad(batch.x, (path) => `the input x${path && `.${path}`}`)) ??
    (await firstBad(batch.y, (path) => `the target y${path && `.${path}`}`)) ??
    (await firstBad(batch.weights, () => "the weights of the examples"));
  if (given) return given;
  const outputs: { readonly label: string; readonly output: unknown }[] = [];
  const hooks = {
    "*": (output: unknown, path: string, kind: string) => {
      outputs.push({ label: path === "" ? kind : `${kind} "${path}"`, output });
    },
  };
  const predictions = model.apply(params, batch.x, { training: true, key, state, hooks });
  for (const { label, output } of outputs) {
    const bad = await firstBad(output, (path) => `the output ${path && `${path} `}of ${label}`);
    if (bad) return bad;
  }
  const found = foundLoss(loss, predictions, batch);
  if (typeof found === "string") return found;
  const bad =
    (await firstBad(found.parts, (path) => path.replace(/^\["(.*)"\]$/, "$1"))) ??
    (await firstBad(found.loss, () => "the loss, of predictions that are finite,"));
  return bad ?? (await badGradient(model, loss, { params, state }, batch, key));
}

/** The loss; or what it refuses now that the values are known, as the blank among labels. In the step they were not. */
function foundLoss<In>(loss: LossOf, predictions: unknown, batch: Example<In>): ReturnType<LossOf> | string {
  try {
    return loss(predictions, batch);
  } catch (error) {
    if (error instanceof PumiceError) return `the loss refuses the batch (${error.message.replace(/\.$/, "")})`;
    throw error;
  }
}

async function badGradient<In>(
  model: Layer<In, unknown>,
  loss: LossOf,
  { params, state }: Variables,
  batch: Example<In>,
  key: Key,
): Promise<string> {
  const gradients = grad(
    (p: VariableTree) => loss(model.apply(p, batch.x, { training: true, key, state }), batch).loss,
  )(params);
  // Infinities go from the last layers to the first: the last one has them first.
  const bad = await lastBad(gradients, (path) => `the gradient of ${path}`);
  return bad ?? "the loss, but not when the step is run again: the data or the layers give something else each time";
}

/** Parameters got their infinities from gradients of the step before, which come from the last layers to the first. */
async function badParameter(params: VariableTree): Promise<string | null> {
  const bad = await lastBad(params, (path) => `the parameter ${path}`);
  return bad && `${bad}, since a gradient was not finite in the step before`;
}

const firstBad = async (tree: unknown, named: (path: string) => string): Promise<string | null> =>
  (await badLeaves(tree, named))[0] ?? null;

const lastBad = async (tree: unknown, named: (path: string) => string): Promise<string | null> =>
  (await badLeaves(tree, named)).at(-1) ?? null;

/** The tensors of a tree that hold NaN or infinities, in words and in the order in which the tree was written. */
async function badLeaves(tree: unknown, named: (path: string) => string): Promise<string[]> {
  if (tree === undefined || tree === null || (typeof tree !== "object" && !isTensor(tree))) return [];
  const { leaves, structure } = flattenTensors(tree, "train");
  const paths = leafPaths(structure);
  const found = await Promise.all(leaves.map((leaf, i) => badness(leaf, named(paths[i] ?? ""))));
  return inWrittenOrder(tree, paths, found).filter((each) => each !== null);
}

/** Leaves are listed by sorted key; layers stand in the order of the model. */
function inWrittenOrder<T>(tree: unknown, paths: readonly string[], values: readonly T[]): T[] {
  const order = new Map<string, number>();
  const walk = (at: unknown, path: string): void => {
    if (isTensor(at)) order.set(path, order.size);
    else if (typeof at === "object" && at !== null) {
      for (const [name, part] of Object.entries(at)) walk(part, path === "" ? name : `${path}.${name}`);
    }
  };
  walk(tree, "");
  const place = (i: number) => order.get(paths[i] as string) ?? order.size + i;
  return values
    .map((_, i) => i)
    .sort((a, b) => place(a) - place(b))
    .map((i) => values[i] as T);
}

async function badness(x: Tensor, name: string): Promise<string | null> {
  if (!isFloat(x.dtype) || x.size === 0) return null;
  const [nans, infinities] = (await Promise.all([x.isNaN().sum().item(), x.isInf().sum().item()])).map(Number);
  if (nans === 0 && infinities === 0) return null;
  const what = [...(nans ? [`${nans} NaN`] : []), ...(infinities ? [`${infinities} infinite`] : [])].join(" and ");
  return x.size === 1 ? `${name} is ${nans ? "NaN" : "infinite"}` : `${name} has ${what} among ${x.size} numbers`;
}
