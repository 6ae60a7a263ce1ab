/**
 * Targets: numbers for regression, labels for classification. Labels may be numbers, texts or booleans; models compute with their
 * positions in the sorted list of classes.
 */
import { type DType, isFloat, isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { type Column, isColumn } from "../tables/table.js";

/** A class as users name it. */
export type Label = number | string | boolean;

/** Numbers to predict: one for each sample, or a row of several. */
export type Numbers = Tensor | ArrayLike<number> | readonly (readonly number[])[] | Column;

/** Labels to predict, one for each sample. */
export type Labels = Tensor | ArrayLike<Label> | Column;

/** A dtype and a device: a tensor has both. Without a device, the default one. */
export interface Place {
  readonly device?: string;
  readonly dtype: DType;
}

/** Labels as positions in the list of classes. */
interface Codes {
  readonly codes: Tensor;
  readonly classes: readonly Label[];
}

/** Whether targets can only be labels: texts, booleans, categories. Whole numbers may be labels, too. */
export const areNames = (targets: unknown): boolean => {
  if (isTensor(targets)) return targets.dtype === "bool";
  if (isColumn(targets)) return targets.kind === "category";
  return Array.isArray(targets) && (typeof targets[0] === "string" || typeof targets[0] === "boolean");
};

/** Targets of regression beside a matrix: floats of its dtype on its device, [samples] or [samples, outputs]. */
export function numbersBeside(operation: string, targets: Numbers, matrix: Tensor): Tensor {
  const given = numbersLike(operation, targets, matrix);
  checkRows(operation, "targets", given, matrix);
  return given;
}

/** Targets of regression in the dtype of a tensor, and on its device: [samples] or [samples, outputs]. */
export function numbersLike(operation: string, targets: Numbers, like: Place, what = "targets"): Tensor {
  const given = isTensor(targets) ? targets : valuesOf(operation, targets, like, what);
  if (given.rank === 1 || given.rank === 2) return given.cast(like.dtype) as Tensor;
  throw new ShapeError(`${operation}: ${what} are [samples] or [samples, outputs], not ${formatShape(given.shape)}.`);
}

function valuesOf(operation: string, targets: unknown, { device, dtype }: Place, what: string): Tensor {
  if (isColumn(targets)) {
    if (targets.kind === "number") return tensor(targets.values, { device, dtype }) as Tensor;
    throw new ArgumentError(`${operation}: the ${what} are categories, and a regression predicts numbers.`);
  }
  if (!Array.isArray(targets) && !ArrayBuffer.isView(targets)) {
    throw new ArgumentError(`${operation}: ${what} are a tensor, an array or a column, not ${shown(targets)}.`);
  }
  return tensor(targets as number[], { device, dtype }) as Tensor;
}

/** Throws unless there is one target, or weight, for each sample. */
export function checkRows(operation: string, what: string, given: Tensor, matrix: Tensor): void {
  const [rows, samples] = [given.shape[0], matrix.shape[0]];
  if (rows === samples) return;
  throw new ShapeError(`${operation}: there are ${samples} samples and ${rows} ${what}.`);
}

/** Labels as positions beside a matrix. Reads a tensor of labels, unless the classes are given. */
export async function codesBeside(
  operation: string,
  labels: Labels,
  matrix: Tensor,
  known: readonly Label[] | undefined,
): Promise<Codes> {
  if (isTensor(labels) && known !== undefined) return codesOfTensor(operation, labels, matrix, known);
  const values = await labelsOf(operation, labels);
  const classes = known ?? sortedClasses(operation, values);
  const places = new Map(classes.map((label, place) => [label, place]));
  const codes = Int32Array.from(values, (label, row) => {
    const place = places.get(label);
    if (place !== undefined) return place;
    throw new ArgumentError(`${operation}: label ${row} is ${shown(label)}, not one of the classes ${shown(classes)}.`);
  });
  const made = tensor(codes, { device: matrix.device }) as Tensor;
  checkRows(operation, "labels", made, matrix);
  return { codes: made, classes };
}

/** Labels as a list. Reads them where they are a tensor. */
export const labelsOf = async (operation: string, labels: Labels): Promise<readonly Label[]> =>
  isTensor(labels) ? readLabels(operation, labels) : listed(operation, labels);

/** The same at once: a tensor is waited for. */
export function labelsNow(operation: string, labels: Labels): readonly Label[] {
  if (!isTensor(labels)) return listed(operation, labels);
  checkVector(operation, labels);
  return labelsAmong(operation, labels, labels.dataSync() as Values);
}

/** Labels of a traced fit, as `predict` gives them: numbers or booleans, or positions where classes are texts. */
export function tracedCodes(operation: string, labels: Tensor, matrix: Tensor, classes: readonly Label[]): Tensor {
  if (classes.every((label) => typeof label !== "string")) {
    return codesOfTensor(operation, labels, matrix, classes).codes;
  }
  return codesOfTensor(operation, labels, matrix, [...classes.keys()]).codes;
}

/** The same without reading: labels that are no class get -1, which no loss counts. For functions that are traced. */
export function codesOfTensor(operation: string, labels: Tensor, matrix: Tensor, classes: readonly Label[]): Codes {
  checkVector(operation, labels);
  checkRows(operation, "labels", labels, matrix);
  if (classes.some((label) => typeof label === "string")) {
    throw new ArgumentError(`${operation}: a tensor of labels has numbers, and the classes are ${shown(classes)}.`);
  }
  const table = tensor(classes.map(Number), { device: matrix.device, dtype: "f64" }).expandDims(0);
  const isClass = labels.cast("f64").expandDims(1).equal(table);
  const place = isClass.argmax({ axis: 1 }).cast("i32");
  return { codes: place.sub(isClass.any({ axis: 1 }).logicalNot().cast("i32").mul(place.add(1))) as Tensor, classes };
}

function checkVector(operation: string, labels: Tensor): void {
  if (labels.rank === 1) return;
  throw new ShapeError(
    `${operation}: labels are [samples], not ${formatShape(labels.shape)}; write y.flatten() for a column.`,
  );
}

type Values = ArrayLike<number | bigint | boolean>;

async function readLabels(operation: string, labels: Tensor): Promise<readonly Label[]> {
  checkVector(operation, labels);
  return labelsAmong(operation, labels, (await labels.data()) as Values);
}

function labelsAmong(operation: string, labels: Tensor, read: Values): readonly Label[] {
  const values = Array.from(read, (value) => (labels.dtype === "bool" ? Boolean(value) : Number(value)));
  if (isFloat(labels.dtype) || isNarrowFloat(labels.dtype)) checkWholeLabels(operation, values as number[]);
  return values;
}

/** Floats as labels are most often the targets of a regression. */
function checkWholeLabels(operation: string, values: readonly number[]): void {
  const row = values.findIndex((value) => !Number.isInteger(value));
  if (row < 0) return;
  throw new ArgumentError(
    `${operation}: label ${row} is ${values[row]}; labels are whole numbers, texts or booleans. To predict numbers, take a regression.`,
  );
}

function listed(operation: string, labels: unknown): readonly Label[] {
  if (isColumn(labels)) return columnLabels(operation, labels);
  if (!Array.isArray(labels) && !(ArrayBuffer.isView(labels) && "length" in labels)) {
    throw new ArgumentError(`${operation}: labels are a tensor, an array or a column, not ${shown(labels)}.`);
  }
  const values = Array.from(labels as ArrayLike<unknown>, (label, row): Label => {
    if (typeof label === "string" || typeof label === "boolean" || typeof label === "number") return label;
    throw new ArgumentError(
      `${operation}: label ${row} is ${shown(label)}; labels are whole numbers, texts or booleans.`,
    );
  });
  if (values.every((value) => typeof value === "number")) checkWholeLabels(operation, values);
  return values;
}

function columnLabels(operation: string, column: Column): readonly Label[] {
  if (column.kind === "number") {
    const values = Array.from(column.values);
    checkWholeLabels(operation, values);
    return values;
  }
  return Array.from(column.codes, (code, row) => {
    const label = column.categories[code];
    if (label !== undefined) return label;
    throw new ArgumentError(`${operation}: label ${row} is missing.`);
  });
}

/** The classes in order: numbers by size, texts by the alphabet, false before true. */
export function sortedClasses(operation: string, labels: readonly Label[]): Label[] {
  const classes = [...new Set(labels)];
  const kinds = new Set(classes.map((label) => typeof label));
  if (kinds.size > 1) throw new ArgumentError(`${operation}: labels are of several kinds: ${[...kinds].join(", ")}.`);
  return kinds.has("string") ? classes.sort() : classes.sort((a, b) => Number(a) - Number(b));
}
