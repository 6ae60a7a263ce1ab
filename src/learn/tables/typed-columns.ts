/**
 * Columns of texts by what the texts are: numbers, true and false, dates, or categories. csv.ts makes its columns so.
 */
import { ArgumentError, FormatError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Column, categories } from "./table.js";

/** The type of a column. */
export type ColumnType = "number" | "category" | "date";

/** The mark before the fraction of a number. */
export type DecimalMark = "." | ",";

/** Each part begins with another character, so that no text is looked at twice. */
const NUMBERS: Readonly<Record<DecimalMark, RegExp>> = {
  ".": /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[iI]nf(?:inity)?)$/,
  ",": /^[+-]?(?:(?:\d+(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?|[iI]nf(?:inity)?)$/,
};
const FLAGS: ReadonlyMap<string, number> = new Map([
  ["true", 1],
  ["True", 1],
  ["TRUE", 1],
  ["false", 0],
  ["False", 0],
  ["FALSE", 0],
]);

/** A column by what its cells are, or by what the user says that they are. `what` is named in errors. */
export function typedColumn(
  name: string,
  cells: readonly (string | null)[],
  type: ColumnType | undefined,
  decimal: DecimalMark,
  what: string,
): Column {
  const isNumber = (cell: string): boolean => NUMBERS[decimal].test(cell.trim());
  const numbers = (): Column => ({
    kind: "number",
    values: Float64Array.from(cells, (cell) => numberOf(decimal === "," ? (cell?.replace(",", ".") ?? null) : cell)),
  });
  const wrong = (row: number, expected: string): FormatError =>
    new FormatError(`${what}: row ${row} of the column "${name}" is ${shown(cells[row])}, no ${expected}.`);
  switch (type) {
    case "category":
      return categories(cells);
    case "date": {
      const values = Float64Array.from(cells, (cell) => (cell === null ? Number.NaN : dateOf(cell.trim())));
      const row = values.findIndex((value, i) => Number.isNaN(value) && cells[i] !== null);
      if (row >= 0) throw wrong(row, "date");
      return { kind: "number", values };
    }
    case "number": {
      const row = cells.findIndex((cell) => cell !== null && !isNumber(cell));
      if (row >= 0) throw wrong(row, "number");
      return numbers();
    }
    case undefined:
      break;
    default:
      throw new ArgumentError(
        `${what}: the type of "${name}" is ${shown(type)}; it is "number", "category" or "date".`,
      );
  }
  if (cells.every((cell) => cell === null || isNumber(cell))) return numbers();
  if (cells.every((cell) => cell === null || FLAGS.has(cell))) {
    return {
      kind: "number",
      values: Float64Array.from(cells, (cell) => (cell === null ? Number.NaN : (FLAGS.get(cell) as number))),
    };
  }
  return categories(cells);
}

function numberOf(cell: string | null): number {
  if (cell === null) return Number.NaN;
  const text = cell.trim();
  if (!/inf/i.test(text)) return Number(text);
  return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** A zone at the end of a date: Z, a name, minutes from UTC behind a time, or a note in parentheses. */
const ZONE = /(?:Z|UTC?|GMT|[ECMP][SD]T|\)|:\d\d.{0,20}[+-]\d\d:?\d\d)$/i;

/** Milliseconds since 1970, or NaN. Without a zone it is UTC: JavaScript takes the zone of the machine, and models move between machines. */
function dateOf(text: string): number {
  if (ZONE.test(text)) return Date.parse(text);
  return Date.parse(`${text.replace(/^(\d{4}-\d\d-\d\d)T/i, "$1 ")} UTC`);
}
