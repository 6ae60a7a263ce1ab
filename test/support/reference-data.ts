/**
 * Reference data kept beside the repository (`../shared/data`, or the folder PUMICE_REFERENCE names), which is not part of
 * it. A test that wants some skips itself where it is absent, unless the folder was named: then it fails, since whoever
 * names a folder wants to be tested against it.
 */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";

const named = process.env.PUMICE_REFERENCE;
const folder = resolve(named || "../shared/data");

/** For a test's `skip`: false when the file is there, or should be. */
export const withoutReference = (name: string): string | false =>
  named || existsSync(resolve(folder, name)) ? false : "reference data absent";

/** What reading a file gives; what goes wrong says which file it was. */
function reading<T>(name: string, read: (contents: Buffer) => T): T {
  const path = resolve(folder, name);
  try {
    return read(readFileSync(path));
  } catch (error) {
    throw new Error(`The reference data in ${path} cannot be read: ${(error as Error).message}`);
  }
}

export const referenceJson = (name: string): unknown =>
  reading(name, (contents) => JSON.parse(contents.toString("utf8")));

/** Draws by chain and the reference's names, whose first element is 1. */
export type ReferenceDraws = readonly Readonly<Record<string, readonly number[]>>[];

/** Draws of a compressed file: the same variables in every chain, as many draws of each, and all of them numbers. */
export const referenceDraws = (name: string): ReferenceDraws =>
  reading(name, (contents) => checkedDraws(JSON.parse(gunzipSync(contents).toString("utf8"))));

export function checkedDraws(parsed: unknown): ReferenceDraws {
  if (!Array.isArray(parsed) || parsed.length === 0) throw new Error("there are no chains");
  const chains = parsed as Readonly<Record<string, unknown>>[];
  const names = Object.keys(chains[0]!);
  const first = chains[0]![names[0]!];
  if (!Array.isArray(first) || first.length === 0) throw new Error("there are no draws");
  for (const [c, chain] of chains.entries()) {
    if (Object.keys(chain).join() !== names.join()) throw new Error(`chain ${c} has other variables than the first`);
    for (const [variable, values] of Object.entries(chain)) {
      if (!Array.isArray(values) || values.length !== first.length) {
        throw new Error(`${variable} of chain ${c} is not ${first.length} draws`);
      }
      const at = values.findIndex((value) => !Number.isFinite(value));
      if (at >= 0) throw new Error(`draw ${at} of ${variable} in chain ${c} is ${values[at]}`);
    }
  }
  return chains as ReferenceDraws;
}
