/** Models in files: the architecture as JSON beside parameters and state, in one safetensors file (src/io/trees). */
import { checkOptions, checkString } from "../../core/arguments.js";
import { ArgumentError, FormatError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isPlainObject, type Json } from "../../io/trees/json.js";
import { openTree, wholeTree, writeTree } from "../../io/trees/tree-file.js";
import type { TensorTree } from "../../io/trees/tree-form.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { type AnyLayer, Layer } from "../core/layer.js";
import type { Variables, VariableTree } from "../core/variables.js";
import { describeModel, rebuildModel } from "./architecture.js";
import { checkFits, type GivenVariables, variablesGiven } from "./model-variables.js";

/** The version of the description of a model; a reader refuses what is newer than itself. */
const VERSION = 1;

/** A model from a file. */
export interface LoadedModel<In = Tensor, Out = Tensor> extends Variables {
  readonly model: Layer<In, Out>;
  /** What `saveModel` was given beside the model. */
  readonly metadata: Json | undefined;
  /** The tree that `saveModel` was given beside the model, such as an optimiser's state. */
  readonly extra: TensorTree | undefined;
}

/**
 * Writes a model and its variables: `await saveModel("model.safetensors", model, { params, state })`. `metadata`, a value of JSON, comes
 * along, and so does `extra`, a tree of tensors such as an optimiser's state. Functions of the user's own need names (`registerFunction`, `registerLayer`).
 */
export async function saveModel<In, Out>(
  path: string,
  model: Layer<In, Out>,
  variables: GivenVariables,
  options: { readonly metadata?: Json; readonly extra?: TensorTree } = {},
): Promise<void> {
  checkString("saveModel", "the path", path);
  checkOptions("saveModel", options, { metadata: "any", extra: "any" });
  if (!(model instanceof Layer)) throw new ArgumentError(`saveModel: takes a model, not ${shown(model)}.`);
  const { params, state } = variablesGiven("saveModel", variables);
  const architecture = describeModel(model as unknown as AnyLayer, "saveModel");
  checkFits(
    model as unknown as AnyLayer,
    { params, state },
    (message) => new ArgumentError(`saveModel: ${message}; give the variables of this model.`),
  );
  const { metadata, extra } = options;
  const beside = { model: VERSION, architecture, ...(metadata !== undefined && { metadata }) };
  const tree = { params, state, ...(extra !== undefined && { extra }) };
  await writeTree(path, tree as TensorTree, beside, "saveModel");
}

/** The model in a file, with its parameters and state: `const { model, params } = await loadModel("model.safetensors")`. */
export async function loadModel<In = Tensor, Out = Tensor>(
  path: string,
  options: { readonly device?: string } = {},
): Promise<LoadedModel<In, Out>> {
  checkString("loadModel", "the path", path);
  checkOptions("loadModel", options, { device: "text" });
  const what = `loadModel: ${path}`;
  await using file = await openTree(path, "loadModel");
  const { metadata } = file;
  const {
    model: version,
    architecture,
    metadata: own,
  } = (isPlainObject(metadata) ? metadata : {}) as Record<string, Json>;
  if (version !== VERSION) {
    throw new FormatError(
      typeof version === "number"
        ? `${what}: a model of version ${version}; this version of Pumice reads ${VERSION}.`
        : `${what}: there is no model in this file, only tensors; loadParameters loads them into a model made in code.`,
    );
  }
  const model = rebuildModel(architecture, what) as unknown as Layer<In, Out>;
  const tree = await wholeTree(file, options.device);
  const { params, state, extra } = (isPlainObject(tree) ? tree : {}) as Record<string, unknown>;
  const variables = { params: variableTree(params, "params", what), state: variableTree(state, "state", what) };
  checkFits(
    model as unknown as AnyLayer,
    variables,
    (message) => new FormatError(`${what}: ${message}: the file's architecture and its tensors do not fit each other.`),
  );
  return { model, ...variables, metadata: own, extra: extra as TensorTree | undefined };
}

function variableTree(tree: unknown, path: string, what: string): VariableTree {
  if (!isPlainObject(tree)) throw new FormatError(`${what}: ${path} is no object of tensors.`);
  for (const [name, value] of Object.entries(tree)) {
    if (!isTensor(value)) variableTree(value, `${path}.${name}`, what);
  }
  return tree as VariableTree;
}
