/** The routines by the name of their primitive. */

import { cumulateRoutine } from "./cumulate.js";
import { joinRoutine } from "./join.js";
import type { Routine } from "./routine.js";
import { scatterRoutine } from "./scatter.js";
import { argsortRoutine, searchSortedRoutine } from "./sort.js";
import { choleskyRoutine, solveLowerRoutine } from "./triangular.js";

export const routines: Readonly<Record<string, Routine>> = {
  cholesky: choleskyRoutine,
  solveLower: solveLowerRoutine,
  argsort: argsortRoutine,
  cumulate: cumulateRoutine,
  join: joinRoutine,
  scatter: scatterRoutine,
  searchSorted: searchSortedRoutine,
};
