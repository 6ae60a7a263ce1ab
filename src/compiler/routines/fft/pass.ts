/**
 * One pass of a Fourier transform: many transforms of one length, and where each reads and writes its elements. fft.ts lists
 * the passes; shared-rows.ts and vector-rows.ts write their kernels.
 *
 * A place on the transformed axis is a position. An element lies at `base + position · apart`, where the base is that of its
 * line along the axis. The number of a transform has digits, the first of which changes fastest.
 */
import type { DftFloat } from "../../../graph/dft-plan.js";

export interface Digit {
  readonly extent: number;
  /** A step of the digit adds this to the base of elements read and written. */
  readonly from: number;
  readonly to: number;
  /** A step adds this to their positions. */
  readonly fromPosition: number;
  readonly toPosition: number;
}

/** A section of the table that elements are multiplied by, at their position. */
export interface Factor {
  readonly start: number;
  readonly isConjugate: boolean;
}

/**
 * How elements are read. complex: as they are. real: without imaginary parts. pairs: two neighbouring real numbers as one.
 * mirrored: half a spectrum of `length`, with conjugates for the other half. joined: from half a spectrum of 2 · `length`, the
 * spectrum of pairs.
 */
export interface Reading {
  readonly kind: "complex" | "real" | "pairs" | "mirrored" | "joined";
  /** Elements of the axis in memory; zeros follow. */
  readonly extent: number;
  /** Positions that have elements; there are zeros at further ones. */
  readonly positions: number;
  readonly factor: Factor | null;
  /** A further buffer holds a real number for each element of the axis, which multiplies it. */
  readonly isWindowed: boolean;
}

/**
 * How elements are written. complex: as they are. real: without imaginary parts. pairs: as two neighbouring real numbers.
 * halved: half a spectrum of 2 · `length`, from that of pairs.
 */
export interface Writing {
  readonly kind: "complex" | "real" | "pairs" | "halved";
  /** Elements of the axis in memory; further ones are dropped. */
  readonly extent: number;
  readonly factor: Factor | null;
  readonly scale: number;
}

export interface Pass {
  readonly name: string;
  readonly type: DftFloat;
  /** The length of its transforms. */
  readonly length: number;
  /** Its butterflies: their product is the length. */
  readonly radices: readonly number[];
  /** The length of the whole transform that it is a part of, and of the one that is asked for: a convolution is longer. */
  readonly computed: number;
  readonly whole: number;
  readonly sign: 1 | -1;
  readonly digits: readonly Digit[];
  /** Positions from one element of a transform to the next, read and written. */
  readonly fromStep: number;
  readonly toStep: number;
  /** The first element read, and the distances of neighbouring positions, read and written. */
  readonly start: number;
  readonly fromApart: number;
  readonly toApart: number;
  readonly reading: Reading;
  readonly writing: Writing;
  /** Sections of the table. */
  readonly roots: number;
  /** Roots that join halves; null: coarse and fine roots. */
  readonly halves: number | null;
  /** Two sections of the table, whose products are all roots of one order. */
  readonly long: { readonly fine: number; readonly coarse: number; readonly step: number };
  /**
   * Results are multiplied by w^(rest · k · factor), for w of the long roots and `rest` the digit of this number: the
   * twiddles between passes.
   */
  readonly twiddle: { readonly digit: number; readonly factor: number } | null;
  /** Nothing is transformed: the numbers, of a transform of pairs, are joined to half a spectrum (joined-halves.ts). */
  readonly isJoining?: boolean;
  /** The transform is multiplied by a section of the table and transformed back, all in one kernel. */
  readonly convolved: Factor | null;
}

/** The number of transforms. */
export const countOf = ({ digits }: Pass): number => digits.reduce((product, { extent }) => product * extent, 1);

/** Whether neighbouring transforms have neighbouring elements in memory. */
export function areNeighbours({ digits: [first], fromApart, toApart }: Pass, side: "from" | "to"): boolean {
  if (!first) return false;
  return first[side] + (side === "from" ? first.fromPosition * fromApart : first.toPosition * toApart) === 1;
}

/** One butterfly of each transform. */
export interface Stage {
  readonly radix: number;
  /** The product of the radices before. */
  readonly done: number;
  readonly sign: 1 | -1;
  /** Results are multiplied by this, at their place. */
  readonly factor: Factor | null;
  /** The start of its roots in the table; the first stage has none. */
  readonly roots: number;
}

/** The stages of a pass; those of a convolution go there and back. */
export function stagesOf(pass: Pass): Stage[] {
  const { sign, convolved } = pass;
  const there = stagesWith(pass, sign, convolved);
  return convolved ? [...there, ...stagesWith(pass, sign === 1 ? -1 : 1, null)] : there;
}

function stagesWith({ radices, roots: start }: Pass, sign: 1 | -1, factor: Factor | null): Stage[] {
  let done = 1;
  let roots = start;
  return radices.map((radix, i) => {
    const stage = { radix, done, sign, factor: i === radices.length - 1 ? factor : null, roots };
    if (i > 0) roots += (radix - 1) * done;
    done *= radix;
    return stage;
  });
}
