/**
 * Places of a tree of merges in a picture: leaves in SciPy's order, each merge above the middle of its two parts. Of a large tree, only the
 * last merges are drawn, and a leaf may stand for several samples. A pure function of the merges; dendrogram.ts draws it.
 */

/** A leaf of the picture: a sample, or a cluster whose merges are not drawn. */
interface DrawnLeaf {
  /** The number of the sample or the cluster. */
  readonly node: number;
  readonly samples: number;
}

/** A merge: two uprights and what joins them. Places are counted in leaves. */
interface DrawnMerge {
  readonly node: number;
  readonly left: number;
  readonly right: number;
  readonly leftHeight: number;
  readonly rightHeight: number;
  readonly height: number;
}

export interface MergeLayout {
  readonly leaves: readonly DrawnLeaf[];
  readonly merges: readonly DrawnMerge[];
}

/** The tree of the last `most - 1` merges. Walks without recursion: a chain of merges is as deep as there are samples. */
export function mergeLayout(merges: Float64Array, most: number): MergeLayout {
  const count = merges.length / 4 + 1;
  const firstDrawn = Math.max(count, 2 * count - most);
  const isLeaf = (node: number): boolean => node < firstDrawn;
  const leaves: DrawnLeaf[] = [];
  const place = new Float64Array(2 * count - 1);
  const stack = [2 * count - 2];
  while (stack.length > 0) {
    const node = stack.pop() as number;
    const row = 4 * (node - count);
    if (!isLeaf(node)) stack.push(merges[row + 1], merges[row]);
    else {
      place[node] = leaves.length;
      leaves.push({ node, samples: node < count ? 1 : merges[row + 3] });
    }
  }
  const heightOf = (node: number): number => (isLeaf(node) ? 0 : merges[4 * (node - count) + 2]);
  const drawn: DrawnMerge[] = [];
  for (let node = firstDrawn; node < 2 * count - 1; node++) {
    const [a, b, height] = merges.subarray(4 * (node - count));
    place[node] = (place[a] + place[b]) / 2;
    const [left, right, leftHeight, rightHeight] = [place[a], place[b], heightOf(a), heightOf(b)];
    drawn.push({ node, left, right, leftHeight, rightHeight, height });
  }
  return { leaves, merges: drawn };
}

/** The group of each merge where the tree is cut at a height, numbered from the left, and -1 above the cut. */
export function groupsBelow(
  merges: Float64Array,
  { merges: drawn }: MergeLayout,
  threshold: number,
): Map<number, number> {
  const count = merges.length / 4 + 1;
  const groups = new Map<number, number>();
  const firstDrawn = drawn[0]?.node ?? merges.length;
  const stack: [node: number, group: number][] = [[2 * count - 2, -1]];
  let next = 0;
  while (stack.length > 0) {
    const [node, above] = stack.pop() as [number, number];
    if (node < firstDrawn) continue;
    const [left, right, height] = merges.subarray(4 * (node - count));
    const group = above >= 0 || height >= threshold ? above : next++;
    groups.set(node, group);
    stack.push([right, group], [left, group]);
  }
  return groups;
}
