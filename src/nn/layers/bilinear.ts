/** A layer of two inputs: for each unit, the product a · W · b with a matrix of its own. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape, sizeOf } from "../../core/shape.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";
import { type Layer, layer } from "../core/layer.js";
import { zeros } from "../initializers/constants.js";
import { glorotUniform } from "../initializers/random.js";

/** Options of `bilinear`. */
export interface BilinearOptions {
  /** Whether a vector is added; true. */
  readonly useBias?: boolean;
  readonly weights?: Initializer;
  readonly biases?: Initializer;
}

/** a · weights · b + biases of two inputs: `bilinear(8).apply(params, [a, b])`. Weights are [units, features of a, features of b]. */
export function bilinear(units: number, options: BilinearOptions = {}): Layer<readonly [Tensor, Tensor]> {
  checkWhole("bilinear", "the number of units", units, 1);
  checkOptions("bilinear", options, { useBias: "flag", weights: "function", biases: "function" });
  const { useBias = true, weights = glorotUniform, biases = zeros } = options;
  return layer("bilinear", { units, ...options }, (scope, inputs: readonly [Tensor, Tensor]) => {
    const [a, b] = checkPair(inputs);
    const [m, n] = [a.shape[a.rank - 1], b.shape[b.rank - 1]];
    const w = scope.parameter("weights", [units, m, n], weights, { fanIn: m * n, fanOut: units });
    const batch = a.shape.slice(0, -1);
    scope.countMultiplyAdds(sizeOf(batch) * units * (m + 1) * n);
    const turned = w.transpose([1, 0, 2]).reshape([m, units * n]);
    const products = a.matmul(turned).reshape([...batch, units, n]);
    const result = products.mul(b.expandDims(-2)).sum({ axis: -1 }) as Tensor;
    return useBias ? result.add(scope.parameter("biases", [units], biases)) : result;
  });
}

function checkPair(inputs: readonly [Tensor, Tensor]): readonly [Tensor, Tensor] {
  if (!Array.isArray(inputs) || inputs.length !== 2 || !inputs.every(isTensor)) {
    throw new ArgumentError("bilinear: takes two tensors in a list, as in apply(params, [a, b]).");
  }
  const [a, b] = inputs as unknown as readonly [Tensor, Tensor];
  if (a.rank > 0 && b.rank > 0 && sameShape(a.shape.slice(0, -1), b.shape.slice(0, -1))) return [a, b];
  throw new ShapeError(
    `bilinear: inputs of ${formatShape(a.shape)} and ${formatShape(b.shape)}; they agree in all axes but the last.`,
  );
}
