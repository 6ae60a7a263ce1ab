/** The routines by the name of their primitive. */
import type { Routine } from "../routine.js";
import { cumulateRoutine } from "./cumulate.js";
import { argsortRoutine, searchSortedRoutine } from "./sort.js";

export const routines: Readonly<Record<string, Routine>> = {
  argsort: argsortRoutine,
  cumulate: cumulateRoutine,
  searchSorted: searchSortedRoutine,
};
