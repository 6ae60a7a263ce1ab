/**
 * Inputs with channels and spatial axes: the order of their axes, [batch, channels, …spatial] or [batch, …spatial, channels],
 * and options that have a number for each spatial axis. Convolutions, pools, norms and dropouts of whole channels ask here.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { Padding, Tensor } from "../../tensor/index.js";

/** The place of the axis of channels: right after the batch ("first", unless told), or at the end ("last"). */
export type Channels = "first" | "last";

/** One number for all spatial axes, or one for each. */
export type PerAxis = number | readonly number[];

export const checkChannels = (operation: string, channels: Channels | undefined): void =>
  checkChoice(operation, "the option channels", channels, ["first", "last"]);

/** The axes of an input. */
interface ChannelAxes {
  readonly channel: number;
  readonly count: number;
  readonly spatial: readonly number[];
}

/** The axes of an input with at least this many spatial ones. */
export function channelAxes(operation: string, x: Tensor, channels: Channels = "first", least = 0): ChannelAxes {
  if (x.rank < 2 + least) {
    const example = channels === "first" ? "[batch, channels, …]" : "[batch, …, channels]";
    throw new ShapeError(
      `${operation} takes ${example} with ${least} spatial axes or more, but the input is ${formatShape(x.shape)}.`,
    );
  }
  const channel = channels === "first" ? 1 : x.rank - 1;
  const from = channels === "first" ? 2 : 1;
  return { channel, count: x.shape[channel], spatial: Array.from({ length: x.rank - 2 }, (_, i) => from + i) };
}

/** A vector over the channels, shaped to broadcast with the input. */
export const alongChannel = (vector: Tensor, x: Tensor, channel: number): Tensor =>
  channel === x.rank - 1 ? vector : vector.reshape(x.shape.map((_, axis) => (axis === channel ? -1 : 1)));

/** "NCHW" or "NHWC", with as many spatial axes as the input has, for the core's convolution. */
export function layoutOf(x: Tensor, channels: Channels = "first"): string {
  const spatial = "DHW".slice(-(x.rank - 2));
  return channels === "first" ? `NC${spatial}` : `N${spatial}C`;
}

/** Checks whole numbers from `least` on: one, or a list. */
export function checkPerAxis(operation: string, what: string, value: PerAxis, least = 1): void {
  const list = typeof value === "number" ? [value] : value;
  if (Array.isArray(list) && list.length > 0 && list.every((each) => Number.isSafeInteger(each) && each >= least)) {
    return;
  }
  throw new ArgumentError(
    `${operation}: ${what} is a whole number from ${least} on, or a list of them, one for each spatial axis; ` +
      `not ${shown(value)}.`,
  );
}

/** One number for each spatial axis. */
export function perAxis(operation: string, what: string, value: PerAxis, count: number): readonly number[] {
  if (typeof value === "number") return new Array<number>(count).fill(value);
  if (value.length === count) return value;
  throw new ShapeError(
    `${operation}: ${what} ${formatShape(value)} for an input with ${count} spatial ${count === 1 ? "axis" : "axes"}; ` +
      "give one number, or one for each.",
  );
}

/** Extents of windows along spatial axes, and how they are placed. */
interface Windows {
  readonly sizes: readonly number[];
  readonly dilation: PerAxis;
  readonly padding: Padding;
}

/** The padding at both ends of an axis; null for "same", which always fits. */
function paddingAt(padding: Padding, axis: number): readonly [number, number] | null {
  if (padding === "same") return null;
  if (padding === "valid") return [0, 0];
  const each = typeof padding === "number" ? padding : (padding[axis] ?? 0);
  return typeof each === "number" ? [each, each] : each;
}

/** The places from a window's first element to its last. */
const reachOf = (size: number, dilation: PerAxis, axis: number): number =>
  (size - 1) * (typeof dilation === "number" ? dilation : (dilation[axis] ?? 1)) + 1;

/** Throws where a window is larger than the padded input: there is no result then. */
export function checkWindowsFit(
  operation: string,
  what: string,
  x: Tensor,
  spatial: readonly number[],
  { sizes, dilation, padding }: Windows,
): void {
  spatial.forEach((axis, i) => {
    const around = paddingAt(padding, i);
    const extent = x.shape[axis];
    const reach = reachOf(sizes[i], dilation, i);
    if (around === null ? extent > 0 : reach <= extent + around[0] + around[1]) return;
    const dilated = reach === sizes[i] ? "" : `, which reaches over ${reach} places with dilation ${shown(dilation)},`;
    throw new ShapeError(
      `${operation}: ${what} of ${formatShape(sizes)}${dilated} does not fit the input ${formatShape(x.shape)} with padding ` +
        `${shown(padding)}: axis ${axis} has ${extent} places. Give larger inputs, a smaller ${what.split(" ").at(-1)}, or padding "same".`,
    );
  });
}

/** Throws on padding as large as the window of a pool: such a window would hold nothing of the input. */
export function checkPoolPadding(operation: string, size: PerAxis, dilation: PerAxis, padding: Padding): void {
  const lists = [size, dilation, padding].map((each) => (Array.isArray(each) ? each.length : 1));
  for (let i = 0; i < Math.max(...lists); i++) {
    const own = typeof size === "number" ? size : size[i];
    const around = paddingAt(padding, i);
    if (own === undefined || around === null || Math.max(...around) < reachOf(own, dilation, i)) continue;
    throw new ArgumentError(
      `${operation}: padding of ${shown(padding)} around windows of ${shown(size)}; ` +
        "it is less than the window, which would hold padding alone otherwise.",
    );
  }
}

const isAmount = (value: unknown): boolean => Number.isSafeInteger(value);
const isAmounts = (value: unknown): boolean =>
  isAmount(value) || (Array.isArray(value) && value.length === 2 && value.every(isAmount));

/** Throws on what is no padding, when the layer is made. Whether a list fits the input is known later. */
export function checkPadding(operation: string, padding: Padding | undefined): void {
  if (padding === undefined || padding === "valid" || padding === "same" || isAmount(padding)) return;
  if (Array.isArray(padding) && padding.every(isAmounts)) return;
  throw new ArgumentError(
    `${operation}: the option padding is "valid", "same", a whole number, or for each spatial axis a whole number or ` +
      `[before, after]; not ${shown(padding)}.`,
  );
}
