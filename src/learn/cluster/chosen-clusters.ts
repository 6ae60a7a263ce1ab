/**
 * The clusters that HDBSCAN chooses of its condensed tree, and what they make of samples: labels and probabilities. Choices go from the
 * leaves to the root. Excess of mass takes a cluster where it is more stable than all below it together; "leaf" takes those without any
 * below. A distance ε then joins what splits only below it (Malzer & Baum 2020).
 */
import type { CondensedTree } from "./condensed-tree.js";

/** How clusters are chosen. */
export interface Choice {
  readonly method: "eom" | "leaf";
  /** Clusters that split at a smaller distance than this stay one. */
  readonly epsilon: number;
  /** The root may be the only cluster. */
  readonly allowsSingle: boolean;
  /** Excess of mass takes no cluster with more samples. */
  readonly most: number;
}

/** Clusters of the tree by number, less that of the root. */
interface Clusters {
  readonly parents: Int32Array;
  readonly births: Float64Array;
  readonly sizes: Float64Array;
  /** λ at which the last of a cluster left it. */
  readonly deaths: Float64Array;
  /** Σ (λ of leaving − λ of birth) over samples. */
  readonly stabilities: Float64Array;
}

function clustersOf({ count, parents, children, lambdas, sizes }: CondensedTree): Clusters {
  const total = children.reduce((most, child) => Math.max(most, child), count) - count + 1;
  const found: Clusters = {
    parents: new Int32Array(total).fill(-1),
    births: new Float64Array(total),
    sizes: new Float64Array(total),
    deaths: new Float64Array(total),
    stabilities: new Float64Array(total),
  };
  found.sizes[0] = count;
  for (let row = 0; row < children.length; row++) {
    const [cluster, child] = [(parents[row] as number) - count, (children[row] as number) - count];
    const [lambda, size] = [lambdas[row] as number, sizes[row] as number];
    // A parent's rows stand before its children's, so its birth is known.
    found.stabilities[cluster] =
      (found.stabilities[cluster] as number) + (lambda - (found.births[cluster] as number)) * size;
    found.deaths[cluster] = Math.max(found.deaths[cluster] as number, lambda);
    if (child < 0) continue;
    found.parents[child] = cluster;
    found.births[child] = lambda;
    found.sizes[child] = size;
  }
  return found;
}

/** The chosen clusters. */
function chosen(clusters: Clusters, choice: Choice): Uint8Array {
  const { parents } = clusters;
  const candidates = choice.method === "eom" ? byExcessOfMass(clusters, choice) : leavesOf(parents);
  if (!choice.allowsSingle) candidates[0] = 0;
  return choice.epsilon > 0 ? joinedBelow(clusters, candidates, choice) : candidates;
}

/** Clusters that do not split. */
function leavesOf(parents: Int32Array): Uint8Array {
  const isLeaf = new Uint8Array(parents.length).fill(1);
  for (const parent of parents) if (parent >= 0) isLeaf[parent] = 0;
  return isLeaf;
}

function byExcessOfMass({ parents, sizes, stabilities }: Clusters, { allowsSingle, most }: Choice): Uint8Array {
  const below = new Float64Array(parents.length);
  const isBest = new Uint8Array(parents.length);
  for (let cluster = parents.length - 1; cluster >= 0; cluster--) {
    const [own, rest] = [stabilities[cluster] as number, below[cluster] as number];
    const isStable = own >= rest && (sizes[cluster] as number) <= most;
    isBest[cluster] = isStable && (cluster > 0 || allowsSingle) ? 1 : 0;
    const parent = parents[cluster] as number;
    if (parent >= 0) below[parent] = (below[parent] as number) + (isStable ? own : rest);
  }
  // The uppermost of them, which have what is below.
  const isCovered = isBest.slice();
  for (let cluster = 1; cluster < parents.length; cluster++) {
    if (!isCovered[parents[cluster] as number]) continue;
    isBest[cluster] = 0;
    isCovered[cluster] = 1;
  }
  return isBest;
}

/** Clusters that were born at less than ε give way to the first above them that was not. */
function joinedBelow(
  { parents, births }: Clusters,
  isChosen: Uint8Array,
  { epsilon, allowsSingle }: Choice,
): Uint8Array {
  const joined = new Uint8Array(parents.length);
  for (let cluster = 0; cluster < parents.length; cluster++) {
    if (!isChosen[cluster]) continue;
    let at = cluster;
    while (at > 0 && 1 / (births[at] as number) < epsilon) {
      const parent = parents[at] as number;
      if (parent === 0 && !allowsSingle) break;
      at = parent;
    }
    joined[at] = 1;
  }
  return joined;
}

/** What the chosen clusters make of samples. */
interface Chosen {
  /** -1 for noise. */
  readonly labels: Int32Array;
  /** How near λ of a sample comes to the largest of its cluster; 0 for noise. */
  readonly probabilities: Float64Array;
  /** The number of each chosen cluster in the tree. */
  readonly clusters: Int32Array;
}

/** Labels and probabilities of samples. */
export function chosenClusters(tree: CondensedTree, choice: Choice): Chosen {
  const { count, parents, children, lambdas } = tree;
  const clusters = clustersOf(tree);
  const isChosen = chosen(clusters, choice);
  const numbers = new Int32Array(isChosen.length).fill(-1);
  const places = [...isChosen.keys()].filter((cluster) => isChosen[cluster]);
  places.forEach((cluster, label) => {
    numbers[cluster] = label;
  });
  // Clusters below a chosen one have its label.
  for (let cluster = 1; cluster < numbers.length; cluster++) {
    if (!isChosen[cluster]) numbers[cluster] = numbers[clusters.parents[cluster] as number] as number;
  }
  const labels = new Int32Array(count).fill(-1);
  const probabilities = new Float64Array(count);
  // Of the root, only the samples that stay to its end, or to ε, are no noise.
  const least = choice.epsilon > 0 ? 1 / choice.epsilon : (clusters.deaths[0] as number);
  for (let row = 0; row < children.length; row++) {
    const sample = children[row] as number;
    if (sample >= count) continue;
    const label = numbers[(parents[row] as number) - count] as number;
    const lambda = lambdas[row] as number;
    if (label < 0 || (places[label] === 0 && lambda < least)) continue;
    labels[sample] = label;
    const death = clusters.deaths[places[label] as number] as number;
    probabilities[sample] = lambda === Number.POSITIVE_INFINITY ? 1 : Math.min(lambda, death) / death;
  }
  return { labels, probabilities, clusters: Int32Array.from(places, (cluster) => cluster + count) };
}
