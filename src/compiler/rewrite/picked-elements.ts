/**
 * Sums that pick one element: Σᵢ where(i = k, xᵢ, 0) is the k-th element of x, or 0 where k is no position of it. A step of a
 * loop looks up its own row of a table in this way, and the gradient of an update at one position is such a sum.
 *
 * Reading the element takes no loop. `chooseImplementations` asks for functions inside larger kernels, whose loops a thread
 * goes through by itself; a kernel of its own reads a whole row at once, together with whatever else it computes of the row.
 */
import { atomsOf, type IndexExpr, IndexSpace, keyOf } from "../../core/index-expr.js";
import { derive } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import { equal, where } from "../../graph/primitives/elementwise.js";
import { constant, iota } from "../../graph/primitives/leaf.js";
import { forEachRead, movedTo } from "../../graph/reads.js";
import { g } from "../../graph/vocabulary.js";

/** The sum `node` of `x` by reading one element, or null where it adds up more than one. */
export function pickedElement({ primitive, params, shape, dtype }: Node, x: Node): Node | null {
  const axes = params.axes as readonly number[];
  if (primitive.kind !== "reduce" || primitive.op !== "sum" || axes.length !== 1 || x.primitive !== where) return null;
  const [axis] = axes;
  const [isHere, values, others] = x.inputs;
  if (x.shape[axis] < 2 || !isZero(others)) return null;
  const position = positionAlong(isHere, axis);
  if (!position) return null;
  const isInside = g.and(g.greaterEqual(position, 0), g.less(position, x.shape[axis]));
  const picked = g.where(isInside, g.takeAlongAxis(values, position, axis), 0);
  return g.cast(g.reshape(picked, shape), dtype);
}

/** The one position along an axis at which `isHere` is true, with extent 1 along it; null if it is not of this form. */
function positionAlong(isHere: Node, axis: number): Node | null {
  const space = new IndexSpace();
  const index = isHere.shape.map((extent, i) => space.variable(`i${i}`, extent));
  const moves: Node[] = [];
  const compared = movedTo(space, isHere, index, isStored, moves);
  if (compared.node.primitive !== equal) return null;
  const { inputs } = compared.node;
  for (const [i, counter] of inputs.entries()) {
    const other = inputs[1 - i];
    if (!counts(space, counter, compared.index, index[axis])) continue;
    if (!isPosition(other) || !isConstantAlong(space, other, compared.index, index[axis])) continue;
    const moved = moves.reduceRight((node, { primitive, params }) => derive(primitive, node, params), other);
    const first = moved.shape.map((extent, at) => (at === axis ? 1 : extent));
    return g.slice(
      moved,
      first.map(() => 0),
      first,
    );
  }
  return null;
}

/** Whether an element is the position along an axis: 0, 1, 2 … */
function counts(space: IndexSpace, counter: Node, index: readonly IndexExpr[], along: IndexExpr): boolean {
  const { node, index: at } = movedTo(space, counter, index, isStored);
  return node.primitive === iota && isPosition(node) && keyOf(at[0]) === keyOf(along);
}

/** Whether an element is the same at all positions along an axis. */
function isConstantAlong(space: IndexSpace, node: Node, index: readonly IndexExpr[], along: IndexExpr): boolean {
  const [{ atom }] = along.terms;
  if (!index.some((each) => atomsOf(each).has(atom)) || node.primitive === constant) return true;
  const { kind } = node.primitive;
  if (node.storage !== null || (kind !== "elementwise" && kind !== "movement")) return false;
  let isConstant = true;
  forEachRead(space, node, index, (input, at) => {
    isConstant &&= isConstantAlong(space, input, at, along);
  });
  return isConstant;
}

const isStored = ({ storage }: Node): boolean => storage !== null;

/** As positions are unless somebody says otherwise. */
const isPosition = ({ dtype }: Node): boolean => dtype === "i32";

function isZero(node: Node): boolean {
  let each = node;
  while (each.primitive.kind === "movement" && each.inputs.length === 1 && each.storage === null) [each] = each.inputs;
  return each.primitive === constant && Object.is(Number(each.params.value), 0);
}
