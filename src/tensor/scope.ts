/** Frees the tensors that a piece of work made and does not return: `const y = scope(() => …)`. */

import { checkFunction } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { ArgumentError } from "../core/errors.js";
import type { Tensor } from "./tensor.js";
import { isTensor } from "./tensor-checks.js";

/** Tensors made since a scope was entered; null outside scopes. */
let tracked: Tensor[] | null = null;

/** @internal The constructor of tensors calls this. */
export function noteMade(x: Tensor): void {
  tracked?.push(x);
}

/** Runs `work` and disposes the tensors it made, except those in its result (a tensor, or arrays and objects of them). */
export function scope<T>(work: () => T): T {
  checkCount("scope", 1, arguments);
  checkFunction("scope", work);
  const { result, made } = trackTensors(work);
  if (result instanceof Promise) {
    for (const tensor of made) tensor.dispose();
    throw new ArgumentError(
      "scope: the function returned a promise; what it makes later cannot be told apart, so await outside.",
    );
  }
  const returned = new Set<unknown>();
  const collect = (value: unknown): void => {
    if (isTensor(value)) returned.add(value);
    else if (Array.isArray(value)) for (const part of value) collect(part);
    else if (value !== null && typeof value === "object") for (const part of Object.values(value)) collect(part);
  };
  collect(result);
  for (const tensor of made) if (!returned.has(tensor)) tensor.dispose();
  return result;
}

function trackTensors<T>(work: () => T): { result: T; made: Tensor[] } {
  const outer = tracked;
  const made: Tensor[] = [];
  tracked = made;
  try {
    return { result: work(), made };
  } finally {
    tracked = outer;
    outer?.push(...made);
  }
}
