/**
 * A table: named columns of equal length, of numbers or of categories. Estimators take tables of numbers as they are, and
 * `columnTransformer` turns categories into numbers. Tables are plain values; files and Arrow tables become one (readers beside
 * this file).
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";

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
export type GivenColumns = Readonly<Record<string, ArrayLike<Cell>>>;

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

  toString(): string {
    const kinds = [...this.columns].map(([name, column]) => `${name} (${describe(column)})`);
    return `table of ${this.rows} rows: ${kinds.join(", ")}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

const describe = (column: Column): string =>
  column.kind === "number" ? "number" : `${column.categories.length} categories`;

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
 * A table of columns: `table({ age: [31, 25], city: ["Bern", "Genf"] })`. Columns of text are categories, in alphabetical order;
 * numbers, booleans (0 and 1) and dates (milliseconds) are numbers. Null, undefined and NaN are missing.
 */
export function table(columns: GivenColumns): Table {
  if (typeof columns !== "object" || columns === null || Array.isArray(columns)) {
    throw new ArgumentError(`table: takes columns by name, as { age: [31, 25] }, not ${shown(columns)}.`);
  }
  const entries = Object.entries(columns);
  const rows = entries.length > 0 ? lengthOf(...(entries[0] as [string, ArrayLike<Cell>])) : 0;
  const made = entries.map(([name, cells]): [string, Column] => {
    if (lengthOf(name, cells) !== rows) {
      throw new ArgumentError(
        `table: the column "${name}" has ${cells.length} rows, and "${(entries[0] as [string, unknown])[0]}" has ${rows}.`,
      );
    }
    return [name, columnOf(name, cells)];
  });
  return new Table(new Map(made), rows);
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
      throw new ArgumentError(`table: row ${row} of the column "${name}" is ${shown(cell)}, no number, text or date.`);
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
