/** Places and values as people give them, as floats of one dtype on one device. Values have one axis of places, then any others. */
import { inOperation, type Values } from "../../core/arguments.js";
import { isFloat, realDType } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { asTensor, checkOneDevice, isTensor, type Tensor } from "../../tensor/index.js";

/** Numbers in a tensor, or in lists to any depth. */
export type Numbers = Tensor | Values<number>;

/** Points of a function: places, [n], and values, [n, …]. */
interface Points {
  readonly x: Tensor;
  readonly y: Tensor;
}

/** Numbers as floats: lists go where the `beside` is, to its dtype. */
export function floatsOf(operation: string, what: string, given: Numbers, beside?: Tensor): Tensor {
  if (!isTensor(given) && !Array.isArray(given) && typeof given !== "number") {
    throw new ArgumentError(`${operation}: ${what} are ${shown(given)}; they are a tensor, or numbers in a list.`);
  }
  if (isTensor(given)) {
    if (realDType(given.dtype) !== given.dtype) {
      throw new DTypeError(`${operation}: ${what} are ${given.dtype}; take .real and .imag one after the other.`);
    }
    if (beside) checkOneDevice(operation, [beside.node, given.node]);
    return given.cast(given.dtype === "f64" || beside?.dtype === "f64" ? "f64" : "f32") as Tensor;
  }
  const options = beside ? { device: beside.device, dtype: beside.dtype } : ({ dtype: "f32" } as const);
  return inOperation(operation, () => asTensor(given as Values<number>, options)) as Tensor;
}

/** Several arguments, of one dtype and device; lists follow the tensors. */
export function floatsTogether(operation: string, given: Readonly<Record<string, Numbers>>): Tensor[] {
  const tensors = Object.values(given).filter(isTensor);
  const like = (tensors.find(({ dtype }) => dtype === "f64") ?? tensors[0]) as Tensor | undefined;
  const beside = like && (isFloat(like.dtype) ? like : (like.cast("f32") as Tensor));
  const floats = Object.entries(given).map(([what, each]) => floatsOf(operation, what, each, beside));
  return floats;
}

/** Points, at least so many. Places in a list are seen to rise; those in a tensor are not read. */
export function pointsOf(operation: string, places: Numbers, values: Numbers, least: number): Points {
  const [x, y] = floatsTogether(operation, { "the places": places, "the values": values });
  if (x.rank !== 1 || y.rank < 1 || x.size !== y.shape[0]) {
    throw new ShapeError(
      `${operation}: places of shape ${formatShape(x.shape)} and values of shape ${formatShape(y.shape)}; places have one axis, and the ` +
        "first axis of the values is as long.",
    );
  }
  if (x.size < least) throw new ShapeError(`${operation}: ${x.size} points; it takes ${least} or more.`);
  checkRising(operation, "the places", places, x);
  return { x, y };
}

/** Places in a list rise, and still do in the dtype of the tensor that they became. */
export function checkRising(operation: string, what: string, places: Numbers, { dtype }: Tensor): void {
  if (!Array.isArray(places)) return;
  const rises = (rounded: (place: number) => number): number =>
    places.findIndex((place, i) => i > 0 && !(rounded(place) > rounded(places[i - 1])));
  const at = rises((place) => place);
  if (at < 0) {
    const same = dtype === "f64" ? -1 : rises(Math.fround);
    if (same < 0) return;
    throw new ArgumentError(
      `${operation}: ${what} ${shown(places[same - 1])} and ${shown(places[same])} are one number in f32; take the first from all, or ` +
        'give a tensor with { dtype: "f64" }.',
    );
  }
  throw new ArgumentError(
    `${operation}: ${what} rise, and ${shown(places[at])} at position ${at} is not above ${shown(places[at - 1])}.`,
  );
}

/** A tensor of one axis beside others that have more behind it: [n, 1, 1, …]. */
export const beside = (x: Tensor, { rank }: Tensor): Tensor =>
  x.reshape([x.size, ...new Array<number>(rank - 1).fill(1)]) as Tensor;

/** Widths of the pieces and their mean slopes, [n - 1, …]. */
export function rises(x: Tensor, y: Tensor) {
  const width = beside(x.at("1:").sub(x.at(":-1")) as Tensor, y);
  return { width, rise: y.at("1:").sub(y.at(":-1")).div(width) as Tensor };
}
