/**
 * Plans the barriers of a recorded program: one before a kernel that reads or writes memory that a kernel since the last
 * barrier has written, or that writes memory it has read. Pure; recorded-program.ts calls it for each dispatch.
 */
import type { BufferPlace } from "../../engine.js";

interface Range {
  readonly memory: string;
  readonly start: number;
  readonly end: number;
}

export class BarrierPlanner {
  private reads: Range[] = [];
  private writes: Range[] = [];

  /** `inPlace`: for each result the argument whose memory it may take over, or -1. */
  constructor(private readonly inPlace: readonly number[]) {}

  /** Notes a kernel's buffers; true when the kernels before must have finished first. */
  add(places: readonly BufferPlace[], buffers: readonly { readonly isWritten: boolean }[]): boolean {
    const ranges = places.map((place) => this.rangeOf(place));
    const isConflict = ranges.some(
      (range, i) => this.writes.some(meets(range)) || (buffers[i].isWritten && this.reads.some(meets(range))),
    );
    if (isConflict) {
      this.reads = [];
      this.writes = [];
    }
    ranges.forEach((range, i) => {
      (buffers[i].isWritten ? this.writes : this.reads).push(range);
    });
    return isConflict;
  }

  private rangeOf(place: BufferPlace): Range {
    if (place.from === "arena") {
      return { memory: "arena", start: place.start, end: place.start + Math.max(1, place.byteLength) };
    }
    // A result that may take over an argument's memory counts as that argument.
    const argument = place.from === "argument" ? place.index : this.inPlace[place.index];
    const memory = argument >= 0 ? `argument ${argument}` : `result ${place.index}`;
    return { memory, start: 0, end: Number.POSITIVE_INFINITY };
  }
}

const meets =
  (range: Range) =>
  ({ memory, start, end }: Range): boolean =>
    memory === range.memory && start < range.end && range.start < end;
