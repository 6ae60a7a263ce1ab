/**
 * Exchanges between the stages of a pass: the place in shared memory of every number on its way to another lane.
 *
 * Results of one number m lie in a plane of their own, in the order of their butterflies, so that a lane reaches all of its
 * numbers from one address by constants. The distances of planes and transforms are chosen by counting how many lanes would
 * meet in a bank. shared-rows.ts uses it.
 */
import type { Stage } from "./pass.js";

/** Banks of shared memory, and lanes that access it together, for numbers of four bytes. */
const BANKS = 32;

/** Places in shared memory: result m of butterfly b of a column is at column · pitch + m · plane + b. */
export interface Layout {
  readonly plane: number;
  readonly pitch: number;
}

/** The lanes of one side of an exchange: neighbours along a transform, or across transforms. */
interface Lanes {
  readonly columns: number;
  readonly isAcross: boolean;
  /** Butterflies, or numbers, of a transform that lanes take in order. */
  readonly perTransform: number;
}

/** An exchange after a stage of transforms of `length`. Without a next stage, places are the numbers' own. */
export interface Exchange {
  readonly length: number;
  readonly stage: Stage;
  readonly next: Stage | null;
  readonly from: Lanes;
  readonly to: Lanes;
  /** Bytes of what a lane puts at a place. */
  readonly bytes: number;
}

/** The next stage reads numbers that are whole planes apart from its first one. */
const isInPlanes = ({ stage, next }: Exchange): boolean => next !== null && next.done === stage.done * stage.radix;

/**
 * The number of the result, and of its butterfly, that the first operand of butterfly b of the next stage is.
 * @internal for tests: shared-rows.ts writes it as code of the kernel
 */
export function origin(b: number, { radix, done }: Stage): { readonly result: number; readonly butterfly: number } {
  const within = b % (done * radix);
  const block = (b - within) / (done * radix);
  return { result: Math.floor(within / done), butterfly: block * done + (within % done) };
}

/** The layout with the fewest meetings in a bank, and of those the smallest. */
export function layoutOf(exchange: Exchange): Layout {
  const { length, stage, from } = exchange;
  const least = length / stage.radix;
  const isPlaned = isInPlanes(exchange);
  let best: (Layout & { readonly conflicts: number }) | null = null;
  for (let pad = 0; pad < (isPlaned ? BANKS : 1); pad++) {
    const plane = least + pad;
    for (let gap = 0; gap < (from.columns > 1 ? BANKS : 1); gap++) {
      const pitch = stage.radix * plane + gap;
      const conflicts = conflictsOf(exchange, { plane, pitch });
      if (!best || conflicts < best.conflicts) best = { plane, pitch, conflicts };
      if (best.conflicts === 0) return best;
    }
  }
  return best as Layout;
}

/** Further turns that lanes wait for, of the first lanes on both sides. */
function conflictsOf(exchange: Exchange, { plane, pitch }: Layout): number {
  const { stage, from, to, bytes } = exchange;
  const group = Math.max(1, (BANKS * 4) / bytes);
  const isPlaned = isInPlanes(exchange);
  const given = (column: number, b: number) => column * pitch + b;
  const taken = (column: number, b: number) => {
    if (!isPlaned) return column * pitch + b;
    const { result, butterfly } = origin(b, stage);
    return column * pitch + result * plane + butterfly;
  };
  return waits(from, group, given) + waits(to, group, taken);
}

/** Lanes beyond these repeat the pattern. */
const GROUPS = 4;

function waits(lanes: Lanes, group: number, place: (column: number, b: number) => number): number {
  const { columns, perTransform, isAcross } = lanes;
  let total = 0;
  for (let start = 0; start < GROUPS * group && start < columns * perTransform; start += group) {
    const banks = new Map<number, Set<number>>();
    for (let lane = start; lane < Math.min(start + group, columns * perTransform); lane++) {
      const [column, b] = isAcross
        ? [lane % columns, Math.floor(lane / columns)]
        : [Math.floor(lane / perTransform), lane % perTransform];
      const at = place(column, b);
      const bank = banks.get(at % group) ?? new Set();
      banks.set(at % group, bank.add(at));
    }
    total += Math.max(...[...banks.values()].map(({ size }) => size)) - 1;
  }
  return total;
}
