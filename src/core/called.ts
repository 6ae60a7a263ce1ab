/**
 * Which of our operations the user called, read from the stack. For errors only that arise far below, where no operation
 * is at hand: a tensor that was disposed says so wherever it is touched.
 */

/** Frames of the stack to look through: operations are made of others. */
const DEPTH = 40;

/** The name of the outermost function of ours that was called from outside; none where all files are bundled into one. */
export function calledOperation(): string | undefined {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = DEPTH;
  const frames = (new Error().stack ?? "").split("\n").slice(1);
  Error.stackTraceLimit = limit;
  // This file's own frame tells where the library's files are, also where source maps say something else than the modules.
  const [, library = ""] = /\(?(\S+)core\/called\./.exec(frames[0] ?? "") ?? [];
  const outside = frames.findIndex((frame) => !frame.includes(library) && !frame.includes("<anonymous>)"));
  // "at Tensor.add (…)", "at get T (…)", "at Tensor.<anonymous> [as roll] (…)", "at matmul (…)".
  const [, name, alias] =
    /^ *at (?:async )?(?:.*[. ])?([\w$]+|<anonymous>)(?: \[as (\w+)\])? \(/.exec(frames[outside - 1] ?? "") ?? [];
  return alias ?? (name === "<anonymous>" ? undefined : name);
}
