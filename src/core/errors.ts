/**
 * The errors Pumice throws. A message names the operation, the offending values and what would work;
 * a program can react to the class.
 */
import { isBuiltIn, isInside, OWN_FOLDER } from "./own-files.js";

/** The class of all errors that Pumice throws on purpose. */
export class PumiceError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = limit + INNER_FRAMES;
    super(message, options);
    Error.stackTraceLimit = limit;
    this.name = new.target.name;
    if (limit > 0 && this.stack !== undefined) this.stack = fromCaller(this.stack, message, limit);
  }
}

/** The most own frames that are skipped: operations are made of others. */
const INNER_FRAMES = 40;

let keepsFrames = OWN_FOLDER === null;

/** From now on stacks also show the frames inside the library. `PUMICE_DEBUG` asks for it. */
export function keepInnerFrames(): void {
  keepsFrames = true;
}

/**
 * A stack that begins with the code that called the library: the frames above it say where we noticed the mistake, not where
 * it is. They stay where no such code is found.
 */
function fromCaller(stack: string, message: string, limit: number): string {
  if (keepsFrames) return stack;
  const lines = stack.split("\n");
  const first = message.split("\n").length;
  const caller = lines.findIndex((line, i) => i >= first && !isInside(line) && !isBuiltIn(line));
  const begin = caller < 0 ? first : caller;
  return [...lines.slice(0, first), ...lines.slice(begin, begin + limit)].join("\n");
}

/** Shapes that do not fit the operation. */
export class ShapeError extends PumiceError {}

/** A dtype the operation does not take. */
export class DTypeError extends PumiceError {}

/** No device, the wrong device, or a driver call that failed for a reason no other class covers. */
export class DeviceError extends PumiceError {}

/** The driver refused memory after garbage was collected and the pool was trimmed. */
export class OutOfMemoryError extends PumiceError {}

/** The GPU stopped; every tensor on it is gone. Open the device again to go on. */
export class DeviceLostError extends PumiceError {}

/** A buffer, tensor or device was used after it was disposed. */
export class DisposedError extends PumiceError {}

/** A value was asked for where there is none yet: inside a function that a transform is tracing. */
export class TraceError extends PumiceError {}

/** A file or byte sequence that is not what it claims to be. */
export class FormatError extends PumiceError {}

/** The device or the build cannot do this. */
export class UnsupportedError extends PumiceError {}

/** Bytes that do not fit the buffer they are written to. */
export class SizeMismatchError extends PumiceError {}

/** An argument that the function does not take; the message names the limit. */
export class ArgumentError extends PumiceError {}

/** A matrix that has no such factor or solution, found by `linalg.check`. */
export class LinalgError extends PumiceError {}
