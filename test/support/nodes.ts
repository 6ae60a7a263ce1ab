/** Graphs made by hand, on a device that is nowhere: for tests of what the compiler decides. */
import { DTYPES, type DType } from "../../src/core/dtype.js";
import { Node } from "../../src/graph/node.js";
import type { Params, Primitive } from "../../src/graph/primitive.js";
import { buffer } from "../../src/graph/primitives/leaf.js";

export const nowhere = { id: "nowhere", realize: () => {} };

export function make(primitive: Primitive, inputs: readonly Node[], params: Params = {}): Node {
  const { shape, dtype } = primitive.infer(inputs, params);
  return new Node(primitive, params, inputs, shape, dtype, nowhere);
}

/** A tensor of f32 in memory. */
export const stored = (...shape: number[]): Node => storedAs("f32", ...shape);

/** A tensor in memory. */
export function storedAs(dtype: DType, ...shape: number[]): Node {
  const node = make(buffer, [], { shape, dtype });
  node.realize({ byteLength: DTYPES[dtype].bytes * shape.reduce((a, b) => a * b, 1) });
  return node;
}
