/** Turns a VkResult into an error that names the call that failed. */
import { DeviceError, DeviceLostError, OutOfMemoryError, type PumiceError } from "../../../core/errors.js";
import { type FunctionName, resultNames } from "./api.js";

const OUT_OF_HOST_MEMORY = -1;
const OUT_OF_DEVICE_MEMORY = -2;
export const DEVICE_LOST = -4;

export const isOutOfMemory = (result: number): boolean =>
  result === OUT_OF_HOST_MEMORY || result === OUT_OF_DEVICE_MEMORY;

const resultName = (result: number): string => resultNames[result] ?? `VkResult ${result}`;

export function resultError(call: FunctionName, result: number, detail = ""): PumiceError {
  const message = `${call} failed: ${resultName(result)}${detail ? ` (${detail})` : ""}`;
  if (isOutOfMemory(result)) return new OutOfMemoryError(message);
  if (result === DEVICE_LOST) return new DeviceLostError(message);
  return new DeviceError(message);
}

/** Throws unless the call succeeded. Positive codes are statuses, not errors. */
export function check(call: FunctionName, result: number, detail = ""): void {
  if (result < 0) throw resultError(call, result, detail);
}
