/**
 * Steps of the QR algorithm on upper Hessenberg matrices, one matrix to a workgroup (Francis 1961; Golub and Van Loan, Matrix
 * Computations, 7.5). A sweep makes a bulge at the top of the active block and chases it to the bottom: with a reflection of
 * three rows, for two shifts at once, in real matrices, and of two rows, for one shift, in complex ones. Where an element below the
 * diagonal vanishes, the block is cut in two.
 *
 * A kernel does a bounded number of steps, a search or one place of the bulge each, and writes down where it stands: drivers
 * end long loops. graph/primitives/linalg/schur.ts calls it until all matrices are done. Columns of the unitary matrix are rows here,
 * so that lanes read along them.
 */
import type { Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import type { Routine, RoutineBuffer } from "../../../target/routine.js";
import { bytesOf, Field, kindOf, type Num } from "../field.js";
import { reflectionOf } from "../reflection.js";
import {
  arrayBytes,
  arrayWorkspace,
  eachByLane,
  epsilonOf,
  planeWorkspace,
  powerOfTwo,
  type Workspace,
} from "../workspace.js";
import { complexStart, realStart } from "./francis-shifts.js";

/** Loop rounds of a thread that every driver takes. */
const MOST_ROUNDS = 60_000;
/** Sweeps without a cut after which a matrix is given up. */
const MOST_SWEEPS = 120;
/**
 * Sweeps without a cut after which rounding is that of the largest numbers on the diagonal: sweeps bring it to small ones beside
 * them, which then never vanish by their own measure. Many equal eigenvalues do that.
 */
const LATE_SWEEPS = 20;
/** Columns that a thread of the CPU takes at once. */
const BLOCK = 32;

/** Elements below the diagonal that vanish whatever is beside them. Matrices are scaled, so these are far below rounding. */
const VANISHING = { f32: 1e-34, f64: 1e-290 } as const;

/**
 * Params: n, the order, isComplex, hasVectors. Inputs: matrices [B, N, N], real parts and then, of complex matrices, imaginary ones;
 * the same of the unitary matrix, transposed, if it is wanted; i32 [B, 4]: the last row of the active block, sweeps since
 * the last cut, the first row, and the place of the bulge. At first these are n - 1, 0, 0, -1; the last row is -1 in the end,
 * and -2 where the algorithm gave up. Results: the same, some steps later. N is larger than n where matrices are real.
 */
export const francisRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const [batch, padded] = node.inputs[0].shape;
  const { n, hasVectors } = node.params as { n: number; hasVectors: boolean };
  const lanes = lanesFor(padded, profile);
  const k = new KernelBuilder(`francis[${batch}×${n}×${n}]`, batch, lanes);
  const field = new Field(k, kind, settings);
  const matrices = hasVectors ? 2 : 1;
  const parts = kind.isComplex ? 2 : 1;
  const planes = (isWritten: boolean) =>
    Array.from({ length: matrices }, () => Array.from({ length: parts }, () => k.buffer(kind.type, isWritten)));
  const sources = planes(false);
  const stateIn = k.buffer("i32", false);
  const targets = planes(true);
  const stateOut = k.buffer("i32", true);
  const pitch = lanes === 1 ? padded : padded + 1;
  const isInside =
    lanes > 1 && matrices * padded * pitch * bytesOf(kind) <= arrayBytes(profile) - lanes * bytesOf(kind);
  const first = k.binary("mul", k.row, k.constant("i32", padded * padded));
  const work = targets.map((buffers) =>
    isInside ? arrayWorkspace(field, padded * pitch) : planeWorkspace(k, field, buffers, first),
  );
  const size = { n, padded, pitch: isInside ? pitch : padded };
  const kernel = new Francis(k, field, size, work[0], work[1] ?? null);
  const moved = (from: (place: Value, which: number) => Num, to: (place: Value, which: number, x: Num) => void) =>
    eachByLane(k, padded * padded, (place) => {
      for (let which = 0; which < matrices; which++) to(place, which, from(place, which));
    });
  const inner = (place: Value): Value => (isInside ? kernel.at(...kernel.apart(place)) : place);
  moved(
    (place, which) => loadPlanes(k, field, sources[which], k.binary("add", first, place)),
    (place, which, x) => work[which].set(inner(place), x),
  );
  k.barrier();
  kernel.run(stateIn, stateOut, stepsFor(padded, lanes));
  if (isInside) {
    const results = targets.map((buffers) => planeWorkspace(k, field, buffers, first));
    moved(
      (place, which) => work[which].get(inner(place)),
      (place, which, x) => results[which].set(place, x),
    );
  }
  return { temporaries: [], steps: [{ kernel: k.finish(), buffers: buffersOf(matrices * parts + 1), formula }] };
};

const buffersOf = (count: number): readonly RoutineBuffer[] => [
  ...Array.from({ length: count }, (_, index): RoutineBuffer => ({ kind: "input", index })),
  ...Array.from({ length: count }, (_, part): RoutineBuffer => ({ kind: "result", part })),
];

const formula = ([from, ...names]: readonly string[]): string =>
  `${names[names.length / 2 - 0.5]} = ${from} after some steps of the QR algorithm`;

/** Lanes that share a matrix. A software driver takes few of them, because barriers are slow there. */
function lanesFor(padded: number, { maxLanes, hasSlowBarriers, tiles }: TargetProfile): number {
  if (maxLanes === 1) return 1;
  if (hasSlowBarriers) return Math.min(64, Math.max(8, powerOfTwo(padded / 8)));
  return Math.min(256, tiles.maxLanes, Math.max(32, powerOfTwo(padded)));
}

/** Steps of one kernel: a few sweeps, and no more rounds of loops than drivers take. */
function stepsFor(padded: number, lanes: number): number {
  const wanted = Math.max(256, 16 * padded);
  return lanes === 1 ? wanted : Math.min(wanted, Math.floor(MOST_ROUNDS / (5 * Math.ceil(padded / lanes) + 14)));
}

function loadPlanes(k: KernelBuilder, { type }: Field, [re, im]: readonly number[], place: Value): Num {
  return { re: k.load(re, place, type), im: im === undefined ? null : k.load(im, place, type) };
}

interface Size {
  readonly n: number;
  readonly padded: number;
  readonly pitch: number;
}

/** The state of a matrix: the last row of the active block, sweeps since the last cut, the first row, the place of the bulge. */
type State = readonly [last: Value, sweeps: Value, first: Value, place: Value];

class Francis {
  /** Rows of a reflection. */
  private readonly height: 2 | 3;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly size: Size,
    private readonly h: Workspace,
    private readonly z: Workspace | null,
  ) {
    this.height = field.isComplex ? 2 : 3;
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }

  private plus(x: Value, by: number): Value {
    return this.k.binary("add", x, this.i(by));
  }

  at(row: Value, column: Value): Value {
    return this.k.binary("add", this.k.binary("mul", row, this.i(this.size.pitch)), column);
  }

  /** The row and column of a place in the padded matrix. */
  apart(place: Value): [Value, Value] {
    const { k } = this;
    return [k.binary("idiv", place, this.i(this.size.padded)), k.binary("irem", place, this.i(this.size.padded))];
  }

  run(stateIn: number, stateOut: number, steps: number): void {
    const { k } = this;
    const place = (which: number) => k.binary("add", k.binary("mul", k.row, this.i(4)), this.i(which));
    const start = [0, 1, 2, 3].map((which) => k.load(stateIn, place(which), "i32"));
    const end = k.loop(
      steps,
      start,
      (_, state) => {
        const [last, , , at] = state;
        const isSearch = k.binary("and", k.compare("ge", last, this.i(0)), k.compare("lt", at, this.i(0)));
        const begun = k.when(
          isSearch,
          () => this.search(state as unknown as State),
          () => state,
        );
        return k.when(
          k.compare("ge", begun[3], this.i(0)),
          () => this.chase(begun as unknown as State),
          () => begun,
        );
      },
      { exitWhen: ([last]) => k.compare("lt", last, this.i(0)) },
    );
    const isFirst = k.compare("eq", k.lane, this.i(0));
    end.forEach((value, which) => {
      k.store(stateOut, place(which), value, k.lanes === 1, k.lanes === 1 ? null : isFirst);
    });
    k.barrier();
  }

  /** Finds the first row of the last block that is not cut, and begins a sweep there, or leaves a block that is done. */
  private search([last, sweeps]: State): readonly Value[] {
    const { k, field, h } = this;
    const { row: close, largest } = this.lastCut(last, (around) => around);
    const isLate = k.compare("ge", sweeps, this.i(LATE_SWEEPS));
    const [first] = k.when(
      isLate,
      () => [this.lastCut(last, () => largest).row],
      () => [close],
    );
    k.barrier();
    const isCut = k.compare("gt", first, this.i(0));
    const cut = this.at(first, k.binary("max", this.plus(first, -1), this.i(0)));
    h.set(cut, field.zero, k.lanes === 1 ? isCut : k.binary("and", isCut, k.compare("eq", k.lane, this.i(0))));
    k.barrier();
    const isDone = k.compare("ge", first, this.plus(last, 2 - this.height));
    const isHopeless = k.compare("ge", sweeps, this.i(MOST_SWEEPS));
    const goesOn = k.select(isHopeless, this.i(-2), last);
    return [
      k.select(isDone, this.plus(first, -1), goesOn),
      k.select(isDone, this.i(0), this.plus(sweeps, 1)),
      k.select(isDone, this.i(0), first),
      k.select(k.binary("or", isDone, isHopeless), this.i(-1), first),
    ];
  }

  /**
   * The last row up to `last` whose element below the diagonal is lost in the rounding of a number, which depends on the numbers
   * around it; 0 where there is none. And the largest of those around.
   */
  private lastCut(last: Value, besides: (around: Value) => Value): { readonly row: Value; readonly largest: Value } {
    const { k, field, h } = this;
    const { type } = field;
    const c = (value: number) => k.constant(type, value);
    const [row, largest] = this.overRange(this.i(1), last, [this.i(0), c(0)], (own, [best, most]) => {
      const before = this.plus(own, -1);
      const beside = field.size(h.get(this.at(own, before)));
      const around = k.binary("add", field.size(h.get(this.at(before, before))), field.size(h.get(this.at(own, own))));
      const size = besides(around);
      const rounding = k.binary("mul", c(epsilonOf(type)), k.select(k.compare("eq", size, c(0)), c(1), size));
      const isLost = k.compare("le", beside, k.binary("max", rounding, c(VANISHING[type])));
      return [k.binary("max", best, k.select(isLost, own, this.i(0))), k.binary("max", most, around)];
    });
    return { row: k.combineLanes("max", row), largest: k.combineLanes("max", largest) };
  }

  /** Moves the bulge on by one row. */
  private chase([last, sweeps, first, place]: State): readonly Value[] {
    const { k, field, height, h } = this;
    const isStart = k.compare("eq", place, first);
    const before = k.binary("max", this.plus(place, -1), this.i(0));
    const flat = (numbers: readonly Num[]) => numbers.flatMap(({ re, im }) => (im ? [re, im] : [re]));
    const column = k.when(
      isStart,
      () => {
        const start = flat(this.startOf(first, last, sweeps));
        // Other lanes read these rows, too, before they change.
        k.barrier();
        return start;
      },
      () => {
        const read = Array.from({ length: height }, (_, row) => h.get(this.at(this.plus(place, row), before)));
        const isInside = k.compare("le", this.plus(place, height - 1), last);
        return flat([...read.slice(0, -1), field.select(isInside, read[height - 1], field.zero)]);
      },
    );
    const given = Array.from(
      { length: height },
      (_, at): Num => (field.isComplex ? { re: column[2 * at], im: column[2 * at + 1] } : { re: column[at], im: null }),
    );
    const { vector, tau, beta } = this.reflection(given);
    this.fromLeft(place, last, vector, tau);
    k.barrier();
    this.fromRight(place, first, last, vector, tau);
    const isFirstLane = k.compare("eq", k.lane, this.i(0));
    const isWritten = k.unary("not", isStart);
    const gate = k.lanes === 1 ? isWritten : k.binary("and", isWritten, isFirstLane);
    for (let row = 0; row < height; row++) {
      h.set(this.at(this.plus(place, row), before), row === 0 ? beta : field.zero, gate);
    }
    if (this.z) this.columnsOf(this.z, place, vector, tau);
    k.barrier();
    const isEnd = k.compare("ge", this.plus(place, 1), last);
    return [last, sweeps, first, k.select(isEnd, this.i(-1), this.plus(place, 1))];
  }

  /** The column that a sweep begins with. */
  private startOf(first: Value, last: Value, sweeps: Value): Num[] {
    const get = (row: Value, column: Value) => this.h.get(this.at(row, column));
    const rows = { first, last, sweeps };
    return this.field.isComplex
      ? complexStart(this.k, this.field, rows, get)
      : realStart(this.k, this.field, rows, get);
  }

  /** The reflection of a column of numbers of any size. */
  private reflection(given: readonly Num[]): {
    readonly vector: readonly Num[];
    readonly tau: Num;
    readonly beta: Num;
  } {
    const { k, field } = this;
    const size = given.map((x) => field.size(x)).reduce((a, b) => k.binary("max", a, b));
    const zero = k.constant(field.type, 0);
    const safe = k.select(k.compare("gt", size, zero), size, k.constant(field.type, 1));
    const [head, ...others] = given.map((x) => field.shrink(x, safe));
    const below = others.map((x) => field.squared(x)).reduce((a, b) => k.binary("add", a, b));
    const { beta, tau, inverse } = reflectionOf(k, field, head, below);
    return { vector: [field.one, ...others.map((x) => field.mul(x, inverse))], tau, beta: field.scale(beta, safe) };
  }

  /** Rows from `place` on, with the adjoint of the reflection: columns from there to the end, or to the end of the block. */
  private fromLeft(place: Value, last: Value, vector: readonly Num[], tau: Num): void {
    const { field, h } = this;
    const factor = field.conj(tau);
    const end = this.z ? this.i(this.size.n - 1) : last;
    this.overColumns(place, end, (column) => {
      const places = vector.map((_, row) => this.at(this.plus(place, row), column));
      const rows = places.map((each) => h.get(each));
      const along = rows.map((x, at) => field.mul(field.conj(vector[at]), x)).reduce((a, b) => field.add(a, b));
      const change = field.mul(factor, along);
      places.forEach((each, at) => {
        h.set(each, field.mulSub(vector[at], change, rows[at]));
      });
    });
  }

  /** Columns from `place` on: rows from the first of the matrix, or of the block, to the end of the bulge. */
  private fromRight(place: Value, first: Value, last: Value, vector: readonly Num[], tau: Num): void {
    const { k, field, h } = this;
    const end = k.binary("min", this.plus(place, this.height), last);
    this.overRange(this.z ? this.i(0) : first, end, [], (row) => {
      const places = vector.map((_, column) => this.at(row, this.plus(place, column)));
      const numbers = places.map((each) => h.get(each));
      const along = numbers.map((x, at) => field.mul(x, vector[at])).reduce((a, b) => field.add(a, b));
      const change = field.mul(tau, along);
      places.forEach((each, at) => {
        h.set(each, field.mulSub(change, field.conj(vector[at]), numbers[at]));
      });
      return [];
    });
  }

  /** Columns of the unitary matrix from `place` on, which lie as rows. */
  private columnsOf(z: Workspace, place: Value, vector: readonly Num[], tau: Num): void {
    const { field } = this;
    this.overColumns(this.i(0), this.i(this.size.n - 1), (column) => {
      const places = vector.map((_, row) => this.at(this.plus(place, row), column));
      const numbers = places.map((each) => z.get(each));
      const along = numbers.map((x, at) => field.mul(x, vector[at])).reduce((a, b) => field.add(a, b));
      const change = field.mul(tau, along);
      places.forEach((each, at) => {
        z.set(each, field.mulSub(change, field.conj(vector[at]), numbers[at]));
      });
    });
  }

  /** Does something for `from` … `to`, shared out among the lanes, and carries values. */
  private overRange(
    from: Value,
    to: Value,
    initial: readonly Value[],
    body: (index: Value, carried: readonly Value[]) => readonly Value[],
  ): Value[] {
    const { k, size } = this;
    const begin = k.lanes === 1 ? from : k.binary("add", from, k.lane);
    const [, ...last] = k.loop(
      Math.ceil(size.n / k.lanes),
      [begin, ...initial],
      (_, [index, ...carried]) => {
        const found = k.when(
          k.compare("le", index, to),
          () => body(index, carried),
          () => carried,
        );
        return [this.plus(index, k.lanes), ...found];
      },
      { exitWhen: ([next]) => k.compare("gt", next, to) },
    );
    return last;
  }

  /**
   * The same for columns. A thread of the CPU takes whole blocks of them: what it does beyond the range changes only zeros, and
   * numbers that nothing reads.
   */
  private overColumns(from: Value, to: Value, body: (column: Value) => void): void {
    const { k, size } = this;
    const whole = (column: Value) => {
      body(column);
      return [];
    };
    if (k.lanes > 1) {
      this.overRange(from, to, [], whole);
      return;
    }
    const block = size.padded % BLOCK === 0 ? BLOCK : 8;
    k.loop(size.padded / block, [], (number) => {
      const begin = k.binary("mul", number, this.i(block));
      const isNeeded = k.binary("and", k.compare("gt", this.plus(begin, block), from), k.compare("le", begin, to));
      k.when(isNeeded, () => {
        k.loop(block, [], (column) => whole(k.binary("add", begin, column)));
        return [];
      });
      return [];
    });
  }
}
