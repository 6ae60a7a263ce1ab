/** Scattering by atomics: the tensor is copied, then every update is combined into its place. */
import type { Node } from "../../graph/node.js";
import type { ScatterOp } from "../../graph/primitives/scatter.js";
import { computeType } from "../elements.js";
import { KernelBuilder } from "../ir.js";
import type { Routine } from "../routine.js";

export const scatterRoutine: Routine = (node) => {
  const [x, positions, updates] = node.inputs as readonly [Node, Node, Node];
  const [rows, inner] = x.shape as readonly [number, number];
  const type = computeType(x.dtype);

  const copy = new KernelBuilder(`scatter copy[${rows}×${inner}]`, rows * inner);
  const from = copy.buffer(x.dtype, false);
  const to = copy.buffer(x.dtype, true);
  copy.store(to, copy.row, copy.load(from, copy.row, type));

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
      { kernel: copy.finish(), buffers: [{ kind: "input", index: 0 }, { kind: "result" }] },
      {
        kernel: k.finish(),
        buffers: [{ kind: "input", index: 1 }, { kind: "input", index: 2 }, { kind: "result" }],
      },
    ],
  };
};
