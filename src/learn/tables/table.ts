/**
 * A table: named columns of equal length, of numbers or of categories. Estimators take tables of numbers as they are, and
 * `columnTransformer` turns categories into numbers. Tables are plain values; files and Arrow tables become one (readers beside
 * this file).
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type ArrowTable, cellsOfArrow, isArrowTable } from "./arrow.js";
import { tableText } from "./table-text.js";

/** A column of numbers; NaN marks a missing one. */
export interface NumberColumn {
  readonly kind: "number";
  readonly values: Float64Array;
}

/** A column of categories: positions in `categories`, -1 for a missing one. */
export interface CategoryColumn {
  readonly kind: "category";
  readonly categories: readonly string[];
  readonly codes: Int32Array;
}

/** A column of a table. */
export type Column = NumberColumn | CategoryColumn;

/** Cells as users write them; null and undefined are missing. */
export type Cell = number | bigint | boolean | string | Date | null | undefined;

/** Columns as users write them: `{ age: [31, 25], city: ["Bern", "Genf"] }`. */
export type GivenColumns = Readonly<Record<string, ArrayLike<Cell> | Column>>;

/** Rows as users write them: `[{ age: 31, city: "Bern" }, { age: 25 }]`. */
export type GivenRows = readonly Readonly<Record<string, Cell>>[];

/** Named columns of equal length. `table` makes one. */
export class Table {
  constructor(
    /** Columns by name, in order. */
    readonly columns: ReadonlyMap<string, Column>,
    /** The number of rows. */
    readonly rows: number,
  ) {}

  /** The names of the columns. */
  get names(): readonly string[] {
    return [...this.columns.keys()];
  }

  /** The column of a name. */
  column(name: string): Column {
    const found = this.columns.get(name);
    if (found) return found;
    throw new ArgumentError(`table: there is no column ${shown(name)}; there are ${this.names.join(", ")}.`);
  }

  /** The table of some columns, in this order. */
  select(names: readonly string[]): Table {
    return new Table(new Map(names.map((name) => [name, this.column(name)])), this.rows);
  }

  /** The table without some columns. */
  drop(names: readonly string[]): Table {
    for (const name of names) this.column(name);
    return this.select(this.names.filter((name) => !names.includes(name)));
  }

  /** The table of some rows, by their positions. */
  take(positions: ArrayLike<number>): Table {
    const taken = new Map([...this.columns].map(([name, column]) => [name, takenRows(column, positions)]));
    return new Table(taken, positions.length);
  }

  /** The first rows: 5 unless told. */
  head(count = 5): Table {
    return this.take(Array.from({ length: Math.max(0, Math.min(count, this.rows)) }, (_, i) => i));
  }

  /** The table with one more column, or another in the place of one. */
  withColumn(name: string, cells: ArrayLike<Cell> | Column): Table {
    const made = givenColumn(name, cells);
    const rows = rowsOf(made);
    if (this.columns.size > 0 && rows !== this.rows) {
      throw new ArgumentError(`table: the column "${name}" has ${rows} rows, and the table has ${this.rows}.`);
    }
    return new Table(new Map([...this.columns, [name, made]]), rows);
  }

  /** The table with other names of some columns: `people.rename({ age: "years" })`. */
  rename(names: Readonly<Record<string, string>>): Table {
    for (const name of Object.keys(names)) this.column(name);
    const renamed = this.names.map((name) => (Object.hasOwn(names, name) ? (names[name] as string) : name));
    if (new Set(renamed).size < renamed.length) throw new ArgumentError("table: rename gives two columns one name.");
    return new Table(new Map(renamed.map((name, i) => [name, this.column(this.names[i] as string)])), this.rows);
  }

  /** The cells of a column: numbers or texts, null where one is missing. */
  cells(name: string): (number | string | null)[] {
    const column = this.column(name);
    if (column.kind === "number") return Array.from(column.values, (value) => (Number.isNaN(value) ? null : value));
    return Array.from(column.codes, (code) => column.categories[code] ?? null);
  }

  /** The columns as lists of cells by name. */
  toColumns(): Record<string, (number | string | null)[]> {
    return Object.fromEntries(this.names.map((name) => [name, this.cells(name)]));
  }

  /** The rows as objects. */
  toRows(): Record<string, number | string | null>[] {
    const columns = this.names.map((name) => [name, this.cells(name)] as const);
    return Array.from({ length: this.rows }, (_, i) =>
      Object.fromEntries(columns.map(([name, cells]) => [name, cells[i] as number | string | null])),
    );
  }

  /** A table about this one, with a row for each column: its kind, how many cells are missing, and how the others lie. */
  describe(): Table {
    return table(this.names.map((name) => ({ column: name, ...described(this.column(name)) })));
  }

  toString(): string {
    return tableText(this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

const rowsOf = (column: Column): number => (column.kind === "number" ? column.values.length : column.codes.length);

/** Whether a value is a column. */
export const isColumn = (value: unknown): value is Column =>
  typeof value === "object" &&
  value !== null &&
  "kind" in value &&
  ((value.kind === "number" && "values" in value) || (value.kind === "category" && "codes" in value));

/** What `describe` tells of a column: moments and quartiles of numbers, the most frequent of categories. */
function described(column: Column): Record<string, Cell> {
  if (column.kind === "category") {
    const counts = new Int32Array(column.categories.length);
    for (const code of column.codes) if (code >= 0) counts[code] = (counts[code] as number) + 1;
    const most = counts.length > 0 ? counts.indexOf(Math.max(...counts)) : -1;
    const count = counts.reduce((sum, each) => sum + each, 0);
    return {
      kind: "category",
      count,
      missing: column.codes.length - count,
      mean: null,
      std: null,
      min: null,
      q25: null,
      median: null,
      q75: null,
      max: null,
      unique: counts.filter((each) => each > 0).length,
      top: column.categories[most] ?? null,
      topCount: counts[most] ?? null,
    };
  }
  const values = column.values.filter((value) => !Number.isNaN(value)).sort();
  const { length } = values;
  const mean = values.reduce((sum, each) => sum + each, 0) / length;
  const squares = values.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const at = (share: number): number | null => {
    if (length === 0) return null;
    const place = share * (length - 1);
    const [low, high] = [values[Math.floor(place)] as number, values[Math.ceil(place)] as number];
    return low + (high - low) * (place - Math.floor(place));
  };
  return {
    kind: "number",
    count: length,
    missing: column.values.length - length,
    mean,
    std: length > 1 ? Math.sqrt(squares / (length - 1)) : null,
    min: at(0),
    q25: at(0.25),
    median: at(0.5),
    q75: at(0.75),
    max: at(1),
    unique: new Set(values).size,
    top: null,
    topCount: null,
  };
}

function takenRows(column: Column, positions: ArrayLike<number>): Column {
  const { length } = positions;
  if (column.kind === "number") {
    const values = new Float64Array(length);
    for (let i = 0; i < length; i++) values[i] = column.values[positions[i] as number] as number;
    return { kind: "number", values };
  }
  const codes = new Int32Array(length);
  for (let i = 0; i < length; i++) codes[i] = column.codes[positions[i] as number] as number;
  return { ...column, codes };
}

/**
 * A table of columns, `table({ age: [31, 25], city: ["Bern", "Genf"] })`, of rows, `table([{ age: 31, city: "Bern" }, …])`, or of an Arrow
 * table. Columns of text are categories, in alphabetical order; numbers, booleans (0 and 1) and dates (milliseconds) are numbers. Null,
 * undefined and NaN are missing.
 */
export function table(given: GivenColumns | GivenRows | ArrowTable): Table {
  if (isArrowTable(given)) return columnsTable(cellsOfArrow(given));
  if (Array.isArray(given)) return rowsTable(given as GivenRows);
  if (typeof given !== "object" || given === null) {
    throw new ArgumentError(`table: takes columns by name, as { age: [31, 25] }, or rows, not ${shown(given)}.`);
  }
  return columnsTable(Object.entries(given as GivenColumns));
}

/** A table of cells by name, in this order. */
export function columnsTable(entries: readonly (readonly [string, ArrayLike<Cell> | Column])[]): Table {
  const made = entries.map(([name, cells]): [string, Column] => [name, givenColumn(name, cells)]);
  const [first] = made;
  const rows = first ? rowsOf(first[1]) : 0;
  for (const [name, column] of made) {
    if (rowsOf(column) === rows) continue;
    throw new ArgumentError(`table: the column "${name}" has ${rowsOf(column)} rows, and "${first?.[0]}" has ${rows}.`);
  }
  if (new Set(made.map(([name]) => name)).size < made.length) {
    const names = made.map(([name]) => name);
    const twice = names.find((name, i) => names.indexOf(name) < i);
    throw new ArgumentError(`table: two columns are called "${twice}".`);
  }
  return new Table(new Map(made), rows);
}

/** Columns in the order in which rows first name them; what a row does not name is missing. */
function rowsTable(rows: GivenRows): Table {
  const cells = new Map<string, Cell[]>();
  for (const [i, row] of rows.entries()) {
    if (typeof row !== "object" || row === null || Array.isArray(row)) {
      throw new ArgumentError(`table: row ${i} is ${shown(row)}; rows are objects, as { age: 31 }.`);
    }
    for (const [name, cell] of Object.entries(row)) {
      let column = cells.get(name);
      if (!column) {
        column = new Array<Cell>(rows.length).fill(null);
        cells.set(name, column);
      }
      column[i] = cell;
    }
  }
  return new Table(new Map([...cells].map(([name, each]) => [name, columnOf(name, each)])), rows.length);
}

function givenColumn(name: string, cells: ArrayLike<Cell> | Column): Column {
  if (isColumn(cells)) return cells;
  lengthOf(name, cells);
  return columnOf(name, cells);
}

/**
 * A column of categories in an order of the user's own: `table({ size: categories(["M", "S", "L"], ["S", "M", "L"]) })`. Numbers become
 * categories, too. Cells that the list lacks are refused; null is missing.
 */
export function categories(cells: ArrayLike<Cell>, list?: readonly string[]): CategoryColumn {
  for (const [what, given] of Object.entries({ "the cells": cells, "the list of categories": list ?? [] })) {
    if (typeof given !== "string" && typeof given?.length === "number" && typeof given !== "function") continue;
    throw new ArgumentError(
      `categories: ${what} ${given === undefined ? "are missing" : `is ${shown(given)}`}; give a list.`,
    );
  }
  const texts = Array.from(cells, (cell) =>
    cell === null || cell === undefined || Number.isNaN(cell)
      ? null
      : cell instanceof Date
        ? cell.toISOString()
        : String(cell),
  );
  if (list === undefined) return categoriesOf("categories", texts);
  const places = new Map(Array.from(list, (text, place) => [text, place]));
  if (places.size < list.length) throw new ArgumentError(`categories: ${shown(list)} has one twice.`);
  const codes = Int32Array.from(texts, (text, row) => {
    const code = text === null ? -1 : places.get(text);
    if (code !== undefined) return code;
    throw new ArgumentError(`categories: row ${row} is ${shown(text)}, which is not among ${shown(list)}.`);
  });
  return { kind: "category", categories: [...list], codes };
}

function lengthOf(name: string, cells: unknown): number {
  const isList = Array.isArray(cells) || (ArrayBuffer.isView(cells) && "length" in cells);
  if (isList) return (cells as ArrayLike<unknown>).length;
  throw new ArgumentError(`table: the column "${name}" is a list of values, not ${shown(cells)}.`);
}

/** A column of cells: text makes categories, anything else numbers. */
function columnOf(name: string, cells: ArrayLike<Cell>): Column {
  for (let i = 0; i < cells.length; i++) if (typeof cells[i] === "string") return categoriesOf(name, cells);
  const values = new Float64Array(cells.length);
  for (let i = 0; i < cells.length; i++) values[i] = numberOf(name, cells[i], i);
  return { kind: "number", values };
}

function numberOf(name: string, cell: Cell, row: number): number {
  switch (typeof cell) {
    case "number":
      return cell;
    case "bigint":
    case "boolean":
      return Number(cell);
    case "undefined":
      return Number.NaN;
    default:
      if (cell === null) return Number.NaN;
      if (cell instanceof Date) return cell.getTime();
      throw new ArgumentError(
        `table: row ${row} of the column "${name}" is ${shown(cell)}, no number, text or date; leave the column out.`,
      );
  }
}

function categoriesOf(name: string, cells: ArrayLike<Cell>): CategoryColumn {
  const texts = Array.from(cells, (cell, row): string | null => {
    if (cell === null || cell === undefined) return null;
    if (typeof cell === "string") return cell;
    throw new ArgumentError(
      `table: row ${row} of the column "${name}" is ${shown(cell)}, and others are text; make all of them text or numbers.`,
    );
  });
  const categories = [...new Set(texts.filter((text) => text !== null))].sort();
  const places = new Map(categories.map((text, place) => [text, place]));
  return {
    kind: "category",
    categories,
    codes: Int32Array.from(texts, (text) => (text === null ? -1 : (places.get(text) as number))),
  };
}
