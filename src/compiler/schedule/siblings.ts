/**
 * Groups that run over the same rows become one kernel with several results: a sum and a sum of squares of the same
 * data, a log-likelihood and its gradients, the three tensors an Adam step updates. What they share is then loaded and
 * computed once. A group may also join one that it reads from, if it reads each element at the place where it is made.
 *
 * Groups come in an order in which each is preceded by what it needs, so joining an earlier one can close a cycle in one
 * way only: when something else stands between the two.
 */
import { DTYPES } from "../../core/dtype.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import type { TargetProfile } from "../target/profile.js";
import type { Group } from "./group.js";
import { statementsOf } from "./statement-counts.js";
import type { Survey } from "./survey.js";

/** A group, and what decides whether it may join others. */
export interface Sibling {
  readonly group: Group;
  /** Nodes it computes, and the statements they take. */
  readonly nodes: ReadonlySet<Node>;
  readonly statements: number;
  /** Bytes of what it loads and of its results. */
  readonly bytesMoved: number;
  /** Nodes it loads, and in words at which indices, in terms of the row and the column. */
  readonly loads: ReadonlyMap<Node, ReadonlySet<string>>;
  /** The reductions it computes. */
  readonly reductions: Survey["reductions"];
  /** The index of its own result, in the same words. */
  readonly ownIndex: string;
  /** Additions it takes to compute an element of a node that two groups share. */
  readonly costOf: (node: Node) => number;
  /** It has nothing that lanes would share, so it can do with any number of them. */
  readonly isPlain: boolean;
  /** It reduces columns: see `Survey`. */
  readonly isColumnReduction: boolean;
  /** Neighbouring rows that are best reduced together: 1, or all along the last axis. */
  readonly rowsTogether: number;
}

/** A step of the schedule before joining: a group, or something else that computes a node from others. */
export type Member =
  | { readonly kind: "group"; readonly sibling: Sibling }
  | { readonly kind: "routine"; readonly node: Node; readonly loads: readonly Node[] };

/** Members that become one kernel. */
export interface Cluster {
  readonly members: readonly Member[];
  readonly needs: ReadonlySet<Cluster>;
  /** Whether it needs another, directly or through others. */
  dependsOn(other: Cluster): boolean;
}

/** @internal for tests: made by hand */
export interface SiblingLimits {
  readonly maxNodes: number;
  readonly maxStatements: number;
  readonly maxBuffers: number;
  /** Additions that loading an element is worth. */
  readonly loadCost: number;
  /** Kernels that need nothing of each other run at the same time. */
  readonly isConcurrent: boolean;
  readonly columnReduction: TargetProfile["columnReduction"];
}

/** Groups that move fewer bytes than this cost more to start than to run. */
const SMALL_BYTES = 1 << 15;
/** Clusters that a group is compared with: so many of the recent ones, and of those that load or make what it loads. */
const MAX_CANDIDATES = 16;

const bytesOf = (node: Node): number => productOf(node.shape) * DTYPES[node.dtype].bytes;
const sum = (nodes: Iterable<Node>, of: (node: Node) => number): number => {
  let total = 0;
  for (const node of nodes) total += of(node);
  return total;
};
function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}

/** The nodes that a member stores. */
export const resultsOf = (member: Member): readonly Node[] =>
  member.kind === "routine" ? [member.node] : member.sibling.group.results.map(({ node }) => node);

/** Rows with the same key are the same rows. */
export function rowsKey({ results: [{ node, rowAxes }] }: Group): string {
  const extents = rowAxes.map((axis) => node.shape[axis]).filter((extent) => extent !== 1);
  return extents.join("×");
}

class GrowingCluster implements Cluster {
  readonly members: Member[] = [];
  readonly needs = new Set<GrowingCluster>();
  private readonly users = new Set<GrowingCluster>();
  readonly made = new Map<Node, Sibling | null>();
  readonly nodes = new Set<Node>();
  statements = 0;
  readonly loads = new Map<Node, Set<string>>();
  /** Tensors that it loads or makes, and the bytes of what it loads and of what it makes. */
  buffers = 0;
  bytes = 0;
  lanes = 1;
  isPlain = true;
  isColumnReduction = true;
  /** The length of the longest chain of clusters that must run before it. */
  level = 0;

  constructor(member: Member, needs: Iterable<GrowingCluster>) {
    this.join(member, needs);
  }

  join(member: Member, needs: Iterable<GrowingCluster>): void {
    this.members.push(member);
    for (const cluster of needs) {
      if (cluster === this) continue;
      this.needs.add(cluster);
      cluster.users.add(this);
      this.raise(cluster.level + 1);
    }
    const sibling = member.kind === "group" ? member.sibling : null;
    for (const node of resultsOf(member)) {
      if (!this.touches(node)) this.buffers++;
      this.made.set(node, sibling);
      this.bytes += bytesOf(node);
    }
    if (!sibling) return;
    for (const node of sibling.nodes) {
      if (!this.nodes.has(node)) this.statements += statementsOf(node);
      this.nodes.add(node);
    }
    for (const [node, indices] of sibling.loads) {
      if (!this.touches(node)) this.buffers++;
      const known = this.loads.get(node);
      if (!known) this.bytes += bytesOf(node);
      this.loads.set(node, new Set([...(known ?? []), ...indices]));
    }
    this.lanes = Math.max(this.lanes, sibling.group.tiling.lanes);
    this.isPlain &&= sibling.isPlain;
    this.isColumnReduction &&= sibling.isColumnReduction;
  }

  /** Whether it loads or makes a tensor. */
  touches(node: Node): boolean {
    return this.loads.has(node) || this.made.has(node);
  }

  /** Brings it to a level at least, and whatever needs it above that. */
  private raise(level: number): void {
    const stack = [{ cluster: this as GrowingCluster, to: level }];
    for (let next = stack.pop(); next; next = stack.pop()) {
      const { cluster, to } = next;
      if (cluster.level >= to) continue;
      cluster.level = to;
      for (const user of cluster.users) stack.push({ cluster: user, to: to + 1 });
    }
  }

  /** A cluster that is not above another does not need it. */
  dependsOn(other: GrowingCluster): boolean {
    const seen = new Set<GrowingCluster>([this]);
    for (const cluster of seen) {
      if (cluster.needs.has(other)) return true;
      for (const needed of cluster.needs) if (needed.level > other.level) seen.add(needed);
    }
    return false;
  }
}

function levelAfter(needs: Iterable<GrowingCluster>): number {
  let level = 0;
  for (const cluster of needs) level = Math.max(level, cluster.level + 1);
  return level;
}

/** Joins members to clusters where it can. Every member comes after those it needs; so does every cluster. */
export function joinSiblings(members: readonly Member[], limits: SiblingLimits): Cluster[] {
  const clusterOf = new Map<Node, GrowingCluster>();
  const byRows = new Map<string, KnownClusters>();
  const clusters = new Set<GrowingCluster>();
  for (const member of members) {
    const inputs = member.kind === "group" ? member.sibling.loads.keys() : member.loads;
    const needs = new Set<GrowingCluster>();
    for (const input of inputs) {
      const cluster = clusterOf.get(input);
      if (cluster) needs.add(cluster);
    }
    // Tiles are not rows.
    const hasRows = member.kind === "group" && !member.sibling.group.product && !member.sibling.group.transposed;
    const known = hasRows ? entryOf(byRows, rowsKey(member.sibling.group), noClusters) : noClusters();
    let cluster = candidatesFor(member, known).find(
      (candidate) => member.kind === "group" && isGood(candidate, member.sibling, needs, limits),
    );
    if (cluster) cluster.join(member, needs);
    else {
      cluster = new GrowingCluster(member, needs);
      known.all.push(cluster);
    }
    clusters.add(cluster);
    for (const node of resultsOf(member)) clusterOf.set(node, cluster);
    if (hasRows) {
      for (const node of [...resultsOf(member), ...member.sibling.loads.keys()]) {
        const beside = entryOf(known.byTensor, node, () => []);
        if (beside.at(-1) !== cluster) beside.push(cluster);
      }
    }
  }
  return inOrder(clusters);
}

/** Clusters with the same rows, in order: all of them, and those that read or make a tensor. */
interface KnownClusters {
  readonly all: GrowingCluster[];
  readonly byTensor: Map<Node, GrowingCluster[]>;
}

const noClusters = (): KnownClusters => ({ all: [], byTensor: new Map() });

/**
 * Clusters with the same rows that a group may join. Most that share something with it are recent; but the loss of a deep model
 * comes long after the gradient that is computed from the same rows. Few are looked at for each tensor, so that the time grows
 * with the number of groups and not with its square.
 */
function candidatesFor(member: Member, { all, byTensor }: KnownClusters): GrowingCluster[] {
  const recent = all.slice(-MAX_CANDIDATES).reverse();
  if (member.kind !== "group" || all.length <= MAX_CANDIDATES) return recent;
  const sharing = [...member.sibling.loads.keys()].flatMap((node) => byTensor.get(node)?.slice(-MAX_CANDIDATES) ?? []);
  return [...new Set([...recent, ...sharing.slice(-MAX_CANDIDATES)])];
}

function isGood(
  cluster: GrowingCluster,
  sibling: Sibling,
  needs: ReadonlySet<GrowingCluster>,
  limits: SiblingLimits,
): boolean {
  const { group, nodes, loads } = sibling;
  if (cluster.nodes.size + nodes.size > limits.maxNodes) return false;
  const read: Node[] = [];
  let buffers = cluster.buffers + group.results.length;
  for (const node of loads.keys()) {
    if (cluster.made.has(node)) read.push(node);
    if (!cluster.touches(node)) buffers++;
  }
  if (buffers > limits.maxBuffers) return false;
  const canShareLanes =
    cluster.lanes === group.tiling.lanes || (read.length > 0 && (cluster.isPlain || sibling.isPlain));
  if (!canShareLanes || wouldLengthenColumns(cluster, sibling, limits)) return false;
  const isInPlace = read.every((node) => {
    const { ownIndex } = cluster.made.get(node) as Sibling;
    return [...(loads.get(node) as ReadonlySet<string>)].every((index) => index === ownIndex);
  });
  if (!isInPlace) return false;
  // They may share some of them, which is only worth counting where it matters.
  if (cluster.statements + sibling.statements > limits.maxStatements) {
    const added = sum(nodes, (node) => (cluster.nodes.has(node) ? 0 : statementsOf(node)));
    if (cluster.statements + added > limits.maxStatements) return false;
  }
  const isWorth = sharesEnough(cluster, sibling, read, limits) || areBothSmall(cluster, sibling, needs, limits);
  if (!isWorth) return false;
  return ![...needs].some((needed) => needed !== cluster && needed.dependsOn(cluster));
}

/** Columns that a thread reduces side by side stay so: a long computation on their totals is a kernel of its own. */
function wouldLengthenColumns(
  { isColumnReduction }: GrowingCluster,
  sibling: Sibling,
  { columnReduction }: SiblingLimits,
): boolean {
  if (!columnReduction || !isColumnReduction || sibling.isColumnReduction) return false;
  return columnReduction.turns * sibling.statements > columnReduction.maxStatements;
}

/** They share an eighth of what the group moves, or work that costs more than loading. */
function sharesEnough(
  cluster: GrowingCluster,
  sibling: Sibling,
  read: readonly Node[],
  { loadCost }: SiblingLimits,
): boolean {
  const { nodes, loads, costOf } = sibling;
  let shared = sum(read, bytesOf);
  for (const [node, indices] of loads) {
    const known = cluster.loads.get(node);
    if (known && hasAny(known, indices)) shared += bytesOf(node);
  }
  if (8 * shared >= sibling.bytesMoved) return true;
  for (const node of nodes) if (cluster.nodes.has(node) && costOf(node) > loadCost) return true;
  return false;
}

function hasAny(known: ReadonlySet<string>, indices: Iterable<string>): boolean {
  for (const index of indices) if (known.has(index)) return true;
  return false;
}

/** Both are too small to matter. What could run at another time is not made to wait for it. */
function areBothSmall(
  cluster: GrowingCluster,
  sibling: Sibling,
  needs: Iterable<GrowingCluster>,
  { isConcurrent }: SiblingLimits,
): boolean {
  if (isConcurrent && cluster.level !== levelAfter(needs)) return false;
  return sibling.bytesMoved <= SMALL_BYTES && cluster.bytes <= SMALL_BYTES;
}

/** Each cluster after those it needs. Joining may have made one need others that came later. */
function inOrder(clusters: ReadonlySet<GrowingCluster>): Cluster[] {
  const ordered = new Set<GrowingCluster>();
  for (const first of clusters) {
    const stack = [first];
    for (let cluster = stack.at(-1); cluster; cluster = stack.at(-1)) {
      const waiting = [...cluster.needs].filter((needed) => !ordered.has(needed));
      if (waiting.length === 0) {
        ordered.add(cluster);
        stack.pop();
      } else stack.push(...waiting);
    }
  }
  return [...ordered];
}
