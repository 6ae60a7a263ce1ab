/** The everyday programs. */
import { irregular } from "./irregular.js";
import { learning } from "./learning.js";
import type { EverydayProgram } from "./program.js";
import { simulations } from "./simulations.js";

export const everydayPrograms: readonly EverydayProgram[] = [...simulations, ...irregular, ...learning];
