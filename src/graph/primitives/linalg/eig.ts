/**
 * Eigenvalues and eigenvectors of general matrices: balanced, brought to Schur form (schur.ts), whose triangle has eigenvectors by
 * substitution. Results are complex. Vectors have length 1, and their largest element is real and positive. Leading axes are
 * batches.
 */
import { complexDType } from "../../../core/dtype.js";
import type { Node } from "../../node.js";
import type { CompositePrimitive, RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, partsOf } from "../bundle.js";
import * as E from "../elementwise.js";
import * as R from "../reduce.js";
import { balanced, sizeOfNumber } from "./hessenberg.js";
import { isComplexNode } from "./householder.js";
import { luNodes, luSolve } from "./lu.js";
import { byTransposing } from "./qr.js";
import { scaledDown } from "./scaled-down.js";
import { MULTIPLE, type SchurForm, schurForm } from "./schur.js";

/** Inputs: real and imaginary parts of triangles. Parts: those of the vectors, as rows. */
const triangularVectors: RoutinePrimitive = { name: "triangularVectors", kind: "routine", infer: inferBundle };

/** Eigenvalues [.., n] of [.., n, n]. */
export function eigvalsNodes(g: GraphOps, a: Node): Node {
  const outputs = [{ shape: a.shape.slice(0, -1), dtype: complexDType(a.dtype) }];
  return partsOf(g.move(eig, [a], { outputs }))[0];
}

/** Eigenvalues [.., n] and eigenvectors [.., n, n], as columns. */
export function eigNodes(g: GraphOps, a: Node): [Node, Node] {
  const dtype = complexDType(a.dtype);
  const outputs = [
    { shape: a.shape.slice(0, -1), dtype },
    { shape: [...a.shape], dtype },
  ];
  return partsOf(g.move(eig, [a], { outputs })) as [Node, Node];
}

/** It has one part, the values, or two. */
const eig: CompositePrimitive = {
  name: "eig",
  kind: "composite",
  hasWhileLoop: true,
  infer: inferBundle,
  expand: (g, node, [given]) => {
    const n = given.shape.at(-1) as number;
    const lead = given.shape.slice(0, -2);
    const batch = lead.reduce((x, y) => x * y, 1);
    const wantsVectors = hasVectors(node);
    const complex = complexDType(given.dtype);
    if (n === 0 || batch === 0) {
      const shapes = [given.shape.slice(0, -1), given.shape].slice(0, wantsVectors ? 2 : 1);
      return shapes.map((shape) => g.zeros(shape, given, complex));
    }
    const { scaled, scale } = scaledDown(g, g.reshape(given, [batch, n, n]));
    // NaN would never converge: zeros take its place, and it comes back in the end.
    const safe = g.where(g.greater(g.broadcast(scale, scaled.shape), 0), scaled, 0);
    const { matrix, factors } = balanced(g, safe);
    const form = schurForm(g, matrix, wantsVectors);
    const nothing = g.where(form.hasFailed, Number.NaN, g.mul(g.reshape(scale, [batch]), 0));
    const whole = (x: Node) =>
      g.add(x, g.cast(g.unreduce(nothing, x.shape, x.shape.map((_, i) => i).slice(1)), complex));
    const values = g.mul(form.values, g.cast(g.broadcast(g.reshape(scale, [batch, 1]), [batch, n]), complex));
    const found = [g.reshape(whole(values), [...lead, n])];
    if (!wantsVectors) return found;
    const vectors = vectorsOf(g, form, factors, !isComplexNode(given));
    return [...found, g.reshape(whole(vectors), given.shape)];
  },
  bundle: {
    jvp: (g, node, [t]) => (t ? tangents(g, node, t) : partsOf(node).map(() => null)),
    vjp: (g, node, cotangents) => byTransposing(g, node, cotangents, tangents),
    batch: (g, node, [{ node: a }]) => {
      const parts = hasVectors(node) ? eigNodes(g, a) : [eigvalsNodes(g, a)];
      return parts.map((each) => ({ node: each, isBatched: true }));
    },
  },
};

const hasVectors = ({ params }: Node): boolean => (params.outputs as readonly unknown[]).length === 2;

/** Eigenvectors [B, n, n], as columns, from those of the triangle. `factors`: how much balancing made rows smaller. */
function vectorsOf(g: GraphOps, form: SchurForm, factors: Node, isReal: boolean): Node {
  const { t, values, isSecond } = form;
  const [batch, n] = values.shape;
  const more = MULTIPLE * Math.ceil(n / MULTIPLE) - n;
  const isDiagonal = g.equal(g.counting(t.shape, 1, t), g.counting(t.shape, 2, t));
  const triangle = g.where(isDiagonal, g.unreduce(values, t.shape, [1]), t);
  const planes = [g.real(triangle), g.imag(triangle)].map((x) => g.pad(x, [0, 0, 0], [0, more, more]));
  const outputs = planes.map(({ shape, dtype }) => ({ shape, dtype }));
  const [re, im] = partsOf(g.move(triangularVectors, planes, { n, outputs })).map((x) =>
    g.transposed(g.slice(x, [0, 0, 0], [batch, n, n])),
  );
  const turned = g.matmul(form.z as Node, shortened(g, g.complex(re, im)));
  const whole = shortened(g, g.mul(turned, g.cast(g.unreduce(factors, turned.shape, [2]), turned.dtype)));
  const unit = inPhase(g, whole);
  if (!isReal || !isSecond) return unit;
  // Real eigenvalues have real vectors, and conjugate ones conjugate vectors.
  const along = (x: Node) => g.unreduce(x, unit.shape, [1]);
  const isRealValue = along(g.equal(g.imag(values), 0));
  const before = g.conj(g.pad(unit, [0, 0, 1], [0, 0, -1]));
  const paired = g.where(along(isSecond), before, unit);
  // The rest of the imaginary parts is rounding, perhaps enlarged where eigenvalues are close.
  return inPhase(g, g.where(isRealValue, g.cast(g.real(unit), unit.dtype), paired));
}

/** Columns divided by the size of their largest element. */
function shortened(g: GraphOps, x: Node): Node {
  const most = g.move(R.max, [sizeOfNumber(g, x)], { axes: [1] });
  return g.div(x, g.cast(g.unreduce(g.where(g.greater(most, 0), most, 1), x.shape, [1]), x.dtype));
}

/** Whether an element is the largest of its column, the first of equal ones. */
function isLargest(g: GraphOps, x: Node): Node {
  const rank = x.shape.length;
  const sizes = g.abs(x);
  const most = g.unreduce(g.move(R.max, [sizes], { axes: [rank - 2] }), x.shape, [rank - 2]);
  const row = g.counting(x.shape, rank - 2, x);
  const first = g.move(R.min, [g.where(g.equal(sizes, most), row, x.shape[rank - 2])], { axes: [rank - 2] });
  return g.equal(row, g.unreduce(first, x.shape, [rank - 2]));
}

/** Columns of length 1 whose largest element is real and positive. */
function inPhase(g: GraphOps, x: Node): Node {
  const rank = x.shape.length;
  const whole = (y: Node) => g.unreduce(y, x.shape, [rank - 2]);
  const largest = g.sum(g.where(isLargest(g, x), x, 0), [rank - 2]);
  const length = g.sqrt(g.sum(g.square(g.abs(x)), [rank - 2]));
  const factor = g.div(g.conj(largest), g.cast(g.mul(g.abs(largest), length), x.dtype));
  return g.mul(x, whole(factor));
}

/** 1 / (λj - λi), but 0 where the difference is lost in rounding. */
function inverseGaps(g: GraphOps, values: Node, shape: readonly number[]): Node {
  const rank = shape.length;
  const n = shape[rank - 1];
  const epsilon = values.dtype === "c128" ? 2 ** -52 : 2 ** -23;
  const gaps = g.sub(g.unreduce(values, shape, [rank - 2]), g.unreduce(values, shape, [rank - 1]));
  const largest = g.unreduce(g.move(R.max, [g.abs(values)], { axes: [rank - 2] }), shape, [rank - 2, rank - 1]);
  const size = g.abs(gaps);
  const isLost = g.move(E.or, [g.less(size, g.mul(largest, n * epsilon)), g.equal(size, 0)], {});
  return g.where(isLost, 0, g.div(1, g.where(isLost, 1, gaps)));
}

/**
 * With P = V⁻¹ dA V: values change by its diagonal, vectors by V (F ∘ P), F = 1 / (λj - λi), and by as much of themselves as
 * keeps their length and the phase of their largest element.
 */
function tangents(g: GraphOps, node: Node, t: Node): readonly Node[] {
  const [a] = node.inputs;
  const parts = partsOf(node);
  const [values, vectors] = hasVectors(node) ? (parts as [Node, Node]) : eigNodes(g, a);
  const { shape, dtype } = vectors;
  const rank = shape.length;
  const [factors, , order] = luNodes(g, vectors);
  const moved = g.matmul(g.cast(t, dtype), vectors);
  const inner = g.move(luSolve, [vectors, moved, factors, order], { isTransposed: false });
  const isDiagonal = g.equal(g.counting(shape, rank - 2, t), g.counting(shape, rank - 1, t));
  const ofValues = g.sum(g.where(isDiagonal, inner, 0), [rank - 1]);
  if (!hasVectors(node)) return [ofValues];
  const change = g.matmul(vectors, g.mul(inverseGaps(g, values, shape), inner));
  const length = g.sum(g.real(g.mul(g.conj(vectors), change)), [rank - 2]);
  const isHead = isLargest(g, vectors);
  const head = g.real(g.sum(g.where(isHead, vectors, 0), [rank - 2]));
  const turn = g.div(g.imag(g.sum(g.where(isHead, change, 0), [rank - 2])), head);
  const along = g.unreduce(g.complex(length, turn), shape, [rank - 2]);
  return [ofValues, g.sub(change, g.mul(vectors, along))];
}
