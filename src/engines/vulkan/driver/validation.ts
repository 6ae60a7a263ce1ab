/**
 * The Khronos validation layer as a test instrument. With `PUMICE_VALIDATE=core|sync|gpu` every message of the layer is
 * printed, thrown at the next checked call, and turns the process's exit code to 1: a clean run means a clean layer.
 */
import { DeviceError } from "../../../core/errors.js";
import type { Handle } from "./api.js";
import * as L from "./layouts.js";
import { readCString, readPointer } from "./native.js";

export type ValidationMode = "core" | "sync" | "gpu";

export function validationMode(env: NodeJS.ProcessEnv = process.env): ValidationMode | undefined {
  const value = env.PUMICE_VALIDATE;
  if (!value || value === "0") return undefined;
  if (value === "1" || value === "core") return "core";
  if (value === "sync" || value === "gpu") return value;
  throw new DeviceError(`Validation "${value}" (PUMICE_VALIDATE, or the option validate): choose core, sync or gpu.`);
}

/** Messages the layer emits about itself rather than about us. */
const ignored = [
  // The layer says that it is slow, and which settings it adjusted, once per device.
  /WARNING-Setting/,
  /WARNING-GPU-Assisted Validation/,
  /UNASSIGNED-GPU-Assisted-Validation/,
  // The layer's address check (1.3.239) reports valid addresses as soon as two buffers have one.
  /UNASSIGNED-Device address out of bounds/,
];

const messages: string[] = [];
let unread = 0;

export function layerMessage(callbackData: Handle): string {
  const offset = L.VkDebugUtilsMessengerCallbackDataEXT.fields.get("pMessage")?.offset ?? 0;
  return readCString(readPointer(BigInt(callbackData) + BigInt(offset)));
}

export function reportValidation(message: string): void {
  if (ignored.some((pattern) => pattern.test(message))) return;
  messages.push(message);
  process.stderr.write(`pumice validation: ${message}\n`);
  process.exitCode = 1;
}

/** Throws once for messages not seen yet. */
export function throwOnValidation(): void {
  if (messages.length === unread) return;
  const fresh = messages.slice(unread);
  unread = messages.length;
  throw new DeviceError(`The validation layer reported: ${fresh.join("\n")}`);
}
