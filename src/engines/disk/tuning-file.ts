/**
 * Tilings of matrix products that were measured on this machine, one file for each device, driver and version of Pumice, in a
 * folder of the user's own (own-folder.ts). The file is text: words for classes of products. The compiler takes only words
 * that name one of its own candidates, so a file can make products slower, never wrong. A file that is damaged or from
 * elsewhere is ignored, and `pumice doctor` says so.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../core/version.js";
import { debug } from "../debug.js";
import { cacheFolder } from "./cache-folder.js";
import { OwnFolder } from "./own-folder.js";
import { sha256 } from "./sha256.js";

const FORMAT = "pumice tuning 1";
const FOLDER = "tuning";
const MAX_BYTES = 1 << 20;
const FILE = /^[0-9a-f]{16}\.tuning$/;

/** Tilings by class of product. */
type Tilings = Readonly<Record<string, string>>;

interface Contents {
  readonly format: string;
  /** The device and its driver, and the version of Pumice. */
  readonly device: string;
  readonly version: string;
  readonly tilings: Tilings;
  readonly sha256: string;
}

const sumOf = (device: string, by: string, tilings: Tilings): string => sha256(JSON.stringify([device, by, tilings]));

/**
 * The file's text.
 * @internal for tests: files from elsewhere are made with it
 */
export function encodeTunings(device: string, tilings: Tilings, by = version): string {
  const contents: Contents = { format: FORMAT, device, version: by, tilings, sha256: sumOf(device, by, tilings) };
  return `${JSON.stringify(contents, null, 1)}\n`;
}

/** The contents of a file, or the reason why it cannot be used. */
function decodeTunings(bytes: Uint8Array): Contents | { readonly why: string } {
  let contents: Partial<Contents> | null;
  try {
    contents = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return { why: "it is damaged" };
  }
  const { format, device, version: by, tilings, sha256: sum } = contents ?? {};
  if (format !== FORMAT) return { why: "it is of another format" };
  const isText = (value: unknown) => typeof value === "string";
  if (!isText(device) || !isText(by) || typeof tilings !== "object" || tilings === null)
    return { why: "it is damaged" };
  const isWhole = Object.values(tilings).every(isText) && sumOf(device as string, by as string, tilings) === sum;
  return isWhole ? (contents as Contents) : { why: "its checksum does not match" };
}

/**
 * The measured tilings of one device.
 * @internal for tests: files of other devices and versions
 */
export class TuningFile {
  private readonly folder: OwnFolder;
  private readonly name: string;

  /** `root`: the cache folder. `device`: the device and its driver, as text. */
  constructor(
    root: string,
    private readonly device: string,
  ) {
    this.folder = new OwnFolder(join(root, FOLDER), MAX_BYTES);
    this.name = `${sha256(`${device}\n${version}`).slice(0, 16)}.tuning`;
  }

  /** The contents of the file; empty if no usable file is there. */
  read(): Tilings {
    const bytes = this.folder.read(this.name);
    if (!bytes) return {};
    const contents = decodeTunings(bytes);
    const why = "why" in contents ? contents.why : this.foreign(contents);
    if (why === null) return (contents as Contents).tilings;
    debug(1, () => `measured tilings in ${this.name} ignored: ${why}`);
    return {};
  }

  /** Adds tilings to the file. What another process has added meanwhile stays. False where nothing can be written. */
  add(tilings: Tilings): boolean {
    const text = encodeTunings(this.device, { ...this.read(), ...tilings });
    return this.folder.write(this.name, new TextEncoder().encode(text));
  }

  private foreign({ device, version: by }: Contents): string | null {
    return device === this.device && by === version ? null : "it is from another device, driver or version";
  }
}

/** The file of a device; null where nothing is kept on disk. */
export function tuningFile(device: string): TuningFile | null {
  const root = cacheFolder();
  return root === null ? null : new TuningFile(root, device);
}

/** Whether the user asks for a search where a product has no measured tiling: PUMICE_TUNE=1. */
export const isTuningAsked = (): boolean => process.env.PUMICE_TUNE === "1";

/** A file with measured tilings, as `pumice doctor` and `pumice tune` report it. */
interface ListedTuning {
  readonly path: string;
  /** The device it is for, and how many classes of products it has; empty and 0 where it cannot be read. */
  readonly device: string;
  readonly count: number;
  /** Why it is not used; null for one that is, if its device is there. */
  readonly problem: string | null;
}

/** The files with measured tilings, whatever device they are for. */
export function listTunings(root = cacheFolder()): ListedTuning[] {
  if (root === null) return [];
  const folder = new OwnFolder(join(root, FOLDER), MAX_BYTES);
  return namesIn(folder.path).map((name) => {
    const path = join(folder.path, name);
    const bytes = folder.read(name);
    const contents = bytes ? decodeTunings(bytes) : { why: "it cannot be read, or others could have written it" };
    if ("why" in contents) return { path, device: "", count: 0, problem: contents.why };
    const { device, version: by, tilings } = contents;
    const problem = by === version ? null : `it is of Pumice ${by}`;
    return { path, device, count: Object.keys(tilings).length, problem };
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => FILE.test(name));
  } catch {
    return [];
  }
}
