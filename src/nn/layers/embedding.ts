/** A table of vectors, one for each class: its rows by position, and the products with all of them for outputs tied to it. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { isInteger } from "../../core/dtype.js";
import { ArgumentError, DTypeError } from "../../core/errors.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";
import { type Layer, layer } from "../core/layer.js";
import { toDType } from "../core/policy.js";
import type { VariableTree } from "../core/variables.js";
import { normal } from "../initializers/random.js";

/** Options of `embedding`. */
export interface EmbeddingOptions {
  /** Normal with deviation 1 / √features unless told. */
  readonly weights?: Initializer;
}

/** A trained vector for each of `count` classes, read by integers from 0 on: `embedding(50_000, 512)`. Weights are [count, features]. */
export function embedding(count: number, features: number, options: EmbeddingOptions = {}): Layer {
  checkWhole("embedding", "the number of classes", count, 1);
  checkWhole("embedding", "the number of features", features, 1);
  checkOptions("embedding", options, { weights: "function" });
  const { weights = normal({ scale: 1 / Math.sqrt(features) }) } = options;
  return layer("embedding", { count, features, ...options }, (scope, x: Tensor) => {
    if (!isInteger(x.dtype)) {
      throw new DTypeError(
        `embedding takes integers, but the input is ${x.dtype}; cast it, or init with { shape: [${["null", ...x.shape.slice(1)].join(", ")}], dtype: "i32" }.`,
      );
    }
    const table = scope.parameter("weights", [count, features], weights, { fanIn: count, fanOut: features });
    return table.take(x, { axis: 0 });
  });
}

/**
 * Products with every vector of a table, from [.., features] to [.., count], as the last layer of a model whose first layer is the
 * embedding: `attend(tokens.params, h)` in a block, after `tokens(x)`, whose first call makes the table.
 */
export function attend(params: VariableTree, x: Tensor): Tensor {
  const table = typeof params === "object" && params !== null ? params.weights : undefined;
  if (!isTensor(table) || table.rank !== 2) {
    throw new ArgumentError(
      "attend: takes the parameters of an embedding, { weights }, as in attend(tokens.params, h). In a block compute h " +
        "in a line before: a part has no parameters until init has called it.",
    );
  }
  if (!isTensor(x)) throw new ArgumentError("attend: takes a tensor of features, as in attend(tokens.params, h).");
  return x.matmul(toDType(table, x.dtype).T);
}
