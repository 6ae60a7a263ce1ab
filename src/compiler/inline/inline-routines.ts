/**
 * Sequential operations inside a function of a thread: loops over sequences, triangular matrices, running totals and
 * scattered sums, as plain loops of one lane. `inline` finds them here by the name of their primitive.
 */
import { UnsupportedError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import { GraphFunction } from "../../graph/function.js";
import type { Node } from "../../graph/node.js";
import type { ScanParams } from "../../graph/primitives/control/scan.js";
import { type CumulateOp, runningTotal } from "../../graph/primitives/cumulate.js";
import type { ScatterOp } from "../../graph/primitives/scatter.js";
import { type Element, elementOps } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { InlineContext, InlineResult } from "./inline.js";
import { type Place, shifted } from "./place.js";

type InlineRoutine = (context: InlineContext, node: Node, inputs: readonly Place[], result: Place) => void;

/** Small whole-number arithmetic. */
function integers(k: KernelBuilder) {
  const i = (value: number) => k.constant("i32", value);
  return {
    i,
    add: (a: Value, b: Value) => k.binary("add", a, b),
    mul: (a: Value, by: number) => k.binary("mul", a, i(by)),
    less: (a: Value, b: Value) => k.compare("lt", a, b),
  };
}

function each(k: KernelBuilder, extent: number, body: (index: Value) => void): void {
  if (extent === 0) return;
  k.loop(extent, [], (index) => {
    body(index);
    return [];
  });
}

function copy(k: KernelBuilder, from: Place, to: Place, size: number): void {
  each(k, size, (index) => to.store(index, from.load(index)));
}

/**
 * A result of a scan that is read. `room`: memory for `length + 1` carries, if the result is the carry at the start of each
 * round and may lie in scratch memory: rounds then write their carries there, the final one too. Else null.
 */
export interface ScanPart {
  readonly index: number;
  readonly place: Place;
  readonly room: Place | null;
}

/**
 * The part of `room` that holds the carry at the start of each round. Each round writes its carry where the next round starts.
 * A reverse scan starts at the end of the room and leaves its final carry in the first row, so the part begins one row later.
 */
export function roomFor(k: KernelBuilder, { params }: Node, room: Place, size: number): Place {
  const { isReverse } = params as unknown as ScanParams;
  return isReverse ? shifted(k, room, k.constant("i32", size)) : room;
}

/** A carry in memory: where a round finds it, where it leaves the next, and where the last one is in the end. */
interface Carried {
  readonly first: Place;
  readonly last: Place;
  inRound(round: Value): { readonly now: Place; readonly next: Place };
}

/** In rows of a room, one for each round and one more; without a room in two halves that take turns. */
function carriedIn(k: KernelBuilder, { params }: Node, place: Place, size: number, isRoom: boolean): Carried {
  const { length, isReverse } = params as unknown as ScanParams;
  const { i, add, mul } = integers(k);
  const rowAt = (row: Value) => shifted(k, place, mul(row, size));
  if (!isRoom) {
    return {
      first: rowAt(i(0)),
      last: rowAt(i(length % 2)),
      inRound: (round) => {
        const half = k.binary("and", round, i(1));
        return { now: rowAt(half), next: rowAt(k.binary("sub", i(1), half)) };
      },
    };
  }
  const at = (round: Value) => (isReverse ? k.binary("sub", i(length), round) : round);
  return {
    first: rowAt(at(i(0))),
    last: rowAt(at(i(length))),
    inRound: (round) => ({ now: rowAt(at(round)), next: rowAt(at(add(round, i(1)))) }),
  };
}

/** The rounds of a scan as a loop. Carries are in memory, where a round writes the next ones beside those it reads. */
export function inlineScan(
  { k, scratch }: InlineContext,
  node: Node,
  inputs: readonly Place[],
  parts: readonly ScanPart[],
  write: (body: GraphFunction, from: readonly Place[], to: readonly InlineResult[]) => void,
): void {
  const { body, constants, carries, length, isReverse } = node.params as unknown as ScanParams;
  const { i, mul } = integers(k);
  const parameters = body.parameters.slice(constants, constants + carries);
  const sizes = parameters.map(({ shape }) => sizeOf(shape));
  // Stacked results that nobody reads are not computed; the carries that rounds begin with are among them.
  const stacked = parts.filter(({ index }) => index >= carries && index < body.results.length);
  const begun = parts.filter(({ index }) => index >= body.results.length);
  const carried = parameters.map(({ dtype }, c) => {
    const room = begun.find(({ index }) => index - body.results.length === c)?.room;
    return carriedIn(k, node, room ?? scratch.place(dtype, 2 * sizes[c]), sizes[c], room != null);
  });
  carried.forEach(({ first }, c) => {
    copy(k, inputs[constants + c], first, sizes[c]);
  });
  const trimmed = new GraphFunction(body.parameters, [
    ...body.results.slice(0, carries),
    ...stacked.map(({ index }) => body.results[index]),
  ]);
  each(k, length, (round) => {
    const at = isReverse ? k.binary("sub", i(length - 1), round) : round;
    const inRound = (place: Place, size: number) => shifted(k, place, mul(at, size));
    const pairs = carried.map((carry) => carry.inRound(round));
    for (const { index, place, room } of begun) {
      const c = index - body.results.length;
      if (!room) copy(k, pairs[c].now, inRound(place, sizes[c]), sizes[c]);
    }
    const from = body.parameters.map(({ shape }, p) => {
      if (p < constants) return inputs[p];
      return p < constants + carries ? pairs[p - constants].now : inRound(inputs[p], sizeOf(shape));
    });
    const to = [
      ...pairs.map(({ next }) => next),
      ...stacked.map(({ index, place }) => inRound(place, sizeOf(body.results[index].shape))),
    ];
    write(trimmed, from, to);
  });
  for (const { index, place } of parts) if (index < carries) copy(k, carried[index].last, place, sizes[index]);
}

/** The sum of terms at 0 … count - 1, where count may be 0 and at most `most`. */
function sumBelow(
  k: KernelBuilder,
  type: "f32" | "f64",
  count: Value,
  most: number,
  term: (at: Value) => Value,
): Value {
  const { i, add, less } = integers(k);
  const zero = k.constant(type, 0);
  const [, sum] = k.loop(
    most,
    [i(1), zero],
    (at, [next, total]) => [add(next, i(1)), k.binary("add", total, k.select(less(at, count), term(at), zero))],
    { exitWhen: ([next]) => k.compare("gt", next, count) },
  );
  return sum;
}

const cholesky: InlineRoutine = ({ k, settings }, node, [a], l) => {
  const { add, mul, less } = integers(k);
  const { dtype, shape } = node;
  const type = dtype as "f32" | "f64";
  const n = shape.at(-1) as number;
  const ops = elementOps(k, settings);
  const element = (value: Value): Element => ({ dtype, value });
  each(k, sizeOf(shape.slice(0, -2)), (matrix) => {
    const first = mul(matrix, n * n);
    const at = (row: Value, column: Value) => add(first, add(mul(row, n), column));
    const rest = (row: Value, column: Value) => {
      const known = sumBelow(k, type, column, n, (c) => k.binary("mul", l.load(at(row, c)), l.load(at(column, c))));
      return ops.sub(element(a.load(at(row, column))), element(known));
    };
    each(k, n, (column) => {
      const pivot = rest(column, column);
      const isPositive = k.compare("gt", pivot.value, k.constant(type, 0));
      // A singular matrix has no factor, as in the routine.
      const diagonal = element(k.select(isPositive, ops.sqrt(pivot).value, k.constant(type, Number.NaN)));
      each(k, n, (row) => {
        k.when(
          less(column, row),
          () => {
            l.store(at(row, column), ops.div(rest(row, column), diagonal).value);
            return [];
          },
          () => {
            const isDiagonal = k.compare("eq", row, column);
            l.store(at(row, column), k.select(isDiagonal, diagonal.value, k.constant(type, 0)));
            return [];
          },
        );
      });
    });
  });
};

const solveLower: InlineRoutine = ({ k, settings }, node, [l, b], x) => {
  const { add, mul } = integers(k);
  const { dtype, shape, params } = node;
  const type = dtype as "f32" | "f64";
  const [n, m] = shape.slice(-2) as [number, number];
  const ops = elementOps(k, settings);
  const element = (value: Value): Element => ({ dtype, value });
  each(k, sizeOf(shape.slice(0, -2)), (matrix) => {
    const inMatrix = (row: Value, column: Value) => add(mul(matrix, n * n), add(mul(row, n), column));
    const inSides = (row: Value, column: Value) => add(mul(matrix, n * m), add(mul(row, m), column));
    each(k, m, (column) => {
      each(k, n, (row) => {
        const known = sumBelow(k, type, row, n, (c) =>
          k.binary("mul", l.load(inMatrix(row, c)), x.load(inSides(c, column))),
        );
        const rest = ops.sub(element(b.load(inSides(row, column))), element(known));
        const value = params.isUnit ? rest : ops.div(rest, element(l.load(inMatrix(row, row))));
        x.store(inSides(row, column), value.value);
      });
    });
  });
};

const cumulate: InlineRoutine = ({ k, settings }, node, inputs, result) => {
  if (inputs.length > 1) throw new UnsupportedError("cumulate of segments inside a function of a thread");
  const { i, add, mul } = integers(k);
  const { shape, dtype, params } = node;
  const { op, axis, isReverse, isExclusive } = params as unknown as {
    readonly op: CumulateOp;
    readonly axis: number;
    readonly isReverse: boolean;
    readonly isExclusive: boolean;
  };
  const extent = shape[axis];
  const inner = sizeOf(shape.slice(axis + 1));
  const ops = elementOps(k, settings);
  const running = runningTotal(op);
  const combine = (a: Value, b: Value) => running.combine(ops, { dtype, value: a }, { dtype, value: b }).value;
  each(k, sizeOf(shape.slice(0, axis)), (outer) => {
    each(k, inner, (place) => {
      const first = add(mul(outer, extent * inner), place);
      const at = (step: Value) => add(first, mul(isReverse ? k.binary("sub", i(extent - 1), step) : step, inner));
      k.loop(extent, [ops.constant(dtype, running.identity(dtype)).value], (step, [total]) => {
        const next = combine(total, inputs[0].load(at(step)));
        result.store(at(step), isExclusive ? total : next);
        return [next];
      });
    });
  });
};

const scatter: InlineRoutine = ({ k }, node, [x, positions, updates], result) => {
  const { i, add, mul } = integers(k);
  const [rows, inner] = node.shape;
  copy(k, x, result, rows * inner);
  const op = node.params.op as ScatterOp;
  each(k, node.inputs[1].shape[0], (update) => {
    const row = positions.load(update);
    const isInside = k.binary("and", k.compare("ge", row, i(0)), k.compare("lt", row, i(rows)));
    k.when(isInside, () => {
      each(k, inner, (column) => {
        const at = add(mul(row, inner), column);
        result.store(at, k.binary(op, result.load(at), updates.load(add(mul(update, inner), column))));
      });
      return [];
    });
  });
};

export const inlineRoutines: Readonly<Record<string, InlineRoutine>> = { cholesky, solveLower, cumulate, scatter };
