/**
 * Histograms by threads of a CPU, of rows that are listed by node (rows.ts). Gradients are laid out in the order of the list first, a vector
 * for each row. A thread then takes the features of one word in one slot: their sums, a vector for each bin, stay in its cache and are added
 * in the order of the rows, so that nothing is combined later.
 */
import { BINS } from "../../../graph/primitives/trees.js";
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { RoutinePlan } from "../../target/routine.js";
import { codeIn, indices, PACKED } from "./codes.js";
import { gradientInputs, type HistogramShape, inputs, leftOver, parentInputs } from "./histogram-shape.js";
import { placesOf } from "./rows.js";

/** Numbers of a bin while a thread sums, and of a row: gradient, hessian, count, and 0. */
const LANES = 4;
/** Pieces of work below which two share a word: few pieces are shared unevenly by threads. */
const FEW_PIECES = 6;

export function listedPlan(shape: HistogramShape): RoutinePlan {
  const { chunks, length } = shape;
  const temporary = (index: number) => ({ kind: "temporary", index }) as const;
  return {
    temporaries: [
      { dtype: "f32", shape: [chunks * length, LANES] },
      { dtype: "i32", shape: [shape.slots, chunks, 2] },
    ],
    steps: [
      {
        kernel: layKernel(shape),
        buffers: [...inputs(1, 2), ...gradientInputs(shape), temporary(0), temporary(1)],
        formula: ([standing, , gradients, ...rest]) => `${rest.at(-2)} = ${gradients} as ${standing} lists rows`,
      },
      {
        kernel: sumKernel(shape),
        buffers: [...inputs(0, 1), temporary(0), temporary(1), ...parentInputs(shape), { kind: "result" }],
        formula: ([codes, standing, gradients, , ...rest]) =>
          `${rest.at(-1)}[slot, f, :, ${codes}[f, ${standing}[i]]] += ${gradients}[i]${leftOver(shape)}`,
      },
    ],
  };
}

/** Gradients in the order of the list, and where the rows of each slot begin and end in each chunk. */
function layKernel(shape: HistogramShape) {
  const { rows, nodes, hasHessians, length, chunks } = shape;
  const k = new KernelBuilder(`lay gradients[${rows}]`, chunks, LANES);
  const { i, add, times } = indices(k);
  const [standing, slotOf, gradients] = [k.buffer("i32", false), k.buffer("i32", false), k.buffer("f32", false)];
  const hessians = hasHessians ? k.buffer("f32", false) : null;
  const [laid, ranges] = [k.buffer("f32", true), k.buffer("i32", true)];
  const { first, begin } = placesOf(k, rows, shape.standingNodes);
  const start = first(k.row);
  const number = (value: number) => k.constant("f32", value);
  const isLane = (lane: number) => k.compare("eq", k.lane, i(lane));
  const fixed = k.select(isLane(hasHessians ? 2 : 1), number(1), number(0));
  k.loop(nodes, [], (node) => {
    const slot = k.load(slotOf, node, "i32");
    k.when(k.compare("ge", slot, i(0)), () => {
      const at = begin(k.row, node);
      const [from, to] = [k.load(standing, at, "i32"), k.load(standing, add(at, i(1)), "i32")];
      const range = times(add(times(slot, chunks), k.row), 2);
      k.store(ranges, range, from, true);
      k.store(ranges, add(range, i(1)), to, true);
      k.when(k.compare("gt", to, from), () => {
        k.loop(
          length,
          [from],
          (_, [place]) => {
            const row = k.load(standing, add(start, place), "i32");
            const gradient = k.load(gradients, row, "f32");
            const rest = hessians === null ? fixed : k.select(isLane(1), k.load(hessians, row, "f32"), fixed);
            k.store(laid, add(times(add(start, place), LANES), k.lane), k.select(isLane(0), gradient, rest));
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
  return k.finish();
}

function sumKernel(shape: HistogramShape) {
  const { words, slots, channels, type, hasParents, features, chunks, length } = shape;
  const parts = slots * words < FEW_PIECES ? 2 : 1;
  const taken = PACKED / parts;
  const pieces = words * parts;
  const k = new KernelBuilder(`histogram[${slots}×${features}]`, slots * pieces, LANES);
  const { i, add, times } = indices(k);
  const [codes, standing] = [k.buffer("u32", false), k.buffer("i32", false)];
  const [laid, ranges] = [k.buffer("f32", false), k.buffer("i32", false)];
  const [parents, parentOf] = hasParents ? [k.buffer(type, false), k.buffer("i32", false)] : [-1, -1];
  const out = k.buffer(type, true);
  // Threads take slots of a word together: they share its codes, and have about as much to do.
  const [piece, slot] = [k.binary("idiv", k.row, i(slots)), k.binary("irem", k.row, i(slots))];
  const [word, part] = [k.binary("idiv", piece, i(parts)), k.binary("irem", piece, i(parts))];
  const sums = k.array(type, taken * BINS * LANES);
  const firstCode = times(word, shape.rows);
  const firstFeature = times(part, taken);
  /** The sums of a bin, one in each lane. */
  const cellOf = (feature: number, bin: Value) => add(add(times(bin, LANES), k.lane), i(feature * BINS * LANES));
  const addRow = (place: Value) => {
    const code = k.load(codes, add(firstCode, k.load(standing, place, "i32")), "u32");
    const own = k.convert(type, k.load(laid, add(times(place, LANES), k.lane), "f32"));
    for (let j = 0; j < taken; j++) {
      const cell = cellOf(j, codeIn(k, code, parts === 1 ? i(j) : add(firstFeature, i(j))));
      k.set(sums, cell, k.binary("add", k.get(sums, cell), own));
    }
  };
  const parent = hasParents ? k.load(parentOf, slot, "i32") : i(0);
  k.when(k.compare("ge", parent, i(0)), () => {
    k.loop(taken * BINS, [], (bin) => {
      k.set(sums, cellOf(0, bin), k.constant(type, 0));
      return [];
    });
    k.loop(chunks, [], (chunk) => {
      const range = times(add(times(slot, chunks), chunk), 2);
      const [from, to] = [k.load(ranges, range, "i32"), k.load(ranges, add(range, i(1)), "i32")];
      const first = times(chunk, length);
      k.when(k.compare("gt", to, from), () => {
        k.loop(
          length,
          [from],
          (_, [place]) => {
            addRow(add(first, place));
            return [add(place, i(1))];
          },
          { exitWhen: ([place]) => k.compare("ge", place, to) },
        );
        return [];
      });
      return [];
    });
    const ofSlot = (which: Value) => times(add(times(which, pieces), piece), taken * channels * BINS);
    const [own, sibling, given] = [ofSlot(slot), ofSlot(add(slot, i(slots))), ofSlot(parent)];
    for (let column = 0; column < taken * channels; column++) {
      const [feature, channel] = [Math.floor(column / channels), column % channels];
      k.loop(BINS / LANES, [], (turn) => {
        const bin = add(times(turn, LANES), k.lane);
        const sum = k.get(sums, add(times(bin, LANES), i(feature * BINS * LANES + channel)));
        const at = (base: Value) => add(base, add(bin, i(column * BINS)));
        if (hasParents) k.store(out, at(sibling), k.binary("sub", k.load(parents, at(given), type), sum));
        k.store(out, at(own), sum);
        return [];
      });
    }
    return [];
  });
  return k.finish();
}
