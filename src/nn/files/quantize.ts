/**
 * Trained models with narrow weights, and back: dense layers (and tables of embeddings, where asked for) become layers of 8 or 4 bits
 * (layers/quantized.ts). The model takes a quarter or an eighth of the memory, and is saved and loaded like any other.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { type AnyLayer, Layer } from "../core/layer.js";
import { isSubtree, type Variables, type VariableTree } from "../core/variables.js";
import { dense } from "../layers/dense.js";
import { embedding } from "../layers/embedding.js";
import {
  type NarrowOptions,
  type NarrowWeights,
  narrowWeights,
  quantizedDense,
  quantizedEmbedding,
  wideWeights,
} from "../layers/quantized.js";
import { type GivenVariables, variablesGiven } from "./model-variables.js";

/** Options of `quantized`. */
export interface QuantizeModelOptions extends NarrowOptions {
  /** Only layers whose path this accepts, or that are listed or lie under a listed one; all unless told. */
  readonly include?: ((path: string) => boolean) | readonly string[];
  /** Not these. */
  readonly exclude?: ((path: string) => boolean) | readonly string[];
  /** Whether tables of embeddings become narrow, too; false. Not for tables that `attend` also uses. */
  readonly embeddings?: boolean;
}

/** A model and its variables. */
export interface QuantizedModel<In, Out> extends Variables {
  readonly model: Layer<In, Out>;
}

/** Groups of 4-bit weights, unless told. With one scale for all weights of a result, few of the 16 numbers would be used. */
const GROUP_OF_4_BITS = 64;

/** Layers that compute from the weights of their inner layer, which therefore stay. */
const COMPUTING = ["weightNorm", "spectralNorm"];

/**
 * The model with narrow weights: `const small = quantized(model, { params, state }, { bits: 4 })`, then
 * `small.model.apply(small.params, x, { state: small.state })`. Narrow weights are not trained, so they are state.
 */
export function quantized<In, Out>(
  model: Layer<In, Out>,
  variables: GivenVariables,
  options: QuantizeModelOptions,
): QuantizedModel<In, Out> {
  checkModel("quantized", model);
  const given = variablesGiven("quantized", variables);
  checkOptions("quantized", options, {
    bits: "number",
    group: "number",
    symmetric: "flag",
    include: "any",
    exclude: "any",
    embeddings: "flag",
  });
  const { bits, symmetric, embeddings = false } = options;
  const group = options.group ?? (bits === 4 ? GROUP_OF_4_BITS : undefined);
  const form: NarrowOptions = {
    bits,
    ...(group === undefined ? {} : { group }),
    ...(symmetric === undefined ? {} : { symmetric }),
  };
  const [isIncluded, isExcluded] = [
    chosen(model as unknown as AnyLayer, "include", options.include, true),
    chosen(model as unknown as AnyLayer, "exclude", options.exclude, false),
  ];
  return rewritten(model, given, (layer, path) => {
    if (!isIncluded(path) || isExcluded(path)) return null;
    if (layer.kind === "dense") return narrowDense(layer, form);
    return layer.kind === "embedding" && embeddings ? narrowEmbedding(layer, form) : null;
  });
}

/** The model with wide weights again, rounded as they are: for `mergeLora`, or to train on. */
export function dequantized<In, Out>(model: Layer<In, Out>, variables: GivenVariables): QuantizedModel<In, Out> {
  checkModel("dequantized", model);
  return rewritten(model, variablesGiven("dequantized", variables), (layer) => {
    if (layer.kind === "quantizedDense") return wideLayer(layer, 0);
    return layer.kind === "quantizedEmbedding" ? wideLayer(layer, 1) : null;
  });
}

function checkModel(operation: string, model: unknown): void {
  if (!(model instanceof Layer)) throw new ArgumentError(`${operation}: takes a model, not ${shown(model)}.`);
}

function chosen(
  model: AnyLayer,
  name: string,
  by: QuantizeModelOptions["include"],
  otherwise: boolean,
): (path: string) => boolean {
  if (by === undefined) return () => otherwise;
  if (typeof by === "function") return by;
  if (!Array.isArray(by))
    throw new ArgumentError(`quantized: the option ${name} is a function of the path, or a list of paths.`);
  for (const path of by) checkPath(model, name, path);
  return (path) => by.some((each) => path === each || path.startsWith(`${each}.`));
}

/** A path in a list names a layer. */
function checkPath(model: AnyLayer, option: string, path: unknown): void {
  try {
    if (typeof path === "string") model.at(path);
    else throw new ArgumentError(`paths are texts, not ${shown(path)}.`);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    throw new ArgumentError(`quantized: the option ${option}: ${error.message}`, { cause: error });
  }
}

/** Another layer in the place of one, and how the variables of the one become those of the other. */
interface Replacement {
  readonly layer: AnyLayer;
  convert(
    own: { params: VariableTree; state: VariableTree },
    path: string,
  ): { params: VariableTree; state: VariableTree };
}

type Rewrite = (layer: AnyLayer, path: string) => Replacement | null;

function rewritten<In, Out>(
  model: Layer<In, Out>,
  { params, state }: Variables,
  rewrite: Rewrite,
): QuantizedModel<In, Out> {
  const walk = (layer: AnyLayer, path: readonly string[], own: Variables): { readonly layer: AnyLayer } & Variables => {
    const text = path.join(".");
    const replacement = rewrite(layer, text);
    if (replacement) return { layer: asBefore(replacement.layer, layer), ...replacement.convert(own, text) };
    let result = layer;
    const [below, beside] = [{ ...own.params }, { ...own.state }] as Record<string, Tensor | VariableTree>[];
    for (const [name, part] of Object.entries(COMPUTING.includes(layer.kind) ? {} : layer.parts)) {
      const inner = walk(part, [...path, name], { params: subtree(own.params, name), state: subtree(own.state, name) });
      if (inner.layer === part) continue;
      result = result.replace(name, inner.layer) as unknown as AnyLayer;
      put(below as Record<string, Tensor | VariableTree>, name, inner.params);
      put(beside as Record<string, Tensor | VariableTree>, name, inner.state);
    }
    return { layer: result, params: below as VariableTree, state: beside as VariableTree };
  };
  const { layer, ...variables } = walk(model as unknown as AnyLayer, [], { params, state });
  return { model: layer as unknown as Layer<In, Out>, ...variables };
}

const subtree = (tree: VariableTree, name: string): VariableTree => {
  const found = Object.hasOwn(tree, name) ? tree[name] : undefined;
  return found !== undefined && isSubtree(found) ? found : {};
};

/** A layer without variables has no entry, as after `init`. */
function put(tree: Record<string, Tensor | VariableTree>, name: string, value: VariableTree): void {
  if (Object.keys(value).length > 0) tree[name] = value;
  else delete tree[name];
}

/** Name, dtypes and frozenness of the layer whose place another takes. */
const asBefore = (layer: AnyLayer, before: AnyLayer): AnyLayer =>
  new Layer(layer.definition, before.modifiers) as unknown as AnyLayer;

function narrowDense(layer: AnyLayer, form: NarrowOptions): Replacement {
  const { units, useBias } = layer.options as { readonly units: number; readonly useBias?: boolean };
  const made = quantizedDense(units, { ...form, ...(useBias === undefined ? {} : { useBias }) });
  return { layer: made as unknown as AnyLayer, convert: narrowing(form, 0) };
}

function narrowEmbedding(layer: AnyLayer, form: NarrowOptions): Replacement {
  const { count, features } = layer.options as { readonly count: number; readonly features: number };
  return { layer: quantizedEmbedding(count, features, form) as unknown as AnyLayer, convert: narrowing(form, 1) };
}

const narrowing =
  (form: NarrowOptions, axis: number): Replacement["convert"] =>
  ({ params: { weights, ...rest } }, path) => {
    if (!isTensor(weights)) throw noWeights("quantized", path);
    const narrow = narrowWeights(weights, form, axis);
    for (const each of Object.values(narrow) as Tensor[]) each.realize();
    return { params: rest, state: { ...narrow } as VariableTree };
  };

function wideLayer(layer: AnyLayer, axis: number): Replacement {
  const {
    bits: _,
    group: __,
    symmetric: ___,
    ...rest
  } = layer.options as unknown as NarrowOptions & Record<string, never>;
  const made =
    layer.kind === "quantizedDense"
      ? dense(rest.units as number, rest.useBias === undefined ? {} : { useBias: rest.useBias })
      : embedding(rest.count as number, rest.features as number);
  return {
    layer: made as unknown as AnyLayer,
    convert: ({ params, state }, path) => {
      const narrow = state as unknown as NarrowWeights;
      if (!isTensor(narrow.weights) || !isTensor(narrow.scales)) throw noWeights("dequantized", path);
      const wide = wideWeights(narrow, layer.options as unknown as NarrowOptions, axis, narrow.scales.dtype);
      return { params: { weights: wide.realize() as Tensor, ...params }, state: {} };
    },
  };
}

const noWeights = (operation: string, path: string): ArgumentError =>
  new ArgumentError(
    `${operation}: the variables have no weights for "${path}"; give those of this model, { params, state }.`,
  );
