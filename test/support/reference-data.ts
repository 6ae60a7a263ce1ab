/**
 * Reference data kept beside the repository (`../shared/data`, or the folder PUMICE_REFERENCE names), which is not part of
 * it. A test that wants some skips itself where it is absent.
 */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";

const folder = resolve(process.env.PUMICE_REFERENCE || "../shared/data");

/** For a test's `skip`: false when the file is there. */
export const withoutReference = (name: string): string | false =>
  existsSync(resolve(folder, name)) ? false : "reference data absent";

export const referenceJson = (name: string): unknown => JSON.parse(readFileSync(resolve(folder, name), "utf8"));

/** The text of a compressed file. */
export const referenceGzip = (name: string): string => gunzipSync(readFileSync(resolve(folder, name))).toString("utf8");
