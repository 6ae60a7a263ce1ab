/**
 * Finds reductions that are stored so that their rows are gone over once. A kernel that computes a sum of rows, and then something with a
 * number that comes of another sum of the same rows, has to wait for that number: the rows are gone over twice, and what both sums share is
 * computed twice. Stored by itself the second sum waits for nothing. It joins the kernel of the first, and what follows it is little. The forces
 * of t-SNE are such sums over all pairs, divided by the sum of all similarities; so is a gradient that is divided by a total.
 */
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { type Cluster, resultsOf, rowsKey, type Sibling } from "./siblings.js";
import { LOAD_COST } from "./stored-values.js";

/** Additions that are worth a change: fewer take no time that anyone would see. */
const LEAST_SAVED = 2 ** 20;
/** Clusters that are looked at for each tensor which a reduction loads. */
const MAX_CANDIDATES = 16;

/** Reductions to be stored by themselves. */
export function walkedAgain(clusters: readonly Cluster[]): Node[] {
  const { makers, readers } = indexed(clusters);
  const readersOf = (node: Node): readonly Cluster[] => readers.get(node)?.slice(-MAX_CANDIDATES) ?? [];
  const found: Node[] = [];
  for (const cluster of clusters) {
    for (const sibling of siblingsOf(cluster)) {
      for (const node of waitingReductions(sibling)) {
        const behind = behindReduction(node, sibling);
        const needs = behind.loads.flatMap((load) => makers.get(load) ?? []);
        const least = Math.max(LEAST_SAVED, 4 * LOAD_COST * productOf(node.shape));
        const isJoined = (earlier: Cluster) =>
          earlier !== cluster &&
          cluster.dependsOn(earlier) &&
          !needs.some((needed) => needed === earlier || needed.dependsOn(earlier)) &&
          hasRowsOf(earlier, sibling) &&
          savedWith(earlier, behind) >= least;
        if (behind.loads.flatMap(readersOf).some(isJoined)) found.push(node);
      }
    }
  }
  return found;
}

/** The cluster that makes each node, and those that reduce what they load of it. */
function indexed(clusters: readonly Cluster[]) {
  const makers = new Map<Node, Cluster>();
  const readers = new Map<Node, Cluster[]>();
  for (const cluster of clusters) {
    for (const member of cluster.members) for (const node of resultsOf(member)) makers.set(node, cluster);
    for (const { reductions, loads } of siblingsOf(cluster)) {
      if (reductions.length === 0) continue;
      for (const node of loads.keys()) {
        const known = readers.get(node) ?? [];
        if (known.at(-1) !== cluster) known.push(cluster);
        readers.set(node, known);
      }
    }
  }
  return { makers, readers };
}

/** The reductions of a group that something follows in its kernel. Those that others need again stay where they are. */
function waitingReductions({ group, reductions }: Sibling): Node[] {
  const results = new Set(group.results.map(({ node }) => node));
  return reductions
    .filter(({ node, isApart, outers }) => !isApart && outers.size === 0 && !results.has(node))
    .map(({ node }) => node);
}

const siblingsOf = ({ members }: Cluster): Sibling[] =>
  members.flatMap((member) => (member.kind === "group" ? member.sibling : []));

const hasRowsOf = (cluster: Cluster, { group }: Sibling): boolean =>
  siblingsOf(cluster).some((each) => each.reductions.length > 0 && rowsKey(each.group) === rowsKey(group));

/** The nodes that a reduction is computed from within its group, and those that it loads. */
interface Behind {
  readonly computed: readonly Node[];
  readonly loads: readonly Node[];
}

function behindReduction(reduction: Node, { nodes, loads }: Sibling): Behind {
  const seen = new Set<Node>(reduction.inputs);
  for (const node of seen) {
    if (loads.has(node) || !nodes.has(node)) continue;
    for (const input of node.inputs) seen.add(input);
  }
  const all = [...seen];
  return { computed: all.filter((node) => nodes.has(node)), loads: all.filter((node) => loads.has(node)) };
}

/** Additions, and loads at their worth, that a reduction shares with another cluster. */
function savedWith(other: Cluster, { computed, loads }: Behind): number {
  const siblings = siblingsOf(other);
  let saved = 0;
  for (const node of computed) {
    const { primitive } = node;
    if (primitive.kind !== "elementwise" || !siblings.some(({ nodes }) => nodes.has(node))) continue;
    saved += primitive.cost * productOf(node.shape);
  }
  for (const node of loads)
    if (siblings.some((each) => each.loads.has(node))) saved += LOAD_COST * productOf(node.shape);
  return saved;
}
