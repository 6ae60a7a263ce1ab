/** A table as text, for `console.log`: a head of rows in aligned columns, the kinds of the columns, and how much more there is. */
import type { Column, Table } from "./table.js";

/** Rows and characters of a line that are shown. */
const ROWS = 10;
const WIDTH = 100;
const CELL = 24;

/** The head of a table, in columns. Columns that do not fit into a line are counted. */
export function tableText(table: Table): string {
  const rows = Math.min(ROWS, table.rows);
  const places = Array.from({ length: rows }, (_, i) => String(i));
  const all = [...table.columns].map(([name, column]) => shownColumn(name, column, rows));
  const index = columnOfTexts(["", "", ...places], true);
  const fitting: string[][] = [index];
  let width = (index[0] as string).length;
  for (const texts of all) {
    width += 2 + (texts[0] as string).length;
    if (width > WIDTH && fitting.length > 1) break;
    fitting.push(texts);
  }
  const lines = index.map((_, i) =>
    fitting
      .map((texts) => texts[i] as string)
      .join("  ")
      .trimEnd(),
  );
  const left = all.length - (fitting.length - 1);
  const notes = [`${table.rows} rows × ${table.columns.size} columns`];
  if (left > 0) notes.push(`not shown: ${table.names.slice(-left).join(", ")}`);
  return [...(all.length > 0 ? lines : []), notes.join("; ")].join("\n");
}

function shownColumn(name: string, column: Column, rows: number): string[] {
  if (column.kind === "number") {
    const values = Array.from(column.values.slice(0, rows));
    return columnOfTexts([clipped(name), "number", ...values.map(numberText)], true);
  }
  const texts = Array.from(column.codes.slice(0, rows), (code) => column.categories[code] ?? "·");
  return columnOfTexts([clipped(name), `${column.categories.length} categories`, ...texts.map(clipped)], false);
}

/** At most six digits that matter; a missing cell is a dot. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return "·";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  return String(Number(value.toPrecision(6)));
}

function clipped(text: string): string {
  const line = text.replaceAll(/\s/g, " ");
  return line.length > CELL ? `${line.slice(0, CELL - 1)}…` : line;
}

function columnOfTexts(texts: readonly string[], isRight: boolean): string[] {
  const width = texts.reduce((most, text) => Math.max(most, text.length), 0);
  return texts.map((text) => (isRight ? text.padStart(width) : text.padEnd(width)));
}
