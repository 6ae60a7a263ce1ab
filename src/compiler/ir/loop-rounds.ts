/**
 * How often the loops of a kernel go round. Mesa's software driver ends the loops of a thread after 65,535 rounds, all loops
 * counted together, whether they are done or not; what comes later goes round once. So where rounds are limited, loops do
 * several steps in a round: a body is written so often that a thread stays below. The SPIR-V emitter writes what is planned
 * here; the backend refuses kernels that are beyond help.
 */
import { innerLists, type Kernel, type Loop, MAX_I32, type Statement } from "./ir.js";

/** Rounds that a thread may go on a software driver, with some to spare. */
export const SOFTWARE_ROUNDS = 65_000;

/** A round has this many steps at most: code grows with it, and so does the time it takes to compile. */
const MAX_STEPS = 16;
/** Loops of so few rounds are written out where rounds have several steps, so that the loop around them can have them. */
const MAX_WRITTEN_OUT = 4;

/** How a loop is written: `whole` rounds of so many steps, then rounds of one step. A whole round by itself needs no loop. */
interface LoopPlan {
  readonly steps: number;
  readonly whole: number;
  /** Rounds of one step. */
  readonly single: number;
}

export function planLoop(loop: Loop, lanes: number, steps: number): LoopPlan {
  const { extent, isLaneLoop, exit, body } = loop;
  const share = isLaneLoop ? lanes : 1;
  const all = Math.ceil(extent / share);
  if (steps === 1 || exit || !isStraight(body)) return { steps: 1, whole: 0, single: all };
  const own = isShort(loop) ? Math.max(1, extent) : steps;
  const whole = Math.floor(extent / (share * own));
  return { steps: own, whole, single: all - whole * own };
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

/** Rounds of statements: when they are done, and when the driver goes through them without doing anything. */
interface RoundCount {
  readonly done: number;
  readonly idle: number;
}

/**
 * Upper bound on the loop rounds of one thread, all loops together. A loop without an end counts as one round: its caller
 * must bound it.
 *
 * lavapipe runs both sides of a branch, and tests a loop once more when it ends: an empty loop costs one round, and so does
 * each loop inside it.
 * @internal for tests: counts are compared with loops counted by hand
 */
export function roundsOf({ body, lanes }: Kernel, steps = 1): number {
  const total = (all: readonly RoundCount[]): RoundCount => ({
    done: all.reduce((sum, { done }) => sum + done, 0),
    idle: all.reduce((sum, { idle }) => sum + idle, 0),
  });
  const ofLoop = (loop: Loop): RoundCount => {
    const inside = ofList(loop.body);
    const isEndless = loop.extent === MAX_I32;
    const { whole, single } = isEndless ? { whole: 0, single: 1 } : planLoop(loop, lanes, steps);
    const times = [...(whole > 1 ? [whole] : []), ...(single > 0 ? [single] : [])];
    const idle = 1 + inside.idle;
    return total(times.map((count) => ({ done: count * (1 + inside.done) + idle, idle })));
  };
  const ofList = (statements: readonly Statement[]): RoundCount =>
    total(
      statements.map((statement) =>
        statement.kind === "loop" ? ofLoop(statement) : total(innerLists(statement).map(ofList)),
      ),
    );
  return ofList(body).done;
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
