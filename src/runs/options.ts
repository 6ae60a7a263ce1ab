/** The options that runs of all libraries have: a signal that ends them, their progress line, their checkpoints. */
import type { OptionKinds } from "../core/arguments.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import { checkWritable } from "../files/named-file.js";

/** Options of a run, not of its work. Libraries say in their own words what they mean for them. */
export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly progress?: boolean;
  readonly checkpoint?: string;
  readonly checkpointSeconds?: number;
}

/** What they may be, for `checkOptions`. */
export const RUN_OPTION_KINDS: OptionKinds<RunOptions> = {
  signal: "signal",
  progress: "flag",
  checkpoint: "text",
  checkpointSeconds: "number",
};

/** Throws on options that make no sense, and on a checkpoint that cannot be written. `file`: a name for the remedy. */
export function checkRunOptions(operation: string, options: RunOptions, file: string): void {
  const { checkpoint, checkpointSeconds } = options;
  checkPositive(operation, "checkpointSeconds", checkpointSeconds);
  if (checkpointSeconds !== undefined && checkpoint === undefined) {
    throw new ArgumentError(
      `${operation}: checkpointSeconds says how often, and checkpoint not where; give { checkpoint: "${file}" }, too.`,
    );
  }
  if (checkpoint !== undefined) checkWritable(`${operation}: checkpoint`, checkpoint);
}

/** Throws on a number that is given and not above zero. */
export function checkPositive(operation: string, name: string, value: number | undefined): void {
  if (value === undefined || (value > 0 && Number.isFinite(value))) return;
  throw new ArgumentError(`${operation}: ${name} is ${shown(value)}; it is a positive number.`);
}
