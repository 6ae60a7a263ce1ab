/**
 * Large factorisations and triangular equations, cut into blocks: kernels factor blocks on the diagonal, and products of
 * matrices do the rest. The matrix is halved again and again, so that most products are large, and equal blocks share
 * kernels: there are few kernels to compile. `expandComposites` calls this.
 */
import { isComplex, realDType } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { lu, luNodes, rowsInOrder } from "../../graph/primitives/linalg/lu.js";
import { qr, qrInSteps } from "../../graph/primitives/linalg/qr.js";
import { cholesky, solveLower } from "../../graph/primitives/linalg/triangular.js";
import { stored } from "../../graph/primitives/movement.js";
import { g } from "../../graph/vocabulary.js";
import { kindOf, type NumberKind, shapeOf } from "../routines/linalg/field.js";
import { luPanelFor, qrPanelFor } from "../routines/linalg/panel.js";
import { choleskyOrder, luColumns, solveOrder } from "../routines/linalg/plan.js";
import type { TileProfile } from "../target/tile-profile.js";
import { complexOfMemory, memoryOfComplex } from "./complex.js";

/** Whether a node is a factorisation or solution that is too large for one kernel. */
export function isBlocked(node: Node, tiles: TileProfile): boolean {
  const { primitive } = node;
  if (primitive === qr) return isSteppedQr(node, tiles);
  if (primitive !== cholesky && primitive !== solveLower && primitive !== lu) return false;
  const kind = kindOf(node);
  const [m, n] = shapeOf(node.inputs[0], kind.isComplex).slice(-2);
  if (primitive === lu) return n > luColumns(m, kind, tiles) && !luPanelFor(m, kind, tiles);
  return n > (primitive === cholesky ? choleskyOrder(kind, tiles) : solveOrder(kind, tiles));
}

/** Columns of matrices of which one panel is the whole (graph/primitives/householder.ts). */
const ONE_PANEL = 64;

/** Whether a GPU takes the QR decomposition in steps. The node is not yet expanded: its numbers may be complex. */
function isSteppedQr({ inputs: [a] }: Node, tiles: TileProfile): boolean {
  const [m, n] = a.shape.slice(-2);
  const kind = { type: realDType(a.dtype) as NumberKind["type"], isComplex: isComplex(a.dtype) };
  return sizeOf(a.shape) > 0 && n > ONE_PANEL && qrPanelFor(m, kind, tiles) !== null;
}

/** The same in blocks. */
export function inBlocks(node: Node, inputs: readonly Node[], tiles: TileProfile): Node | readonly Node[] {
  const { primitive, params } = node;
  if (primitive === qr) return qrInSteps(g, node, inputs[0]);
  const kind = kindOf(node);
  const [a, b] = kind.isComplex ? inputs.map(complexOfMemory) : inputs;
  const back = (x: Node) => (isComplex(x.dtype) ? memoryOfComplex(x) : x);
  const block = solveOrder(kind, tiles);
  if (primitive === lu) return blockedLu(a, { block, columnsOf: (rows) => luColumns(rows, kind, tiles) }).map(back);
  if (primitive === solveLower) return back(blockedSolve(a, b, params.isUnit === true, block));
  return back(blockedCholesky(a, { factored: choleskyOrder(kind, tiles), solved: block }));
}

/** About half of an extent, in whole blocks. */
const halfOf = (extent: number, block: number): number => block * Math.ceil(Math.ceil(extent / block) / 2);

/** Rows and columns of the last two axes, from … to. */
function partOf(x: Node, rows: readonly [number, number], columns: readonly [number, number]): Node {
  const lead = x.shape.slice(0, -2);
  const start = [...lead.map(() => 0), rows[0], columns[0]];
  return g.slice(x, start, [...lead, rows[1] - rows[0], columns[1] - columns[0]]);
}

/** In memory, once: products would look for the parts of a concatenation at each element they load. */
const kept = (x: Node): Node => g.move(stored, [x], {});

/** The orders of blocks that kernels factor, and that they solve with. */
interface CholeskyBlocks {
  readonly factored: number;
  readonly solved: number;
}

function blockedCholesky(a: Node, blocks: CholeskyBlocks): Node {
  const n = a.shape.at(-1) as number;
  if (n <= blocks.factored) return g.move(cholesky, [kept(a)], {});
  const half = halfOf(n, blocks.factored);
  const rank = a.shape.length;
  const first = blockedCholesky(partOf(a, [0, half], [0, half]), blocks);
  const below = partOf(a, [half, n], [0, half]);
  const side = kept(g.adjoint(blockedSolve(first, kept(g.adjoint(below)), false, blocks.solved)));
  const rest = g.sub(partOf(a, [half, n], [half, n]), g.matmul(side, g.adjoint(side)));
  const second = blockedCholesky(kept(rest), blocks);
  const above = g.zeros([...a.shape.slice(0, -2), half, n - half], a);
  return kept(g.concat([g.concat([first, above], rank - 1), g.concat([side, second], rank - 1)], rank - 2));
}

function blockedSolve(l: Node, b: Node, isUnit: boolean, block: number): Node {
  const n = l.shape.at(-1) as number;
  if (n <= block) return g.solveLower(kept(l), b, isUnit);
  const half = halfOf(n, block);
  const m = b.shape.at(-1) as number;
  const first = blockedSolve(partOf(l, [0, half], [0, half]), partOf(b, [0, half], [0, m]), isUnit, block);
  const moved = g.matmul(partOf(l, [half, n], [0, half]), first);
  const rest = kept(g.sub(partOf(b, [half, n], [0, m]), moved));
  const second = blockedSolve(partOf(l, [half, n], [half, n]), rest, isUnit, block);
  return kept(g.concat([first, second], b.shape.length - 2));
}

/**
 * The sizes that LU factorisations are cut to: the blocks of triangular equations, and the columns of so many rows that a
 * kernel does.
 */
interface LuBlocks {
  readonly block: number;
  columnsOf(rows: number): number;
}

function blockedLu(a: Node, blocks: LuBlocks): [Node, Node, Node] {
  const [m, n] = a.shape.slice(-2);
  const rank = a.shape.length;
  const columns = blocks.columnsOf(m);
  if (n <= columns || m === 0) return luNodes(g, kept(a));
  const half = m <= columns ? m : halfOf(Math.min(m, n), columns);
  const [left, leftPivots, leftOrder] = blockedLu(partOf(a, [0, m], [0, half]), blocks);
  const moved = kept(rowsInOrder(g, partOf(a, [0, m], [half, n]), leftOrder));
  const corner = partOf(left, [0, half], [0, half]);
  const right = blockedSolve(corner, partOf(moved, [0, half], [0, n - half]), true, blocks.block);
  const top = g.concat([corner, right], rank - 1);
  if (half === m) return [kept(top), leftPivots, leftOrder];
  const below = partOf(left, [half, m], [0, half]);
  const rest = g.sub(partOf(moved, [half, m], [0, n - half]), g.matmul(below, right));
  const [second, secondPivots, secondOrder] = blockedLu(kept(rest), blocks);
  const bottom = g.concat([rowsInOrder(g, below, secondOrder), second], rank - 1);
  const last = (x: Node, from: number, to: number) =>
    g.slice(x, [...x.shape.slice(0, -1).map(() => 0), from], [...x.shape.slice(0, -1), to - from]);
  const restOrder = g.takeAlongAxis(last(leftOrder, half, m), secondOrder, rank - 2);
  return [
    kept(g.concat([top, bottom], rank - 2)),
    g.concat([leftPivots, g.add(secondPivots, half)], rank - 2),
    kept(g.concat([last(leftOrder, 0, half), restOrder], rank - 2)),
  ];
}
