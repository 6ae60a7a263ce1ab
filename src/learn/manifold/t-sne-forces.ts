/**
 * The forces of t-SNE: the divergence of the embedding's probabilities from those of the samples, and its gradient. Neighbours attract each
 * other, along the edges of their graph; all pairs repel each other. The repulsion is exact: one pass over all pairs, of which
 * nothing is kept, where Barnes & Hut would approximate it by a tree. Places are columns, [components, samples].
 */
import { arange, stack, type Tensor, where } from "../../tensor/index.js";
import { conditionalOf, symmetric } from "../neighbors/perplexity.js";
import type { Neighbors } from "../neighbors/search.js";
import { columnsOf, squaresOf } from "./columns.js";
import { type EdgeRows, edgeRows, sumOfEdges } from "./edge-rows.js";

/** The probabilities of the samples: which pairs are neighbours. Those of all pairs add up to 1. */
export interface Attraction {
  /** Probabilities of pairs, by rows of edges; a pair that is twice among the edges has its probability in two parts. */
  readonly edges: EdgeRows;
  /** Σ p log p of all pairs. */
  readonly negentropy: Tensor;
}

/** Symmetric probabilities of neighbours: the mean of p(j | i) and p(i | j), over the number of samples. */
export async function attractionOf({ distances, indices }: Neighbors, perplexity: number): Promise<Attraction> {
  const count = indices.shape[0] as number;
  const conditional = conditionalOf(distances, perplexity).realize() as Tensor;
  const edges = await edgeRows(indices, conditional.div(2 * count) as Tensor);
  const joint = symmetric(conditional, indices).div(2 * count) as Tensor;
  // A pair that is among the edges both ways counts at each by that edge's share.
  const logs = where(joint.greater(0), where(joint.greater(0), joint, 1).log(), 0);
  return { edges, negentropy: conditional.mul(logs).sum().div(count).realize() as Tensor };
}

/** The forces on samples, and the divergence at their places. */
interface Forces {
  /** The gradient of the divergence, [components, samples]. */
  readonly gradient: Tensor;
  /** The Kullback–Leibler divergence. */
  readonly divergence: Tensor;
}

/** Student's t with as many degrees of freedom as components less one, at least 1 (van der Maaten 2009). */
const freedomOf = (components: number): number => Math.max(1, components - 1);

/** (1 + d² / ν)⁻¹ of differences, one tensor for each component. */
function nearness(differences: readonly Tensor[], freedom: number): Tensor {
  const squares = squaresOf(differences);
  return (freedom === 1 ? squares : squares.div(freedom)).add(1).reciprocal() as Tensor;
}

/** Σ of the similarities of all pairs, and the sums of their pushes on each sample: one kernel without a matrix of pairs. */
function repulsion(columns: readonly Tensor[], freedom: number): { readonly total: Tensor; readonly pushes: Tensor[] } {
  const differences = columns.map((column) => column.expandDims(1).sub(column) as Tensor);
  const near = nearness(differences, freedom);
  const similarity = freedom === 1 ? near : (near.pow((freedom + 1) / 2) as Tensor);
  // A sample is no pair with itself. To subtract its 1 from a sum would take the digits of small sums.
  const samples = arange(near.shape[0] as number, { device: near.device, dtype: "i32" }) as Tensor;
  const isSelf = samples.expandDims(1).equal(samples);
  const push = similarity.mul(near);
  return {
    total: where(isSelf, 0, similarity).sum({ axis: 1 }).sum() as Tensor,
    pushes: differences.map((d) => push.mul(d).sum({ axis: 1 }) as Tensor),
  };
}

/** Forces at places. Attraction counts `exaggeration` times in the gradient. */
export function forcesAt(places: Tensor, { edges, negentropy }: Attraction, exaggeration: number): Forces {
  const columns = columnsOf(places);
  const freedom = freedomOf(columns.length);
  const { total, pushes } = repulsion(columns, freedom);
  const along = columns.map(
    (column) => column.take(edges.owners).expandDims(1).sub(column.take(edges.others)) as Tensor,
  );
  const near = nearness(along, freedom);
  const pull = edges.weights.mul(near);
  const scale = (2 * (freedom + 1)) / freedom;
  const rows = along.map((d, i) => {
    const pulled = sumOfEdges(edges, pull.mul(d) as Tensor).mul(exaggeration);
    return pulled.sub((pushes[i] as Tensor).div(total)).mul(scale) as Tensor;
  });
  const logs = near.log().mul((freedom + 1) / 2);
  return {
    gradient: stack(rows) as Tensor,
    divergence: negentropy.sub(edges.weights.mul(logs).sum()).add(total.log()) as Tensor,
  };
}
