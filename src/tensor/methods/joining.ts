/** Functions of several tensors at once: joining them, and stretching them to one shape. */

import { checkOptions, inOperation } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { broadcastShapes, formatShape, normalizeAxis, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { concat as concatPrimitive } from "../../graph/primitives/movement.js";
import { backendOf, castNode, checkOneDevice, commonDType, makeNode } from "../build.js";
import type { OneOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { checkTensors, isTensor } from "../tensor-checks.js";

/** Tensors one after another along an axis. */
export function concat<D extends DType>(
  tensors: readonly Tensor<D>[],
  options: { readonly axis?: number } = {},
): Tensor<OneOf<D>> {
  checkCount("concat", 2, arguments);
  checkOptions("concat", options, { axis: "number" });
  checkTensors("concat", tensors);
  return joined("concat", tensors, options.axis ?? 0) as Tensor<OneOf<D>>;
}

function joined(operation: string, tensors: readonly Tensor[], along: number): Tensor {
  const nodes = tensors.map(({ node }) => node);
  const dtype = commonDType(operation, nodes);
  checkOneDevice(operation, nodes);
  const axis = normalizeAxis(along, tensors[0].rank, operation);
  const inputs = nodes.map((node) => castNode(node, dtype));
  return tensors[0].tensorOf(makeNode(concatPrimitive, inputs, { axis }, backendOf(nodes[0])));
}

/** Tensors of one shape along a new axis. */
export function stack<D extends DType>(
  tensors: readonly Tensor<D>[],
  options: { readonly axis?: number } = {},
): Tensor<OneOf<D>> {
  checkCount("stack", 2, arguments);
  checkOptions("stack", options, { axis: "number" });
  checkTensors("stack", tensors);
  const [{ shape: first }] = tensors;
  const other = tensors.find(({ shape }) => !sameShape(shape, first));
  if (other) {
    throw new ShapeError(`stack: ${formatShape(first)} and ${formatShape(other.shape)} differ; all have one shape.`);
  }
  const axis = normalizeAxis(options.axis ?? 0, first.length + 1, "stack");
  const parts = tensors.map((t) => t.expandDims(axis));
  return joined("stack", parts, axis) as Tensor<OneOf<D>>;
}

/** Coordinates of a grid: vectors spread over the axes of all of them. "xy" swaps the first two axes, as in NumPy. */
export function meshgrid<D extends DType>(
  vectors: readonly Tensor<D>[],
  options: { readonly indexing?: "xy" | "ij" } = {},
): Tensor<D>[] {
  if (isTensor(vectors)) throw new ArgumentError("meshgrid: takes a list of vectors; write meshgrid([x, y]).");
  checkCount("meshgrid", 2, arguments);
  checkOptions("meshgrid", options, { indexing: "text" });
  checkTensors("meshgrid", vectors);
  if (options.indexing !== undefined && options.indexing !== "xy" && options.indexing !== "ij") {
    throw new ArgumentError(`meshgrid: indexing is "xy" or "ij", not ${shown(options.indexing)}.`);
  }
  const order = vectors.map((_, i) => i);
  if ((options.indexing ?? "xy") === "xy" && order.length > 1) [order[0], order[1]] = [1, 0];
  const flat = vectors.map((vector) => {
    if (vector.rank > 1) throw new ShapeError(`meshgrid: takes vectors, not ${formatShape(vector.shape)}.`);
    return vector.flatten();
  });
  const shape = order.map((i) => flat[i].size);
  return flat.map((vector, i) => {
    const at = order.indexOf(i);
    return vector.reshape(shape.map((_, axis) => (axis === at ? vector.size : 1))).broadcastTo(shape);
  });
}

/** Tensors stretched to the shape they broadcast to together. */
export function broadcastTensors<T extends readonly Tensor[]>(...tensors: T): { -readonly [I in keyof T]: T[I] } {
  if (tensors.length > 0) checkTensors("broadcastTensors", tensors);
  const shape = broadcastShapes("broadcastTensors", ...tensors.map((x) => x.shape));
  return tensors.map((x) => x.broadcastTo(shape)) as { -readonly [I in keyof T]: T[I] };
}

/** Matrices along the diagonal of a larger one, zeros elsewhere. */
export function blockDiagonal<D extends DType>(matrices: readonly Tensor<D>[]): Tensor<OneOf<D>> {
  checkCount("blockDiagonal", 1, arguments);
  checkTensors("blockDiagonal", matrices);
  for (const { shape } of matrices) {
    if (shape.length !== 2) throw new ShapeError(`blockDiagonal: takes matrices, not ${formatShape(shape)}.`);
  }
  const width = matrices.reduce((sum, { shape }) => sum + shape[1], 0);
  let before = 0;
  const rows = matrices.map((matrix) => {
    const columns = matrix.shape[1];
    const row = matrix.pad([
      [0, 0],
      [before, width - before - columns],
    ]);
    before += columns;
    return row;
  });
  return inOperation("blockDiagonal", () => concat(rows));
}
