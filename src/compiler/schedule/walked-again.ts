/**
 * Finds reductions that are stored so that their rows are gone over once. A kernel that computes a sum of rows, and then something with a
 * number that comes of another sum of the same rows, has to wait for that number: the rows are gone over twice, and what both sums share is
 * computed twice. Stored by itself the second sum waits for nothing. It joins the kernel of the first, and what follows it is little. The forces
 * of t-SNE are such sums over all pairs, divided by the sum of all similarities; so is a gradient that is divided by a total.
 */
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { type Cluster, rowsKey, type Sibling } from "./siblings.js";
import { LOAD_COST } from "./stored-values.js";

/** Additions that are worth a change: fewer take no time that anyone would see. */
const LEAST_SAVED = 2 ** 20;
/** Clusters that are looked at for each tensor which a reduction loads. */
const MAX_CANDIDATES = 16;

/** Reductions to be stored by themselves. */
export function walkedAgain(clusters: readonly Cluster[]): Node[] {
  const clusterOf = new Map<Node, Cluster>();
  const readers = new Map<Node, Cluster[]>();
  for (const cluster of clusters) {
    for (const member of cluster.members) {
      if (member.kind === "routine") clusterOf.set(member.node, cluster);
      else for (const { node } of member.sibling.group.results) clusterOf.set(node, cluster);
    }
    for (const sibling of siblingsOf(cluster)) {
      if (sibling.reductions.length === 0) continue;
      for (const node of sibling.loads.keys()) {
        const known = readers.get(node) ?? [];
        if (known.at(-1) !== cluster) known.push(cluster);
        readers.set(node, known);
      }
    }
  }
  const found = new Set<Node>();
  for (const cluster of clusters) {
    for (const sibling of siblingsOf(cluster)) {
      for (const { node, isApart, outers } of sibling.reductions) {
        if (isApart || outers.size > 0 || sibling.group.results.some((result) => result.node === node)) continue;
        const behind = behindReduction(node, sibling);
        const needs = behind.loads.flatMap((load) => clusterOf.get(load) ?? []);
        const others = new Set(behind.loads.flatMap((load) => readers.get(load)?.slice(-MAX_CANDIDATES) ?? []));
        const isEarlier = (other: Cluster) =>
          other !== cluster &&
          cluster.dependsOn(other) &&
          !needs.some((needed) => needed === other || needed.dependsOn(other)) &&
          hasRowsOf(other, sibling);
        const least = Math.max(LEAST_SAVED, 4 * LOAD_COST * productOf(node.shape));
        if ([...others].some((other) => isEarlier(other) && savedWith(other, behind) >= least)) found.add(node);
      }
    }
  }
  return [...found];
}

const siblingsOf = ({ members }: Cluster): Sibling[] =>
  members.flatMap((member) => (member.kind === "group" ? member.sibling : []));

const hasRowsOf = (cluster: Cluster, { group }: Sibling): boolean =>
  siblingsOf(cluster).some((each) => each.reductions.length > 0 && rowsKey(each.group) === rowsKey(group));

/** What a reduction is computed from, within its group. */
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
