/**
 * `npm run bench`: measures the rows on one device, then, when asked, the peers on the same machine, and prints a table
 * with ratios. Progress goes to standard error, the table to standard output. Exit code 1 means that a row failed to run;
 * a missed target is a finding, not a failure.
 */
import { writeFileSync } from "node:fs";
import { PumiceError, UnsupportedError } from "../src/index.js";
import { ceiling } from "./ceilings.js";
import { type Context, paceFor, sample } from "./harness.js";
import { describeMachine, formatMachine, openChosen } from "./machine.js";
import { HELP, type Options, parseOptions, UsageError } from "./options.js";
import {
  askPeers,
  installJavascriptPeers,
  isJavascript,
  javascriptPeers,
  type PeerFigure,
  type PeerReport,
  pythonPeers,
} from "./peers.js";
import { type Outcome, resultOf } from "./results.js";
import { type Row, selectRows, shareOf } from "./row.js";
import { rows as allRows } from "./rows/index.js";
import { median, summarise } from "./statistics.js";
import { formatFigure, formatRemarks, formatTable } from "./table.js";

const say = (text: string) => process.stderr.write(`${text}\n`);

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const rows = selectRows(allRows, options.only);
  if (rows.length === 0) throw new UsageError(`No row matches ${options.only.join(", ")}; --list names them.`);
  if (options.list) {
    const width = Math.max(...rows.map(({ name }) => name.length));
    for (const { name, title, unit } of rows) console.log(`${name.padEnd(width)}  ${title} (${unit})`);
    return 0;
  }
  const { device, chosen } = await openChosen(options.device);
  const isSoftware = chosen.properties.type === "cpu";
  const machine = describeMachine(chosen);
  console.log(`${formatMachine(machine)}\n`);
  if (isSoftware) {
    say(`${options.device === null ? "No GPU was found. " : ""}This is software Vulkan: the figures try the harness,`);
    say("and the targets, which were set for a GPU, are not judged.\n");
  }
  const outcomes: Outcome[] = [];
  try {
    const context = { device, deviceIndex: chosen.index, isSoftware, isQuick: options.quick };
    for (const row of rows) outcomes.push(await runRow(row, context));
  } finally {
    await device.close();
  }
  const report = await runPeers(rows, options);
  const results = outcomes.map((outcome) => resultOf(outcome, report?.figures, !isSoftware && !options.quick));
  console.log(`${formatTable(results)}\n\nIn parentheses: the 10th to the 90th percentile.`);
  if (report) {
    const seen = report.packages.map(
      ({ package: name, version, device: on }) => `${name} ${version}${on ? ` on ${on}` : ""}`,
    );
    console.log(`Ratio above 1: Pumice is faster. Peers: ${seen.join("; ") || "none found"}.`);
  }
  const remarks = formatRemarks(results);
  if (remarks) console.log(`\n${remarks}`);
  if (options.json) {
    const everything = { machine, options, isSoftware, packages: report?.packages ?? [], rows: results };
    writeFileSync(options.json, `${JSON.stringify(everything, null, 1)}\n`);
  }
  return results.some(({ error }) => error !== null) ? 1 : 0;
}

type Place = Pick<Context, "device" | "deviceIndex" | "isSoftware" | "isQuick">;

/** Runs a row. One that fails, or that the device has no means for, costs its own figure only. */
async function runRow(row: Row, place: Place): Promise<Outcome> {
  const notes: string[] = [];
  const pace = paceFor(place.isSoftware, place.isQuick);
  const context: Context = {
    ...place,
    pace,
    sample: (once) => sample(pace, once),
    note: (text) => void notes.push(text),
    ceiling: (of) => ceiling(context, of),
  };
  const start = performance.now();
  const outcome = {
    row,
    samples: [] as readonly number[],
    share: null as number | null,
    notes,
    error: null as string | null,
  };
  try {
    outcome.samples = await row.run(context);
    if (row.limit) {
      const work = row.limit.work?.(context);
      outcome.share = shareOf(await context.ceiling(row.limit.of), row.unit, median(outcome.samples), work);
    }
  } catch (error) {
    if (error instanceof UnsupportedError) notes.push(`not on this device: ${error.message}`);
    else outcome.error = error instanceof PumiceError ? error.message : String((error as Error).stack ?? error);
  }
  if (!place.device.isLost) place.device.trim();
  const seconds = (performance.now() - start) / 1000;
  const figure = outcome.samples.length > 0 ? formatFigure(summarise(outcome.samples), row.unit) : "no figure";
  say(`${row.name}: ${figure} (${seconds.toFixed(1)} s)`);
  return { ...outcome, seconds };
}

/** Asks the peers that the chosen rows name and the options allow; null when none were asked for. */
async function runPeers(rows: readonly Row[], options: Options): Promise<PeerReport | null> {
  if (!options.peers && !options.jsPeers) return null;
  const report: PeerReport = { packages: [], figures: new Map() };
  const wanted = [...new Set(rows.flatMap(({ peers }) => Object.values(peers ?? {})))];
  const tell = (figure: PeerFigure) => {
    if ("absent" in figure) say(`${figure.row}: absent`);
    else if ("error" in figure) say(`${figure.row}: no figure`);
    else say(`${figure.row}: ${formatFigure(summarise(figure.samples), figure.unit)}`);
  };
  const ask = async (program: typeof pythonPeers, isMine: (row: string) => boolean) => {
    const { packages, figures } = await askPeers(program(options.quick), wanted.filter(isMine), tell);
    report.packages.push(...packages);
    for (const [row, figure] of figures) report.figures.set(row, figure);
  };
  if (options.peers) await ask(pythonPeers, (row) => !isJavascript(row));
  if (options.jsPeers) {
    const problem = installJavascriptPeers();
    if (problem) say(problem);
    await ask(javascriptPeers, isJavascript);
  }
  return report;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError || error instanceof PumiceError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
