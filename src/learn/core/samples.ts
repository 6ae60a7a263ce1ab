/**
 * Samples as people have them, as a matrix: rows are samples, columns are features. Tensors, nested arrays and tables go in. What a
 * model must know of its columns later (how many, their names, their categories) comes out beside the matrix.
 *
 * A kind of estimator says by a `SampleReader` how its samples become that matrix:
 * - `numberSamples`, unless told: columns of numbers. A table's column of categories is refused with the remedy.
 * - `categorySamples`: columns of categories, too. Definitions write `samples: categorySamples` and, since missing cells are NaN,
 *   `allowsMissing: true`. A column of categories becomes their codes 0, 1, 2 …, and NaN where one is missing.
 *   `facts.features.categories[j]` lists what the codes of column j mean, in order, and is null for a column of numbers;
 *   `facts.features.categories` itself is null where no column has categories. Codes are of those categories that the samples of
 *   the fit have, as in scikit-learn. Methods of the model get the same codes for the same texts, whatever codes a later table
 *   has; a category that the fit did not see becomes NaN. Samples that are tensors or rows are taken as codes by both.
 * - Readers of other things, as of texts (preprocessing/text), give any matrix and name its columns.
 */
import { type DType, isComplex, isFloat, isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { type ArrowTable, isArrowTable } from "../tables/arrow.js";
import { type CategoryColumn, type Cell, type Column, columnsTable, Table, table } from "../tables/table.js";

/** Samples: a matrix as a tensor, nested arrays or typed rows, a table, or texts and rows with texts for estimators that take them. */
export type Samples =
  | Tensor
  | readonly (ArrayLike<number> | readonly number[])[]
  | Table
  | ArrowTable
  | readonly (string | null)[]
  | readonly (readonly Cell[])[];

/** Arrow tables as tables; anything else stays. */
export const withoutArrow = (samples: Samples): Exclude<Samples, ArrowTable> =>
  isArrowTable(samples) ? table(samples) : samples;

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
  /** What the codes of each column mean, null for a column of numbers; null where no column holds categories. */
  readonly categories: readonly (readonly string[] | null)[] | null;
}

/** How the samples of a kind become a matrix. */
export interface SampleReader<O = object> {
  /** Samples of a fit: a matrix of floats, and the facts by which later samples are read. */
  read(operation: string, samples: Samples, placing: Placing, options: O): Matrix;
  /** Samples of a fitted model's methods: a matrix with the columns of the fit. */
  readLike(operation: string, samples: Samples, fitted: Features, placing: Placing, options: O): Tensor;
}

interface Matrix {
  readonly matrix: Tensor;
  readonly features: Features;
}

/** Samples as a matrix of floats. `operation` is named in errors: "ridge.fit". */
function matrixOf(operation: string, given: Samples, placing: Placing = {}): Matrix {
  const samples = withoutArrow(given);
  if (samples instanceof Table) {
    const columns = [...samples.columns].map(([name, column]) => numbersOf(operation, name, column));
    return {
      matrix: fromColumns(samples.rows, columns, placing),
      features: { count: columns.length, names: samples.names, categories: null },
    };
  }
  const values = isTensor(samples) ? samples : fromRows(operation, samples, placing);
  if (values.rank !== 2) {
    throw new ShapeError(
      `${operation}: samples are a matrix, [samples, features], not of shape ${formatShape(values.shape)}; ` +
        `${values.rank === 1 ? "write x.reshape(-1, 1) for one feature, x.reshape(1, -1) for one sample" : "reshape it"}.`,
    );
  }
  return {
    matrix: asFloats(operation, values, placing.dtype),
    features: { count: values.shape[1] as number, names: null, categories: null },
  };
}

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
  if (typeof rows[0] === "string") {
    throw new ArgumentError(
      `${operation}: the samples are texts; turn them into numbers first, as with countVectorizer().`,
    );
  }
  if (isRecord(rows[0])) {
    throw new ArgumentError(`${operation}: the rows are objects; make a table of them, as in table(rows).`);
  }
  const plain = rows.map((row) => (ArrayBuffer.isView(row) ? Array.from(row as unknown as ArrayLike<number>) : row));
  // An empty list has no width to tell; [0, 0] is refused later, for want of samples.
  if (plain.length === 0) return tensor([], { device, dtype, shape: [0, 0] }) as Tensor;
  return tensor(plain as number[][], { device, dtype }) as Tensor;
}

const isRecord = (row: unknown): boolean =>
  typeof row === "object" && row !== null && Object.getPrototypeOf(row) === Object.prototype;

function numbersOf(operation: string, name: string, column: Column): Float64Array {
  if (column.kind === "number") return column.values;
  throw holdsCategories(operation, name);
}

/** The error for a column of text where numbers are wanted. */
export const holdsCategories = (operation: string, name: string): ArgumentError =>
  new ArgumentError(
    `${operation}: the column "${name}" holds categories; turn them into numbers first, as in ` +
      `columnTransformer({ ${JSON.stringify(name)}: oneHotEncoder() }).`,
  );

function fromColumns(rows: number, columns: readonly Float64Array[], { device, dtype = "f32" }: Placing): Tensor {
  const width = columns.length;
  const values = new Float64Array(rows * width);
  columns.forEach((column, j) => {
    for (let i = 0; i < rows; i++) values[i * width + j] = column[i] as number;
  });
  return tensor(values, { device, dtype, shape: [rows, width] }) as Tensor;
}

/** Samples for a fitted model: as many features as it was fitted with. Columns of a table are found by their names. */
function matrixLike(operation: string, given: Samples, fitted: Features, placing: Placing): Tensor {
  const samples = withoutArrow(given);
  const ordered = samples instanceof Table && fitted.names ? inOrder(operation, samples, fitted.names) : samples;
  const { matrix, features } = matrixOf(operation, ordered, placing);
  checkCount(operation, features.count, fitted);
  return matrix;
}

function checkCount(operation: string, count: number, fitted: Features): void {
  if (count === fitted.count) return;
  throw new ShapeError(
    `${operation}: the samples have ${count} features, and the model was fitted with ${fitted.count}` +
      `${fitted.names ? `: ${fitted.names.join(", ")}` : ""}.`,
  );
}

/** The columns of a fitted model, in their order. */
function inOrder(operation: string, table: Table, names: readonly string[]): Table {
  const missing = names.filter((name) => !table.columns.has(name));
  if (missing.length === 0) return table.select(names);
  throw new ArgumentError(
    `${operation}: the table lacks the column${missing.length > 1 ? "s" : ""} ${missing.map((name) => `"${name}"`).join(", ")}, ` +
      "with which the model was fitted.",
  );
}

/** Columns of numbers; categories are refused. */
export const numberSamples: SampleReader = { read: matrixOf, readLike: matrixLike };

/** How a kind reads columns of categories. */
interface CategoryRules<O> {
  /** The code of a text that the fit did not see; or an error. */
  unknown(operation: string, column: string, text: string, options: O): number;
  /** The categories of a column as options list them; undefined for those of the samples. */
  given?(column: number, options: O): readonly string[] | undefined;
}

/** A reader of columns of numbers, and of categories as codes. Rows and lists of text are columns without a name. */
export function categoryReader<O>(rules: CategoryRules<O>): SampleReader<O> {
  return {
    read(operation, given, placing, options) {
      const { samples, names } = tableOfText(withoutArrow(given));
      if (!(samples instanceof Table)) return matrixOf(operation, samples, placing);
      const columns = [...samples.columns.values()];
      const categories = columns.map((column, j) =>
        column.kind === "category" ? (rules.given?.(j, options) ?? presentOf(column)) : null,
      );
      const coded = [...samples.columns].map(([name, column], j) =>
        codesLike(column, categories[j] ?? null, (text) => rules.unknown(operation, name, text, options)),
      );
      return {
        matrix: fromColumns(samples.rows, coded, placing),
        features: {
          count: columns.length,
          names,
          categories: categories.some((each) => each !== null) ? categories : null,
        },
      };
    },
    readLike(operation, given, fitted, placing, options) {
      const { samples } = tableOfText(withoutArrow(given));
      const { names, categories } = fitted;
      if (!(samples instanceof Table) || (!names && !categories))
        return matrixLike(operation, samples, fitted, placing);
      const ordered = names ? inOrder(operation, samples, names) : samples;
      checkCount(operation, ordered.columns.size, fitted);
      const columns = [...ordered.columns].map(([name, column], j) => {
        const known = categories?.[j] ?? null;
        const unknown = (text: string): number => rules.unknown(operation, name, text, options);
        if ((column.kind === "category") === (known !== null) || isAllMissing(column)) {
          return codesLike(column, known, unknown);
        }
        throw new ArgumentError(
          known
            ? `${operation}: the column "${name}" holds numbers, and the model was fitted with categories there.`
            : `${operation}: the column "${name}" holds categories, and the model was fitted with numbers there.`,
        );
      });
      return fromColumns(samples.rows, columns, placing);
    },
  };
}

/** Columns of numbers, and of categories as codes; what the fit did not see counts as missing. */
export const categorySamples: SampleReader = categoryReader({ unknown: () => Number.NaN });

type Given = Exclude<Samples, ArrowTable>;

/** Lists and rows with texts as tables, whose names are only places; others stay. */
export function tableOfText(samples: Given): { readonly samples: Given; readonly names: readonly string[] | null } {
  if (samples instanceof Table) return { samples, names: samples.names };
  if (!Array.isArray(samples)) return { samples, names: null };
  const rows = samples as readonly unknown[];
  const isText = (cell: unknown): boolean => typeof cell === "string";
  if (rows.length > 0 && rows.every((row) => isText(row) || row === null)) {
    return { samples: columnsTable([["0", rows as readonly Cell[]]]), names: null };
  }
  if (!rows.every(Array.isArray) || !(rows as unknown[][]).some((row) => row.some(isText)))
    return { samples, names: null };
  const cells = rows as readonly (readonly Cell[])[];
  const width = cells[0]?.length ?? 0;
  if (cells.some((row) => row.length !== width)) return { samples, names: null };
  const columns = Array.from({ length: width }, (_, j) => [String(j), cells.map((row) => row[j])] as const);
  return { samples: columnsTable(columns), names: null };
}

/** A column without a value has no kind of its own. */
const isAllMissing = (column: Column): boolean =>
  column.kind === "number" ? column.values.every(Number.isNaN) : column.codes.every((code) => code < 0);

/** The categories that stand in a column, in their order. */
function presentOf({ categories, codes }: CategoryColumn): readonly string[] {
  const isPresent = new Uint8Array(categories.length);
  for (const code of codes) if (code >= 0) isPresent[code] = 1;
  return categories.filter((_, code) => isPresent[code]);
}

/** The codes of a column by a list of categories: NaN for a missing one. Numbers stay. */
function codesLike(
  column: Column,
  known: readonly string[] | null,
  unknown: (text: string) => number = () => Number.NaN,
): Float64Array {
  if (column.kind === "number") return column.values;
  const places = new Map((known ?? []).map((text, place) => [text, place]));
  // A text that no row has is not unknown: a table may list categories that it lacks.
  const isUsed = new Set(column.codes);
  const codes = Float64Array.from(column.categories, (text, code) =>
    isUsed.has(code) ? (places.get(text) ?? unknown(text)) : Number.NaN,
  );
  return Float64Array.from(column.codes, (code) => (code < 0 ? Number.NaN : (codes[code] as number)));
}
