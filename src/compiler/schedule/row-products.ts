/**
 * Rows of a matrix product that are reduced at once: the nearest of some points, the largest of some scores. Where a tile
 * holds all columns of its rows, its kernel reduces them (tiles/row-results.ts, tiles/panel-row-results.ts), and the product itself is never stored. The
 * scheduler asks here whether a result is such a reduction.
 */
import { atomsOf, type IndexExpr, IndexSpace, ravel, unravel } from "../../core/index-expr.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { forEachRead, indexKey, reductionAt } from "../../graph/reads.js";
import { rowResultBytes } from "../target/shared-tile.js";
import type { PanelTile, Tile, TileProfile } from "../target/tile-profile.js";
import type { FusedProduct } from "./group.js";
import type { Survey } from "./survey.js";

/** Additions per element of the product that its reductions may cost. */
const MOST_COST = 40;

/** The product whose rows a result is reduced from, and the reductions; null where it is something else. */
export function rowProduct(result: Node, survey: Survey, tiles: TileProfile): FusedProduct | null {
  const { nodes, products, reductions } = survey;
  const [dot] = products;
  if (products.length !== 1 || result === dot) return null;
  const [batch, m, n] = dot.shape;
  const users = usersOf(dot, nodes);
  const reduced = reductions.filter(({ node }) => users.has(node));
  const fits = reduced.every(({ node, extent }) => extent === n && node.dtype !== "bool");
  if (productOf(result.shape) !== batch * m || reduced.length === 0 || !fits) return null;
  if (!holdsRows(dot, tiles)) return null;
  const own = new Set(reduced.map(({ node }) => node));
  return followsRows(result, dot, own, users) ? { dot, path: [], reductions: own } : null;
}

/** Whether the tiles of a product hold all columns of their rows, and what their kernel needs besides to reduce them. */
function holdsRows(dot: Node, { sharedBytes }: TileProfile): boolean {
  const tile = dot.params.tile as Tile | undefined;
  const [, , n] = dot.shape;
  if (tile?.kind === "shared") {
    const bytes = rowResultBytes(dot, n);
    return !tile.isHalf && bytes !== null && bytes <= sharedBytes;
  }
  return tile?.kind === "panels" && keepsRows(tile, dot);
}

/** Computed nodes that depend on a node, itself included. */
function usersOf(source: Node, nodes: ReadonlyMap<Node, number>): ReadonlySet<Node> {
  const users = new Set<Node>([source]);
  for (const node of [...nodes.keys()].sort((a, b) => a.depth - b.depth)) {
    if (node.inputs.some((input) => users.has(input))) users.add(node);
  }
  return users;
}

/**
 * Whether an element of the result depends on the product only through reductions along its row, each of which sees the
 * elements one by one, at an acceptable cost.
 */
function followsRows(result: Node, dot: Node, own: ReadonlySet<Node>, users: ReadonlySet<Node>): boolean {
  const [batch, m] = dot.shape;
  const space = new IndexSpace();
  const place = [space.variable("batch", batch), space.variable("row", m)];
  const seen = new Map<Node, Set<string>>();
  let cost = 0;
  const isFollowed = (node: Node, index: readonly IndexExpr[], position: IndexExpr | null): boolean => {
    if (!users.has(node)) return true;
    const key = indexKey(index);
    if (node === dot) return position !== null && key === indexKey([...place, position]);
    const keys = seen.get(node) ?? new Set<string>();
    if (keys.has(key)) return true;
    seen.set(node, keys.add(key));
    const { primitive } = node;
    if (primitive.kind === "reduce") {
      const moving = position ? atomsOf(position) : new Set();
      const isOfRow = index.every((part) =>
        [...atomsOf(part)].every((atom) => atom.kind !== "computed" && !moving.has(atom)),
      );
      if (!own.has(node) || !isOfRow) return false;
      const { extent, at } = reductionAt(space, node, primitive.op, index);
      const next = space.variable("position", extent);
      return isFollowed(node.inputs[0], at(next), next);
    }
    if (primitive.kind !== "elementwise" && primitive.kind !== "movement") return false;
    if (primitive.kind === "elementwise" && position) cost += primitive.cost;
    let isGood = true;
    forEachRead(space, node, index, (input, at, isBounded) => {
      if (isGood && users.has(input)) isGood = !isBounded && isFollowed(input, at, position);
    });
    return isGood;
  };
  const index = unravel(space, ravel(place, [batch, m]), result.shape);
  return isFollowed(result, index, null) && cost <= MOST_COST;
}

/**
 * Whether tiles of panels can reduce the rows of a product: a tile has all of its columns, adds them up in one block, and has
 * rows enough for the vectors of a panel.
 */
const keepsRows = ({ rows, columns, depth, micro, lanes, isHalf }: PanelTile, { shape, inputs }: Node): boolean =>
  columns === shape[2] &&
  depth >= inputs[0].shape[2] &&
  rows >= micro[1] * lanes &&
  columns >= micro[0] &&
  lanes > 1 &&
  !isHalf;
