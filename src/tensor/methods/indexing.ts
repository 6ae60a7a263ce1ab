/**
 * Methods of `Tensor`: indexing with numbers, ranges, tensors and masks, and updates with the same arguments.
 *
 * The rules are NumPy's. Index tensors broadcast together, integers among them count as index tensors, and the axes of
 * their common shape stand where the first of them stood if they are neighbours, else in front. A mask stands for the
 * index tensors of its true elements; how many there are must be read back from the device, so indexing with a mask
 * waits for it. Where NumPy throws on an index that is out of range, reading takes the nearest end and writing leaves
 * the element out: nothing is read back to check.
 */
import { checkOptions, inOperation, type Values } from "../../core/arguments.js";
import { type DType, isInteger, positionDType } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { broadcastShapes, formatShape, sameShape, sizeOf } from "../../core/shape.js";
import { type IndexArgument, type IndexItem, parseIndexing } from "../../core/slice.js";
import type { Node } from "../../graph/node.js";
import * as M from "../../graph/primitives/movement.js";
import { backendOf, checkOneDevice, derive, makeNode, reshapeNode } from "../build.js";
import type { Operand, Tensor } from "../tensor.js";
import { isTensor } from "../tensor-checks.js";
import { apartFrom, broadcastValues, countingLike, scalarLike, valuesFor } from "./operands.js";
import { combined, placesIn, type ScatterOptions, scatterRows, type UpdateOp } from "./scatter.js";
import { positionTensor, remedyForNumber } from "./taking.js";
import { where } from "./where.js";

type Item = IndexItem<Tensor>;
/** Index tensors and masks, or lists that stand for them. */
type Indices = Tensor | readonly Values<number>[] | readonly Values<boolean>[];
type UpdateOptions = Pick<ScatterOptions, "deterministic">;
/** The indices, then the value, then perhaps options. */
type Update = readonly [...(IndexArgument<Indices> | Operand)[], Operand | UpdateOptions];

export class IndexingMethods<D extends DType> {
  /**
   * Elements and ranges, as NumPy's x[0, 1:5, ::-1, ...]: `x.at(0, "1:5", "::-1", "...", newAxis)`. Index tensors and masks
   * too: `x.at(rows, columns)`, `x.at(x.greater(0))`, `x.at("1:", [0, 2])`. A mask waits for the device, because the shape
   * depends on it.
   */
  at(this: Tensor, ...indices: IndexArgument<Indices>[]): Tensor<D> {
    const element = elementAt(this, indices);
    if (element) return this.tensorOf(element);
    const withTensors = withoutLists(this, indices, "at");
    if (!withTensors.some(isTensor)) return atRanges(this, withTensors as IndexArgument[]);
    return inOperation("at", () => {
      const items = withoutMasks(this.shape, parse(this, withTensors, "at"), "at");
      return select(this, items, "at").selected as Tensor<D>;
    });
  }

  /** A copy in which the elements that `at` selects have another value: `x.set(0, "1:5", value)`. The last one wins. */
  set(this: Tensor, ...indicesThenValue: Update): Tensor<D> {
    return updated(this, "set", "set", indicesThenValue);
  }

  /** A copy with a value added to the elements that `at` selects, as often as they are: `x.addAt(indices, value)`. */
  addAt(this: Tensor, ...indicesThenValue: Update): Tensor<D> {
    return updated(this, "addAt", "add", indicesThenValue);
  }

  /** A copy in which the elements that `at` selects are multiplied by a value. */
  mulAt(this: Tensor, ...indicesThenValue: Update): Tensor<D> {
    return updated(this, "mulAt", "mul", indicesThenValue);
  }

  /** A copy in which the elements that `at` selects are at most a value. */
  minAt(this: Tensor, ...indicesThenValue: Update): Tensor<D> {
    return updated(this, "minAt", "min", indicesThenValue);
  }

  /** A copy in which the elements that `at` selects are at least a value. */
  maxAt(this: Tensor, ...indicesThenValue: Update): Tensor<D> {
    return updated(this, "maxAt", "max", indicesThenValue);
  }
}

/** Shapes of one element and steps of 1, by rank. */
const ONES: readonly (readonly number[])[] = Array.from({ length: 5 }, (_, rank) => new Array<number>(rank).fill(1));

/** The node of one element, which loops read in every round; null for other indices, wrong ones among them. */
function elementAt({ node }: Tensor, indices: readonly unknown[]): Node | null {
  const { shape } = node;
  const rank = shape.length;
  if (indices.length !== rank || rank === 0 || rank >= ONES.length) return null;
  const start = new Array<number>(rank);
  for (let axis = 0; axis < rank; axis++) {
    const index = indices[axis];
    if (typeof index !== "number" || !Number.isInteger(index)) return null;
    if (index >= shape[axis] || index < -shape[axis]) return null;
    start[axis] = index < 0 ? index + shape[axis] : index;
  }
  return reshapeNode(derive(M.slice, node, { start, step: ONES[rank], shape: ONES[rank] }), ONES[0]);
}

/** Numbers and ranges only: one slice of the tensor. */
function atRanges<D extends DType>(x: Tensor, indices: readonly IndexArgument[]): Tensor<D> {
  const [start, step, shape, extents]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (const item of parseIndexing(indices, x.node.shape, "at")) {
    if (item.kind === "newAxis") extents.push(1);
    else if (item.kind === "index") {
      start.push(item.index);
      step.push(1);
      shape.push(1);
    } else if (item.kind === "slice") {
      start.push(item.start);
      step.push(item.step);
      shape.push(item.count);
      extents.push(item.count);
    }
  }
  return x.tensorOf(reshapeNode(derive(M.slice, x.node, { start, step, shape }), extents));
}

/** Lists become tensors where the indexed tensor is. */
function withoutLists(x: Tensor, args: readonly unknown[], operation: string): IndexArgument<Tensor>[] {
  return args.map((arg) => (Array.isArray(arg) ? positionTensor(operation, arg, x) : (arg as IndexArgument<Tensor>)));
}

function parse(x: Tensor, args: readonly IndexArgument<Tensor>[], operation: string): Item[] {
  for (const argument of args) {
    if (!isTensor(argument)) continue;
    checkOneDevice(operation, [x.node, argument.node]);
    if (argument.dtype !== "bool" && !isInteger(argument.dtype)) {
      throw new DTypeError(
        `${operation}: an index tensor holds integers or booleans, not ${argument.dtype}.${remedyForNumber(argument)}`,
      );
    }
    if (argument.dtype === "bool" && argument.rank === 0) {
      throw new ArgumentError(`${operation}: a mask has at least one axis; use where() for a single condition.`);
    }
  }
  return parseIndexing<Tensor>(args, x.shape, operation, {
    isItem: isTensor,
    axesOf: (item) => (item.dtype === "bool" ? item.rank : 1),
  });
}

function checkMask(shape: readonly number[], { axis, axes, item }: Item & { kind: "tensor" }, operation: string): void {
  const covered = shape.slice(axis, axis + axes);
  if (sameShape(covered, item.shape)) return;
  throw new ShapeError(
    `${operation}: a mask of ${formatShape(item.shape)} for axes of ${formatShape(covered)} of ${formatShape(shape)}.`,
  );
}

/** Masks replaced by the positions of their true elements. */
function withoutMasks(shape: readonly number[], items: readonly Item[], operation: string): Item[] {
  return items.flatMap((item): Item[] => {
    if (item.kind !== "tensor" || item.item.dtype !== "bool") return [item];
    checkMask(shape, item, operation);
    return item.item
      .nonzero()
      .map((positions, i) => ({ kind: "tensor", axis: item.axis + i, axes: 1, item: positions }));
  });
}

/** An indexed axis: the place on it, -1 outside, and the item it came from unless that is a number. */
interface Indexed {
  readonly axis: number;
  readonly place: Tensor;
  readonly item?: Item & { kind: "tensor" };
}

interface Selection {
  readonly selected: Tensor;
  /** Whether every index is inside its axis; broadcasts with the selection. */
  isInside(): Tensor;
}

/** The selection of items with index tensors among them, and without masks. */
function select(x: Tensor, items: readonly Item[], operation: string): Selection {
  const parts = items.flatMap((item) => {
    if (item.kind === "newAxis") return [];
    return item.kind === "slice" ? [item] : [{ start: 0, step: 1, count: x.shape[item.axis] }];
  });
  const sliced: Tensor = x.tensorOf(
    derive(M.slice, x.node, {
      start: parts.map(({ start }) => start),
      step: parts.map(({ step }) => step),
      shape: parts.map(({ count }) => count),
    }),
  );
  let part = 0;
  const data = sliced.reshape(items.map(({ kind }) => (kind === "newAxis" ? 1 : parts[part++].count)));

  const indexed = items.flatMap((item, axis): Indexed[] => {
    if (item.kind === "index") return [{ axis, place: scalarLike(x, item.index, positionDType(x.shape[item.axis])) }];
    return item.kind === "tensor" ? [{ axis, place: placesIn(item.item, x.shape[item.axis], operation), item }] : [];
  });
  const common = broadcastShapes(`${operation}, index tensors`, ...indexed.map(({ place }) => place.shape));
  const axes = indexed.map(({ axis }) => axis);
  const areNeighbours = axes.every((axis, i) => axis === axes[0] + i);
  const at = areNeighbours ? axes[0] : 0;
  const places = indexed.map(({ place, item }) =>
    (item ? nearest(item.item, place, x.shape[item.axis]) : place).broadcastTo(common),
  );
  const inputs = [data.node, ...places.map(({ node }) => node)];
  const selected: Tensor = x.tensorOf(makeNode(M.gather, inputs, { axes, at }, backendOf(x.node)));
  const around = [...new Array(at).fill(1), ...common, ...new Array(data.rank - axes.length - at).fill(1)];
  const insides = () => indexed.map(({ place }) => place.greaterEqual(0).broadcastTo(common));
  return {
    selected,
    isInside: () =>
      insides()
        .reduce((all, one) => all.logicalAnd(one))
        .reshape(around),
  };
}

/** The places of positions, with the nearest end for those outside, which are -1. */
function nearest(positions: Tensor, place: Tensor, n: number): Tensor {
  const isLow = positions.dtype.startsWith("u") ? scalarLike(positions, false, "bool") : positions.less(0);
  return where(place.less(0), where(isLow, scalarLike(place, 0), scalarLike(place, n - 1)), place);
}

// -------------------------------------------------------------------------------------------------- updates

function isWhole(item: Item, shape: readonly number[]): boolean {
  return item.kind === "slice" && item.start === 0 && item.step === 1 && item.count === shape[item.axis];
}

function update(x: Tensor, args: Update, op: UpdateOp, operation: string): Tensor {
  const last = args[args.length - 1];
  const isPlain = typeof last === "object" && last !== null && !isTensor(last) && !Array.isArray(last);
  const hasOptions = isPlain && !("re" in last);
  const options = hasOptions ? (last as UpdateOptions) : {};
  checkOptions(operation, options, { deterministic: "flag" });
  const given = withoutLists(x, args.slice(0, hasOptions ? -2 : -1), operation);
  if (args.length < (hasOptions ? 2 : 1)) throw new ArgumentError(`${operation}: takes indices and a value.`);
  const values = valuesFor(x, args[args.length - (hasOptions ? 2 : 1)] as Operand, operation);
  const items = parse(x, given, operation);
  const tensors = items.filter((item) => item.kind === "tensor");
  if (tensors.length === 0) return updateRange(x, items, values, op, operation);
  const [only] = tensors;
  const isOnlyMask =
    tensors.length === 1 && only.item.dtype === "bool" && items.every((i) => i === only || isWhole(i, x.shape));
  // Values that are the same for every selected element need no positions, and nothing is read back.
  if (isOnlyMask && only.axis === 0 && values.rank <= x.rank - only.axes) {
    checkMask(x.shape, only, operation);
    const rest = x.shape.slice(only.axes);
    const spread = broadcastValues(values, rest, operation);
    const mask = only.item.reshape([...only.item.shape, ...rest.map(() => 1)]);
    return where(mask, combined(op, x, spread), x);
  }
  return updateAt(x, withoutMasks(x.shape, items, operation), values, { ...options, op }, operation);
}

/** Slices and integers: the value is laid out like the tensor by padding, and everything fuses. */
function updateRange(x: Tensor, items: readonly Item[], values: Tensor, op: UpdateOp, operation: string): Tensor {
  const ranges = items.flatMap((item) => {
    if (item.kind === "slice") return [{ ...item }];
    return item.kind === "index" ? [{ axis: item.axis, start: item.index, step: 1, count: 1 }] : [];
  });
  const shape = items.flatMap((item) => (item.kind === "slice" ? [item.count] : item.kind === "newAxis" ? [1] : []));
  const spread = broadcastValues(values, shape, operation).reshape(ranges.map(({ count }) => count));
  if (spread.size === 0) return x;
  const backwards = ranges.flatMap(({ step }, axis) => (step < 0 ? [axis] : []));
  const forwards = backwards.length > 0 ? spread.flip(backwards) : spread;
  const low = ranges.map(({ start, step, count }) => (step < 0 ? start + step * (count - 1) : start));
  const interior = ranges.map(({ step }) => Math.abs(step) - 1);
  const high = ranges.map(({ step, count }, i) => x.shape[i] - low[i] - (count - 1) * Math.abs(step) - 1);
  const laidOut = (part: Tensor, value: number | boolean): Tensor =>
    part.tensorOf(derive(M.pad, part.node, { low, high, interior, value }));
  const isSelected = laidOut(scalarLike(x, true, "bool").broadcastTo(forwards.shape), false);
  const value = laidOut(forwards, x.dtype === "bool" ? false : 0);
  return where(isSelected, combined(op, x, value), x);
}

/** Index tensors: the places are found by indexing a tensor of places, then rows of what lies behind them are scattered. */
function updateAt(
  x: Tensor,
  items: readonly Item[],
  values: Tensor,
  options: ScatterOptions,
  operation: string,
): Tensor {
  let leading = items.length;
  while (isWhole(items[leading - 1], x.shape)) leading--;
  const front = items.slice(0, leading);
  const depth = x.rank - (items.length - leading);
  const lead = x.shape.slice(0, depth);
  const rest = x.shape.slice(depth);
  if (x.size === 0) return x;
  const numbers = countingLike(x, sizeOf(lead)).reshape(lead);
  const { selected, isInside } = select(numbers, front, operation);
  const spread = broadcastValues(values, [...selected.shape, ...rest], operation);
  const places = where(isInside(), selected, -1);
  const rows = x.reshape([sizeOf(lead), sizeOf(rest)]);
  const updates = spread.reshape([selected.size, sizeOf(rest)]);
  return scatterRows(operation, rows, places.reshape([selected.size]), updates, options).reshape(x.shape);
}

function updated<D extends DType>(x: Tensor, operation: string, op: UpdateOp, args: Update): Tensor<D> {
  const result = inOperation(operation, () => update(x, args, op, operation));
  return apartFrom(x, result) as Tensor<D>;
}
