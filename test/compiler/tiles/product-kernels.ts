/** Kernels of products in a given tile, made without a device, and their results on the CPU. */

import type { Kernel } from "../../../src/compiler/ir/ir.js";
import type { LoweredKernel } from "../../../src/compiler/schedule/group.js";
import { schedule } from "../../../src/compiler/schedule/schedule.js";
import { cpuProfile } from "../../../src/compiler/target/profile.js";
import type { Tile } from "../../../src/compiler/target/tile-profile.js";
import { lowerProduct } from "../../../src/compiler/tiles/product.js";
import { DTYPES, type DType } from "../../../src/core/dtype.js";
import { dataOf, elementAt, encodeValues } from "../../../src/core/storage.js";
import { Node } from "../../../src/graph/node.js";
import { dot } from "../../../src/graph/primitives/dot.js";
import { buffer } from "../../../src/graph/primitives/leaf.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { runKernel } from "../../support/kernels.js";
import { make, nowhere } from "../../support/nodes.js";

export const matrix = (dtype: DType, ...shape: number[]): Node => {
  const node = new Node(buffer, { shape, dtype }, [], shape, dtype, nowhere);
  node.realize({ byteLength: shape.reduce((a, b) => a * b, 1) * DTYPES[dtype].bytes });
  return node;
};

/** The product of two nodes in a tile, and what follows it, lowered to one kernel. */
export function lowered(
  tile: Tile,
  a: Node,
  b: Node,
  epilogue: (product: Node) => Node = (product) => product,
): LoweredKernel {
  const [task, ...others] = schedule([epilogue(make(dot, [a, b], { tile }))], cpuProfile);
  if (task?.kind !== "group" || !task.group.product || others.length > 0) throw new Error("not one product");
  return lowerProduct(task.group, "product", { division: "native" });
}

type NumbersOf = ReadonlyMap<Node, readonly number[]>;

/** Runs a lowered kernel on the CPU with the numbers of each node; returns the result's. */
export const run = (lowered: LoweredKernel, values: NumbersOf): number[] =>
  resultOf(lowered, values, (kernel, memory) => runKernel("cpu", kernel, memory));

/** The same by the rules of the loop-nest language: for any number of lanes, and matrix units. */
export const interpreted = (lowered: LoweredKernel, values: NumbersOf): number[] =>
  resultOf(lowered, values, (kernel, memory) => {
    interpretKernel(kernel, memory);
    return memory;
  });

function resultOf(
  { kernel, buffers }: LoweredKernel,
  values: NumbersOf,
  runOn: (kernel: Kernel, memory: readonly Uint8Array[]) => readonly Uint8Array[],
): number[] {
  const memory = buffers.map((node) => {
    const given = values.get(node);
    const size = node.shape.reduce((a, b) => a * b, 1);
    return given ? encodeValues(given, node.dtype, "test") : new Uint8Array(size * DTYPES[node.dtype].bytes);
  });
  const after = runOn(kernel, memory);
  const at = kernel.buffers.findIndex(({ isWritten }) => isWritten);
  const { dtype, shape } = buffers[at]!;
  const data = dataOf(after[at]!, dtype);
  return Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Number(elementAt(data, dtype, i)));
}

/** Whole numbers small enough that every sum is exact. */
export const sample = (count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, i) => ((i * 7 + seed * 5) % 11) - 5);

/** [m, k] × [k, n], by the definition. */
export function product(m: number, k: number, n: number, a: readonly number[], b: readonly number[]): number[] {
  return Array.from({ length: m * n }, (_, at) => {
    const [row, column] = [Math.floor(at / n), at % n];
    let sum = 0;
    for (let i = 0; i < k; i++) sum += a[row * k + i]! * b[i * n + column]!;
    return sum;
  });
}
