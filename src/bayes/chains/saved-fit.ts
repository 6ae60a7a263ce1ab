/**
 * Fits in files: a line with a checksum of the rest, a line of JSON that says what there is, then numbers as they lie in
 * memory. `fit.save` and checkpoints of a run write them; saved-fit-reader.ts reads them.
 */
import { createHash } from "node:crypto";
import type { Shape } from "../../core/shape.js";
import { writeNamed } from "../../files/named-file.js";
import { removeUnfinished } from "../../files/replace-file.js";
import type { Draws } from "../draws/draws.js";
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

/** Groups of numbers: draws by variable, statistics by name, the memory of the chains. */
export const GROUPS = ["values", "stats", "buffers"] as const;

export interface Section {
  readonly group: (typeof GROUPS)[number];
  readonly name: string;
  readonly bytes: number;
}

export interface Header extends Pick<SavedFit, "options" | "kernel" | "data" | "spent"> {
  readonly variables: readonly (readonly [name: string, shape: Shape])[];
  readonly parts: readonly Section[];
}

/** The first line, before the checksum. */
export const FIRST_WORDS = "pumice fit 3";

const bytesOf = (values: Float64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

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

  const first = Buffer.from(`${FIRST_WORDS} ${hash.digest("hex")}\n`);
  await writeNamed(what, path, [first, ...body], { isDurable: true });
  // The fit is saved: what cannot be tidied up stays.
  await removeUnfinished(path).catch(() => {});
}
