/**
 * Methods of `Tensor`: how it looks on a console. Of a large tensor only the corners are shown, so only they are computed
 * and read: printing must cost neither the time nor the memory of reading everything.
 */
import { formatArray, shownIndices } from "../../core/format.js";
import { formatShape } from "../../core/shape.js";
import { elementAt } from "../../core/storage.js";
import { pendingInOrder } from "../../graph/node.js";
import * as M from "../../graph/primitives/movement.js";
import { backendOf, makeNode } from "../build.js";
import type { Tensor } from "../tensor.js";
import { positionTensor } from "./taking.js";

/** Node calls this method for `console.log`. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Whether elements share work, as in a sum, a product of matrices or a sort; others can be computed one by one. */
function sharesWork(x: Tensor): boolean {
  return pendingInOrder([x.node]).some(
    ({ storage, primitive: { kind } }) =>
      storage === null && kind !== "leaf" && kind !== "elementwise" && kind !== "movement",
  );
}

/** The elements that are shown: one gather over the tensor's node. */
function cornersOf(x: Tensor, shown: readonly number[][]): Tensor {
  // Shared work would be done again when the tensor is used; computing the tensor keeps it.
  if (sharesWork(x)) x.realize();
  const counts = shown.map(({ length }) => length);
  const positions = shown.map((indices, axis) => {
    const along = counts.map((count, i) => (i === axis ? count : 1));
    return positionTensor("inspect", indices, x).reshape(along).broadcastTo(counts).node;
  });
  const axes = shown.map((_, axis) => axis);
  return x.tensorOf(makeNode(M.gather, [x.node, ...positions], { axes, at: 0 }, backendOf(x.node)));
}

export class PrintingMethods {
  [INSPECT](this: Tensor): string {
    if (this.isDisposed) return "Tensor { disposed }";
    const { shape, dtype, device } = this;
    const facts = `shape ${formatShape(shape)}, ${dtype}, ${device}`;
    if (this.node.isAbstract) return `Tensor(traced, ${facts})`;
    if (this.size === 0) return `Tensor([], ${facts})`;
    const shown = shownIndices(shape);
    const isWhole = shown.every(({ length }, axis) => length === shape[axis]);
    const part = isWhole ? this : cornersOf(this, shown);
    const data = part.dataSync();
    if (!isWhole) part.dispose();
    let next = 0;
    const text = formatArray(() => elementAt(data, dtype, next++), shape, dtype, { indent: 7, separator: ", " });
    return `Tensor(${text}, ${facts})`;
  }
}
