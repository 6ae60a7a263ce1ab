/**
 * PyTorch's names and layouts in terms of ours, for `loadParameters`: the user says which module is which layer, and the layer's kind
 * says what its tensors are called there, and whether they lie the other way round.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isPlainObject } from "../../io/trees/json.js";
import type { Tensor } from "../../tensor/index.js";
import { type AnyLayer, Layer } from "../core/layer.js";
import type { Destination } from "./load-parameters.js";

/** A parameter's name, or one of the state; a function where the layouts differ; null for what we have no place for. */
interface Counterpart {
  readonly name: string;
  readonly isState?: boolean;
  readonly convert?: (x: Tensor) => Tensor;
}

type Counterparts = Readonly<Record<string, Counterpart | null>>;

const biases = { bias: { name: "biases" } };
const weights = { weight: { name: "weights" }, ...biases };
const scaled = { weight: { name: "scale" }, ...biases };

/** PyTorch's names by the kind of our layer. */
const COUNTERPARTS: Readonly<Record<string, Counterparts>> = {
  // Linear multiplies by the transposed matrix: [units, inputs].
  dense: { weight: { name: "weights", convert: (x) => x.T }, ...biases },
  bilinear: weights,
  embedding: weights,
  conv: weights,
  convTranspose: weights,
  depthwiseConv: weights,
  bias: biases,
  layerNorm: scaled,
  groupNorm: scaled,
  rmsNorm: scaled,
  instanceNorm: scaled,
  batchNorm: {
    ...scaled,
    running_mean: { name: "mean", isState: true },
    running_var: { name: "variance", isState: true },
    num_batches_tracked: null,
  },
  // One matrix for queries, keys and values, as with { fused: true }.
  multiHeadAttention: {
    in_proj_weight: { name: "projection.weights", convert: (x) => x.T },
    in_proj_bias: { name: "projection.biases" },
    "out_proj.weight": { name: "output.weights", convert: (x) => x.T },
    "out_proj.bias": { name: "output.biases" },
  },
  prelu: { weight: { name: "slopes", convert: (x) => (x.size === 1 ? x.reshape([]) : x) } },
};

/**
 * The map from PyTorch's names to those of a model, for `loadParameters`: `torchNames(model, { fc1: "dense0", "features.3": "body.conv1" })`.
 * Left stand PyTorch's modules, right the layers by path. Running statistics go to the state: load into `{ params, state }`.
 */
export function torchNames(
  model: AnyLayer,
  modules: Readonly<Record<string, string>>,
): (name: string) => Destination | undefined {
  if (!(model instanceof Layer)) throw new ArgumentError(`torchNames: takes a model, not ${shown(model)}.`);
  if (!isPlainObject(modules)) {
    throw new ArgumentError(`torchNames: takes layers by module, as in { fc1: "dense0" }, not ${shown(modules)}.`);
  }
  const table = new Map<string, Destination>();
  for (const [module, path] of Object.entries(modules)) {
    const layer = path === "" ? model : model.at(path);
    if (!Object.hasOwn(COUNTERPARTS, layer.kind)) {
      const known = Object.keys(COUNTERPARTS).join(", ");
      throw new ArgumentError(
        `torchNames: "${path}" is ${layer.kind}, whose layout in PyTorch is not known here (${known} are); map its tensors one by one.`,
      );
    }
    for (const [tensor, counterpart] of Object.entries(COUNTERPARTS[layer.kind] as Counterparts)) {
      table.set(joined(module, tensor), counterpart && destinationOf(path, counterpart));
    }
  }
  return (name) => table.get(name);
}

const joined = (...names: readonly string[]): string => names.filter((name) => name !== "").join(".");

function destinationOf(path: string, { name, isState = false, convert }: Counterpart): Destination {
  const target = joined(isState ? "state" : "", path, name);
  return convert ? [target, convert] : target;
}
