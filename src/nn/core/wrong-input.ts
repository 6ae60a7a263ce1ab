/**
 * Inputs that a layer cannot compute with: plain arrays, null, objects where one tensor was meant. Layers do not look at everything they
 * are given, so JavaScript's own error comes first; it becomes one that names the layer and the remedy. layer.ts calls this.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor } from "../../tensor/index.js";

/** The error for an input that is to blame; null where the input is a tensor, and where a function of the user's own may be. */
export function wrongInput(
  label: string,
  input: unknown,
  isOwnFunction: boolean,
  cause: TypeError,
): ArgumentError | null {
  if (!hasTensor(input)) {
    return new ArgumentError(`${label}: takes tensors, not ${shown(input)}; make one with tensor([[…]]).`, { cause });
  }
  if (isTensor(input) || isOwnFunction) return null;
  const what = Array.isArray(input) ? `a list of ${input.length}` : `{ ${Object.keys(input as object).join(", ")} }`;
  return new ArgumentError(
    `${label}: cannot compute with ${what} (${cause.message}). Where a layer takes one tensor, hand it that one, in a block for example.`,
    { cause },
  );
}

/** Whether there is a tensor in a value or a few levels below it. */
const hasTensor = (value: unknown, depth = 4): boolean =>
  isTensor(value) ||
  (typeof value === "object" &&
    value !== null &&
    depth > 0 &&
    !ArrayBuffer.isView(value) &&
    Object.values(value).some((each) => hasTensor(each, depth - 1)));
