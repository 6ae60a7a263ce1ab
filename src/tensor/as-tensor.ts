/** `asTensor`: a tensor of what is given, values or a tensor. */
import { checkOptions, inOperation, type Values } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType, Scalar } from "../core/dtype.js";
import { CREATION, type CreationOptions, type DTypeOf } from "./creation.js";
import { backendFor } from "./devices.js";
import { valuesNode } from "./given-values.js";
import { Tensor } from "./tensor.js";
import { isTensor } from "./tensor-checks.js";

/** The dtype of a tensor, or of values that become one. */
type DTypeOfGiven<V> = V extends Tensor<infer D> ? D : DTypeOf<V>;

/**
 * A tensor of what is given: of values as `tensor` makes it, of a tensor the same one in the dtype and on the device that
 * are asked for. For functions that take either.
 */
export function asTensor<V extends Tensor | Values<Scalar> | ArrayBufferView, D extends DType = DTypeOfGiven<V>>(
  values: V,
  options: CreationOptions<D> = {},
): Tensor<D> {
  checkCount("asTensor", 2, arguments);
  return inOperation("asTensor", () => asTensorOf("asTensor", values, options));
}

/** Another name of `asTensor`. */
export function asArray<V extends Tensor | Values<Scalar> | ArrayBufferView, D extends DType = DTypeOfGiven<V>>(
  values: V,
  options: CreationOptions<D> = {},
): Tensor<D> {
  checkCount("asArray", 2, arguments);
  return inOperation("asArray", () => asTensorOf("asArray", values, options));
}

function asTensorOf<D extends DType>(operation: string, values: unknown, options: CreationOptions<D>): Tensor<D> {
  checkOptions<CreationOptions>(operation, options, CREATION);
  if (!isTensor(values)) return new Tensor(valuesNode(backendFor(options.device, operation), values, options));
  const moved = options.device === undefined ? values : values.to(options.device);
  return moved.cast(options.dtype ?? values.dtype) as Tensor<D>;
}
