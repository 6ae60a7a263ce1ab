/**
 * Samples as people have them, as a matrix: rows are samples, columns are features. Tensors, nested arrays and tables go in. What a
 * model must know of its columns later (how many, and their names) comes out beside the matrix.
 */
import { type DType, isComplex, isFloat, isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { type NumberColumn, Table } from "../tables/table.js";

/** Samples: a matrix as a tensor, nested arrays or typed rows, or a table of numbers. */
export type Samples = Tensor | readonly (ArrayLike<number> | readonly number[])[] | Table;

/** Where samples go that are no tensors yet. */
export interface Placing {
  readonly device?: string;
  /** f32 unless told. */
  readonly dtype?: DType;
}

/** Columns of samples: their number, and their names where a table had them. */
export interface Features {
  readonly count: number;
  readonly names: readonly string[] | null;
}

interface Matrix {
  readonly matrix: Tensor;
  readonly features: Features;
}

/** Samples as a matrix of floats. `operation` is named in errors: "ridge.fit". */
export function matrixOf(operation: string, samples: Samples, placing: Placing = {}): Matrix {
  if (samples instanceof Table) {
    return {
      matrix: fromTable(operation, samples, placing),
      features: featuresOf(samples.names.length, samples.names),
    };
  }
  const given = isTensor(samples) ? samples : fromRows(operation, samples, placing);
  if (given.rank !== 2) {
    throw new ShapeError(
      `${operation}: samples are a matrix, [samples, features], not of shape ${formatShape(given.shape)}; ` +
        `${given.rank === 1 ? "write x.reshape(-1, 1) for one feature, x.reshape(1, -1) for one sample" : "reshape it"}.`,
    );
  }
  return { matrix: asFloats(operation, given, placing.dtype), features: featuresOf(given.shape[1] as number, null) };
}

const featuresOf = (count: number, names: readonly string[] | null): Features => ({ count, names });

/** Integers and booleans become f32; f16 and bf16 are too narrow for sums over samples. */
function asFloats(operation: string, x: Tensor, dtype: DType | undefined): Tensor {
  if (isComplex(x.dtype)) throw new DTypeError(`${operation}: samples are real numbers, not ${x.dtype}.`);
  if (dtype !== undefined) return x.cast(dtype) as Tensor;
  return isFloat(x.dtype) && !isNarrowFloat(x.dtype) ? x : (x.cast("f32") as Tensor);
}

function fromRows(operation: string, rows: unknown, { device, dtype = "f32" }: Placing): Tensor {
  if (!Array.isArray(rows)) {
    throw new ArgumentError(`${operation}: samples are a tensor, an array of rows or a table, not ${shown(rows)}.`);
  }
  const plain = rows.map((row) => (ArrayBuffer.isView(row) ? Array.from(row as unknown as ArrayLike<number>) : row));
  // An empty list has no width to tell; [0, 0] is refused later, for want of samples.
  if (plain.length === 0) return tensor([], { device, dtype, shape: [0, 0] }) as Tensor;
  return tensor(plain as number[][], { device, dtype }) as Tensor;
}

function fromTable(operation: string, table: Table, { device, dtype = "f32" }: Placing): Tensor {
  const columns = [...table.columns].map(([name, column]): NumberColumn => {
    if (column.kind === "number") return column;
    throw new ArgumentError(
      `${operation}: the column "${name}" holds categories; turn them into numbers first, as in ` +
        `columnTransformer({ ${JSON.stringify(name)}: oneHotEncoder() }).`,
    );
  });
  const [rows, width] = [table.rows, columns.length];
  const values = new Float64Array(rows * width);
  columns.forEach(({ values: column }, j) => {
    for (let i = 0; i < rows; i++) values[i * width + j] = column[i] as number;
  });
  return tensor(values, { device, dtype, shape: [rows, width] }) as Tensor;
}

/** Samples for a fitted model: as many features as it was fitted with. Columns of a table are found by their names. */
export function matrixLike(operation: string, samples: Samples, fitted: Features, placing: Placing): Tensor {
  const ordered = samples instanceof Table && fitted.names ? inOrder(operation, samples, fitted.names) : samples;
  const { matrix, features } = matrixOf(operation, ordered, placing);
  if (features.count === fitted.count) return matrix;
  throw new ShapeError(
    `${operation}: the samples have ${features.count} features, and the model was fitted with ${fitted.count}` +
      `${fitted.names ? `: ${fitted.names.join(", ")}` : ""}.`,
  );
}

function inOrder(operation: string, table: Table, names: readonly string[]): Table {
  const missing = names.filter((name) => !table.columns.has(name));
  if (missing.length === 0) return table.select(names);
  throw new ArgumentError(
    `${operation}: the table lacks the column${missing.length > 1 ? "s" : ""} ${missing.map((name) => `"${name}"`).join(", ")}, ` +
      "with which the model was fitted.",
  );
}
