/** Errors about a variable begin with its name. */
import { PumiceError } from "../../core/errors.js";

/** Does work; the message of an error that it throws begins with the name. */
export function namingErrors<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PumiceError) || error.message.startsWith(`${name}: `)) throw error;
    const Kind = error.constructor as new (message: string, options: ErrorOptions) => PumiceError;
    throw new Kind(`${name}: ${error.message}`, { cause: error });
  }
}
