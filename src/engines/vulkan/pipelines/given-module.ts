/**
 * SPIR-V that a user gives to `device.kernel`: words, bytes or the path of a file. The driver takes it unchecked and may crash
 * on an invalid module. With `{ validate: true }`, Khronos' spirv-val checks it first.
 */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { ArgumentError, FormatError, UnsupportedError } from "../../../core/errors.js";
import { whyNot } from "../../../files/reasons.js";
import { readRegularSync } from "../../../files/regular-file.js";
import { toWords } from "../../../spirv/read/parse-module.js";
import { asBytes, type ByteSource } from "../../byte-source.js";

export type GivenModule = Uint32Array | ByteSource | string;

/** The largest module that is read from a file. Drivers take more than a minute for a hundredth of it. */
const MAX_BYTES = 1 << 28;
/** spirv-val takes milliseconds. */
const TIMEOUT_MS = 60_000;
/** For the latest SPIR-V 1.x that a device takes, the Vulkan version whose rules apply. */
const ENVIRONMENTS = ["vulkan1.0", "vulkan1.0", "vulkan1.0", "vulkan1.1", "vulkan1.1spv1.4", "vulkan1.2", "vulkan1.3"];

/** `spirv`: the version that the device takes. */
export function wordsOf(given: GivenModule, isValidated: boolean, spirv: readonly [number, number]): Uint32Array {
  const words = toWords(asBytes(typeof given === "string" ? readModule(given) : given));
  if (isValidated) validate(words, ENVIRONMENTS[spirv[1]] ?? (ENVIRONMENTS.at(-1) as string));
  return words;
}

function readModule(path: string): Uint8Array {
  try {
    return readRegularSync(path, MAX_BYTES);
  } catch (error) {
    throw new ArgumentError(`kernel: cannot read the SPIR-V file ${path}: ${whyNot(path, error)}.`, {
      cause: error,
    });
  }
}

function validate(words: Uint32Array, environment: string): void {
  const program = programPath("spirv-val");
  if (program === null) {
    throw new UnsupportedError(
      "kernel: { validate: true } needs spirv-val, and no folder of PATH has it; it is in the package spirv-tools of most " +
        "systems and in the Vulkan SDK.",
    );
  }
  const input = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  const flags = ["--target-env", environment, "--scalar-block-layout", "-"];
  const { status, signal, error, stdout, stderr } = spawnSync(program, flags, { input, timeout: TIMEOUT_MS });
  if (status === 0) return;
  const [complaint = ""] = `${stdout ?? ""}${stderr ?? ""}`.trim().split("\n");
  throw new FormatError(
    `kernel: spirv-val refuses the module for ${environment}: ${complaint || error?.message || signal || `exit status ${status}`}`,
    { cause: error },
  );
}

/** A program in a folder of PATH, never one of the working directory. */
function programPath(name: string, env: NodeJS.ProcessEnv = process.env): string | null {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const folders = (env.PATH ?? "").split(delimiter).filter(isAbsolute);
  return (
    folders.map((folder) => join(folder, file)).find((path) => statSync(path, { throwIfNoEntry: false })?.isFile()) ??
    null
  );
}
