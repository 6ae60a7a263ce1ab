/**
 * Fourier transforms read their input where it lies and write their result where it is wanted. Frames of a signal, slices and
 * other orders of axes become distances in memory, a window becomes a factor of what is read, and a root that only reorders
 * the axes of a transform becomes the order in which it is written. Without this pass each would be a copy. Columns of what a
 * transform of rows gives take those rows along (routines/fft/rows-and-columns.ts).
 *
 * The routine (routines/fft/) takes the distances as parameters of the node.
 */
import { constantExpr, type IndexExpr, IndexSpace, ravel } from "../../core/index-expr.js";
import { productOf } from "../../core/shape.js";
import { Node, pendingInOrder } from "../../graph/node.js";
import type { Params } from "../../graph/primitive.js";
import { type DftParams, dft, dftParams } from "../../graph/primitives/dft.js";
import * as E from "../../graph/primitives/elementwise.js";
import { permute } from "../../graph/primitives/movement.js";
import { readingsAt } from "../../graph/reads.js";
import { rewriteNodes } from "./rewriter.js";

/** Elements of a node, at distances along each axis of what sees them. */
interface View {
  readonly source: Node;
  readonly strides: readonly number[];
  readonly offset: number;
}

export function viewTransforms(roots: readonly Node[]): readonly Node[] {
  const order = pendingInOrder(roots);
  if (!order.some(({ primitive }) => primitive === dft)) return roots;
  const uses = new Map<Node, number>();
  for (const { inputs } of order) for (const input of inputs) uses.set(input, (uses.get(input) ?? 0) + 1);
  const results = new Set(roots);
  const copies = new Map<Node, Node>();
  return rewriteNodes(roots, copies, (node, inputs) => {
    const [only] = node.inputs;
    if (node.primitive === dft) {
      const isOnlyReader = only.primitive === dft && uses.get(only) === 1 && !results.has(only);
      return (isOnlyReader ? withRows(node, inputs) : null) ?? withView(node, inputs);
    }
    const isOnlyUse = node.primitive === permute && only.primitive === dft && uses.get(only) === 1;
    return isOnlyUse && results.has(node) && !results.has(only) ? inOrder(node, inputs[0]) : null;
  });
}

function own(like: Node, params: Params, inputs: readonly Node[]): Node {
  const node = new Node(dft, params, inputs, like.shape, like.dtype, like.device);
  node.isAbstract = true;
  return node;
}

/** A transform of columns that transforms the rows first, where its passes are made for that; else null. */
function withRows(node: Node, [from, table]: readonly Node[]): Node | null {
  const { axis, passes } = dftParams(node);
  const rows = dftParams(from);
  const isFit =
    passes?.length === 2 && from.storage === null && rows.kind === "real" && rows.axis === axis + 1 && !rows.view;
  if (!isFit) return null;
  const [x, rowTable] = from.inputs;
  return own(node, { ...node.params, rows } as unknown as Params, [x, table, rowTable]);
}

/** A transform whose result lies in another order of axes; null where the parts of a complex number would not stay together. */
function inOrder(node: Node, transform: Node): Node | null {
  const axes = node.params.axes as readonly number[];
  const isComplex = dftParams(transform).kind !== "half";
  const order = isComplex ? axes.slice(0, -1) : axes;
  if (isComplex && axes.at(-1) !== order.length) return null;
  return own(node, { ...transform.params, order }, transform.inputs);
}

/** A transform that reads what its input is a view of; null where the input has to be stored anyway. */
function withView(node: Node, [x, table]: readonly Node[]): Node | null {
  const params = dftParams(node);
  const windowed = params.isOfComplex ? null : factorOf(x, params.axis);
  const seen = windowed?.of ?? x;
  const view = viewOf(seen);
  const shape = params.isOfComplex ? seen.shape.slice(0, -1) : seen.shape;
  if (!view || !isWorthwhile(view, seen)) return null;
  const inNumbers = params.isOfComplex ? ofPairs(view) : view;
  if (!inNumbers) return null;
  const { strides, offset } = inNumbers;
  const more: Partial<DftParams> = { view: { shape, strides, offset }, ...(windowed && { isWindowed: true }) };
  return own(node, { ...node.params, ...more } as Params, [view.source, table, ...(windowed ? [windowed.factor] : [])]);
}

/** The operand of the view lies in memory already, or is no larger to store than the view. */
function isWorthwhile({ source }: View, seen: Node): boolean {
  const isStored = source.storage !== null || source.inputs.length === 0 || source.primitive.kind === "routine";
  return source !== seen && (isStored || productOf(source.shape) <= productOf(seen.shape));
}

/** A product with numbers that depend on the place along an axis alone, and what they multiply. */
function factorOf(node: Node, axis: number): { readonly of: Node; readonly factor: Node } | null {
  if (node.primitive !== E.mul || node.storage !== null) return null;
  for (const [a, b] of [node.inputs, [...node.inputs].reverse()]) {
    const view = viewOf(b);
    const isAlong =
      view &&
      view.offset === 0 &&
      view.strides.every((stride, i) => node.shape[i] === 1 || stride === (i === axis ? 1 : 0)) &&
      productOf(view.source.shape) === node.shape[axis];
    if (isAlong && viewOf(a)) return { of: a, factor: view.source };
  }
  return null;
}

/** The view of complex numbers, from that of their parts; null where parts are not neighbours, the real one first. */
function ofPairs({ source, strides, offset }: View): View | null {
  const isWhole = strides.at(-1) === 1 && strides.slice(0, -1).every((stride) => stride % 2 === 0) && offset % 2 === 0;
  return isWhole ? { source, strides: strides.slice(0, -1).map((stride) => stride / 2), offset: offset / 2 } : null;
}

/** The farthest node that a node shows elements of, at constant distances; itself where there is no other. */
function viewOf(node: Node): View | null {
  const space = new IndexSpace();
  const variables = node.shape.map((extent, axis) => space.variable(`i${axis}`, extent));
  let index: readonly IndexExpr[] = variables;
  let found = distancesOf(node, index, variables);
  for (let at = node; at.storage === null && at.primitive.kind === "movement"; ) {
    const [reading, ...others] = readingsAt(space, at, at.primitive, index);
    if (!reading || others.length > 0 || reading.tests.length > 0) break;
    let isKnown = true;
    index = reading.index(() => {
      isKnown = false;
      return constantExpr(0);
    });
    at = reading.source;
    const further = isKnown ? distancesOf(at, index, variables) : null;
    if (!further && !isKnown) break;
    found = further ?? found;
  }
  return found;
}

/** The view of a node by an index of it; null where the index is no sum of the variables at constant distances. */
function distancesOf(source: Node, index: readonly IndexExpr[], variables: readonly IndexExpr[]): View | null {
  const { terms, constant } = index.length === 0 ? constantExpr(0) : ravel(index, source.shape);
  const known = variables.flatMap((variable) => variable.terms.map(({ atom }) => atom));
  if (!terms.every(({ atom }) => known.includes(atom))) return null;
  const strides = variables.map((variable) => {
    const [own] = variable.terms;
    return own ? (terms.find(({ atom }) => atom === own.atom)?.factor ?? 0) : 0;
  });
  return { source, strides, offset: constant };
}
