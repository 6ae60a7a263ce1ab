/**
 * LoRA (Hu et al. 2021): a dense layer that stays as it is, and beside it a product of two narrow matrices that is trained.
 * `mergeLora` adds the product to the weights, after which the model costs no more than before.
 */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";
import { type AnyLayer, type Definition, Layer } from "../core/layer.js";
import { isSubtree, type VariableTree } from "../core/variables.js";
import { zeros } from "../initializers/constants.js";
import { heUniform } from "../initializers/random.js";

/** Options of `lora`. */
export interface LoraOptions {
  /** The inner extent of the product: fewer numbers to train, and less freedom. */
  readonly rank: number;
  /** The product is multiplied by alpha / rank; the rank unless told. */
  readonly alpha?: number;
  /** First values of the first factor; the second begins as zeros, so that training begins from the dense layer. */
  readonly weights?: Initializer;
}

/** A dense layer that is kept, plus a trained product of rank `rank`: `lora(dense(512), { rank: 8, alpha: 16 })`. */
export function lora(inner: AnyLayer, options: LoraOptions): Layer {
  if (!(inner instanceof Layer) || (inner.kind !== "dense" && inner.kind !== "quantizedDense")) {
    const given = inner instanceof Layer ? `the layer ${inner.kind}` : shown(inner);
    throw new ArgumentError(`lora: takes a dense layer, as in lora(dense(512), { rank: 8 }), not ${given}.`);
  }
  checkOptions("lora", options, { rank: "number", alpha: "number", weights: "function" });
  checkWhole("lora", "the rank", options.rank, 1);
  return new Layer(definitionOf({ base: inner }, options));
}

const shareOf = ({ rank, alpha = rank }: LoraOptions): number => alpha / rank;

const definitionOf = (parts: Readonly<Record<string, AnyLayer>>, options: LoraOptions): Definition<Tensor, Tensor> => ({
  kind: "lora",
  options: { ...options },
  parts,
  run(scope, x) {
    const base = parts.base as unknown as Layer;
    const kept = base.frozen().call(scope.inside("base", base.kind), x);
    const [inputs, units] = [x.shape[x.rank - 1], kept.shape[kept.rank - 1]];
    const { rank, weights = heUniform } = options;
    const down = scope.parameter("down", [inputs, rank], weights, { fanIn: inputs, fanOut: rank });
    const up = scope.parameter("up", [rank, units], zeros, { fanIn: rank, fanOut: units });
    scope.countMultiplyAdds(sizeOf(x.shape) * rank + sizeOf(kept.shape) * rank);
    const change = x.matmul(down).matmul(up);
    const share = shareOf(options);
    return kept.add(share === 1 ? change : change.mul(share));
  },
  withParts: (others) => definitionOf(others, options),
});

/** A model and its parameters. */
export interface Merged<In, Out> {
  readonly model: Layer<In, Out>;
  readonly params: VariableTree;
}

/** The model with each LoRA merged into its dense layer, and the parameters for it: `mergeLora(model, params)`. */
export function mergeLora<In, Out>(model: Layer<In, Out>, params: VariableTree): Merged<In, Out> {
  if (!(model instanceof Layer)) throw new ArgumentError(`mergeLora: takes a model, not ${shown(model)}.`);
  if (model.kind === "lora") {
    const base = model.parts.base as unknown as Layer<In, Out>;
    return { model: base, params: mergedParams(params, model.options as unknown as LoraOptions) };
  }
  let merged = model;
  const own: Record<string, Tensor | VariableTree> = { ...params };
  for (const [name, part] of Object.entries(model.parts)) {
    const below = params[name];
    const result = mergeLora(part, below !== undefined && isSubtree(below) ? below : {});
    if ((result.model as unknown) !== part) merged = merged.replace(name, result.model as unknown as AnyLayer);
    if (below !== undefined) own[name] = result.params;
  }
  return { model: merged, params: own };
}

function mergedParams({ base, down, up }: VariableTree, options: LoraOptions): VariableTree {
  const weights = base !== undefined && isSubtree(base) ? base.weights : undefined;
  if (!isTensor(weights) || !isTensor(down) || !isTensor(up)) {
    throw new ArgumentError(
      "mergeLora: the parameters are not those of the model: a lora has base.weights, down and up. " +
        "Around narrow weights, which are state, call dequantized(model, variables) first.",
    );
  }
  const change = down.matmul(up).mul(shareOf(options));
  return { ...(base as VariableTree), weights: weights.add(change).cast(weights.dtype) as Tensor };
}
