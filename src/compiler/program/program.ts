/**
 * A compiled piece of the graph as data: kernels to run in order, and which memory each of them gets. It holds no node
 * (but for formulas that nobody has looked at) and no buffer, so it serves every graph of the same form: a loop that builds the
 * same expression again compiles it once. compile.ts makes it, run-steps.ts runs its steps, the runtime keeps it.
 */

import type { DType } from "../../core/dtype.js";
import type { KernelOutline } from "../ir/ir.js";

/**
 * Memory by role: the i-th leaf of the graph, or the i-th value the program makes. Inside loops a slot may move: by some
 * bytes in every round, or between two values in turns.
 */
export interface Slot {
  readonly from: "leaf" | "made";
  readonly index: number;
  /** Its offset in that memory. */
  readonly offset?: number;
  /** That memory may begin between vectors of 16 bytes. */
  readonly isUnaligned?: boolean;
  /** Bytes it moves by in each round of a loop. */
  readonly moves?: readonly { readonly loop: number; readonly bytes: number }[];
  /** The value it is in odd rounds of a loop. */
  readonly swap?: { readonly loop: number; readonly index: number };
}

/** The formula of a kernel, for people (print/formula.ts); empty for a kernel written by hand outside the compiler. */
export interface Formula {
  readonly text: string;
}

/** A formula that is written when someone looks: few do, and writing it takes as long as some kernels take to compile. */
export function writtenLater(write: () => string): Formula {
  let pending: (() => string) | null = write;
  let text = "";
  return {
    get text() {
      if (pending) text = pending();
      // It holds on to nodes of the graph.
      pending = null;
      return text;
    },
  };
}

export interface KernelStep<Code> {
  readonly kind: "kernel";
  readonly kernel: KernelOutline;
  /** Null where the kernel has no rows: it is not run. */
  readonly code: Code;
  readonly slots: readonly Slot[];
  readonly formula: Formula;
}

/** Steps repeated a known number of times. */
interface LoopStep<Code> {
  readonly kind: "loop";
  readonly loop: number;
  readonly count: number;
  readonly steps: readonly Step<Code>[];
}

/** Steps repeated while what `test` computes is true; then, with the loop's number still known, `finish`. */
export interface WhileStep<Code> {
  readonly kind: "while";
  readonly loop: number;
  readonly maxRounds: number;
  /**
   * Null where a round begins when the one before is known to have been wanted. Else rounds are sent off together, and those
   * not wanted do nothing; this is the loop that numbers them, from 0 each time.
   */
  readonly ahead: number | null;
  readonly test: readonly Step<Code>[];
  /** A bool; of rounds sent off together several words: 1, and for each whether it was wanted. */
  readonly flag: Slot;
  readonly steps: readonly Step<Code>[];
  readonly finish: readonly Step<Code>[];
}

export type Step<Code> = KernelStep<Code> | LoopStep<Code> | WhileStep<Code>;

/** A value the program makes, and which root it is, if any. */
export interface Made {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly byteLength: number;
  readonly root: number;
}

export interface Program<Code> {
  readonly steps: readonly Step<Code>[];
  readonly made: readonly Made[];
  /** After which step a made value is needed no more; roots live on. */
  readonly lastUse: readonly number[];
  /** By step, the made values that are needed no more after it and are not roots. */
  readonly frees: readonly (readonly number[])[];
  readonly leaves: readonly { readonly shape: readonly number[]; readonly dtype: DType }[];
}

/** Every kernel among steps, those in loops once. */
export function kernelsOf<Code>(steps: readonly Step<Code>[]): KernelStep<Code>[] {
  return steps.flatMap((step) => {
    if (step.kind === "kernel") return [step];
    if (step.kind === "loop") return kernelsOf(step.steps);
    return [...kernelsOf(step.test), ...kernelsOf(step.steps), ...kernelsOf(step.finish)];
  });
}

/** Bytes of a flag of rounds that are sent off together, and how many such rounds there are at most. */
export const FLAG_BYTES = 4;
export const MAX_ROUNDS_AHEAD = 64;

/** The program of these steps. */
export function withSteps<Code>(
  { made, leaves }: Pick<Program<Code>, "made" | "leaves">,
  steps: readonly Step<Code>[],
): Program<Code> {
  const lastUse = lastUseOf(steps);
  const frees = steps.map((): number[] => []);
  lastUse.forEach((position, index) => {
    if (made[index].root < 0) frees[position].push(index);
  });
  return { steps, made, lastUse, frees, leaves };
}

/** For each root, the made value that it is. */
export function rootsOf({ made }: Pick<Program<unknown>, "made">): number[] {
  const roots: number[] = [];
  made.forEach(({ root }, index) => {
    if (root >= 0) roots[root] = index;
  });
  return roots;
}

/** Every slot that a step and those inside it touch. */
export function slotsIn(step: Step<unknown>): Slot[] {
  if (step.kind === "kernel") return [...step.slots];
  const inner = step.kind === "loop" ? step.steps : [...step.test, ...step.steps, ...step.finish];
  return [...inner.flatMap(slotsIn), ...(step.kind === "while" ? [step.flag] : [])];
}

function lastUseOf(steps: readonly Step<unknown>[]): number[] {
  const lastUse: number[] = [];
  steps.forEach((step, position) => {
    for (const { from, index, swap } of slotsIn(step)) {
      if (from === "made") lastUse[index] = position;
      if (swap) lastUse[swap.index] = position;
    }
  });
  return lastUse;
}
