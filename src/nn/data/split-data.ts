/** Data in two or three parts: for training, validation and test. A part is rows again, which a loader takes; nothing is copied. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import type { Seed } from "../../core/seeded-order.js";
import { shown } from "../../core/shown.js";
import type { Key } from "../../random/index.js";
import { checkKey } from "../../random/key.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import type { BatchOf } from "./loader.js";
import { inOrder, type Order, shuffled } from "./order.js";
import { type Rows, rowsOf, subset } from "./rows.js";

/** Options of `splitData`. */
export interface SplitDataOptions {
  /** The share of rows for validation: 0.1 for a tenth. */
  readonly validation: number;
  /** The share for a test; 0. */
  readonly test?: number;
  /** Rows are chosen at random; without a key, validation and test are the last rows. */
  readonly key?: Key;
  /** Classes of the rows, as a tensor or a list: each has its share in every part. */
  readonly stratify?: Tensor | ArrayLike<number | bigint | boolean>;
}

/** The parts of data. */
export interface SplitData<B> {
  readonly train: Rows<B>;
  readonly validation: Rows<B>;
  readonly test: Rows<B>;
}

/** Parts of data for training and validation: `await splitData({ x, y }, { validation: 0.1, key: random.key(0), stratify: y })`. */
export async function splitData<const S>(source: S, options: SplitDataOptions): Promise<SplitData<BatchOf<S>>> {
  const operation = "splitData";
  checkOptions(operation, options, { validation: "number", test: "number", key: "any", stratify: "any" });
  const { validation, test = 0, key, stratify } = options;
  const isShare = (share: number): boolean => share >= 0 && share <= 1;
  if (!isShare(validation) || !isShare(test) || validation + test > 1) {
    throw new ArgumentError(
      `${operation}: shares of ${shown(validation)} and ${shown(test)}; each is from 0 to 1, and so is their sum.`,
    );
  }
  if (key !== undefined) checkKey(key, operation, "", "the option key");
  const rows = rowsOf(source, operation);
  if (!rows) {
    throw new ArgumentError(
      `${operation}: ${shown(source)} has no rows to choose from; give tensors, arrays, { count, example } or openRows(…).`,
    );
  }
  const seed = key && ((await key.data()) as unknown as Seed);
  const groups = stratify === undefined ? [allRows(rows.count)] : await classesOf(stratify, rows.count, operation);
  const parts = { train: [] as number[], validation: [] as number[], test: [] as number[] };
  for (const [number, group] of groups.entries()) {
    const order: Order = seed
      ? shuffled(group.length, [seed[0], (seed[1] ^ Math.imul(number, 0x9e3779b1)) >>> 0])
      : inOrder;
    const forTest = Math.round(test * group.length);
    const forValidation = Math.min(Math.round(validation * group.length), group.length - forTest);
    const forTraining = group.length - forTest - forValidation;
    for (let place = 0; place < group.length; place++) {
      const part = place < forTraining ? "train" : place < forTraining + forValidation ? "validation" : "test";
      parts[part].push(group[order(place)] as number);
    }
  }
  // In the order of the data: a loader shuffles by itself, and files are read from the beginning to the end.
  const part = (list: number[]) => subset(rows, Int32Array.from(list).sort()) as Rows<BatchOf<S>>;
  return { train: part(parts.train), validation: part(parts.validation), test: part(parts.test) };
}

const allRows = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** The rows of each class, in the order of their first appearance. */
async function classesOf(
  labels: NonNullable<SplitDataOptions["stratify"]>,
  count: number,
  operation: string,
): Promise<number[][]> {
  const values = isTensor(labels) ? await labels.data() : labels;
  if (
    typeof values !== "object" ||
    values === null ||
    values.length !== count ||
    (isTensor(labels) && labels.rank !== 1)
  ) {
    throw new ShapeError(`${operation}: stratify takes a class for each of the ${count} rows, as one list.`);
  }
  const classes = new Map<unknown, number[]>();
  for (let row = 0; row < count; row++) {
    const group = classes.get(values[row]) ?? [];
    group.push(row);
    classes.set(values[row], group);
  }
  return [...classes.values()];
}
