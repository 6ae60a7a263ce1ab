/**
 * Householder reflections as graphs: matrices are made triangular panel by panel, and the reflections are applied to other
 * matrices as products I - V T Vᴴ. The QR decomposition (qr.ts) and the eigenvectors of large matrices (eigh.ts) are made of it.
 *
 * The panels of a stage go through one scan, so that they share their kernels: each panel updates the whole matrix of its
 * stage, of which the finished part is zero below the diagonal and does not change. A quarter of the columns is a stage: that
 * costs two fifths more than updating no more than is needed, and compiles the kernels of four panels instead of all.
 */
import { GraphFunction, makePlaceholder } from "../../function.js";
import type { Node } from "../../node.js";
import type { RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, partsOf } from "../bundle.js";
import { scanNode } from "../control/scan.js";

/** Columns of a panel. */
const PANEL = 32;
/** A matrix of so many columns is one panel. */
const ALONE = 64;
/** Stages, at most, and panels that are not worth two. */
const [STAGES, FEW_PANELS] = [4, 4];

/** Inputs: matrices [.., m, n], the number of the panel, i32 [1]. Params: width. Parts: vectors, factors, triangle. */
const householder: RoutinePrimitive = { name: "householder", kind: "routine", takesComplex: true, infer: inferBundle };

/** Inputs: products of vectors [.., b, b], factors [.., b]. The triangle T of their compact form. */
const compactWy: RoutinePrimitive = {
  name: "compactWy",
  kind: "routine",
  takesComplex: true,
  infer: ([products]) => ({ shape: products.shape, dtype: products.dtype }),
};

export const isComplexNode = ({ dtype }: Node): boolean => dtype === "c64" || dtype === "c128";

/** The identity, [batch, m, n]. */
export function identity(g: GraphOps, like: Node, batch: number, m: number, n: number): Node {
  const shape = [batch, m, n];
  const isOne = g.equal(g.counting(shape, 1, like), g.counting(shape, 2, like));
  return g.cast(isOne, like.dtype);
}

/** Reflections of panels of equal shape: V [panels, B, m, b] and T [panels, B, b, b]. */
interface Reflections {
  readonly vectors: Node;
  readonly triangles: Node;
}

/** The triangles of reflections with vectors [.., m, b] and factors [.., b]. */
const trianglesOf = (g: GraphOps, vectors: Node, factors: Node): Node =>
  g.move(compactWy, [g.matmul(g.adjoint(vectors), vectors), factors], {});

function panelOf(g: GraphOps, a: Node, number: Node, width: number): [Node, Node, Node] {
  const [batch, m] = a.shape;
  const outputs = [
    { shape: [batch, m, width], dtype: a.dtype },
    { shape: [batch, width], dtype: a.dtype },
    { shape: [batch, width, width], dtype: a.dtype },
  ];
  const [vectors, factors, triangle] = partsOf(g.move(householder, [a, number], { width, outputs }));
  return [vectors, trianglesOf(g, vectors, factors), triangle];
}

/** X - V T Vᴴ X, or with Tᴴ. */
function reflected(g: GraphOps, x: Node, vectors: Node, triangle: Node, isAdjoint: boolean): Node {
  const t = isAdjoint ? g.adjoint(triangle) : triangle;
  return g.sub(x, g.matmul(vectors, g.matmul(t, g.matmul(g.adjoint(vectors), x))));
}

/** A stage: its reflections act on the rows and columns from `first` on. */
interface Stage extends Reflections {
  readonly first: number;
}

/** How many panels each stage has. */
function stageSizes(panels: number): number[] {
  const most = Math.max(FEW_PANELS, Math.ceil(panels / STAGES));
  return Array.from({ length: Math.ceil(panels / most) }, (_, stage) => Math.min(most, panels - stage * most));
}

/** Reflections that make [B, m, n] triangular, and the triangle R [B, min(m, n), n]. */
export function triangularized(g: GraphOps, a: Node): { readonly stages: readonly Stage[]; readonly r: Node } {
  const [batch, m, n] = a.shape;
  const count = Math.min(m, n);
  if (n <= ALONE) {
    const [vectors, triangles, top] = panelOf(g, a, g.zeros([1], a, "i32"), n);
    const stacked = (x: Node) => g.reshape(x, [1, ...x.shape]);
    return {
      stages: [{ first: 0, vectors: stacked(vectors), triangles: stacked(triangles) }],
      r: g.slice(top, [0, 0, 0], [batch, count, n]),
    };
  }
  const stages: Stage[] = [];
  const rows: Node[] = [];
  let rest = a;
  let first = 0;
  for (const panels of stageSizes(Math.ceil(count / PANEL))) {
    const [, height, width] = rest.shape;
    const done = Math.min(panels * PANEL, height, width);
    const { last, ...reflections } = stageOf(g, rest, panels);
    stages.push({ first, ...reflections });
    const top = g.slice(last, [0, 0, 0], [batch, done, width]);
    rows.push(g.pad(upperPart(g, top), [0, 0, first], [0, 0, 0]));
    rest = g.slice(last, [0, done, done], [batch, height - done, width - done]);
    first += done;
  }
  return { stages, r: g.concat(rows, 1) };
}

/** The upper triangle, diagonal included. */
export function upperPart(g: GraphOps, x: Node): Node {
  const rank = x.shape.length;
  return g.where(g.greater(g.counting(x.shape, rank - 2, x), g.counting(x.shape, rank - 1, x)), 0, x);
}

function stageOf(g: GraphOps, a: Node, panels: number): Reflections & { readonly last: Node } {
  const own = makePlaceholder(a);
  const number = makePlaceholder({ shape: [1], dtype: "i32", device: a.device });
  const [vectors, triangle] = panelOf(g, own, number, PANEL);
  const body = new GraphFunction([own, number], [reflected(g, own, vectors, triangle, true), vectors, triangle]);
  const numbers = g.counting([panels, 1], 0, a);
  const params = { body, constants: 0, carries: 1, length: panels, isReverse: false };
  const [last, allVectors, triangles] = scanNode([a, numbers], params);
  return { last, vectors: allVectors, triangles };
}

/** The product of a stage's reflections times X [B, m, k]. */
function applied(g: GraphOps, { vectors, triangles }: Reflections, x: Node): Node {
  const [length, ...shape] = vectors.shape;
  if (length === 1) {
    const single = (node: Node) => g.reshape(node, node.shape.slice(1));
    return reflected(g, x, single(vectors), single(triangles), false);
  }
  // T Vᴴ of all panels at once: in the scan, each product waits for the one before.
  const turned = g.matmul(triangles, g.adjoint(vectors));
  const own = makePlaceholder(x);
  const v = makePlaceholder({ shape, dtype: vectors.dtype, device: x.device });
  const t = makePlaceholder({ shape: turned.shape.slice(1), dtype: turned.dtype, device: x.device });
  const body = new GraphFunction([own, v, t], [g.sub(own, g.matmul(v, g.matmul(t, own)))]);
  const params = { body, constants: 0, carries: 1, length, isReverse: true };
  return scanNode([x, vectors, turned], params)[0];
}

/**
 * The product of reflections times X [B, n, k]. Their vectors are rows [B, count, n], row j without anything before column j, and
 * their factors are [B, count].
 */
export const rowsApplied = (g: GraphOps, rows: Node, factors: Node, x: Node): Node =>
  g.move(reflectedColumns, [rows, factors, x], {});

/** Inputs: vectors as rows [B, count, n], factors [B, count], X [B, n, k]. A stage changes the rows of X from its own first on. */
const reflectedColumns: RoutinePrimitive = {
  name: "reflectedColumns",
  kind: "routine",
  takesComplex: true,
  infer: ([, , { shape, dtype }]) => ({ shape, dtype }),
  expand: (g, _node, [rows, factors, x]) => {
    const [batch, count, n] = rows.shape;
    if (count === 0) return x;
    const columns = x.shape[2];
    const width = Math.min(PANEL, count);
    const sizes = stageSizes(Math.ceil(count / width));
    const firsts = sizes.map((_, stage) => width * sizes.slice(0, stage).reduce((sum, size) => sum + size, 0));
    return firsts.reduceRight<Node | null>((behind, first, stage) => {
      const [panels, height] = [sizes[stage], n - first];
      const taken = Math.min(panels * width, count - first);
      const more = panels * width - taken;
      const own = g.pad(g.slice(rows, [0, first, first], [batch, taken, height]), [0, 0, 0], [0, more, 0]);
      const blocks = g.reshape(own, [batch, panels, width, height]);
      const vectors = g.permute(blocks, [1, 0, 3, 2]);
      const padded = g.pad(g.slice(factors, [0, first], [batch, taken]), [0, 0], [0, more]);
      const taus = g.permute(g.reshape(padded, [batch, panels, width]), [1, 0, 2]);
      const before = (firsts[stage + 1] ?? n) - first;
      const top = g.slice(x, [0, first, 0], [batch, before, columns]);
      const reflections = { vectors, triangles: trianglesOf(g, vectors, taus) };
      return applied(g, reflections, behind ? g.concat([top, behind], 1) : top);
    }, null) as Node;
  },
};

/** The first `columns` columns of the product of all reflections: Q, [B, m, columns]. */
export function orthogonal(g: GraphOps, stages: readonly Stage[], like: Node, columns: number): Node {
  const [batch, m] = like.shape;
  return stages.reduceRight<Node | null>((behind, stage, at) => {
    const { first } = stage;
    const [height, width] = [m - first, Math.max(0, columns - first)];
    const next = stages[at + 1]?.first ?? m;
    const inner = behind
      ? g.concat(
          [
            g.slice(identity(g, like, batch, next - first, width), [0, 0, 0], [batch, next - first, width]),
            g.pad(behind, [0, 0, width - behind.shape[2]], [0, 0, 0]),
          ],
          1,
        )
      : identity(g, like, batch, height, width);
    return applied(g, stage, inner);
  }, null) as Node;
}
