/**
 * How often the loops of a kernel go round. Mesa's software driver ends the loops of a thread after 65,535 rounds, all loops
 * counted together, whether they are done or not; what comes later goes round once. So where rounds are limited, loops do
 * several steps in a round: a body is written so often that a thread stays below. The SPIR-V emitter writes what is planned
 * here; backends refuse kernels that are beyond help.
 */
import { innerLists, type Kernel, type Loop, MAX_I32, type Statement } from "./ir.js";

/** Rounds that a thread may go on a software driver, with some to spare. */
export const SOFTWARE_ROUNDS = 60000;

/** A round has this many steps at most: code grows with it, and so does the time it takes to compile. */
const MAX_STEPS = 16;
/** Loops of so few rounds are written out where rounds have several steps, so that the loop around them can have them. */
const MAX_WRITTEN_OUT = 4;

/** How a loop is written: `whole` rounds of so many steps, then rounds of one step. A whole round by itself needs no loop. */
export interface LoopPlan {
  readonly steps: number;
  readonly whole: number;
  /** Rounds in all. */
  readonly rounds: number;
}

export function planLoop(loop: Loop, lanes: number, steps: number): LoopPlan {
  const { extent, isLaneLoop, exit, body } = loop;
  const share = isLaneLoop ? lanes : 1;
  const all = Math.ceil(extent / share);
  if (steps === 1 || exit || !isStraight(body)) return { steps: 1, whole: 0, rounds: all };
  const own = isShort(loop) ? Math.max(1, extent) : steps;
  const whole = Math.floor(extent / (share * own));
  return { steps: own, whole, rounds: (whole > 1 ? whole : 0) + all - whole * own };
}

const isShort = ({ extent, isLaneLoop, exit }: Loop): boolean => !isLaneLoop && !exit && extent <= MAX_WRITTEN_OUT;

/** Whether statements stay without a loop, and have nothing that lanes do together. */
function isStraight(statements: readonly Statement[]): boolean {
  return statements.every((statement) => {
    if (statement.kind === "barrier" || (statement.kind === "loop" && !isShort(statement))) return false;
    if (statement.kind === "let") return statement.value.op !== "combineLanes" && statement.value.op !== "fromLane";
    return innerLists(statement).every((list) => isStraight(list));
  });
}

/**
 * Rounds that a thread goes at most, all loops together. Of a loop without an end one round is counted: how many there are
 * is for those to say who run the kernel.
 */
export function roundsOf({ body, lanes }: Kernel, steps = 1): number {
  const count = (statements: readonly Statement[]): number =>
    statements.reduce((sum, statement) => {
      const inside = innerLists(statement).reduce((total, list) => total + count(list), 0);
      if (statement.kind !== "loop") return sum + inside;
      const isEndless = statement.extent === MAX_I32;
      return sum + (isEndless ? 1 : planLoop(statement, lanes, steps).rounds) * (inside + 1);
    }, 0);
  return count(body);
}

/** Steps that a round must have for a thread to stay within so many rounds; the most there are, where it cannot. */
export function stepsWithin(kernel: Kernel, maxRounds: number): number {
  if (maxRounds === Infinity) return 1;
  let steps = 1;
  while (steps < MAX_STEPS && roundsOf(kernel, steps) > maxRounds) steps *= 2;
  return steps;
}

/** Rounds that a thread goes at most when its loops are written so that it stays within so many, where it can. */
export const roundsWithin = (kernel: Kernel, maxRounds: number): number =>
  roundsOf(kernel, stepsWithin(kernel, maxRounds));
