/** Sets that grow together: union–find with halved paths. The root of a set is its first member, so that sets have an order. */
export class UnionFind {
  private readonly parents: Int32Array;

  constructor(count: number) {
    this.parents = Int32Array.from({ length: count }, (_, i) => i);
  }

  /** The first member of the set of i. */
  rootOf(i: number): number {
    const { parents } = this;
    let at = i;
    for (let up = parents[at] as number; up !== at; up = parents[at] as number) {
      parents[at] = parents[up] as number;
      at = parents[at] as number;
    }
    return at;
  }

  /** Makes one set of those of a and b. */
  join(a: number, b: number): void {
    const [first, second] = [this.rootOf(a), this.rootOf(b)];
    if (first < second) this.parents[second] = first;
    else this.parents[first] = second;
  }
}
