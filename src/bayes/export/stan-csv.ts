/**
 * Writes Stan CSV, the files of CmdStan: one per chain, comments that begin with #, a line of column names, a line per draw.
 * Scalars count from 1 and their first index runs fastest: `L.1.1`, `L.2.1`. ArviZ's `from_cmdstan` and rstan's `read_stan_csv`
 * read them, and so does stan-csv-reader.ts.
 */
import { checkOptions, checkString } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { ravelIndex, type Shape, unravelIndex } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { writeNamed } from "../../files/named-file.js";
import { type Chains, checkDraws, type Draws, scalarNames } from "../draws/draws.js";
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

/** Lines that are written at once. */
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
