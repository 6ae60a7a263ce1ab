/**
 * The bytes of a slice of a row-major array, and the few reads that fetch them: runs of neighbouring bytes, and groups of
 * runs so close together that reading the gaps costs less than another system call. Pure; safetensors-file.ts calls this.
 */
import type { Shape } from "../core/shape.js";
import type { AxisRange } from "../core/slice.js";

/** Runs of equal length, in the order in which the slice lists its elements. */
interface ByteRuns {
  readonly length: number;
  readonly count: number;
  offsets(): Generator<number, void>;
}

/** One read: the bytes from start to end, and where in the file the runs within them begin. */
interface ReadGroup {
  readonly start: number;
  readonly end: number;
  readonly offsets: readonly number[];
}

/** The runs of the elements that `ranges`, one per axis, select. */
export function byteRuns(shape: Shape, elementBytes: number, ranges: readonly AxisRange[]): ByteRuns {
  const strides = new Array<number>(shape.length);
  let stride = elementBytes;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  // Whole axes at the end, and one contiguous part of the axis before them, make up a run.
  let length = elementBytes;
  let outer = shape.length;
  while (outer > 0 && isWhole(ranges[outer - 1], shape[outer - 1])) length = strides[--outer] * shape[outer];
  let base = 0;
  if (outer > 0 && (ranges[outer - 1].step === 1 || ranges[outer - 1].count <= 1)) {
    outer--;
    base = ranges[outer].start * strides[outer];
    length = ranges[outer].count * strides[outer];
  }
  const loops = ranges.slice(0, outer);
  const count = length === 0 ? 0 : loops.reduce((product, range) => product * range.count, 1);

  function* offsets(): Generator<number, void> {
    const index = loops.map(() => 0);
    let offset = loops.reduce((sum, range, axis) => sum + range.start * strides[axis], base);
    for (let run = 0; run < count; run++) {
      yield offset;
      for (let axis = outer - 1; axis >= 0; axis--) {
        const { step, count: turns } = loops[axis];
        offset += step * strides[axis];
        if (++index[axis] < turns) break;
        offset -= step * strides[axis] * turns;
        index[axis] = 0;
      }
    }
  }
  return { length, count, offsets };
}

function isWhole({ start, step, count }: AxisRange, size: number): boolean {
  return count === size && start === 0 && (step === 1 || count <= 1);
}

/**
 * Joins runs that follow or precede one another with gaps of at most `maxGap` bytes, as long as a group spans at most
 * `maxSpan`. The runs stay in their order.
 */
export function* groupRuns(runs: ByteRuns, maxGap: number, maxSpan: number): Generator<ReadGroup, void> {
  let group: { start: number; end: number; offsets: number[] } | undefined;
  for (const offset of runs.offsets()) {
    const end = offset + runs.length;
    if (group) {
      const gap = offset >= group.end ? offset - group.end : group.start - end;
      const [start, stop] = [Math.min(group.start, offset), Math.max(group.end, end)];
      if (gap >= 0 && gap <= maxGap && stop - start <= maxSpan) {
        group.start = start;
        group.end = stop;
        group.offsets.push(offset);
        continue;
      }
      yield group;
    }
    group = { start: offset, end, offsets: [offset] };
  }
  if (group) yield group;
}
