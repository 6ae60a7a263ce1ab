/**
 * Eigenvectors of upper triangular complex matrices, by substitution from the eigenvalue's own row upwards: a vector to a workgroup,
 * whose lanes share the sums. Where eigenvalues are equal the divisor is a rounding error instead of zero. Vectors that grow too
 * large are made smaller on the way (LAPACK's ztrevc and zlatrs).
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import type { Routine, RoutineBuffer } from "../../../target/routine.js";
import { Field, type Num } from "../field.js";
import { eachByLane, epsilonOf, planeWorkspace, type Workspace } from "../workspace.js";

/** Loop rounds of a thread that every driver takes. */
const MOST_ROUNDS = 60_000;
/** Elements of a vector, at most; the squares of such numbers can still be summed. */
const LARGE = { f32: 2 ** 40, f64: 2 ** 300 } as const;
/** Divisors are not smaller. */
const TINY = { f32: 1e-30, f64: 1e-280 } as const;
/** Columns that a thread of the CPU takes at once. */
const BLOCK = 8;

/**
 * Params: n, the order. Inputs: real and imaginary parts of matrices [B, N, N], of which the upper triangles of n rows count; N is a
 * multiple of 8. Results: real and imaginary parts of the vectors, as rows [B, N, N], of any length; the rest is undefined.
 */
export const triangularVectorsRoutine: Routine = (node, profile, settings) => {
  const [batch, padded] = node.inputs[0].shape;
  const size: Size = {
    n: node.params.n as number,
    padded,
    batch,
    type: node.inputs[0].dtype as "f32" | "f64",
    lanes: lanesFor(profile),
  };
  const rows = size.lanes === 1 ? size.n : Math.floor(MOST_ROUNDS / (2 * Math.ceil(size.n / size.lanes) + 8));
  const parts = (kind: "input" | "result"): RoutineBuffer[] =>
    [0, 1].map((which) => (kind === "input" ? { kind, index: which } : { kind, part: which }));
  const chunks = Array.from({ length: Math.max(1, Math.ceil((size.n - 1) / rows)) }, (_, chunk) => chunk * rows);
  return {
    temporaries: [],
    steps: chunks.map((from) => ({
      kernel: vectorKernel(size, from, Math.min(rows, size.n - 1 - from), settings),
      buffers: [...parts("input"), ...parts("result")],
      formula: ([re, im, x, y]) => `${x}, ${y} = eigenvectors of the triangle ${re}, ${im}, from row ${from} on`,
    })),
  };
};

interface Size {
  readonly n: number;
  readonly padded: number;
  readonly batch: number;
  readonly type: "f32" | "f64";
  readonly lanes: number;
}

const lanesFor = ({ maxLanes, hasSlowBarriers }: TargetProfile): number =>
  maxLanes === 1 ? 1 : hasSlowBarriers ? 8 : Math.min(32, maxLanes);

/** `count` rows of every vector, from the one `from` + 1 above the eigenvalue's own. */
function vectorKernel(
  { n, padded, batch, type, lanes }: Size,
  from: number,
  count: number,
  settings: ElementSettings,
): Kernel {
  const k = new KernelBuilder(`triangularVectors[${batch}×${n}×${n}, ${from}]`, batch * n, lanes);
  const field = new Field(k, { type, isComplex: true }, settings);
  const [re, im] = [k.buffer(type, false), k.buffer(type, false)];
  const buffers = [k.buffer(type, true), k.buffer(type, true)];
  const i = (value: number) => k.constant("i32", value);
  const [member, own] = [k.binary("idiv", k.row, i(n)), k.binary("irem", k.row, i(n))];
  const start = k.binary("mul", member, i(padded * padded));
  const x = planeWorkspace(k, field, buffers, k.binary("add", start, k.binary("mul", own, i(padded))));
  const given = (row: Value, column: Value): Num => {
    const place = k.binary("add", start, k.binary("add", k.binary("mul", row, i(padded)), column));
    return { re: k.load(re, place, type), im: k.load(im, place, type) };
  };
  if (from === 0) {
    eachByLane(k, padded, (column) => {
      x.set(column, field.select(k.compare("eq", column, own), field.one, field.zero));
    });
    k.barrier();
  }
  const value = given(own, own);
  k.loop(
    Math.max(1, count),
    [k.binary("sub", own, i(from + 1))],
    (_, [row]) => {
      k.when(k.compare("ge", row, i(0)), () => {
        substituted(k, field, { n, padded, own, row, value }, x, given);
        return [];
      });
      return [k.binary("sub", row, i(1))];
    },
    { exitWhen: ([next]) => k.compare("lt", next, i(0)) },
  );
  return k.finish();
}

interface VectorElements {
  readonly n: number;
  readonly padded: number;
  readonly own: Value;
  readonly row: Value;
  readonly value: Num;
}

/** One element: the sum of those below it, with the numbers of its row, over the difference of eigenvalues. */
function substituted(
  k: KernelBuilder,
  field: Field,
  place: VectorElements,
  x: Workspace,
  given: (row: Value, column: Value) => Num,
): void {
  const { row, value } = place;
  const { type } = field;
  const sum = sumOf(k, field, place, (column) => field.mul(given(row, column), x.get(column)));
  const gap = field.sub(value, given(row, row));
  const least = k.binary(
    "max",
    k.binary("mul", k.constant(type, epsilonOf(type)), field.size(value)),
    k.constant(type, TINY[type]),
  );
  const divisor = field.select(k.compare("lt", field.size(gap), least), field.real(least), gap);
  // The quotient's size is at most that of the numerator over that of the divisor, times a small number.
  const limit = k.binary(
    "mul",
    k.constant(type, LARGE[type]),
    k.binary("min", field.size(divisor), k.constant(type, 1)),
  );
  const isLarge = k.compare("gt", field.size(sum), limit);
  const factor = k.select(
    isLarge,
    field.divReal(limit, k.select(isLarge, field.size(sum), k.constant(type, 1))),
    k.constant(type, 1),
  );
  k.when(isLarge, () => {
    overElements(k, place, (column) => x.set(column, field.scale(x.get(column), factor)));
    return [];
  });
  const isFirst = k.lanes === 1 ? null : k.compare("eq", k.lane, k.constant("i32", 0));
  x.set(row, field.div(field.scale(sum, factor), divisor), isFirst);
  k.barrier();
}

/** Columns behind the row, up to the eigenvalue's own, shared out among the lanes. */
function overElements(k: KernelBuilder, { n, own, row }: VectorElements, body: (column: Value) => void): void {
  const i = (value: number) => k.constant("i32", value);
  const begin = k.binary("add", row, i(1));
  k.loop(
    Math.ceil(n / k.lanes),
    [k.lanes === 1 ? begin : k.binary("add", begin, k.lane)],
    (_, [column]) => {
      k.when(k.compare("le", column, own), () => {
        body(column);
        return [];
      });
      return [k.binary("add", column, i(k.lanes))];
    },
    { exitWhen: ([next]) => k.compare("gt", next, own) },
  );
}

/** The sum of terms over these columns. A thread of the CPU takes whole blocks: beyond them the vector is zero. */
function sumOf(k: KernelBuilder, field: Field, place: VectorElements, term: (column: Value) => Num): Num {
  const { padded, own, row, n } = place;
  const i = (value: number) => k.constant("i32", value);
  const flat = ({ re, im }: Num) => [re, im as Value];
  if (k.lanes > 1) {
    const begin = k.binary("add", k.binary("add", row, i(1)), k.lane);
    const [, re, im] = k.loop(
      Math.ceil(n / k.lanes),
      [begin, ...flat(field.zero)],
      (_, [column, ...before]) => {
        const total: Num = { re: before[0], im: before[1] };
        const found = k.when(
          k.compare("le", column, own),
          () => flat(field.add(total, term(column))),
          () => before,
        );
        return [k.binary("add", column, i(k.lanes)), ...found];
      },
      { exitWhen: ([next]) => k.compare("gt", next, own) },
    );
    return field.sumLanes({ re, im });
  }
  const [total] = field.loop(padded / BLOCK, [field.zero], (number, [before]) => {
    const begin = k.binary("mul", number, i(BLOCK));
    const isNeeded = k.binary(
      "and",
      k.compare("gt", k.binary("add", begin, i(BLOCK - 1)), row),
      k.compare("le", begin, own),
    );
    const found = k.when(
      isNeeded,
      () => {
        const [part] = field.loop(BLOCK, [field.zero], (at, [partial]) => [
          field.add(partial, term(k.binary("add", begin, at))),
        ]);
        return flat(field.add(before, part));
      },
      () => flat(before),
    );
    return [{ re: found[0], im: found[1] }];
  });
  return total;
}
