/**
 * Scattering by atomics: the tensor is copied, then every update is combined into its place. Many updates of few rows are added
 * up by each workgroup first (private-scatter.ts).
 */
import type { DType } from "../../core/dtype.js";
import type { Node } from "../../graph/node.js";
import type { ScatterOp } from "../../graph/primitives/scatter.js";
import { computeType } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { updateText } from "../print/formula.js";
import type { Routine } from "../target/routine.js";
import { planPrivateScatter, privateScatterKernel, type Updates } from "./private-scatter.js";

/** Neighbours are moved at once where their number allows. */
const widthFor = (size: number, neighbours: number): number => (size % neighbours === 0 ? neighbours : 1);

/** The neighbours that a row of a kernel deals with. */
function neighboursOf(k: KernelBuilder, width: number): Value[] {
  const first = k.binary("mul", k.row, k.constant("i32", width));
  return Array.from({ length: width }, (_, i) => k.binary("add", first, k.constant("i32", i)));
}

function copyKernel(name: string, dtype: DType, size: number, neighbours: number): Kernel {
  const width = widthFor(size, neighbours);
  const k = new KernelBuilder(name, size / width);
  const [from, to] = [k.buffer(dtype, false), k.buffer(dtype, true)];
  const places = neighboursOf(k, width);
  const values = places.map((place) => k.load(from, place, computeType(dtype)));
  places.forEach((place, i) => {
    k.store(to, place, values[i], false);
  });
  return k.finish();
}

/** A thread for each element of the updates. */
function atomicKernel({ op, dtype, rows, inner, count }: Updates, neighbours: number): Kernel {
  const type = computeType(dtype);
  const size = rows * inner === 0 ? 0 : count * inner;
  // Single elements: a thread has several updates in flight. Updates of a row are neighbours, and so are their threads.
  const width = inner === 1 ? widthFor(size, neighbours) : 1;
  const k = new KernelBuilder(`scatter ${op}[${count}×${inner}]`, size / width);
  const i = (value: number) => k.constant("i32", value);
  const places = k.buffer("i32", false);
  const values = k.buffer(dtype, false);
  const target = k.buffer(dtype, true);
  const found = neighboursOf(k, width).map((at) => ({
    place: k.load(places, k.binary("idiv", at, i(inner)), "i32"),
    column: inner === 1 ? i(0) : k.binary("irem", at, i(inner)),
    value: k.load(values, at, type),
  }));
  for (const { place, column, value } of found) {
    const isInside = k.binary("and", k.compare("ge", place, i(0)), k.compare("lt", place, i(rows)));
    const index = k.binary("add", k.binary("mul", place, i(inner)), column);
    k.atomic(op, target, index, value, isInside);
  }
  return k.finish();
}

export const scatterRoutine: Routine = (node, profile) => {
  const [x, positions] = node.inputs as readonly [Node, Node, Node];
  const [rows, inner] = x.shape as readonly [number, number];

  const copy = copyKernel(`scatter copy[${rows}×${inner}]`, x.dtype, rows * inner, profile.width);
  const update: Updates = {
    op: node.params.op as ScatterOp,
    dtype: x.dtype,
    rows,
    inner,
    count: positions.shape[0] as number,
  };
  const plan = planPrivateScatter(update, profile);
  const kernel = plan ? privateScatterKernel(update, plan) : atomicKernel(update, profile.width);

  // Rows of one element are printed as elements of a vector.
  const element = (row: string) => (inner === 1 ? `[${row}]` : `[${row}, j]`);
  return {
    temporaries: [],
    steps: [
      {
        kernel: copy,
        buffers: [{ kind: "input", index: 0 }, { kind: "result" }],
        formula: ([from, to]) => `${to}${element("i")} = ${from}${element("i")}`,
        isCopy: true,
      },
      {
        kernel,
        buffers: [{ kind: "input", index: 1 }, { kind: "input", index: 2 }, { kind: "result" }],
        formula: ([places, values, to]) => {
          const [target, value] = [`${to}${element(`${places}[i]`)}`, `${values}${element("i")}`];
          return `${updateText(node.params.op as ScatterOp, target, value)} where 0 <= ${places}[i] < ${rows}`;
        },
      },
    ],
  };
};
