/**
 * Finds the operation that the user called, from the stack. Only for errors that arise far below, where the operation is not
 * known: a disposed tensor throws wherever it is touched.
 */
import { isBuiltIn, isInside } from "./own-files.js";

/** Frames of the stack to look through: operations are made of others. */
const DEPTH = 40;

/** The name of our outermost function on the stack; undefined where all files are bundled into one. */
export function calledOperation(): string | undefined {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = DEPTH;
  const frames = (new Error().stack ?? "").split("\n").slice(1);
  Error.stackTraceLimit = limit;
  const outside = frames.findIndex((frame) => !isInside(frame) && !isBuiltIn(frame));
  // "at Tensor.add (…)", "at get T (…)", "at Tensor.<anonymous> [as roll] (…)", "at matmul (…)".
  const [, name, alias] =
    /^ *at (?:async )?(?:.*[. ])?([\w$]+|<anonymous>)(?: \[as (\w+)\])? \(/.exec(frames[outside - 1] ?? "") ?? [];
  return alias ?? (name === "<anonymous>" ? undefined : name);
}
