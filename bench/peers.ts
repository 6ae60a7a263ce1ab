/**
 * Runs the peers: other people's programs that do the same work in the same process discipline. Each package gets a
 * child process, so that one which crashes, or clashes with another's libraries, takes only its own figures along.
 *
 * The protocol, for Python and JavaScript alike: a JSON list of "package/row" names on standard input; on standard
 * output one JSON object per line, as soon as it is known:
 *
 *     {"package": "torch", "version": "2.11.0", "device": "NVIDIA H200"}
 *     {"row": "torch/clone", "unit": "GB/s", "samples": [4310.2, …]}
 *     {"row": "torch/cumsum", "unit": "ms", "samples": […], "values": [0.43, …]}
 *     {"row": "torch/start", "error": "why it failed"}
 *     {"row": "jax/roundtrip", "absent": "No module named 'jax'"}
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** bench/peers is not compiled: from dist/bench it is found beside the sources. */
export const PEERS_FOLDER = fileURLToPath(new URL("../../bench/peers", import.meta.url));

export type PeerFigure =
  | {
      readonly row: string;
      readonly unit: string;
      readonly samples: readonly number[];
      /** Elements of its result, at the positions where the row shows ours. */
      readonly values?: readonly number[];
    }
  | { readonly row: string; readonly error: string }
  | { readonly row: string; readonly absent: string };

export interface PeerPackage {
  readonly package: string;
  readonly version: string;
  readonly device?: string;
}

export interface PeerReport {
  readonly packages: PeerPackage[];
  /** By "package/row"; every row that was asked for has an entry. */
  readonly figures: Map<string, PeerFigure>;
}

export interface PeerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** A row that says nothing for this long has hung: four minutes unless told. */
  readonly silenceMs?: number;
}

/** JAX compiles for seconds, NumPyro samples for tens of them. */
const SILENCE_MS = 240_000;
const COMPLAINT_CHARACTERS = 1500;

/** How peers are to measure, so that they do the same work for as long. */
export interface PeerPace {
  readonly isQuick: boolean;
  readonly budget: number | null;
  /** How often the edges of large tensors are halved. */
  readonly halvings: number;
}

const paceArguments = ({ isQuick, budget, halvings }: PeerPace): string[] => [
  ...(isQuick ? ["--quick"] : []),
  ...(budget === null ? [] : ["--budget", String(budget)]),
  ...(halvings === 0 ? [] : ["--halvings", String(halvings)]),
];

export function pythonPeers(pace: PeerPace): PeerProgram {
  return {
    command: process.env.PYTHON ?? "python3",
    args: ["-B", join(PEERS_FOLDER, "peers.py"), ...paceArguments(pace)],
    // JAX takes three quarters of the GPU's memory at its first breath unless told otherwise.
    env: { XLA_PYTHON_CLIENT_PREALLOCATE: "false", TF_CPP_MIN_LOG_LEVEL: "2", PYTHONUNBUFFERED: "1" },
  };
}

export function javascriptPeers(pace: PeerPace): PeerProgram {
  return { command: process.execPath, args: [join(PEERS_FOLDER, "peers.mjs"), ...paceArguments(pace)] };
}

/** The package a peer row belongs to. JavaScript's begin with "js:", as in "js:jax-js/chain". */
export const packageOf = (row: string): string => row.slice(0, row.indexOf("/"));
export const isJavascript = (row: string): boolean => row.startsWith("js:");

/** Asks a program for rows, one process per package, one after the other. */
export async function askPeers(
  program: PeerProgram,
  rows: readonly string[],
  onFigure: (figure: PeerFigure) => void = () => {},
): Promise<PeerReport> {
  const report: PeerReport = { packages: [], figures: new Map() };
  for (const name of new Set(rows.map(packageOf))) {
    const wanted = rows.filter((row) => packageOf(row) === name);
    await askPackage(program, wanted, report, onFigure);
  }
  return report;
}

async function askPackage(
  program: PeerProgram,
  wanted: readonly string[],
  report: PeerReport,
  onFigure: (figure: PeerFigure) => void,
): Promise<void> {
  const { command, args, env, silenceMs = SILENCE_MS } = program;
  const keep = (figure: PeerFigure) => {
    report.figures.set(figure.row, figure);
    onFigure(figure);
  };
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  let complaints = "";
  let hasHung = false;
  let watch: NodeJS.Timeout | undefined;
  const expectNews = () => {
    clearTimeout(watch);
    watch = setTimeout(() => {
      hasHung = true;
      child.kill("SIGKILL");
    }, silenceMs);
  };
  expectNews();
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-COMPLAINT_CHARACTERS);
  });
  // A program that ends before it has read its input is reported by how it ended.
  child.stdin.on("error", () => {}).end(JSON.stringify(wanted));
  createInterface({ input: child.stdout }).on("line", (line) => {
    expectNews();
    const news = parseNews(line);
    if (news === null) complaints = `${complaints}${line}\n`.slice(-COMPLAINT_CHARACTERS);
    else if ("package" in news) report.packages.push(news);
    else keep(news);
  });
  const ending = await new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) => resolve(`${command} ended with ${signal ?? `exit code ${code}`}`));
  });
  clearTimeout(watch);
  const missing = wanted.filter((row) => !report.figures.has(row));
  if (!hasHung) {
    for (const row of missing) keep({ row, error: `${ending}. ${complaints.trim()}`.trim() });
    return;
  }
  // Rows come in the order they were asked for: the first that is missing is the one that hung, and the others get a chance.
  const [hung, ...rest] = missing;
  if (hung) keep({ row: hung, error: `no news for ${silenceMs / 1000} s. ${complaints.trim()}`.trim() });
  if (rest.length > 0) await askPackage(program, rest, report, onFigure);
}

/** A line of the protocol, or null for anything else: libraries print banners. */
export function parseNews(line: string): PeerFigure | PeerPackage | null {
  let news: unknown;
  try {
    news = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof news !== "object" || news === null) return null;
  const { row, samples, values, unit, error, absent, package: name, version, device } = news as Record<string, unknown>;
  if (typeof name === "string") {
    return { package: name, version: String(version), ...(device === undefined ? {} : { device: String(device) }) };
  }
  if (typeof row !== "string") return null;
  if (typeof absent === "string") return { row, absent };
  if (typeof error === "string") return { row, error };
  const isGood = Array.isArray(samples) && samples.length > 0 && samples.every((n) => Number.isFinite(n));
  if (typeof unit !== "string" || !isGood) return { row, error: `an answer without samples: ${line.slice(0, 200)}` };
  return { row, unit, samples, ...(Array.isArray(values) ? { values: values.map(Number) } : {}) };
}

/** Installs what bench/peers/package-lock.json lists, into its own folder. Returns why that failed, or null. */
export function installJavascriptPeers(): string | null {
  const { dependencies = {} } = JSON.parse(readFileSync(join(PEERS_FOLDER, "package.json"), "utf8"));
  const installed = join(PEERS_FOLDER, "node_modules");
  const isThere = (name: string) => existsSync(join(installed, name)) && readdirSync(join(installed, name)).length > 0;
  if (Object.keys(dependencies).every(isThere)) return null;
  const result = spawnSync("npm", ["ci", "--prefix", PEERS_FOLDER, "--ignore-scripts", "--no-audit", "--no-fund"], {
    encoding: "utf8",
    shell: process.platform === "win32", // npm is a .cmd file there
  });
  if (result.status === 0) return null;
  return `npm ci --prefix bench/peers failed: ${result.error?.message ?? result.stderr.slice(-COMPLAINT_CHARACTERS)}`;
}
