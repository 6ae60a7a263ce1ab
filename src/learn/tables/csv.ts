/**
 * Tables from CSV: text cut into cells in one pass (RFC 4180, with other separators), then columns by what their cells are. A column of
 * numbers, or of true and false, holds numbers; any other text makes categories. `readCsv` reads a file, `parseCsv` a text, `csvText` writes one.
 */
import { checkChoice, checkOptions, checkString } from "../../core/arguments.js";
import { ArgumentError, FormatError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { readNamed, writeNamed } from "../../files/named-file.js";
import { type Cell, columnsTable, Table } from "./table.js";
import { type ColumnType, type DecimalMark, typedColumn } from "./typed-columns.js";

/** Options of `readCsv` and `parseCsv`. */
export interface CsvOptions {
  /** The character between cells: a comma unless told. "\t" for tabs. */
  readonly separator?: string;
  /** True unless told: the first line has the names. A list gives them. False: columns are called "0", "1" … */
  readonly header?: boolean | readonly string[];
  /** Texts of missing cells: those of pandas unless told, as "", "NA", "NaN" and "null". A cell in quotes is never missing. */
  readonly missing?: readonly string[];
  /** The columns to keep; all unless told. */
  readonly columns?: readonly string[];
  /** The types of columns that are not to be guessed. Dates become milliseconds since 1970; those that name no zone are of UTC. */
  readonly types?: Readonly<Record<string, ColumnType>>;
  /** The mark before the fractions of numbers: "." unless told; "," needs another separator. */
  readonly decimal?: DecimalMark;
  /** Lines that begin with this are left out; none unless told. */
  readonly comment?: string;
  /** At most so many rows; all unless told. */
  readonly maxRows?: number;
}

/** The texts that pandas takes for missing. */
const MISSING = [
  "",
  "#N/A",
  "#N/A N/A",
  "#NA",
  "-1.#IND",
  "-1.#QNAN",
  "-NaN",
  "-nan",
  "1.#IND",
  "1.#QNAN",
  "<NA>",
  "N/A",
  "NA",
  "NULL",
  "NaN",
  "None",
  "n/a",
  "nan",
  "null",
];

/** The table in a CSV file, UTF-8. */
export async function readCsv(path: string, options: CsvOptions = {}): Promise<Table> {
  checkString("readCsv", "the path", path);
  const bytes = await readNamed("readCsv", path);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new FormatError(`readCsv: ${path} is no UTF-8 text; convert it first, as with iconv.`);
  }
  return parsed(text, options, `readCsv: ${path}`, "readCsv");
}

/** The table in a text of CSV. */
export function parseCsv(text: string, options: CsvOptions = {}): Table {
  checkString("parseCsv", "the text", text);
  return parsed(text, options, "parseCsv", "parseCsv");
}

function parsed(text: string, options: CsvOptions, what: string, operation: string): Table {
  checkOptions(operation, options, {
    separator: "text",
    header: "any",
    missing: "any",
    columns: "any",
    types: "any",
    decimal: "text",
    comment: "text",
    maxRows: "number",
  });
  const { separator = ",", header = true, missing = MISSING, types = {}, maxRows = Number.POSITIVE_INFINITY } = options;
  const { decimal = "." } = options;
  checkChoice(operation, "the option decimal", decimal, [".", ","]);
  if (separator.length !== 1 || separator === '"' || separator === "\n" || separator === "\r") {
    throw new ArgumentError(
      `${operation}: the separator is ${shown(separator)}; it is one character, as "," or "\\t".`,
    );
  }
  if (decimal === separator) {
    throw new ArgumentError(
      `${operation}: "${decimal}" is the separator and the option decimal; cells apart from their fractions take another separator, as ";".`,
    );
  }
  const reader = new CsvReader(text, separator, options.comment, what);
  const first = header === false ? null : Array.isArray(header) ? [...header] : reader.row();
  const columns: (string | null)[][] = [];
  const isMissing = new Set(missing);
  let names = first;
  let rows = 0;
  for (let row = reader.row(); row !== null && rows < maxRows; row = reader.row(), rows++) {
    names ??= row.map((_, i) => String(i));
    if (row.length !== names.length) {
      throw new FormatError(
        `${what}: line ${reader.startLine} has ${row.length} cells, and there are ${names.length} columns; a cell with the separator in it ` +
          "stands in quotes.",
      );
    }
    for (let i = 0; i < row.length; i++) {
      const cell = row[i] as string;
      columns[i] ??= [];
      columns[i]?.push(!reader.wasQuoted[i] && isMissing.has(cell) ? null : cell);
    }
  }
  const named = (names ?? []).map((name, i): [string, (string | null)[]] => [name, columns[i] ?? []]);
  for (const name of [...Object.keys(types), ...(options.columns ?? [])]) {
    if (!named.some(([each]) => each === name)) {
      throw new ArgumentError(`${what}: there is no column ${shown(name)}; there are ${(names ?? []).join(", ")}.`);
    }
  }
  const kept = options.columns ? named.filter(([name]) => options.columns?.includes(name)) : named;
  const typeOf = (name: string): ColumnType | undefined => (Object.hasOwn(types, name) ? types[name] : undefined);
  const made = columnsTable(kept.map(([name, cells]) => [name, typedColumn(name, cells, typeOf(name), decimal, what)]));
  return options.columns ? made.select(options.columns) : made;
}

/** Cuts a text into rows of cells. */
class CsvReader {
  private at: number;
  private line = 1;
  /** The line on which the last row began. */
  startLine = 1;
  /** Which cells of the last row stood in quotes. */
  wasQuoted: boolean[] = [];

  constructor(
    private readonly text: string,
    private readonly separator: string,
    private readonly comment: string | undefined,
    private readonly what: string,
  ) {
    // A byte order mark, as spreadsheets write it.
    this.at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  /** The next row that is not empty; null at the end. */
  row(): string[] | null {
    const { text } = this;
    for (;;) {
      if (this.at >= text.length) return null;
      this.startLine = this.line;
      if (this.endOfLine()) continue;
      if (this.comment && text.startsWith(this.comment, this.at)) {
        while (this.at < text.length && !isBreak(text.charCodeAt(this.at))) this.at++;
        this.endOfLine();
        continue;
      }
      return this.cells();
    }
  }

  private cells(): string[] {
    const { text, separator } = this;
    const cells: string[] = [];
    this.wasQuoted = [];
    for (;;) {
      const isQuoted = text[this.at] === '"';
      cells.push(isQuoted ? this.quoted() : this.plain());
      this.wasQuoted.push(isQuoted);
      if (text[this.at] === separator) {
        this.at++;
        continue;
      }
      this.endOfLine();
      return cells;
    }
  }

  private plain(): string {
    const { text, separator } = this;
    const code = separator.charCodeAt(0);
    const start = this.at;
    while (this.at < text.length) {
      const here = text.charCodeAt(this.at);
      if (here === code || isBreak(here)) break;
      this.at++;
    }
    return text.slice(start, this.at);
  }

  private quoted(): string {
    const { text } = this;
    const opened = this.line;
    const parts: string[] = [];
    let start = ++this.at;
    for (;;) {
      const end = text.indexOf('"', this.at);
      if (end < 0) throw new FormatError(`${this.what}: the quote that opens on line ${opened} is not closed.`);
      for (let i = this.at; i < end; i++) {
        const code = text.charCodeAt(i);
        if (code === 10 || (code === 13 && text.charCodeAt(i + 1) !== 10)) this.line++;
      }
      parts.push(text.slice(start, end));
      this.at = end + 1;
      if (text[this.at] !== '"') break;
      // A doubled quote is one of the cell.
      start = this.at;
      this.at++;
    }
    const after = text.charCodeAt(this.at);
    if (this.at < text.length && text[this.at] !== this.separator && !isBreak(after)) {
      throw new FormatError(
        `${this.what}: line ${this.line} goes on after a closing quote; a quote within quotes is written twice.`,
      );
    }
    return parts.join("");
  }

  /** Goes past the end of a line; whether there was one. */
  private endOfLine(): boolean {
    const code = this.text.charCodeAt(this.at);
    if (!isBreak(code)) return false;
    this.at += code === 13 && this.text.charCodeAt(this.at + 1) === 10 ? 2 : 1;
    this.line++;
    return true;
  }
}

const isBreak = (code: number): boolean => code === 10 || code === 13;

/** A table as CSV text. Missing cells are empty; those of a lone column are NA, since an empty line is no row. */
export function csvText(table: Table, options: { readonly separator?: string } = {}): string {
  if (!(table instanceof Table)) throw new ArgumentError(`csvText: takes a table, not ${shown(table)}.`);
  checkOptions("csvText", options, { separator: "text" });
  const { separator = "," } = options;
  const nothing = table.columns.size === 1 ? "NA" : "";
  const written = (cell: Cell): string => {
    if (cell === null || cell === undefined) return nothing;
    const text = String(cell);
    // A text that reads as missing keeps its meaning in quotes.
    const needsQuotes =
      text.includes(separator) || /["\r\n]/.test(text) || (typeof cell === "string" && MISSING.includes(text));
    return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const columns = table.names.map((name) => table.cells(name));
  const lines = [table.names.map(written).join(separator)];
  for (let i = 0; i < table.rows; i++) lines.push(columns.map((cells) => written(cells[i])).join(separator));
  return `${lines.join("\n")}\n`;
}

/** Writes a table as a CSV file. */
export async function writeCsv(
  path: string,
  table: Table,
  options: { readonly separator?: string } = {},
): Promise<void> {
  checkString("writeCsv", "the path", path);
  await writeNamed("writeCsv: the table", path, [new TextEncoder().encode(csvText(table, options))]);
}
