/**
 * Histograms on the CPU: sums of gradients that were laid out in fixed point (routines/trees/listed-histogram.ts). A thread takes the features
 * of one word in one slot: their sums, a vector of 128 bits for each bin, stay in its cache. Adding a row to a bin is one addition of two
 * 64-bit lanes; whole numbers have the same sum in any order.
 */
import { BINS } from "../../../graph/primitives/trees.js";
import { ModuleBuilder } from "../../../wasm/builder.js";
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { FunctionHandle } from "../../../wasm/handles.js";
import type { Value } from "../../../wasm/value.js";
import type { KernelOutline, NativeKernel } from "../../ir/ir.js";
import { PACKED } from "../../routines/trees/codes.js";
import { histogramRoutine } from "../../routines/trees/histogram.js";
import { type HistogramShape, inputs, leftOver, parentInputs, shapeOf } from "../../routines/trees/histogram-shape.js";
import {
  type FixedPoint,
  fixedPointOf,
  LEAST_EXPONENT,
  laidTemporaries,
  layStep,
} from "../../routines/trees/listed-histogram.js";
import { isListed } from "../../routines/trees/rows.js";
import type { NativeRoutine } from "../../target/routine.js";
import { takeScratch, WORTH_A_THREAD } from "./emit-kernel.js";

/** Bytes of a bin, and of the head of a thread's memory. */
const [CELL, HEAD] = [16, 64];
/** Pieces of work below which two share a word: few pieces are shared unevenly by threads. */
const FEW_PIECES = 6;

type Word = Value<"i32">;

/** The work of the kernel: pieces, a word or a part of its features, of each slot. */
interface Work extends HistogramShape {
  readonly parts: number;
  /** Features of a piece. */
  readonly taken: number;
  readonly pieces: number;
}

export const listedHistogram: NativeRoutine = (node, profile, settings) => {
  const shape = shapeOf(node);
  if (!isListed(profile) || shape.type !== "f64") return histogramRoutine(node, profile, settings);
  const [laid, ranges] = [0, 1].map((index) => ({ kind: "temporary", index }) as const);
  return {
    temporaries: laidTemporaries(shape),
    steps: [
      layStep(shape),
      {
        kernel: sumKernel(shape),
        buffers: [...inputs(0, 1), laid, ranges, ...inputs(3), ...parentInputs(shape), { kind: "result" }],
        formula: ([codes, standing, gradients, , , ...rest]) =>
          `${rest.at(-1)}[slot, f, :, ${codes}[f, ${standing}[i]]] += ${gradients}[i]${leftOver(shape)}`,
      },
    ],
  };
};

function sumKernel(shape: HistogramShape): NativeKernel {
  const { words, slots, features, hasParents, chunks, length } = shape;
  const parts = slots * words < FEW_PIECES ? 2 : 1;
  const work: Work = { ...shape, parts, taken: PACKED / parts, pieces: words * parts };
  const rows = slots * work.pieces;
  const given = (dtype: "u32" | "i32" | "i64" | "f32" | "f64") => ({ dtype, isWritten: false, isLarge: false });
  const parents = hasParents ? [given("f64"), given("i32")] : [];
  const buffers = [given("u32"), given("i32"), given("i64"), given("i32"), given("f32"), ...parents];
  return {
    name: `histogram[${slots}×${features}]`,
    rows,
    lanes: 2,
    buffers: [...buffers, { ...given("f64"), isWritten: true }],
    arrays: [{ type: "i64", size: work.taken * BINS * 2 }],
    body: null,
    size: 1,
    isRepeating: false,
    encode: (kernel) => ({
      bytes: emitted(work, kernel),
      numbers: [
        rows,
        1,
        HEAD + work.taken * BINS * CELL,
        Math.ceil((rows * chunks * length * work.taken) / WORTH_A_THREAD),
      ],
    }),
  };
}

function emitted(work: Work, { gate, buffers: given }: KernelOutline): Uint8Array {
  const { hasParents, slots } = work;
  const m = new ModuleBuilder();
  const flush = writeFlush(m, work);
  const run = m.function("run", ["i32", "i32", "i32"], [], (f, args, start, end) => {
    const address = (index: number) => f.i32.load(args, { offset: 4 * index });
    const buffers = hasParents ? 8 : 6;
    const body = () => {
      const [codes, standing, laid, ranges, largest] = [0, 1, 2, 3, 4].map(address) as [Word, Word, Word, Word, Word];
      const scratch = takeScratch(f, args, given.length, HEAD + work.taken * BINS * CELL);
      const sums = f.i32.add(scratch, HEAD);
      f.for(start, end, 1, (row) => {
        const [piece, slot] = [f.i32.div_u(row, slots), f.i32.rem_u(row, slots)];
        const sum = () => {
          const own = { codes, standing, laid, ranges: f.i32.add(ranges, f.i32.mul(slot, 8 * work.chunks)) };
          const out = address(buffers - 1);
          const bytes = work.taken * work.channels * BINS * 8;
          const placeOf = (which: Word, base: Word) =>
            f.i32.add(base, f.i32.mul(f.i32.add(f.i32.mul(which, work.pieces), piece), bytes));
          const result = placeOf(slot, out);
          const isBegun = addRows(f, work, own, piece, sums, (begun) =>
            f.call(flush, sums, largest, result, begun, 0, 0),
          );
          if (!hasParents) f.call(flush, sums, largest, result, isBegun, 0, 0);
          else {
            const parent = f.i32.load(f.i32.add(address(6), f.i32.shl(slot, 2)));
            const sibling = placeOf(f.i32.add(slot, slots), out);
            f.call(flush, sums, largest, result, isBegun, placeOf(parent, address(5)), sibling);
          }
        };
        if (!hasParents) sum();
        else f.if(f.i32.ge_s(f.i32.load(f.i32.add(address(6), f.i32.shl(slot, 2))), 0), sum);
      });
      f.i32.atomic.store(scratch, 0);
    };
    if (gate) f.if(f.i32.eq(f.i32.load(address(gate.buffer)), gate.value), body);
    else body();
  });
  m.export(run);
  return m.build();
}

/** Adds the rows of a slot in fixed point. Calls `flush` before there are too many; returns whether it did. */
function addRows(
  f: FunctionBuilder,
  work: Work,
  { codes, standing, laid, ranges }: { readonly [name in "codes" | "standing" | "laid" | "ranges"]: Word },
  piece: Word,
  sums: Word,
  flush: (isBegun: Word) => void,
): Word {
  const { parts, taken, rows, chunks, length } = work;
  const most = fixedPointOf(work).rows;
  const word = f.i32.add(codes, f.i32.mul(f.i32.div_u(piece, parts), 4 * rows));
  const firstBit = f.i32.mul(f.i32.rem_u(piece, parts), 8 * taken);
  f.memory.fill(sums, 0, taken * BINS * CELL);
  const [begun, pending] = [f.variable("i32", 0), f.variable("i32", 0)];
  f.for(0, chunks, 1, (chunk) => {
    const range = f.i32.add(ranges, f.i32.shl(chunk, 3));
    const first = f.i32.mul(chunk, length);
    const place = f.variable("i32", f.i32.add(first, f.i32.load(range)));
    const to = f.i32.add(first, f.i32.load(range, { offset: 4 }));
    f.while(
      () => f.i32.lt_s(place.get(), to),
      () => {
        const from = place.get();
        f.if(f.i32.eq(pending.get(), most), () => {
          flush(begun.get());
          f.memory.fill(sums, 0, taken * BINS * CELL);
          begun.set(1);
          pending.set(0);
        });
        const room = f.i32.sub(most, pending.get());
        const count = f.i32.sub(to, from);
        const added = f.select(f.i32.lt_s(count, room), count, room);
        const end = f.i32.add(from, added);
        f.for(from, end, 1, (at) => {
          const row = f.i32.load(f.i32.add(standing, f.i32.shl(at, 2)));
          const all = f.i32.load(f.i32.add(word, f.i32.shl(row, 2)));
          const code = parts === 1 ? all : f.i32.shr_u(all, firstBit);
          const own = f.v128.load(f.i32.add(laid, f.i32.shl(at, 4)));
          for (let feature = 0; feature < taken; feature++) {
            const bin = f.i32.and(f.i32.shr_u(code, 8 * feature), BINS - 1);
            const cell = f.i32.add(sums, f.i32.shl(bin, 4));
            const offset = { offset: feature * BINS * CELL };
            f.v128.store(cell, f.i64x2.add(f.v128.load(cell, offset), own), offset);
          }
        });
        pending.set(f.i32.add(pending.get(), added));
        place.set(end);
      },
    );
  });
  return begun.get();
}

type Flush = FunctionHandle<readonly ["i32", "i32", "i32", "i32", "i32", "i32"], readonly []>;

/** Writes sums as floats, or adds them to what was written before; and where there is a sibling, what is left of the parent. */
function writeFlush(m: ModuleBuilder, { taken, hasHessians, channels, rows }: Work): Flush {
  const fixed = fixedPointOf({ rows });
  return m.function(
    "flush",
    ["i32", "i32", "i32", "i32", "i32", "i32"],
    [],
    (f, sums, largest, out, isBegun, parent, sibling) => {
      const scales = [fixed.gradientBits, fixed.hessianBits].map((bits, which) =>
        f.f64x2.splat(f.f64.mul(boundOf(f, largest, which), 2 ** -bits)),
      ) as [Value<"v128">, Value<"v128">];
      f.for(0, taken, 1, (feature) => {
        const cells = f.i32.add(sums, f.i32.mul(feature, BINS * CELL));
        const column = f.i32.mul(feature, channels * BINS * 8);
        f.for(0, BINS * 8, 16, (at) => {
          const pair = f.i32.add(cells, f.i32.shl(at, 1));
          const [one, two] = [f.v128.load(pair), f.v128.load(pair, { offset: CELL })];
          const low = f.i8x16.shuffle(one, two, [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]);
          const high = f.i8x16.shuffle(one, two, [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]);
          const place = f.i32.add(column, at);
          floatsOf(f, low, high, fixed, hasHessians, scales).forEach((value, channel) => {
            const offset = { offset: channel * BINS * 8 };
            const to = f.i32.add(out, place);
            const sum = f.if(
              isBegun,
              () => f.f64x2.add(f.v128.load(to, offset), value),
              () => value,
            );
            f.v128.store(to, sum, offset);
            f.if(sibling, () => {
              const rest = f.f64x2.sub(f.v128.load(f.i32.add(parent, place), offset), sum);
              f.v128.store(f.i32.add(sibling, place), rest, offset);
            });
          });
        });
      });
    },
  );
}

/** 2^52 as the bits of a float: whole numbers below stand in its last bits. */
const WHOLE = 0x4330000000000000n;

/** Two bins as floats: gradients, hessians and counts. Whole numbers are made positive, put behind the exponent of 2^52, and 2^52 is taken off. */
function floatsOf(
  f: FunctionBuilder,
  low: Value<"v128">,
  high: Value<"v128">,
  { countBits }: FixedPoint,
  hasHessians: boolean,
  [gradientScale, hessianScale]: readonly [Value<"v128">, Value<"v128">],
): Value<"v128">[] {
  const bits = (value: bigint) => f.i64x2.const([value, value]);
  const number = (value: number) => f.f64x2.const([value, value]);
  const [half, shift] = [2n ** 51n, BigInt(countBits)];
  const floated = (whole: Value<"v128">, taken: number) => f.f64x2.sub(f.v128.or(whole, bits(WHOLE)), number(taken));
  const gradient = f.f64x2.mul(floated(f.i64x2.add(low, bits(half)), 2 ** 52 + 2 ** 51), gradientScale);
  if (!hasHessians) return [gradient, floated(high, 2 ** 52)];
  // The offset that makes hessians positive must fit 64 bits, too.
  const positive = Math.min(50, 62 - countBits);
  const above = f.i64x2.shr_u(f.i64x2.add(high, bits(1n << (BigInt(positive) + shift))), countBits);
  const hessian = f.f64x2.mul(floated(above, 2 ** 52 + 2 ** positive), hessianScale);
  return [gradient, hessian, floated(f.v128.and(high, bits((1n << shift) - 1n)), 2 ** 52)];
}

/** The bound that fixed point is relative to, as `layStep` has it. */
function boundOf(f: FunctionBuilder, largest: Word, which: number): Value<"f64"> {
  const exponent = f.i32.and(f.i32.load(largest, { offset: 4 * which }), 0x7f800000);
  const bits = f.select(exponent, exponent, LEAST_EXPONENT);
  return f.f64.mul(f.f64.promote_f32(f.f32.reinterpret_i32(bits)), 2);
}
