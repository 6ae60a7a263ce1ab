/**
 * `npm run bench`: measures the rows on one device, then, when asked, the peers on the same machine, and prints a table
 * with ratios. Progress goes to standard error, the table to standard output. Exit code 1 means that a row failed to run;
 * a missed target is a finding, not a failure.
 */
import { writeFileSync } from "node:fs";
import { PumiceError, UnsupportedError } from "../src/index.js";
import type { VulkanDevice } from "../src/vulkan/index.js";
import { ceiling } from "./ceilings.js";
import { Busyness, type Context, type Kind, paceFor, sample } from "./harness.js";
import { describeMachine, formatMachine, halvingsFor, openChosen, settleThreads } from "./machine.js";
import { HELP, type Options, parseOptions, UsageError } from "./options.js";
import {
  askPeers,
  installJavascriptPeers,
  isJavascript,
  javascriptPeers,
  type PeerFigure,
  type PeerPace,
  type PeerReport,
  pythonPeers,
} from "./peers.js";
import { CLOSE, type Closeness, type Outcome, type Result, resultOf } from "./results.js";
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
  settleThreads();
  const vulkan = rows.some(({ place }) => place !== "cpu") ? await openChosen(options.device) : null;
  const isSoftware = vulkan?.chosen.properties.type === "cpu";
  const machine = describeMachine(vulkan?.chosen ?? null);
  console.log(`${formatMachine(machine)}\n`);
  if (isSoftware) {
    say(`${options.device === null ? "No GPU was found. " : ""}This is software Vulkan: the figures try the harness,`);
    say("and the targets, which were set for a GPU, are not judged.\n");
  }
  const places = placesFor(vulkan, options.quick);
  const outcomes: Outcome[] = [];
  const results = (report?: PeerReport): Result[] =>
    outcomes.map((outcome) => {
      const isJudged = !options.quick && (outcome.row.place === "cpu" || !isSoftware);
      return resultOf(outcome, report?.figures, isJudged);
    });
  const save = (report?: PeerReport) => {
    if (options.json === null) return;
    const everything = { machine, options, isSoftware, packages: report?.packages ?? [], rows: results(report) };
    writeFileSync(options.json, `${JSON.stringify(everything, null, 1)}\n`);
  };
  try {
    for (const row of rows) {
      outcomes.push(await runRow(row, places[row.place ?? "vulkan"], options));
      // A driver that takes the process along leaves what was measured before.
      save();
    }
  } finally {
    await vulkan?.device.close();
  }
  const report = await runPeers(rows, options, places);
  return tell(results(report), report, () => save(report));
}

/** Prints the table and what belongs to it. Returns the exit code. */
function tell(results: readonly Result[], report: PeerReport | undefined, save: () => void): number {
  console.log(`${formatTable(results)}\n\nIn parentheses: the 10th to the 90th percentile.`);
  if (report) {
    const seen = report.packages.map(
      ({ package: name, version, device: on }) => `${name} ${version}${on ? ` on ${on}` : ""}`,
    );
    console.log(`Ratio above 1: Pumice is faster. Peers: ${seen.join("; ") || "none found"}.`);
  }
  const remarks = formatRemarks(results);
  if (remarks) console.log(`\n${remarks}`);
  save();
  return results.some(({ error }) => error !== null) ? 1 : 0;
}

type Place = Pick<Context, "device" | "deviceIndex" | "isSoftware" | "isQuick" | "tensors" | "halvings"> & {
  readonly kind: Kind;
};
type Places = Readonly<Record<"cpu" | "vulkan", Place>>;

/** What rows run on. `vulkan` is null in a run of the CPU engine alone. */
function placesFor(vulkan: Awaited<ReturnType<typeof openChosen>> | null, isQuick: boolean): Places {
  // Rows of the CPU engine do not look at the device.
  const noDevice = { device: null as unknown as VulkanDevice, deviceIndex: -1 };
  const halved = halvingsFor("cpu", isQuick, Infinity);
  const cpu: Place = { kind: "cpu", ...noDevice, isSoftware: false, isQuick, tensors: "cpu", halvings: halved };
  if (!vulkan) return { cpu, vulkan: cpu };
  const { device, chosen } = vulkan;
  const isSoftware = chosen.properties.type === "cpu";
  const kind = isSoftware ? "software" : "gpu";
  const halvings = halvingsFor(kind, isQuick, device.availableBytes());
  const tensors = `vulkan:${chosen.index}`;
  return { cpu, vulkan: { kind, device, deviceIndex: chosen.index, isSoftware, isQuick, tensors, halvings } };
}

/** Of the device that rows run on; those of the CPU engine warm up alike in any case. */
const busyness = new Busyness();

/** Runs a row. One that fails, or that the device has no means for, costs its own figure only. */
async function runRow(row: Row, place: Place, { budget }: Options): Promise<Outcome> {
  const notes: string[] = [];
  const shown = { values: [] as readonly number[], closeness: CLOSE };
  const pace = paceFor(place.kind, place.isQuick, budget);
  const context: Context = {
    ...place,
    pace,
    sample: async (once) => {
      const samples = await sample(busyness.paceAt(pace, performance.now()), once);
      busyness.note(performance.now());
      return samples;
    },
    note: (text) => void notes.push(text),
    show: (values, closeness: Closeness = CLOSE) => void Object.assign(shown, { values, closeness }),
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
  if (place.kind !== "cpu" && !place.device.isLost) place.device.trim();
  const seconds = (performance.now() - start) / 1000;
  const figure = outcome.samples.length > 0 ? formatFigure(summarise(outcome.samples), row.unit) : "no figure";
  say(`${row.name}: ${figure} (${seconds.toFixed(1)} s)`);
  return { ...outcome, ...shown, seconds };
}

/** Asks the peers that the chosen rows name and the options allow; undefined when none were asked for. */
async function runPeers(rows: readonly Row[], options: Options, places: Places): Promise<PeerReport | undefined> {
  if (!options.peers && !options.jsPeers) return undefined;
  const report: PeerReport = { packages: [], figures: new Map() };
  const wanted = [...new Set(rows.flatMap(({ peers }) => Object.values(peers ?? {})))];
  const tell = (figure: PeerFigure) => {
    if ("absent" in figure) say(`${figure.row}: absent`);
    else if ("error" in figure) say(`${figure.row}: no figure`);
    else say(`${figure.row}: ${formatFigure(summarise(figure.samples), figure.unit)}`);
  };
  const ask = async (program: typeof pythonPeers, place: Place, isMine: (row: string) => boolean) => {
    const pace: PeerPace = { isQuick: options.quick, budget: options.budget, halvings: place.halvings };
    const { packages, figures } = await askPeers(program(pace), wanted.filter(isMine), tell);
    report.packages.push(...packages);
    for (const [row, figure] of figures) report.figures.set(row, figure);
  };
  if (options.peers) await ask(pythonPeers, places.vulkan, (row) => !isJavascript(row));
  if (options.jsPeers) {
    const problem = installJavascriptPeers();
    if (problem) say(problem);
    await ask(javascriptPeers, places.cpu, isJavascript);
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
