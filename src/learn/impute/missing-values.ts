/** Values that stand for missing ones: −1, 0, "?". Imputers read samples as if these were NaN, which is missing anyway. */
import { isFloat } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, where } from "../../tensor/index.js";
import { type SampleReader, type Samples, withoutArrow } from "../core/samples.js";
import { type Cell, type Column, Table } from "../tables/table.js";

/** The option of imputers. */
export interface MissingValuesOption {
  /** A number or a text that means a missing value. NaN, null and empty cells always do. */
  readonly missingValues?: number | string;
}

/** Throws unless the value can stand for a missing one. */
export function checkMissingValues(kind: string, { missingValues }: MissingValuesOption): void {
  if (missingValues === undefined || ["number", "string"].includes(typeof missingValues)) return;
  throw new ArgumentError(`${kind}: missingValues is ${shown(missingValues)}; it is a number or a text.`);
}

/** The same reader, to which such values are missing. */
export function readingMissing<O extends MissingValuesOption>(reader: SampleReader<O>): SampleReader<O> {
  return {
    read: (operation, samples, placing, options) => reader.read(operation, without(samples, options), placing, options),
    readLike: (operation, samples, fitted, placing, options) =>
      reader.readLike(operation, without(samples, options), fitted, placing, options),
  };
}

function without(given: Samples, { missingValues: value }: MissingValuesOption): Samples {
  if (value === undefined || Number.isNaN(value)) return given;
  const samples = withoutArrow(given);
  if (samples instanceof Table) {
    const columns = [...samples.columns].map(([name, column]) => [name, columnWithout(column, value)] as const);
    return new Table(new Map(columns), samples.rows);
  }
  if (isTensor(samples)) return typeof value === "number" ? tensorWithout(samples as Tensor, value) : samples;
  if (!Array.isArray(samples)) return samples;
  // A cell of text is null where it is missing: NaN would make a number of it.
  const cell = (each: Cell): Cell => (each === value ? (typeof value === "string" ? null : Number.NaN) : each);
  const rows = samples as readonly (string | null | ArrayLike<Cell>)[];
  return rows.map((row) =>
    row === null || typeof row === "string" ? (cell(row) as string | null) : Array.from(row, cell),
  ) as Samples;
}

function columnWithout(column: Column, value: number | string): Column {
  if (column.kind === "number") {
    return { kind: "number", values: column.values.map((each) => (each === value ? Number.NaN : each)) };
  }
  const code = column.categories.indexOf(String(value));
  return typeof value === "string" && code >= 0
    ? { ...column, codes: column.codes.map((each) => (each === code ? -1 : each)) }
    : column;
}

function tensorWithout(x: Tensor, value: number): Tensor {
  const floats = (isFloat(x.dtype) ? x : x.cast("f32")) as Tensor;
  return where(floats.equal(value), Number.NaN, floats) as Tensor;
}
