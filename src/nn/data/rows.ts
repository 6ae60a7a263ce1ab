/**
 * Data with a number of rows, any of which can be read: trees of tensors, lists of examples, functions of an index, parts of these.
 * Files are in row-files.ts. Anything else with `count` and `read` will do, such as a table of a database.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import { collated } from "./collate.js";
import { Drawn, rowsAt } from "./drawn.js";

/** Data by rows. */
export interface Rows<B> {
  readonly count: number;
  /** A batch of these rows, in this order, on a device. */
  read(rows: Int32Array, device?: string): B | Promise<B>;
}

/** Rows of tensors. */
export interface TensorRows extends Rows<unknown> {
  /** The batch that `read` takes. */
  draw(rows: Int32Array, device?: string): Drawn;
}

export const areTensors = (rows: Rows<unknown> | null): rows is TensorRows => rows !== null && "draw" in rows;

/** Examples by their number: `{ count: 60_000, example: (i) => ({ x, y }) }`. An example is a tree of numbers, lists, typed arrays or tensors. */
export interface Examples<E> {
  readonly count: number;
  example(index: number): E | Promise<E>;
}

const hasMethod = (value: unknown, name: string): boolean =>
  typeof value === "object" && value !== null && typeof (value as Record<string, unknown>)[name] === "function";

/** The source as rows; null for one that is none: a stream. */
export function rowsOf(source: unknown, operation: string): Rows<unknown> | null {
  if (typeof source !== "object" || source === null) return null;
  if ("count" in source && (hasMethod(source, "read") || hasMethod(source, "example"))) {
    checkWhole(operation, "the count of rows", (source as Rows<unknown>).count, 0);
    return hasMethod(source, "read") ? (source as Rows<unknown>) : ofExamples(source as Examples<unknown>);
  }
  if (isListOfExamples(source)) {
    return ofExamples({ count: source.length, example: (i) => source[i] });
  }
  if (Array.isArray(source) || ArrayBuffer.isView(source) || isTensor(source) || isPlain(source)) {
    return ofTensors(source, operation);
  }
  return null;
}

/** A list of objects is one of examples; a list of tensors is a tree, and a list of numbers a tensor. */
const isListOfExamples = (source: unknown): source is readonly unknown[] =>
  Array.isArray(source) && source.length > 0 && source.every((each) => isPlain(each) || ArrayBuffer.isView(each));

const isPlain = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const ofExamples = (examples: Examples<unknown>): Rows<unknown> => ({
  count: examples.count,
  read: async (rows, device) => {
    const found: unknown[] = [];
    for (const row of rows) found.push(await examples.example(row));
    return collated(found, device);
  },
});

/** Rows of a tree whose tensors have one first extent. Values become tensors once. */
function ofTensors(source: unknown, operation: string): TensorRows {
  let moved: { readonly device: string | undefined; readonly tree: unknown } | undefined;
  const treeOn = (device: string | undefined): unknown => {
    if (moved?.device !== device || moved === undefined) moved = { device, tree: asTensors(source, device, operation) };
    return moved.tree;
  };
  const all = leaves(asTensors(source, undefined, operation));
  const [first] = all;
  if (!first) throw new ArgumentError(`${operation}: the data hold no tensors.`);
  for (const each of all) {
    if (each.rank > 0 && each.shape[0] === first.shape[0]) continue;
    throw new ShapeError(
      `${operation}: tensors of ${formatShape(first.shape)} and ${formatShape(each.shape)}; all have one first extent, the number of rows.`,
    );
  }
  const draw = (rows: Int32Array, device?: string): Drawn => {
    const whole = treeOn(device);
    return new Drawn(whole, tensor(rows, { device: device ?? first.device }) as Tensor);
  };
  return {
    count: first.shape[0] as number,
    draw,
    read: (rows, device) => {
      const { whole, places } = draw(rows, device);
      return rowsAt(whole, places);
    },
  };
}

/** Lists of numbers and typed arrays as tensors. Tensors stay where they are unless a device is given. */
function asTensors(source: unknown, device: string | undefined, operation: string): unknown {
  if (isTensor(source)) return device === undefined ? source : source.to(device);
  if (ArrayBuffer.isView(source)) return tensor(source, { device });
  if (Array.isArray(source)) {
    const isNumbers =
      source.length > 0 &&
      (typeof source[0] === "number" || typeof source[0] === "boolean" || typeof source[0] === "bigint");
    const isNested = Array.isArray(source[0]) && !hasTensor(source);
    if (isNumbers || isNested) return tensor(source as never, { device });
    return source.map((each) => asTensors(each, device, operation));
  }
  if (isPlain(source)) {
    return Object.fromEntries(
      Object.entries(source as object).map(([name, each]) => [name, asTensors(each, device, operation)]),
    );
  }
  throw new ArgumentError(
    `${operation}: the data hold ${shown(source)}; they are tensors, typed arrays and lists of numbers.`,
  );
}

const hasTensor = (value: unknown): boolean =>
  isTensor(value) || ArrayBuffer.isView(value) || isPlain(value) || (Array.isArray(value) && value.some(hasTensor));

/** Some of the rows, in this order. */
export const subset = <B>(rows: Rows<B>, indices: Int32Array): Rows<B> => ({
  count: indices.length,
  read: (places, device) =>
    rows.read(
      places.map((place) => indices[place] as number),
      device,
    ),
});
