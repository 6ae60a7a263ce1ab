/** The commands of the `pumice` program, and the two errors that end one early. main.ts runs them. */
import type { Terminal } from "./terminal.js";

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The text after the name, as in "[--json]". */
  readonly usage: string;
  /** The rest of `pumice <name> --help`. */
  readonly help: string;
  /** Its switches by name, with a description of each. */
  readonly switches: Readonly<Record<string, string>>;
  /** The words it takes besides switches, as `clear` in `pumice cache clear`. */
  readonly words?: readonly string[] | "any";
  /** Runs the command and returns the exit code. */
  run(given: Given, terminal: Terminal): Promise<number>;
}

/** The switches and words of one call. */
interface Given {
  has(switchOrWord: string): boolean;
  /** The words in their order. */
  readonly words: readonly string[];
}

/** An expected failure, shown as one message without a stack trace; exit code 1. */
export class ExpectedError extends Error {}

/** The program was called with an unknown argument; exit code 2. */
export class UsageError extends Error {}
