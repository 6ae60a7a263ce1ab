/**
 * Histograms by threads of a CPU, of rows that are listed by node (rows.ts). Gradients are laid out in the order of the list first, as whole
 * numbers (fixed point), relative to the largest one: 64 bits of gradient, and 64 bits that hold the hessian and below it a 1, which counts.
 * A bin is thus one vector of 128 bits, and adding a row to it one addition, which the loop-nest language cannot say: the kernel that sums is
 * the target's own (emit/wasm/listed-sums.ts).
 */
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { RoutineStep } from "../../target/routine.js";
import { indices } from "./codes.js";
import { gradientInputs, type HistogramShape, inputs } from "./histogram-shape.js";
import { placesOf } from "./rows.js";

/** Rows that are added in fixed point, at most; then sums go on as floats. The more of them, the fewer bits are left for each. */
const MOST_TOGETHER = 2 ** 14;
/** Bits of a sum, that a float holds as well. */
const SUM_BITS = 50;

/** The bits of 2^-126, the least normal f32. */
export const LEAST_EXPONENT = 0x00800000;

/** Fixed point: rows that are added together, bits of the largest gradient and hessian, and of the count below the hessian. */
export interface FixedPoint {
  readonly rows: number;
  readonly gradientBits: number;
  readonly hessianBits: number;
  readonly countBits: number;
}

export function fixedPointOf({ rows }: Pick<HistogramShape, "rows">): FixedPoint {
  const growth = Math.ceil(Math.log2(Math.min(MOST_TOGETHER, Math.max(2, rows))));
  const countBits = growth + 1;
  return {
    rows: 2 ** growth,
    gradientBits: SUM_BITS - growth,
    hessianBits: Math.min(SUM_BITS - 1, 61 - countBits) - growth,
    countBits,
  };
}

/** Temporaries of the kernel that lays gradients out: them, and the rows of each slot in each chunk. */
export const laidTemporaries = ({ chunks, length, slots }: HistogramShape) =>
  [
    { dtype: "i64", shape: [chunks * length, 2] },
    { dtype: "i32", shape: [slots, chunks, 2] },
  ] as const;

/** Gradients in the order of the list, and where the rows of each slot begin and end in each chunk. */
export function layStep(shape: HistogramShape): RoutineStep {
  const { rows, nodes, hasHessians, length, chunks } = shape;
  const k = new KernelBuilder(`lay gradients[${rows}]`, chunks);
  const { i, add, times } = indices(k);
  const [standing, slotOf, largest] = [k.buffer("i32", false), k.buffer("i32", false), k.buffer("f32", false)];
  const gradients = k.buffer("f32", false);
  const hessians = hasHessians ? k.buffer("f32", false) : null;
  const [laid, ranges] = [k.buffer("i64", true), k.buffer("i32", true)];
  const { first, begin } = placesOf(k, rows, shape.standingNodes);
  const { gradientBits, hessianBits, countBits } = fixedPointOf(shape);
  const start = first(k.row);
  const whole = (value: Value, scale: Value) =>
    k.convert("i64", k.unary("roundEven", k.binary("mul", k.convert("f64", value), scale)));
  const scales = [gradientBits, hessianBits].map((bits, which) => {
    const bound = boundOf(k, k.load(largest, i(which), "f32"));
    return k.binary("div", k.constant("f64", 2 ** bits), bound);
  }) as [Value, Value];
  const one = k.constant("i64", 1);
  k.loop(nodes, [], (node) => {
    const slot = k.load(slotOf, node, "i32");
    k.when(k.compare("ge", slot, i(0)), () => {
      const at = begin(k.row, node);
      const [from, to] = [k.load(standing, at, "i32"), k.load(standing, add(at, i(1)), "i32")];
      const range = times(add(times(slot, chunks), k.row), 2);
      k.store(ranges, range, from);
      k.store(ranges, add(range, i(1)), to);
      k.when(k.compare("gt", to, from), () => {
        k.loop(
          length,
          [from],
          (_, [place]) => {
            const row = k.load(standing, add(start, place), "i32");
            const cell = times(add(start, place), 2);
            k.store(laid, cell, whole(k.load(gradients, row, "f32"), scales[0]));
            const hessian = hessians === null ? null : whole(k.load(hessians, row, "f32"), scales[1]);
            const shifted = hessian && k.binary("shl", hessian, k.constant("i64", countBits));
            k.store(laid, add(cell, i(1)), shifted ? k.binary("add", shifted, one) : one);
            return [add(place, i(1))];
          },
          { exitWhen: ([place]) => k.compare("ge", place, to) },
        );
        return [];
      });
      return [];
    });
    return [];
  });
  return {
    kernel: k.finish(),
    buffers: [
      ...inputs(1, 2, 3),
      ...gradientInputs(shape),
      { kind: "temporary", index: 0 },
      { kind: "temporary", index: 1 },
    ],
    formula: ([standing, , , gradients, ...rest]) =>
      `${rest.at(-2)} = ${gradients} in fixed point as ${standing} lists rows`,
  };
}

/** A power of two, of f64, above a largest absolute value: twice that of its exponent. Numbers below the normal ones have the least one. */
function boundOf(k: KernelBuilder, largest: Value): Value {
  const exponent = k.binary("and", k.bitcast("i32", largest), k.constant("i32", 0x7f800000));
  const below = k.bitcast("f32", k.binary("max", exponent, k.constant("i32", LEAST_EXPONENT)));
  return k.binary("mul", k.convert("f64", below), k.constant("f64", 2));
}
