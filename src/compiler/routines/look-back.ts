/**
 * Sums over the tiles before a tile, in the same kernel that makes the sums of the tiles: decoupled look-back (Merrill and
 * Garland 2016). A tile publishes its own sums. It then walks back over the tiles before it, adds up what they published, and
 * stops at the first that has published the sums of all tiles up to it; then it publishes those of its own.
 *
 * A workgroup takes its tile by a ticket, so the tiles before it belong to workgroups that started earlier. Most GPUs keep
 * running what they have started, but Vulkan does not promise it. So a workgroup looks a limited number of times, and then
 * counts the missing tile itself (Smith, Levien, Owens 2025): it ends whatever the others do.
 *
 * The radix sort (radix-sweep.ts) has a sum per digit; a lane has the sums of one or several digits. A published sum is one
 * word, with its kind in the highest bits, so that it is seen whole or not at all and no other access needs an order.
 */
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";

/** Bits of a published sum, and its kinds: of a tile alone, or of all tiles up to it. A word of zeros: not published yet. */
export const SUM_BITS = 30;
const ALONE = 1;
const UP_TO = 2;

/** Looks of a workgroup before it counts a tile itself: a millisecond or so on a GPU. */
export const LOOKS = 4096;

/**
 * Tiles that a lane looks at in one go. One by one, the walks of an H200 took two thirds of the time of a sort: an answer takes
 * 0.7 µs, and the sums of all tiles before are known no faster than walks arrive.
 */
const AT_ONCE = 8;

/** The sums of a lane that looks back. */
export interface LookBackTask {
  readonly k: KernelBuilder;
  /** The buffer of u32 in which sums are published, all zeros before. */
  readonly published: number;
  /** The tile of this workgroup, and how many there are in its row. */
  readonly tile: Value;
  readonly tiles: number;
  /** The place at which a tile publishes each sum of this lane. */
  readonly places: (tile: Value) => readonly Value[];
  /** Counts a whole tile, all lanes together: the sums of this lane. Barriers keep its memory apart from other uses. */
  readonly recount: (tile: Value) => readonly Value[];
  /** Looks of a workgroup before it counts by itself. */
  readonly looks: number;
}

/** A sum on its way back: the next tile to add, what was added so far, and whether that is all. */
interface Walk {
  readonly at: Value;
  readonly sum: Value;
  readonly isDone: Value;
}

/** Publishes the sums (u32) of a tile alone. */
export function publishSums(task: LookBackTask, sums: readonly Value[]): void {
  publish(task, task.tile, sums);
}

/** The sums (u32) over all tiles before. The sums of this tile were published before. */
export function sumsBefore(task: LookBackTask, sums: readonly Value[]): Value[] {
  const { k, tile } = task;
  const isFirst = k.compare("eq", tile, k.constant("i32", 0));
  const start: Walk = { at: k.binary("sub", tile, k.constant("i32", 1)), sum: k.constant("u32", 0), isDone: isFirst };
  const walked = look(
    task,
    sums.map(() => start),
  );
  const isLost = anyLane(k, isOpen(k, walked));
  const found = k.when(
    isLost,
    () => pack(countMissing(task, walked)),
    () => pack(walked),
  );
  const before = unpack(found).map(({ sum }) => sum);
  const upTo = before.map((sum, i) => k.binary("add", sum, sums[i]));
  // The first tile has published the sum of all tiles up to it at once.
  const gate = k.unary("not", isFirst);
  task.places(tile).forEach((place, i) => {
    k.atomic("max", task.published, place, k.binary("or", upTo[i], kind(k, UP_TO)), gate);
  });
  return before;
}

/** Walks back as far as the tiles before have published, each lane by itself. */
function look(task: LookBackTask, start: readonly Walk[]): Walk[] {
  const { k, published, places, looks } = task;
  const zero = k.constant("i32", 0);
  const walked = k.loop(
    looks,
    pack(start),
    (_, state) => {
      const walks = unpack(state);
      return pack(
        walks.map((walk, i) => {
          const words = Array.from({ length: AT_ONCE }, (_, back) => {
            const tile = k.binary("sub", walk.at, k.constant("i32", back));
            return k.observe(published, places(k.binary("max", tile, zero))[i]);
          });
          return words.reduce<{ readonly walk: Walk; readonly isWaiting: Value }>(
            ({ walk: reached, isWaiting }, word) => {
              const next = step(k, reached, word, isWaiting);
              // The word after this one counts only if this one was there and was not the last.
              const isThere = k.compare("lt", next.at, reached.at);
              return { walk: next, isWaiting: k.binary("and", isThere, k.unary("not", next.isDone)) };
            },
            { walk, isWaiting: k.unary("not", walk.isDone) },
          ).walk;
        }),
      );
    },
    { exitWhen: (next) => k.unary("not", isOpen(k, unpack(next))) },
  );
  return unpack(walked);
}

/** All lanes go back together, tile by tile, and count each one that has not published. */
function countMissing(task: LookBackTask, start: readonly Walk[]): Walk[] {
  const { k, published, places, tiles, recount } = task;
  const none = k.constant("i32", -1);
  const walked = k.loop(
    tiles,
    pack(start),
    (_, state) => {
      const walks = unpack(state);
      const reached = walks.map(({ at, isDone }) => k.select(isDone, none, at));
      const last = k.combineLanes(
        "max",
        reached.reduce((a, b) => k.binary("max", a, b)),
      );
      const seen = places(last).map((place) => k.observe(published, place));
      const waits = walks.map(({ at, isDone }) => k.binary("and", k.unary("not", isDone), k.compare("eq", at, last)));
      const lacks = waits.map((is, i) => k.binary("and", is, k.compare("eq", seen[i], k.constant("u32", 0))));
      const counted = k.when(
        anyLane(
          k,
          lacks.reduce((a, b) => k.binary("or", a, b)),
        ),
        () => {
          const sums = recount(last);
          publish(task, last, sums);
          return sums.map((sum) => k.binary("or", sum, kindOf(k, last)));
        },
        () => seen,
      );
      return pack(walks.map((walk, i) => step(k, walk, k.select(lacks[i], counted[i], seen[i]), waits[i])));
    },
    { exitWhen: (next) => k.unary("not", anyLane(k, isOpen(k, unpack(next)))) },
  );
  return unpack(walked);
}

/** Adds the published word of the tile that the walk has reached, if it says anything. */
function step(k: KernelBuilder, { at, sum, isDone }: Walk, word: Value, isWaiting: Value): Walk {
  const zero = k.constant("u32", 0);
  const isKnown = k.binary("and", isWaiting, k.compare("ne", word, zero));
  const added = k.binary("and", word, k.constant("u32", 2 ** SUM_BITS - 1));
  const isLast = k.compare("ge", word, kind(k, UP_TO));
  return {
    at: k.binary("sub", at, k.select(isKnown, k.constant("i32", 1), k.constant("i32", 0))),
    sum: k.binary("add", sum, k.select(isKnown, added, zero)),
    isDone: k.binary("or", isDone, k.binary("and", isKnown, isLast)),
  };
}

function publish({ k, published, places }: LookBackTask, tile: Value, sums: readonly Value[]): void {
  places(tile).forEach((place, i) => {
    k.atomic("max", published, place, k.binary("or", sums[i], kindOf(k, tile)));
  });
}

const kind = (k: KernelBuilder, which: number): Value => k.constant("u32", which * 2 ** SUM_BITS);

/** The kind of a tile's own sums: those of the first are the sums of all up to it. */
const kindOf = (k: KernelBuilder, tile: Value): Value =>
  k.select(k.compare("eq", tile, k.constant("i32", 0)), kind(k, UP_TO), kind(k, ALONE));

/** Whether some sum of the lane is not complete. */
const isOpen = (k: KernelBuilder, walks: readonly Walk[]): Value =>
  walks.map(({ isDone }) => k.unary("not", isDone)).reduce((a, b) => k.binary("or", a, b));

/** Whether a condition holds in any lane. */
function anyLane(k: KernelBuilder, condition: Value): Value {
  const one = k.select(condition, k.constant("i32", 1), k.constant("i32", 0));
  return k.compare("gt", k.combineLanes("max", one), k.constant("i32", 0));
}

/** Walks as accumulators of a loop, and back. */
const pack = (walks: readonly Walk[]): Value[] => walks.flatMap(({ at, sum, isDone }) => [at, sum, isDone]);

const unpack = (values: readonly Value[]): Walk[] =>
  Array.from({ length: values.length / 3 }, (_, i) => ({
    at: values[3 * i],
    sum: values[3 * i + 1],
    isDone: values[3 * i + 2],
  }));
