/**
 * Reads Stan CSV (stan-csv.ts has the format), CmdStan's own files too, so that their diagnostics and reports are a call
 * away. Nothing in a file is trusted: time and memory grow with its length and no faster, every cell is a number, columns are
 * names that fill arrays, and the settings that are used are whole numbers.
 */
import { ArgumentError, FormatError } from "../../core/errors.js";
import { productOf, ravelIndex } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { readNamedText, withoutMark } from "../../files/named-file.js";
import { Draws, STATISTICS } from "../draws/draws.js";
import { whyNoName } from "../draws/names.js";
import { STATISTIC_NAMES } from "./inference-data.js";

/** More axes than any array has. */
const MAX_AXES = 32;

/** Reads the files of one run, a chain each. */
export async function loadStanCsv(paths: readonly string[]): Promise<Draws> {
  checkTexts("loadStanCsv", "paths", paths);
  if (paths.length === 0) throw new ArgumentError("loadStanCsv: no files; give one for each chain.");
  return parseStanCsv(await Promise.all(paths.map((path) => readNamedText("loadStanCsv", path))), paths);
}

/** The draws in the texts of Stan CSV files, a chain each. Warmup that was saved is left out. */
export function parseStanCsv(texts: readonly string[], paths: readonly string[] = []): Draws {
  checkTexts("parseStanCsv", "texts", texts);
  if (texts.length === 0) throw new ArgumentError("parseStanCsv: no files; give one for each chain.");
  const files = texts.map((text, i) => readChain(text, paths[i] ?? `chain ${i + 1}`));
  const [first] = files;
  for (const file of files) {
    if (file.header.join() !== first.header.join()) {
      throw new FormatError(`${file.path}: its columns are not those of ${first.path}; are both of one run?`);
    }
    if (file.rows.length !== first.rows.length) {
      throw new FormatError(
        `${file.path}: ${file.rows.length} draws, but ${first.path} has ${first.rows.length}; ` +
          `did a chain stop early? Give only the files of complete chains.`,
      );
    }
  }
  const { header, maxTreeDepth } = first;
  const variables = variablesOf(header, first.path);
  const statistics = STATISTICS.filter((name) => header.includes(STATISTIC_NAMES[name].stan));
  const gather = (positions: readonly number[]): Float64Array => {
    const values = new Float64Array(files.length * first.rows.length * positions.length);
    let next = 0;
    for (const { rows } of files) for (const row of rows) for (const at of positions) values[next++] = row[at];
    return values;
  };
  const draws = new Draws({
    chains: files.length,
    variables: Object.fromEntries([...variables].map(([name, { shape }]) => [name, shape])),
    maxTreeDepth,
  });
  draws.append({
    values: Object.fromEntries([...variables].map(([name, { positions }]) => [name, gather(positions)])),
    stats: Object.fromEntries(statistics.map((name) => [name, gather([header.indexOf(STATISTIC_NAMES[name].stan)])])),
  });
  return draws;
}

function checkTexts(operation: string, what: string, list: readonly string[]): void {
  if (Array.isArray(list) && list.every((each) => typeof each === "string")) return;
  throw new ArgumentError(`${operation}: takes a list of ${what}, one for each chain, not ${shown(list)}.`);
}

// ---------------------------------------------------------------------------------------------------- a file

interface ChainFile {
  readonly path: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly number[])[];
  readonly maxTreeDepth: number | undefined;
}

function readChain(text: string, path: string): ChainFile {
  const settings = new Map<string, string>();
  const rows: number[][] = [];
  let header: string[] | undefined;
  for (const [i, line] of withoutMark(text).split("\n").entries()) {
    if (line.startsWith("#")) noteSetting(line, settings);
    else if (line.trim() === "") continue;
    else if (header) rows.push(readRow(line, header.length, `${path}, line ${i + 1}`));
    else header = line.split(",").map((name) => name.trim());
  }
  if (!header) throw new FormatError(`${path}: no line with the names of columns; is it a Stan CSV file?`);
  const setting = (name: string, least: number) => countOf(settings.get(name), name, least, path);
  const [warmup = 0, thin = 1] = [setting("num_warmup", 0), setting("thin", 1)];
  const wasSaved = ["1", "true"].includes(settings.get("save_warmup") ?? "");
  const first = wasSaved ? Math.ceil(warmup / thin) : 0;
  return { path, header, rows: rows.slice(first), maxTreeDepth: setting("max_depth", 1) };
}

/** A setting in a comment: the word before the sign and the one after it, as in "# thin = 1 (Default)". */
function noteSetting(line: string, settings: Map<string, string>): void {
  const sign = line.indexOf("=");
  if (sign < 0) return;
  const name = line.slice(1, sign).trim();
  const [value] = line
    .slice(sign + 1)
    .trim()
    .split(/\s/, 1);
  if (/^\w+$/.test(name) && value !== "") settings.set(name, value);
}

function countOf(text: string | undefined, name: string, least: number, path: string): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new FormatError(`${path}: ${name} is ${shown(text)}; it is a whole number from ${least}.`);
}

const SPECIALS = new Map([
  ["nan", Number.NaN],
  ["-nan", Number.NaN],
  ["inf", Infinity],
  ["+inf", Infinity],
  ["-inf", -Infinity],
]);
/** A decimal number. No part can match what another has matched, so it takes a time that grows with the length. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/;

function readRow(line: string, columns: number, where: string): number[] {
  const cells = line.split(",");
  if (cells.length !== columns) {
    throw new FormatError(`${where}: ${cells.length} numbers for ${columns} columns; was the file cut off?`);
  }
  return cells.map((cell) => {
    const word = cell.trim().toLowerCase();
    const value = SPECIALS.get(word) ?? (DECIMAL.test(word) ? Number(word) : undefined);
    if (value === undefined) throw new FormatError(`${where}: ${shown(cell)} is no number.`);
    return value;
  });
}

// ---------------------------------------------------------------------------------------------------- columns

interface Variable {
  readonly shape: readonly number[];
  /** The columns of its elements, in row-major order. */
  readonly positions: readonly number[];
}

interface Element {
  readonly index: readonly number[];
  readonly position: number;
}

/** Columns by variable: `theta.1`, `theta.2` are two elements of theta. */
function variablesOf(header: readonly string[], path: string): Map<string, Variable> {
  const elements = new Map<string, Element[]>();
  header.forEach((column, position) => {
    const { name, index } = parseColumn(column);
    const problem = whyNoName(name);
    if (problem) throw new FormatError(`${path}: column ${position + 1}: ${problem}.`);
    if (column.endsWith("__")) return;
    const list = elements.get(name) ?? [];
    elements.set(name, list);
    list.push({ index, position });
  });
  return new Map([...elements].map(([name, list]) => [name, arrayOf(name, list, path)]));
}

/** The name of a variable, and the numbers behind its last points, counted from 0. */
function parseColumn(column: string): { readonly name: string; readonly index: readonly number[] } {
  const words = column.split(".");
  let first = words.length;
  while (first > 1 && /^\d+$/.test(words[first - 1])) first--;
  return { name: words.slice(0, first).join("."), index: words.slice(first).map((digits) => Number(digits) - 1) };
}

/** The elements as an array that they fill. Its size is compared before room is made for it. */
function arrayOf(name: string, list: readonly Element[], path: string): Variable {
  const refuse = (why: string): never => {
    throw new FormatError(`${path}: the columns of ${shown(name)} do not fill an array; ${why}.`);
  };
  const axes = list[0].index.length;
  if (axes > MAX_AXES) refuse(`they have ${axes} axes`);
  const shape = new Array<number>(axes).fill(0);
  for (const { index } of list) {
    if (index.length !== axes) refuse("some have more axes than others");
    index.forEach((at, axis) => {
      if (!(Number.isSafeInteger(at) && at >= 0)) refuse("indices count from 1");
      shape[axis] = Math.max(shape[axis], at + 1);
    });
  }
  if (productOf(shape) !== list.length) refuse("some are missing or repeated");
  const positions = new Map(list.map(({ index, position }) => [ravelIndex(index, shape), position]));
  if (positions.size !== list.length) refuse("some are missing or repeated");
  return { shape, positions: list.map((_, i) => positions.get(i) as number) };
}
