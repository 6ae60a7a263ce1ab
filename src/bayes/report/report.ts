/** `fit.report("out.html")`: the report as a file. */
import { checkString } from "../../core/arguments.js";
import { writeNamed } from "../../files/named-file.js";
import type { Draws } from "../draws/draws.js";
import { type ReportOptions, reportPage } from "./page.js";

/**
 * Writes one self-contained HTML page: what is wrong in words, the summary, and plots of every variable. `sampled` are variables
 * that must vary; others may be constants of the model.
 */
export async function report(
  draws: Draws,
  path: string,
  options: ReportOptions = {},
  sampled: readonly string[] = [],
): Promise<void> {
  checkString("report", "the path", path);
  await writeNamed("report: the page", path, [reportPage(draws, options, sampled)]);
}
