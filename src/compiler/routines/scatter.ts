/** Scattering by atomics: the tensor is copied, then every update is combined into its place. */
import type { DType } from "../../core/dtype.js";
import type { Node } from "../../graph/node.js";
import type { ScatterOp } from "../../graph/primitives/scatter.js";
import { computeType } from "../elements.js";
import { type Kernel, KernelBuilder } from "../ir.js";
import type { Routine } from "../routine.js";

/** Neighbours are moved at once where their number allows. */
function copyKernel(name: string, dtype: DType, size: number, neighbours: number): Kernel {
  const width = size % neighbours === 0 ? neighbours : 1;
  const k = new KernelBuilder(name, size / width);
  const [from, to] = [k.buffer(dtype, false), k.buffer(dtype, true)];
  const first = k.binary("mul", k.row, k.constant("i32", width));
  const places = Array.from({ length: width }, (_, i) => k.binary("add", first, k.constant("i32", i)));
  const values = places.map((place) => k.load(from, place, computeType(dtype)));
  places.forEach((place, i) => {
    k.store(to, place, values[i], false);
  });
  return k.finish();
}

export const scatterRoutine: Routine = (node, profile) => {
  const [x, positions, updates] = node.inputs as readonly [Node, Node, Node];
  const [rows, inner] = x.shape as readonly [number, number];
  const type = computeType(x.dtype);

  const copy = copyKernel(`scatter copy[${rows}×${inner}]`, x.dtype, rows * inner, profile.width);
  const size = rows * inner === 0 ? 0 : (positions.shape[0] as number) * inner;
  const k = new KernelBuilder(`scatter ${node.params.op}[${updates.shape.join("×")}]`, size);
  const i = (value: number) => k.constant("i32", value);
  const places = k.buffer("i32", false);
  const values = k.buffer(x.dtype, false);
  const target = k.buffer(x.dtype, true);
  const place = k.load(places, k.binary("idiv", k.row, i(inner)), "i32");
  const isInside = k.binary("and", k.compare("ge", place, i(0)), k.compare("lt", place, i(rows)));
  const index = k.binary("add", k.binary("mul", place, i(inner)), k.binary("irem", k.row, i(inner)));
  k.atomic(node.params.op as ScatterOp, target, index, k.load(values, k.row, type), isInside);

  return {
    temporaries: [],
    steps: [
      { kernel: copy, buffers: [{ kind: "input", index: 0 }, { kind: "result" }] },
      {
        kernel: k.finish(),
        buffers: [{ kind: "input", index: 1 }, { kind: "input", index: 2 }, { kind: "result" }],
      },
    ],
  };
};
