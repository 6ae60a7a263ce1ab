/**
 * Fits in files: a line with a checksum of the rest, a line of JSON that says what there is, then numbers as they lie in
 * memory. `fit.save` and checkpoints of a run write them, by way of a second file that then takes the name, so that
 * whoever is killed while writing leaves the last good one; `posterior.resume` reads them.
 */
import { createHash } from "node:crypto";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FormatError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { Draws, type Statistic } from "../draws/draws.js";
import { unwritable, whyNot } from "../draws/files.js";
import type { SavedChains } from "./nuts-chains.js";
import type { SampleOptions } from "./options.js";

/** Milliseconds in which the chains were under way. */
export interface Spent {
  readonly warmup: number;
  readonly sampling: number;
}

export interface SavedFit {
  /** Without what concerns one run only. */
  readonly options: SampleOptions;
  readonly draws: Draws;
  /** The SHA-256 of the sampler's kernel, and of the data it sampled with. */
  readonly kernel: string;
  readonly data: string;
  readonly spent: Spent;
  readonly chains: SavedChains;
}

interface Section {
  readonly group: "values" | "stats" | "buffers";
  readonly name: string;
  readonly bytes: number;
}

interface Header extends Pick<SavedFit, "options" | "kernel" | "data" | "spent"> {
  readonly variables: readonly (readonly [name: string, shape: Shape])[];
  readonly parts: readonly Section[];
}

const FIRST_LINE = /^pumice fit 3 ([0-9a-f]{64})$/;

const bytesOf = (values: Float64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** The file that is written before it takes the name of another. */
const temporaryPath = (path: string): string => `${path}.${process.pid}.part`;

/** Removes what processes that were killed while they wrote have left of this file. */
async function removeStaleParts(path: string): Promise<void> {
  const name = `${basename(path)}.`;
  for (const found of await readdir(dirname(path))) {
    const process = found.startsWith(name) && /^(\d+)\.part$/.exec(found.slice(name.length))?.[1];
    if (process && !isAlive(Number(process))) await rm(join(dirname(path), found), { force: true });
  }
}

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    // It may belong to somebody else.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The second file could be written for these, too. */
function checkName(path: string): void {
  if (path === "") throw new Error("it is an empty name");
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
}

/** Throws where no fit can be written, by writing a little: hours later would be too late to hear of it. */
export function checkWritable(what: string, path: string): void {
  try {
    checkName(path);
    writeFileSync(temporaryPath(path), "");
    rmSync(temporaryPath(path));
  } catch (error) {
    throw unwritable(what, path, error);
  }
}

/** `what`: operation and contents, for errors. */
export async function writeFit(
  what: string,
  path: string,
  { options, draws, kernel, data, spent, chains }: SavedFit,
): Promise<void> {
  const parts: Section[] = [];
  const contents: Uint8Array[] = [];
  const add = (group: Section["group"], name: string, bytes: Uint8Array) => {
    parts.push({ group, name, bytes: bytes.byteLength });
    contents.push(bytes);
  };
  for (const name of draws.variables.keys()) add("values", name, bytesOf(draws.values(name)));
  for (const name of draws.stats) add("stats", name, bytesOf((draws.stat(name) as { values: Float64Array }).values));
  for (const [name, bytes] of Object.entries(chains.buffers)) add("buffers", name, bytes);
  const header: Header = { options, kernel, data, spent, variables: [...draws.variables], parts };
  const body = [Buffer.from(`${JSON.stringify(header)}\n`), ...contents];
  const hash = createHash("sha256");
  for (const bytes of body) hash.update(bytes);

  const temporary = temporaryPath(path);
  try {
    checkName(path);
    const file = await open(temporary, "w");
    try {
      await file.writeFile(`pumice fit 3 ${hash.digest("hex")}\n`);
      for (const bytes of body) await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await removeStaleParts(path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw unwritable(what, path, error);
  }
}

/** `device`: where tensors of the draws are made unless the run was told. */
export async function readFit(path: string, device?: string): Promise<SavedFit> {
  const wrong = (why: string, cause?: unknown) =>
    new FormatError(`resume: ${path} cannot be resumed: ${why}.`, { cause });
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw wrong(whyNot(path, error), error);
  }
  const end = bytes.indexOf("\n");
  const [, checksum] = FIRST_LINE.exec(bytes.toString("latin1", 0, Math.max(0, Math.min(end, 100)))) ?? [];
  if (!checksum) throw wrong("it is not a saved fit");
  const body = bytes.subarray(end + 1);
  if (createHash("sha256").update(body).digest("hex") !== checksum) {
    throw wrong("its contents do not fit its checksum; it was cut short or changed");
  }
  try {
    return contentsOf(body, device);
  } catch (error) {
    throw wrong(`it lacks something: ${(error as Error).message}`, error);
  }
}

function contentsOf(body: Buffer, device: string | undefined): SavedFit {
  const end = body.indexOf("\n");
  const { options, kernel, data, spent, variables, parts } = JSON.parse(body.toString("utf8", 0, end)) as Header;
  const groups: Record<Section["group"], Record<string, Uint8Array>> = { values: {}, stats: {}, buffers: {} };
  let next = end + 1;
  for (const { group, name, bytes } of parts) {
    if (next + bytes > body.byteLength) throw new RangeError(`${name} ends after the file`);
    // A copy, which begins where numbers may begin.
    groups[group][name] = new Uint8Array(body.subarray(next, next + bytes));
    next += bytes;
  }
  const numbers = (group: Readonly<Record<string, Uint8Array>>) =>
    Object.fromEntries(Object.entries(group).map(([name, bytes]) => [name, new Float64Array(bytes.buffer)]));
  const draws = new Draws({
    chains: options.chains as number,
    variables: Object.fromEntries(variables),
    maxTreeDepth: options.maxTreeDepth,
    superchains: options.superchains,
    dtype: options.dtype,
    device: options.device ?? device,
  });
  draws.append({
    values: numbers(groups.values),
    stats: numbers(groups.stats) as Partial<Record<Statistic, Float64Array>>,
  });
  return { options, draws, kernel, data, spent, chains: { buffers: groups.buffers } };
}
