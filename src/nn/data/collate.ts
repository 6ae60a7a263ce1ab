/**
 * Examples as one batch: trees of numbers, lists, typed arrays and tensors, one for each example, become a tree of tensors with an axis
 * more in front. loader.ts calls this for sources that give one example at a time.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, stack, type Tensor, tensor } from "../../tensor/index.js";

/** The examples of a batch as tensors. */
export function collated(examples: readonly unknown[], device: string | undefined, at = "an example"): unknown {
  const [first] = examples;
  if (isTensor(first)) return stack(examples.map((each) => tensorLike(each, first, at)));
  if (ArrayBuffer.isView(first)) return ofViews(examples, first, device, at);
  if (isValue(first)) return ofValues(examples, device, at);
  if (Array.isArray(first)) {
    return first.map((_, i) =>
      collated(
        examples.map((each) => memberOf(each, i, at)),
        device,
        `${at}[${i}]`,
      ),
    );
  }
  if (typeof first === "object" && first !== null) {
    const members = Object.keys(first).map((name) => {
      const values = examples.map((each) => memberOf(each, name, at));
      return [name, collated(values, device, `${at}.${name}`)] as const;
    });
    return Object.fromEntries(members);
  }
  throw new ArgumentError(
    `loader: ${at} is ${shown(first)}; examples are numbers, lists, typed arrays, tensors and objects of these.`,
  );
}

/** Numbers, booleans and bigints, also in lists in lists. */
const isValue = (value: unknown): boolean =>
  typeof value === "number" ||
  typeof value === "boolean" ||
  typeof value === "bigint" ||
  (Array.isArray(value) && value.length > 0 && isValue(value[0]));

function memberOf(example: unknown, key: string | number, at: string): unknown {
  if (typeof example === "object" && example !== null && Object.hasOwn(example, key)) {
    return (example as Record<string | number, unknown>)[key];
  }
  throw new ArgumentError(`loader: ${at} has no ${key}, which the first of its batch has; examples are of one form.`);
}

function tensorLike(value: unknown, first: Tensor, at: string): Tensor {
  if (isTensor(value) && value.dtype === first.dtype && sameShape(value.shape, first.shape)) return value;
  const found = isTensor(value) ? `${value.dtype} ${formatShape(value.shape)}` : shown(value);
  throw new ShapeError(
    `loader: ${at} is ${found}, and in the first of its batch ${first.dtype} ${formatShape(first.shape)}.`,
  );
}

function ofValues(examples: readonly unknown[], device: string | undefined, at: string): Tensor {
  try {
    return tensor(examples as never, { device }) as Tensor;
  } catch (error) {
    throw new ShapeError(`loader: ${at} differs in its form within a batch: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

type TypedArray = Float64Array;

function ofViews(examples: readonly unknown[], first: ArrayBufferView, device: string | undefined, at: string): Tensor {
  const { length } = first as TypedArray;
  const joined = new (first.constructor as new (length: number) => TypedArray)(length * examples.length);
  for (const [i, each] of examples.entries()) {
    const isLike =
      ArrayBuffer.isView(each) && each.constructor === first.constructor && (each as TypedArray).length === length;
    if (!isLike)
      throw new ShapeError(`loader: ${at} is ${shown(each)}, and in the first of its batch ${shown(first)}.`);
    joined.set(each as TypedArray, i * length);
  }
  return tensor(joined, { shape: [examples.length, length], device }) as Tensor;
}
