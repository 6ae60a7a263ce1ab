/**
 * Limits the loop rounds of a kernel. Mesa's software driver ends the loops of a thread after 65,535 rounds, all loops
 * counted together, finished or not; later loops run one round. So on that driver loops do several steps per round: the
 * body is unrolled until a thread stays below the limit. The SPIR-V emitter follows this plan; the runtime refuses kernels
 * that no plan can save.
 */
import { type IROp, innerLists, type Kernel, type Loop, MAX_I32, type Statement } from "./ir.js";

/** Most rounds of a thread on the software driver, with a margin. */
export const SOFTWARE_ROUNDS = 65_000;

/** Most steps in a round: code size and compile time grow with them. */
const MAX_STEPS = 16;
/** Loops of at most this many rounds are unrolled completely, so that the loop around them can be unrolled too. */
const MAX_WRITTEN_OUT = 4;

/** The plan of a loop: `whole` rounds of several steps, then rounds of one step. A single whole round needs no loop. */
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

const OF_ALL_LANES: ReadonlySet<IROp> = new Set(["combineLanes", "fromLane", "beforeLane", "anyLane", "matchLanes"]);

/** Whether statements contain no loop and no operation of all lanes. */
function isStraight(statements: readonly Statement[]): boolean {
  return statements.every((statement) => {
    if (statement.kind === "barrier" || statement.kind === "ticket") return false;
    if (statement.kind === "loop" && !isShort(statement)) return false;
    if (statement.kind === "let") return !OF_ALL_LANES.has(statement.value.op);
    return innerLists(statement).every((list) => isStraight(list));
  });
}

/** Rounds of statements: when they run, and when the driver passes through them inactive. */
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

/** The steps per round that keep a thread within `maxLoopRounds`; MAX_STEPS where nothing does. */
export function stepsWithin(kernel: Kernel, maxLoopRounds: number): number {
  if (maxLoopRounds === Infinity) return 1;
  let steps = 1;
  while (steps < MAX_STEPS && roundsOf(kernel, steps) > maxLoopRounds) steps *= 2;
  return steps;
}

/** Most rounds of a thread with the steps of `stepsWithin`. */
export const roundsWithin = (kernel: Kernel, maxLoopRounds: number): number =>
  roundsOf(kernel, stepsWithin(kernel, maxLoopRounds));
