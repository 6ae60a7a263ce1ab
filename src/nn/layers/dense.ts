/** Layers that multiply by a matrix: dense, and bias alone. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import type { Tensor } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";
import { type Layer, layer } from "../core/layer.js";
import { zeros } from "../initializers/constants.js";
import { glorotUniform } from "../initializers/random.js";

/** Options of `dense`. */
export interface DenseOptions {
  /** Whether a vector is added; true. */
  readonly useBias?: boolean;
  readonly weights?: Initializer;
  readonly biases?: Initializer;
}

/** x · weights + biases along the last axis: `dense(128)`. Weights are [inputs, units]. */
export function dense(units: number, options: DenseOptions = {}): Layer {
  checkWhole("dense", "the number of units", units, 1);
  checkOptions("dense", options, { useBias: "flag", weights: "function", biases: "function" });
  const { useBias = true, weights = glorotUniform, biases = zeros } = options;
  return layer("dense", { units, ...options }, (scope, x: Tensor) => {
    if (x.rank === 0) throw new ShapeError("dense takes tensors with at least one axis, but the input is a scalar.");
    const inputs = x.shape[x.rank - 1] as number;
    const matrix = scope.parameter("weights", [inputs, units], weights, { fanIn: inputs, fanOut: units });
    scope.countMultiplyAdds(sizeOf(x.shape) * units);
    const product = x.matmul(matrix);
    return useBias ? product.add(scope.parameter("biases", [units], biases)) : product;
  });
}

/** A vector that is added along the last axis. */
export function bias(options: { readonly biases?: Initializer } = {}): Layer {
  checkOptions("bias", options, { biases: "function" });
  const { biases = zeros } = options;
  return layer("bias", { ...options }, (scope, x: Tensor) =>
    x.add(scope.parameter("biases", [x.shape[x.rank - 1] as number], biases)),
  );
}
