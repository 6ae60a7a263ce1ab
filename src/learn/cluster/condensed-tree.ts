/**
 * The condensed tree of HDBSCAN (Campello, Moulavi & Sander 2013; McInnes & Healy 2017): the tree of merges read from its root downwards.
 * A cluster that loses fewer samples than a cluster must have stays the same cluster, smaller by those; only splits in two clusters make
 * new ones. λ is the inverse of a distance: a density.
 *
 * Rows say which sample, or which cluster, leaves which cluster at which λ. Clusters have the numbers after those of samples, the root
 * first, and parents before their children.
 */
import type { Merges } from "./linkage.js";

/** Rows of the tree. */
export interface CondensedTree {
  /** The number of samples, which is the number of the root. */
  readonly count: number;
  readonly parents: Int32Array;
  readonly children: Int32Array;
  /** Infinity where samples lie on each other. */
  readonly lambdas: Float64Array;
  /** The samples of the child: 1 for a sample. */
  readonly sizes: Int32Array;
}

/** The tree of merges with clusters of `least` samples or more. */
export function condensedTree(merges: Merges, least: number): CondensedTree {
  const count = merges.length / 4 + 1;
  const rows = new Rows();
  const sizeOf = (node: number): number => (node < count ? 1 : (merges[4 * (node - count) + 3] as number));
  const partsOf = (node: number): readonly [number, number] => [
    merges[4 * (node - count)] as number,
    merges[4 * (node - count) + 1] as number,
  ];
  /** All samples of a node leave. */
  const leave = (cluster: number, node: number, lambda: number): void => {
    for (const stack = [node]; stack.length > 0; ) {
      const at = stack.pop() as number;
      if (at < count) rows.add(cluster, at, lambda, 1);
      else stack.push(...partsOf(at));
    }
  };
  let clusters = count + 1;
  // Clusters are numbered level by level, so that a parent's number is below those of its children.
  const queue: (readonly [node: number, cluster: number])[] = count > 1 ? [[2 * count - 2, count]] : [];
  for (let at = 0; at < queue.length; at++) {
    const [node, cluster] = queue[at] as readonly [number, number];
    const lambda = 1 / (merges[4 * (node - count) + 2] as number);
    const large = partsOf(node).filter((part) => sizeOf(part) >= least);
    for (const part of partsOf(node)) {
      if (sizeOf(part) < least) leave(cluster, part, lambda);
      else if (large.length === 1) queue.push([part, cluster]);
      else {
        rows.add(cluster, clusters, lambda, sizeOf(part));
        queue.push([part, clusters++]);
      }
    }
  }
  return { count, ...rows.arrays() };
}

/** Rows whose number is not known before. */
class Rows {
  private readonly parents: number[] = [];
  private readonly children: number[] = [];
  private readonly lambdas: number[] = [];
  private readonly sizes: number[] = [];

  add(parent: number, child: number, lambda: number, size: number): void {
    this.parents.push(parent);
    this.children.push(child);
    this.lambdas.push(lambda);
    this.sizes.push(size);
  }

  arrays(): Omit<CondensedTree, "count"> {
    return {
      parents: Int32Array.from(this.parents),
      children: Int32Array.from(this.children),
      lambdas: Float64Array.from(this.lambdas),
      sizes: Int32Array.from(this.sizes),
    };
  }
}
