/** The everyday programs. */
import { learning } from "./learning.js";
import type { EverydayProgram } from "./program.js";
import { simulations } from "./simulations.js";

export const everydayPrograms: readonly EverydayProgram[] = [...simulations, ...learning];
