/** The routines by the name of their primitive. */

import type { Routine } from "../target/routine.js";
import { attentionGradientRoutine, attentionRoutine } from "./attention/attention.js";
import { cumulateRoutine } from "./cumulate.js";
import { joinRoutine } from "./join.js";
import { choleskyRoutine } from "./linalg/cholesky.js";
import { luRoutine } from "./linalg/lu.js";
import { solveLowerRoutine } from "./linalg/solve-lower.js";
import { scatterRoutine } from "./scatter.js";
import { argsortAtRoutine } from "./select.js";
import { argsortRoutine, searchSortedRoutine } from "./sort.js";
import { sortRowsRoutine } from "./sort-rows.js";

export const routines: Readonly<Record<string, Routine>> = {
  cholesky: choleskyRoutine,
  solveLower: solveLowerRoutine,
  argsort: argsortRoutine,
  attention: attentionRoutine,
  attentionGradient: attentionGradientRoutine,
  argsortAt: argsortAtRoutine,
  cumulate: cumulateRoutine,
  join: joinRoutine,
  lu: luRoutine,
  scatter: scatterRoutine,
  searchSorted: searchSortedRoutine,
  sortRows: sortRowsRoutine,
};
