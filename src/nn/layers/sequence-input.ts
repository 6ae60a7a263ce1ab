/**
 * Inputs of recurrent layers: a tensor [batch, time, …], or an object that also has a mask, lengths or a first state. They are brought
 * to the order in which loops go, time first.
 */
import { isInteger } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { arange, isTensor, type Tensor } from "../../tensor/index.js";
import type { RecurrentState } from "./recurrent-cells.js";

/** A sequence with what else a recurrent layer may be told about it. */
export interface Sequence<S = RecurrentState> {
  readonly x: Tensor;
  /** Bools [batch, time], true at steps that count; others keep the state. [time, batch] where the input is time-major. */
  readonly mask?: Tensor;
  /** The number of steps that count, for each example: integers [batch]. */
  readonly lengths?: Tensor;
  /** The state before the first step; zeros unless told. */
  readonly initialState?: S;
}

/** An input of a recurrent layer: [batch, time, features], alone or with a mask and a first state. */
export type RecurrentInput<S = RecurrentState> = Tensor | Sequence<S>;

/** An input in the order of the loop. */
interface Steps<S> {
  /** [time, batch, …] */
  readonly x: Tensor;
  /** [time, batch] */
  readonly mask: Tensor | null;
  readonly initialState: S | undefined;
}

const FIELDS = ["x", "mask", "lengths", "initialState"];

/** The input as a loop takes it. `axes` names those after batch and time. */
export function stepsOf<S>(kind: string, input: RecurrentInput<S>, timeMajor: boolean, axes: string): Steps<S> {
  const { x, mask, lengths, initialState } = sequenceOf(kind, input);
  const least = axes.startsWith("features") ? 3 : 4;
  if (x.rank < least || (least === 3 && x.rank > 3)) {
    const order = timeMajor ? "[time, batch" : "[batch, time";
    throw new ShapeError(`${kind} takes ${order}, ${axes}], but the input is ${formatShape(x.shape)}.`);
  }
  const timeFirst = timeMajor ? x : x.moveAxis(1, 0);
  const [time, batch] = timeFirst.shape as [number, number];
  if (mask !== undefined && lengths !== undefined) {
    throw new ArgumentError(`${kind}: the input has a mask and lengths; give one of them.`);
  }
  if (mask !== undefined) {
    checkMask(kind, mask, timeMajor ? [time, batch] : [batch, time], timeMajor);
    return { x: timeFirst, mask: timeMajor ? mask : mask.T, initialState };
  }
  if (lengths === undefined) return { x: timeFirst, mask: null, initialState };
  checkLengths(kind, lengths, batch);
  const places = arange(time, { dtype: "i32", device: x.device }).expandDims(1);
  return { x: timeFirst, mask: places.less(lengths.cast("i32")) as Tensor, initialState };
}

/** The input as an object. */
export function sequenceOf<S>(kind: string, input: RecurrentInput<S>): Sequence<S> {
  if (isTensor(input)) return { x: input };
  const example = "a tensor [batch, time, …], or { x, mask, lengths, initialState }";
  if (typeof input !== "object" || input === null) {
    throw new ArgumentError(`${kind}: takes ${example}, not ${shown(input)}.`);
  }
  const other = Object.keys(input).find((name) => !FIELDS.includes(name));
  if (other !== undefined) throw new ArgumentError(`${kind}: the input has "${other}"; it takes ${example}.`);
  if (!isTensor(input.x)) throw new ArgumentError(`${kind}: the input's x is ${shown(input.x)}; it takes ${example}.`);
  return input as Sequence<S>;
}

function checkMask(kind: string, mask: unknown, shape: readonly number[], timeMajor: boolean): void {
  const names = timeMajor ? "[time, batch]" : "[batch, time]";
  if (!isTensor(mask) || mask.dtype !== "bool") {
    const given = isTensor(mask) ? mask.dtype : shown(mask);
    throw new DTypeError(`${kind}: the mask takes bools ${names}, true at steps that count, not ${given}.`);
  }
  if (sameShape(mask.shape, shape)) return;
  throw new ShapeError(
    `${kind}: a mask of ${formatShape(mask.shape)} for an input with ${names} = ${formatShape(shape)}.`,
  );
}

function checkLengths(kind: string, lengths: unknown, batch: number): void {
  if (!isTensor(lengths) || !isInteger(lengths.dtype)) {
    const given = isTensor(lengths) ? lengths.dtype : shown(lengths);
    throw new DTypeError(`${kind}: lengths are integers, one for each example, not ${given}.`);
  }
  if (sameShape(lengths.shape, [batch])) return;
  throw new ShapeError(`${kind}: lengths of ${formatShape(lengths.shape)} for a batch of ${batch}.`);
}
