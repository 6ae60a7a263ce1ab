/**
 * Loads the public surface late. It loads koffi's native code, and the program must be able to report when that fails: so no
 * command imports the surface at its top.
 */
import { ExpectedError } from "./command.js";

export type Vulkan = typeof import("../vulkan/index.js");

export async function loadVulkan(): Promise<Vulkan> {
  try {
    return await import("../vulkan/index.js");
  } catch (error) {
    throw new ExpectedError(
      `The native layer cannot be loaded: ${firstLine(error)}. \`pumice doctor\` says what to do about it.`,
    );
  }
}

/** An error's message without the lines of detail that loaders add. */
export function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.split("\n")[0] ?? "").replace(/\.$/, "");
}

/** The same without a trailing pointer to the doctor, for messages that name it themselves or are its own. */
export function reason(error: unknown): string {
  return firstLine(error).replace(/\.? *`npx pumice doctor` [^`]*$/, "");
}

/** True for errors that are thrown on purpose: only their message is shown. */
export async function isExpected(error: unknown): Promise<boolean> {
  if (error instanceof ExpectedError) return true;
  try {
    return error instanceof (await import("../index.js")).PumiceError;
  } catch {
    return false;
  }
}
