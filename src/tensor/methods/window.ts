/** Methods of `Tensor`: reductions over sliding windows, and the scattering that their gradients do. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { checkOrdered, type DType, highestOf, lowestOf } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, normalizeAxes, sameShape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { foldWindows, type Windows, windowNode } from "../../graph/windows.js";
import { backendOf, broadcastNode, checkOneDevice, reshapeNode, scalarNode } from "../build.js";
import type { FloatOf, SumOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { checkTensor } from "../tensor-checks.js";
import { type WindowSettings, windowsOver } from "../windows.js";
import { countingLike, valuesFor } from "./operands.js";
import { where } from "./where.js";

/** Options of operations on sliding windows. */
export interface WindowOptions extends WindowSettings {
  /** The axes the windows slide along, as many as sizes are given; all axes when left out. */
  readonly axis?: number | readonly number[];
}

/** Options of scattering to sliding windows. */
export interface WindowScatterOptions extends WindowOptions {
  /** The value of elements that nothing is scattered to, in the dtype of the source; 0. */
  readonly initial?: number;
}

/** The extent of the window along each axis. */
type WindowSize = number | readonly number[];

export class WindowMethods<D extends DType> {
  /** Sums over sliding windows: `x.windowSum([2, 2], { axis: [2, 3], stride: 2 })`. Padding counts as 0. */
  windowSum(this: Tensor, size: WindowSize, options: WindowOptions = {}): Tensor<SumOf<D>> {
    const { seen, places } = view("windowSum", this, size, options, () => 0);
    return seen.sum({ axis: places }) as Tensor<SumOf<D>>;
  }

  /** Means over sliding windows; padding counts as elements of value 0. */
  windowMean(this: Tensor, size: WindowSize, options: WindowOptions = {}): Tensor<FloatOf<D>> {
    const { seen, places } = view("windowMean", this, size, options, () => 0);
    return seen.mean({ axis: places }) as Tensor<FloatOf<D>>;
  }

  /** Products over sliding windows; padding counts as 1. */
  windowProduct(this: Tensor, size: WindowSize, options: WindowOptions = {}): Tensor<SumOf<D>> {
    const { seen, places } = view("windowProduct", this, size, options, () => 1);
    return seen.prod({ axis: places }) as Tensor<SumOf<D>>;
  }

  /** Largest elements of sliding windows; padding is less than all of them. */
  windowMax(this: Tensor, size: WindowSize, options: WindowOptions = {}): Tensor<D> {
    const { seen, places } = view("windowMax", this, size, options, least);
    return seen.max({ axis: places }) as Tensor<D>;
  }

  /** Smallest elements of sliding windows; padding is greater than all of them. */
  windowMin(this: Tensor, size: WindowSize, options: WindowOptions = {}): Tensor<D> {
    const { seen, places } = view("windowMin", this, size, options, greatest);
    return seen.min({ axis: places }) as Tensor<D>;
  }

  /** Adds each element of `source` to the place of the largest element of its window, the first of equal ones. */
  windowScatterMax<S extends DType>(
    this: Tensor,
    source: Tensor<S>,
    size: WindowSize,
    options: WindowScatterOptions = {},
  ): Tensor<S> {
    return scatter("windowScatterMax", this, source, size, options) as Tensor<S>;
  }

  /** The same with the smallest element. */
  windowScatterMin<S extends DType>(
    this: Tensor,
    source: Tensor<S>,
    size: WindowSize,
    options: WindowScatterOptions = {},
  ): Tensor<S> {
    return scatter("windowScatterMin", this, source, size, options) as Tensor<S>;
  }
}

// biome-ignore format: one row
const WINDOW: OptionKinds<WindowOptions> = { axis: "numbers", stride: "numbers", dilation: "numbers", padding: "any" };
const SCATTER: OptionKinds<WindowScatterOptions> = { ...WINDOW, initial: "number" };

function windowsOf(operation: string, x: Tensor, size: WindowSize, options: WindowOptions): Windows {
  if (!operation.startsWith("windowScatter")) checkOptions(operation, options, WINDOW);
  const axes = normalizeAxes(options.axis, x.rank, operation);
  if (typeof size !== "number" && !Array.isArray(size)) {
    throw new ArgumentError(`${operation}: a window is a number or a list of them, not ${shown(size)}.`);
  }
  const sizes = typeof size === "number" ? new Array<number>(axes.length).fill(size) : size;
  if (sizes.length !== axes.length) {
    throw new ArgumentError(
      `${operation}: a window of ${formatShape(sizes)} for ${axes.length} axes of ${formatShape(x.shape)}; ` +
        "name the axes it slides along with { axis }.",
    );
  }
  const extents = axes.map((axis) => x.shape[axis]);
  return windowsOver(operation, axes, extents, sizes, options);
}

type PaddingValue = (dtype: DType, operation: string) => number | bigint;
const least: PaddingValue = (dtype, operation) => {
  checkOrdered(dtype, operation);
  return lowestOf(dtype);
};
const greatest: PaddingValue = (dtype, operation) => {
  checkOrdered(dtype, operation);
  return highestOf(dtype);
};

/** The windows of a tensor, and the axes along which their places lie. */
function view(operation: string, x: Tensor, size: WindowSize, options: WindowOptions, outside: PaddingValue) {
  const windows = windowsOf(operation, x, size, options);
  const seen: Tensor = x.tensorOf(windowNode(x.node, windows, outside(x.dtype, operation)));
  return { windows, seen, places: windows.axes.map((_, i) => x.rank + i) };
}

function scatter(
  operation: "windowScatterMax" | "windowScatterMin",
  x: Tensor,
  source: Tensor,
  size: WindowSize,
  options: WindowScatterOptions,
): Tensor {
  checkOptions(operation, options, SCATTER);
  checkTensor(operation, "the source", source);
  checkOneDevice(operation, [x.node, source.node]);
  if (source.dtype === "bool") throw new DTypeError(`${operation}: adds numbers, not bool; cast the source first.`);
  const initial = valuesFor(source, options.initial ?? 0, operation);
  const isMax = operation === "windowScatterMax";
  const { windows, seen } = view(operation, x, size, options, isMax ? least : greatest);
  const counts = seen.shape.slice(0, x.rank);
  if (!sameShape(source.shape, counts)) {
    throw new ShapeError(
      `${operation}: a source of ${formatShape(source.shape)} for the windows of ${formatShape(x.shape)}, ` +
        `which are ${formatShape(counts)}.`,
    );
  }
  const places = sizeOf(windows.size);
  const flat = (t: Tensor) => t.reshape([...counts, places]);
  const elements = flat(seen);
  const inside = broadcastNode(scalarNode(true, "bool", backendOf(x.node)), x.shape);
  const isInside = flat(x.tensorOf(windowNode(inside, windows, false)));
  const best = isMax ? elements.max({ axis: -1, keepDims: true }) : elements.min({ axis: -1, keepDims: true });
  const isBest = elements.equal(best).logicalOr(elements.notEqual(elements)).logicalAnd(isInside);
  const place = countingLike(x, places);
  const chosen = where(isBest, place, places).min({ axis: -1, keepDims: true });
  const sent = where(place.equal(chosen), source.expandDims(-1), 0).cast(source.dtype);
  const values = reshapeNode(sent.node, [...counts, ...windows.size]);
  return x.tensorOf(foldWindows(values, windows, x.shape)).add(initial);
}
