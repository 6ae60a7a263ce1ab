/** Windows as users ask for them, in convolutions and window reductions: sizes, strides and paddings checked. */
import { ArgumentError, ShapeError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { shown } from "../core/shown.js";
import type { Windows } from "../graph/windows.js";

/**
 * The padding around the input: none ("valid"), enough that a stride of 1 keeps the extent ("same": half before, the
 * larger half after), a number for both ends of every axis, or for each axis a number for both ends or [before, after].
 * Negative amounts cut off.
 */
export type Padding = "valid" | "same" | number | readonly (number | readonly [number, number])[];

export interface WindowSettings {
  readonly stride?: number | readonly number[];
  readonly padding?: Padding;
  readonly dilation?: number | readonly number[];
}

/** Checks the settings of an operation. `extents` are those of the axes. */
export function windowsOver(
  operation: string,
  axes: readonly number[],
  extents: readonly number[],
  size: readonly number[],
  settings: WindowSettings,
): Windows {
  const perAxis = (what: string, value: number | readonly number[]) =>
    positivePerAxis(operation, what, value, axes.length);
  const sizes = perAxis("size", size);
  const stride = perAxis("stride", settings.stride ?? 1);
  const dilation = perAxis("dilation", settings.dilation ?? 1);
  const padding = settings.padding ?? "valid";
  return {
    axes,
    size: sizes,
    stride,
    dilation,
    padding: paddingPairs(operation, padding, extents, sizes, stride, dilation),
  };
}

/** A whole number from 1 on for each axis; one number stands for all. */
export function positivePerAxis(
  operation: string,
  what: string,
  value: number | readonly number[],
  count: number,
): readonly number[] {
  const list = typeof value === "number" ? new Array<number>(count).fill(value) : value;
  if (list.length !== count) {
    throw new ArgumentError(`${operation}: ${what} ${formatShape(list)} for ${count} axes; give one number for each.`);
  }
  const wrong = list.find((number) => !Number.isSafeInteger(number) || number < 1);
  if (wrong !== undefined)
    throw new ArgumentError(`${operation}: a ${what} of ${shown(wrong)}; it is a whole number from 1 on.`);
  return list;
}

function paddingPairs(
  operation: string,
  padding: Padding,
  extents: readonly number[],
  size: readonly number[],
  stride: readonly number[],
  dilation: readonly number[],
): readonly (readonly [number, number])[] {
  if (padding === "valid") return extents.map(() => [0, 0]);
  if (padding === "same") {
    return extents.map((extent, i) => {
      const reach = (size[i] - 1) * dilation[i] + 1;
      const total = Math.max(0, (Math.ceil(extent / stride[i]) - 1) * stride[i] + reach - extent);
      return [Math.floor(total / 2), Math.ceil(total / 2)];
    });
  }
  const list: unknown = typeof padding === "number" ? extents.map(() => padding) : padding;
  const pairs = Array.isArray(list) ? list.map((each) => (typeof each === "number" ? [each, each] : each)) : [];
  const isPair = (pair: unknown) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isSafeInteger);
  if (pairs.length !== extents.length || !pairs.every(isPair)) {
    throw new ArgumentError(
      `${operation}: padding ${shown(padding)}; give "valid", "same", a number, or for each of ${extents.length} axes a ` +
        "number or [before, after]; numbers are whole.",
    );
  }
  const axis = pairs.findIndex(([before, after], i) => extents[i] + before + after < 0);
  if (axis >= 0) {
    throw new ShapeError(
      `${operation}: padding ${shown(padding)} leaves less than nothing of ${extents[axis]} elements.`,
    );
  }
  return pairs;
}
