/**
 * Stan CSV, the files CmdStan writes: one per chain, comments that begin with #, a line of column names, a line per draw.
 * Scalars count from 1 and their first index runs fastest: `L.1.1`, `L.2.1`. The reader takes CmdStan's own files, so their
 * diagnostics and reports are a call away; ArviZ's `from_cmdstan` and rstan's `read_stan_csv` read what the writer writes.
 */
import { checkOptions, checkString } from "../../core/arguments.js";
import { ArgumentError, FormatError } from "../../core/errors.js";
import { ravelIndex, type Shape, sizeOf, unravelIndex } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { type Chains, checkDraws, Draws, STATISTICS, scalarNames } from "../draws/draws.js";
import { readNamed, writeNamed } from "../draws/files.js";
import { STATISTIC_NAMES } from "./inference-data.js";
import { adaptationComment, type RunFacts, settingsComment, timeComment } from "./stan-comments.js";

export interface StanCsvOptions {
  /** The model's name in the comments. */
  readonly model?: string;
}

/**
 * Writes `<prefix>_1.csv`, `<prefix>_2.csv` … and returns their paths. `fit.saveStanCsv` writes with them what the fit knows of
 * its run: the warmup, the metric and the time it took.
 */
export function saveStanCsv(prefix: string, draws: Draws, options: StanCsvOptions = {}): Promise<string[]> {
  return writeStanCsv(prefix, draws, options);
}

/** The same with all that is known of the run. */
export async function writeStanCsv(
  prefix: string,
  draws: Draws,
  options: StanCsvOptions,
  facts?: RunFacts,
): Promise<string[]> {
  checkString("saveStanCsv", "the prefix", prefix);
  checkDraws("saveStanCsv", draws);
  checkOptions("saveStanCsv", options, { model: "text" });
  const columns = columnsOf(draws);
  const paths = Array.from({ length: draws.chains }, (_, chain) => `${prefix}_${chain + 1}.csv`);
  for (const [chain, path] of paths.entries())
    await writeNamed("saveStanCsv: the draws", path, chainCsv(draws, columns, chain, options, facts));
  return paths;
}

/** Reads the files of one run, a chain each. */
export async function loadStanCsv(paths: readonly string[]): Promise<Draws> {
  checkTexts("loadStanCsv", "paths", paths);
  return parseStanCsv(await Promise.all(paths.map((path) => readNamed("loadStanCsv", path))), paths);
}

/** How many lines are put together before they are written. */
const LINES = 500;

/** The text of one chain's file. */
export function stanCsv(draws: Draws, chain: number, options: StanCsvOptions = {}): string {
  checkDraws("stanCsv", draws);
  checkOptions("stanCsv", options, { model: "text" });
  if (!(Number.isInteger(chain) && chain >= 0 && chain < draws.chains)) {
    throw new ArgumentError(`stanCsv: there is no chain ${shown(chain)}; they count from 0 to ${draws.chains - 1}.`);
  }
  return [...chainCsv(draws, columnsOf(draws), chain, options)].join("");
}

/** A column of the file, with the draws of all chains. */
interface Column {
  readonly name: string;
  readonly values: Float64Array;
}

function columnsOf(draws: Draws): Column[] {
  const statistics = draws.stats.map((name) => ({
    name: STATISTIC_NAMES[name].stan,
    values: (draws.stat(name) as Chains).values,
  }));
  const scalars = [...draws.variables].flatMap(([variable, shape]) => columnNames(variable, shape));
  return [...statistics, ...scalars.map(({ name, scalar }) => ({ name, values: draws.scalar(scalar).values }))];
}

/** Stan counts from 1, and its first index runs fastest: a row-major walk over the reversed shape. */
function columnNames(variable: string, shape: Shape): { name: string; scalar: string }[] {
  if (variable === "" || /[.,#:"'\\\s]/.test(variable) || variable.endsWith("__")) {
    throw new ArgumentError(
      `stanCsv: Stan's columns cannot be named ${JSON.stringify(variable)}: a name has at least one character, no points, ` +
        "commas, colons, quotes, backslashes, # or spaces, and no __ at the end.",
    );
  }
  const scalars = scalarNames(variable, shape);
  const reversed = shape.toReversed();
  return scalars.map((_, i) => {
    const index = unravelIndex(i, reversed).reverse();
    const name = [variable, ...index.map((at) => at + 1)].join(".");
    return { name, scalar: scalars[ravelIndex(index, shape)] };
  });
}

function* chainCsv(
  draws: Draws,
  columns: readonly Column[],
  chain: number,
  { model = "pumice" }: StanCsvOptions,
  facts?: RunFacts,
): Generator<string> {
  const [start, end] = [chain * draws.length, (chain + 1) * draws.length];
  yield settingsComment(draws, chain, model, facts);
  yield `${columns.map(({ name }) => name).join(",")}\n`;
  const stepSize = columns.find(({ name }) => name === STATISTIC_NAMES.stepSize.stan)?.values[end - 1];
  if (stepSize !== undefined) yield adaptationComment(stepSize, chain, facts);
  for (let from = start; from < end; from += LINES) {
    let lines = "";
    for (let i = from; i < Math.min(from + LINES, end); i++) {
      lines += `${columns.map(({ values }) => stanNumber(values[i])).join(",")}\n`;
    }
    yield lines;
  }
  if (facts) yield timeComment(facts);
}

function stanNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
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
  const { header, settings } = first;
  const variables = variablesOf(header, first.path);
  const statistics = STATISTICS.filter((name) => header.includes(STATISTIC_NAMES[name].stan));
  const gather = (positions: readonly number[]) =>
    files.flatMap((file) => file.rows.flatMap((row) => positions.map((position) => row[position])));
  const draws = new Draws({
    chains: files.length,
    variables: Object.fromEntries([...variables].map(([name, { shape }]) => [name, shape])),
    maxTreeDepth: settings.has("max_depth") ? Number(settings.get("max_depth")) : undefined,
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

interface ChainFile {
  readonly path: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly number[])[];
  /** Settings from the comments, as in "thin = 1". */
  readonly settings: ReadonlyMap<string, string>;
}

function readChain(text: string, path: string): ChainFile {
  const settings = new Map<string, string>();
  const rows: number[][] = [];
  let header: string[] | undefined;
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.startsWith("#")) {
      const [, key, value] = /^#\s*(\w+)\s*=\s*(\S+)/.exec(line) ?? [];
      if (key) settings.set(key, value);
    } else if (header && line.trim() !== "") rows.push(readRow(line, header.length, `${path}, line ${i + 1}`));
    else if (line.trim() !== "") header = line.split(",").map((name) => name.trim());
  }
  if (!header) throw new FormatError(`${path}: no line with the names of columns; is it a Stan CSV file?`);
  const wasSaved = ["1", "true"].includes(settings.get("save_warmup") ?? "");
  const warmup = wasSaved ? Math.ceil(Number(settings.get("num_warmup") ?? 0) / Number(settings.get("thin") ?? 1)) : 0;
  return { path, header, rows: rows.slice(warmup), settings };
}

const SPECIALS: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  inf: Infinity,
  "+inf": Infinity,
  "-inf": -Infinity,
};

function readRow(line: string, columns: number, where: string): number[] {
  const cells = line.split(",");
  if (cells.length !== columns) {
    throw new FormatError(`${where}: ${cells.length} numbers for ${columns} columns; was the file cut off?`);
  }
  return cells.map((cell) => {
    const word = cell.trim().toLowerCase();
    const value = SPECIALS[word] ?? Number(word);
    if (word === "" || (Number.isNaN(value) && word !== "nan"))
      throw new FormatError(`${where}: "${cell}" is no number.`);
    return value;
  });
}

interface Variable {
  shape: number[];
  /** Where its elements stand in a row, in row-major order. */
  positions: number[];
}

/** Columns by variable: `theta.1`, `theta.2` are two elements of theta. */
function variablesOf(header: readonly string[], path: string): Map<string, Variable> {
  const elements = new Map<string, { index: number[]; position: number }[]>();
  header.forEach((column, position) => {
    if (column.endsWith("__")) return;
    const [, name, index = ""] = /^(.*?)((?:\.\d+)*)$/.exec(column) as RegExpExecArray;
    const list = elements.get(name) ?? [];
    elements.set(name, list);
    list.push({ index: [...index.matchAll(/\d+/g)].map(([digits]) => Number(digits) - 1), position });
  });
  const result = new Map<string, Variable>();
  for (const [name, list] of elements) {
    const shape = list[0].index.map((_, axis) => list.reduce((size, { index }) => Math.max(size, index[axis] + 1), 0));
    const positions = new Array<number>(sizeOf(shape));
    for (const { index, position } of list) {
      if (index.length === shape.length) positions[ravelIndex(index, shape)] = position;
    }
    if (list.length !== positions.length || Object.keys(positions).length !== positions.length) {
      throw new FormatError(`${path}: the columns of "${name}" do not fill an array; some are missing or repeated.`);
    }
    result.set(name, { shape, positions });
  }
  return result;
}
