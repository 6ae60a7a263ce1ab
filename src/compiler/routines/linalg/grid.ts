/**
 * Matrices too large for one workgroup of a GPU, in steps: a step takes a block of columns (or rows) and then brings the rest
 * up to date. All steps run the same two kernels, which read the number of the step from memory: there is little to compile,
 * and nothing is copied in between. Workgroups are a grid of lanes that keep a tile in registers. `GridKernel` is what the
 * kernels of stepped-cholesky.ts and stepped-solve.ts share.
 */
import type { Node } from "../../../graph/node.js";
import type { ElementSettings } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { RoutineBuffer, RoutinePlan, RoutineStep } from "../../target/routine.js";
import type { TileProfile } from "../../target/tile-profile.js";
import { bytesOf, type Num, type NumberKind } from "./field.js";
import { MatrixKernel } from "./matrix-kernel.js";
import { TILE_COLUMNS } from "./rest-tile.js";

/** The grid of lanes of a workgroup, and the rows and columns of a block. */
export interface Grid {
  readonly side: number;
  readonly block: number;
}

/** The grid for a kind of numbers; null on devices that would not gain by it. */
export function gridFor(kind: NumberKind, { kind: tiles, maxLanes, sharedBytes }: TileProfile): Grid | null {
  if (tiles !== "shared") return null;
  const side = maxLanes >= 256 ? 16 : 8;
  const block = (kind.isComplex ? 2 : 4) * side;
  return blockBytes(block, kind) <= sharedBytes ? { side, block } : null;
}

/** Shared memory of the kernel that needs most: a block of the new columns (cholesky-rest.ts). */
const blockBytes = (block: number, kind: NumberKind): number => block * TILE_COLUMNS * bytesOf(kind);

export class GridKernel extends MatrixKernel {
  /** The place of the lane in the grid. */
  readonly across: Value;
  readonly down: Value;

  constructor(
    name: string,
    rows: number,
    readonly grid: Grid,
    node: Node,
    settings: ElementSettings,
  ) {
    super(name, rows, grid.side * grid.side, node, settings);
    this.across = this.k.binary("irem", this.k.lane, this.i(grid.side));
    this.down = this.k.binary("idiv", this.k.lane, this.i(grid.side));
  }

  /** Elements of a block that a lane has along each axis. */
  get perLane(): number {
    return this.grid.block / this.grid.side;
  }

  /** The place of a lane's element in the block: lanes take turns. */
  rowOf(at: number): Value {
    return this.add(this.down, at * this.grid.side);
  }

  columnOf(at: number): Value {
    return this.add(this.across, at * this.grid.side);
  }

  /** An element of a matrix of `extents`; another value outside of it. */
  inside(row: Value, column: Value, [m, n]: readonly [number, number], read: (index: Value) => Num, outside: Num): Num {
    const { k, f } = this;
    const isInside = this.isInside(row, column, [m, n]);
    const index = this.add(this.mul(row, n), column);
    return isInside ? f.select(isInside, read(k.select(isInside, index, this.i(0))), outside) : read(index);
  }

  /** Whether an element of a block lies in the matrix; null where blocks fill it, so that all do. */
  isInside(row: Value, column: Value, extents: readonly [number, number]): Value | null {
    const tests = [row, column].flatMap((at, axis) =>
      extents[axis] % this.grid.block === 0 ? [] : [this.less(at, extents[axis])],
    );
    return tests.length === 0 ? null : tests.reduce((a, b) => this.k.binary("and", a, b));
  }
}

/**
 * Runs steps 0 … count - 1: in each the first kernel, and, except in the last unless `isWhole`, the second. They read the step's
 * number, and the last kernel of a step counts on. With one kernel to a step, it `countsAlone`.
 */
export function inSteps(
  count: number,
  before: readonly RoutineStep[],
  temporaries: RoutinePlan["temporaries"],
  step: (which: number) => readonly Omit<RoutineStep, "buffers">[],
  buffers: (which: number) => readonly (readonly RoutineBuffer[])[],
  isWhole = false,
  countsAlone = false,
): RoutinePlan {
  const counter = (which: number): RoutineBuffer => ({ kind: "temporary", index: temporaries.length + (which % 2) });
  const i32 = { dtype: "i32", shape: [] } as const;
  const start: RoutineStep = { kernel: startKernel(), buffers: [counter(0)], formula: ([now]) => `${now} = 0` };
  const steps = Array.from({ length: count }, (_, which) => {
    const [first, second] = step(which);
    const [ofFirst, ofSecond] = buffers(which);
    const next = countsAlone ? [counter(which + 1)] : [];
    const own: RoutineStep = { ...first, buffers: [...ofFirst, counter(which), ...next] };
    if (countsAlone || (which === count - 1 && !isWhole)) return [own];
    return [own, { ...second, buffers: [...ofSecond, counter(which), counter(which + 1)] }];
  });
  return { temporaries: [...temporaries, i32, i32], steps: [...before, start, ...steps.flat()] };
}

/** The number of the step, from the kernel's next buffer. */
export const stepNumber = ({ k }: MatrixKernel): Value => k.load(k.buffer("i32", false), k.constant("i32", 0), "i32");

/** Writes the number of the next step into the kernel's next buffer. */
export function countOn(kernel: MatrixKernel, step: Value): void {
  const { k } = kernel;
  const next = k.buffer("i32", true);
  const isFirst = k.binary("and", k.compare("eq", k.row, kernel.i(0)), k.compare("eq", k.lane, kernel.i(0)));
  k.store(next, kernel.i(0), kernel.add(step, 1), false, isFirst);
}

function startKernel(): Kernel {
  const k = new KernelBuilder("first step", 1);
  k.store(k.buffer("i32", true), k.constant("i32", 0), k.constant("i32", 0), true);
  return k.finish();
}
