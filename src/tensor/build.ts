/** Making nodes, also over bytes in the memory of a device. */
import { DTYPES, type DType } from "../core/dtype.js";
import type { Shape } from "../core/shape.js";
import { castNode } from "../graph/build.js";
import { Node } from "../graph/node.js";
import { buffer } from "../graph/primitives/leaf.js";
import type { Backend } from "../runtime/backend.js";

export * from "../graph/build.js";

export const backendOf = (node: Node): Backend => node.device as Backend;

const NO_INPUTS: readonly Node[] = [];

/** A node over bytes that are copied to the device. */
export function storedNode(backend: Backend, bytes: Uint8Array, shape: Shape, dtype: DType): Node {
  const own = [...shape];
  const node = new Node(buffer, { shape: own, dtype }, NO_INPUTS, own, dtype, backend);
  node.realize(backend.upload(bytes));
  return node;
}

/** Floats and complex numbers as they are, integers and booleans as f32. */
export function floatNode(node: Node): Node {
  const { kind } = DTYPES[node.dtype];
  return kind === "float" || kind === "complex" ? node : castNode(node, "f32");
}
