/** What a command of the `pumice` program is, and the two ways it ends early. main.ts runs them. */
import type { Terminal } from "./terminal.js";

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What follows the name, as in "[--json]". */
  readonly usage: string;
  /** The rest of `pumice <name> --help`. */
  readonly help: string;
  /** The names of its switches, with what each does. */
  readonly switches: Readonly<Record<string, string>>;
  /** The words it takes besides switches, as `clear` in `pumice cache clear`. */
  readonly words?: readonly string[];
  /** Does it and answers with the exit code. */
  run(given: Given, terminal: Terminal): Promise<number>;
}

/** The switches and words of one call. */
interface Given {
  has(switchOrWord: string): boolean;
}

/** Something that may well happen, said in one message without a stack trace; exit code 1. */
export class ExpectedError extends Error {}

/** The program was called with something it does not know; exit code 2. */
export class UsageError extends Error {}
