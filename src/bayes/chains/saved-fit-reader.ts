/**
 * Reads saved fits, whose format is in saved-fit.ts. A checksum tells damage, not who wrote a file: nothing in it is trusted.
 * Names are those that a fit has and no others, sizes fill the file, and options of one run, as where to write checkpoints,
 * are refused. What the numbers of the chains may be is in saved-state.ts. `posterior.resume` calls this.
 */
import { createHash } from "node:crypto";
import { FormatError } from "../../core/errors.js";
import { type Shape, sizeOf } from "../../core/shape.js";
import { whyNot } from "../../files/reasons.js";
import { readRegular } from "../../files/regular-file.js";
import { Draws, STATISTICS, type Statistic } from "../draws/draws.js";
import { whyNoName } from "../draws/names.js";
import { INTS } from "../kernels/layout.js";
import { FIRST_WORDS, GROUPS, type Header, type SavedFit, type Section } from "./saved-fit.js";

const FIRST_LINE = new RegExp(`^${FIRST_WORDS} ([0-9a-f]{64})$`);
const FIRST_LINE_BYTES = 100;
const MAX_AXES = 32;
/** Options of a run: a file that could set them could have other files overwritten. */
const NEVER_SAVED = ["checkpoint", "checkpointSeconds", "signal", "progress"];

type Variables = ReadonlyMap<string, Shape>;
type Groups = Readonly<Record<Section["group"], ReadonlyMap<string, Uint8Array>>>;

/** Something that a saved fit cannot say. */
class Damage extends Error {}

const damage = (why: string): never => {
  throw new Damage(why);
};

/** `device`: where tensors of the draws are made unless the run was told. `check` throws on variables of another model. */
export async function readFit(
  path: string,
  device?: string,
  check: (variables: Variables) => void = () => {},
): Promise<SavedFit> {
  const wrong = (why: string, cause?: unknown) =>
    new FormatError(`resume: ${path} cannot be resumed: ${why}.`, { cause });
  const bytes = await readRegular(path).catch((error) => {
    throw wrong(whyNot(path, error), error);
  });
  const end = bytes.subarray(0, FIRST_LINE_BYTES).indexOf("\n");
  const [, checksum] = FIRST_LINE.exec(bytes.toString("latin1", 0, Math.max(0, end))) ?? [];
  if (!checksum) throw wrong("it is not a saved fit");
  const body = bytes.subarray(end + 1);
  if (createHash("sha256").update(body).digest("hex") !== checksum) {
    throw wrong("its contents do not fit its checksum; it was cut short or changed");
  }
  const told = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw wrong(`it is damaged: ${(error as Error).message.replace(/\.$/, "")}`, error);
    }
  };
  const { header, groups } = told(() => partsOf(body));
  check(new Map(header.variables));
  return told(() => contentsOf(header, groups, device));
}

/** The header, and the bytes that it describes, by group and name. */
function partsOf(body: Buffer): { readonly header: Header; readonly groups: Groups } {
  const end = body.indexOf("\n");
  const header = checkedHeader(JSON.parse(body.toString("utf8", 0, Math.max(0, end))));
  const groups = { values: new Map(), stats: new Map(), buffers: new Map() };
  let next = end + 1;
  for (const { group, name, bytes } of header.parts) {
    if (next + bytes > body.byteLength) damage(`${name} ends after the file`);
    if (groups[group].has(name)) damage(`there are two ${group} named "${name}"`);
    // A copy, which begins where numbers may begin.
    groups[group].set(name, new Uint8Array(body.subarray(next, next + bytes)));
    next += bytes;
  }
  if (next !== body.byteLength) damage(`${body.byteLength - next} bytes at its end belong to nothing`);
  return { header, groups };
}

function checkedHeader(found: unknown): Header {
  const header = objectIn(found, "the header");
  const options = objectIn(header.options, "options");
  for (const name of NEVER_SAVED) {
    if (Object.hasOwn(options, name)) damage(`it has the option ${name}, which belongs to one run and is never saved`);
  }
  if (!isCount(options.chains) || options.chains === 0) damage("it says no number of chains");
  for (const name of ["kernel", "data"]) if (typeof header[name] !== "string") damage(`${name} is no text`);
  const spent = objectIn(header.spent, "spent");
  for (const name of ["warmup", "sampling"]) {
    if (!(Number.isFinite(spent[name]) && (spent[name] as number) >= 0)) damage(`spent.${name} is no time`);
  }
  const names = listIn(header.variables, "variables").map(checkVariable);
  if (new Set(names).size !== names.length) damage("two variables have one name");
  listIn(header.parts, "parts").forEach(checkSection);
  return header as unknown as Header;
}

/** Returns the name. */
function checkVariable(found: unknown): string {
  const [name, shape] = listIn(found, "a variable");
  const sizes = listIn(shape, "a shape");
  const problem = whyNoName(name);
  if (problem) damage(problem);
  if (sizes.length > MAX_AXES || !sizes.every(isCount)) damage(`the shape of "${name}" is none`);
  return name as string;
}

function checkSection(found: unknown): void {
  const { group, name, bytes } = objectIn(found, "a part");
  if (!GROUPS.includes(group as Section["group"])) damage(`there is no group ${JSON.stringify(group)}`);
  const problem = whyNoName(name);
  if (problem) damage(problem);
  if (!isCount(bytes)) damage(`the size of "${name}" is none`);
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function objectIn(value: unknown, what: string): Record<string, unknown> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : damage(`${what} is no JSON object`);
}

function listIn(value: unknown, what: string): readonly unknown[] {
  return Array.isArray(value) ? value : damage(`${what} is no list`);
}

function contentsOf(header: Header, groups: Groups, device: string | undefined): SavedFit {
  const { options, kernel, data, spent } = header;
  const chains = options.chains as number;
  const variables = new Map(header.variables);
  // Chains and scalars take memory of their own: the file must be as large as what it claims.
  if (groups.buffers.get("ints")?.byteLength !== 4 * INTS.length * chains)
    damage(`it has no state of ${chains} chains`);
  for (const [name, shape] of variables) {
    if (!groups.values.has(name)) damage(`there are no draws of "${name}"`);
    sizeOf(shape, name);
  }
  for (const name of groups.values.keys()) if (!variables.has(name)) damage(`there is no variable "${name}"`);
  for (const name of groups.stats.keys()) {
    if (!STATISTICS.includes(name as Statistic)) damage(`there is no statistic "${name}"`);
  }
  const draws = new Draws({
    chains,
    variables: Object.fromEntries(variables),
    maxTreeDepth: options.maxTreeDepth,
    superchains: options.superchains,
    dtype: options.dtype,
    device: options.device ?? device,
  });
  draws.append({ values: numbersIn(groups.values), stats: numbersIn(groups.stats) });
  const buffers = Object.assign(Object.create(null), Object.fromEntries(groups.buffers));
  return { options, draws, kernel, data, spent, chains: { buffers } };
}

function numbersIn(group: ReadonlyMap<string, Uint8Array>): Record<string, Float64Array> {
  return Object.fromEntries(
    [...group].map(([name, bytes]) => {
      if (bytes.byteLength % 8 !== 0) damage(`"${name}" has ${bytes.byteLength} bytes, which are no doubles`);
      return [name, new Float64Array(bytes.buffer)];
    }),
  );
}
