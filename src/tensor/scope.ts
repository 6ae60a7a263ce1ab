/** Frees what a piece of work made and does not return: `const y = scope(() => …)`. */
import { checkFunction } from "../core/arguments.js";
import { ArgumentError } from "../core/errors.js";
import { Tensor, trackTensors } from "./tensor.js";

/** Runs `work` and disposes the tensors it made, but for those in what it returns (tensors, arrays and objects of them). */
export function scope<T>(work: () => T): T {
  checkFunction("scope", work);
  const { result, made } = trackTensors(work);
  if (result instanceof Promise) {
    for (const tensor of made) tensor.dispose();
    throw new ArgumentError(
      "scope: the function returned a promise; what it makes later cannot be told apart, so await outside.",
    );
  }
  const kept = new Set<unknown>();
  const keep = (value: unknown): void => {
    if (value instanceof Tensor) kept.add(value);
    else if (Array.isArray(value)) for (const part of value) keep(part);
    else if (value !== null && typeof value === "object") for (const part of Object.values(value)) keep(part);
  };
  keep(result);
  for (const tensor of made) if (!kept.has(tensor)) tensor.dispose();
  return result;
}
