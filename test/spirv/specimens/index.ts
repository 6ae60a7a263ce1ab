/** All specimens. */
import { arithmetic } from "./arithmetic.js";
import { controlFlow } from "./control-flow.js";
import { memory } from "./memory.js";
import { parallel } from "./parallel.js";
import type { Specimen } from "./specimen.js";

export const specimens: readonly Specimen[] = [...arithmetic, ...controlFlow, ...memory, ...parallel];
