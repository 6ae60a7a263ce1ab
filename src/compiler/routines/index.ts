/** The routines by the name of their primitive. */
import type { Routine } from "../routine.js";

export const routines: Readonly<Record<string, Routine>> = {};
