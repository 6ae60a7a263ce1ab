/**
 * First places along the eigenvectors of a graph that change least along its edges: those of the normalised Laplacian I − D^-½ W D^-½ with
 * the least eigenvalues above 0. Lanczos' method finds them by products with the graph alone. Parts of the graph that no edge connects
 * have eigenvectors of their own: each runs the method for itself, all at once, and stands around the middle of its samples.
 */

import { eigh } from "../../linalg/eigh.js";
import { key, normal } from "../../random/index.js";
import { concat, eye, full, type Tensor, where, zeros } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { type EdgeRows, sumOfEdges } from "./edge-rows.js";
import { principalPlaces } from "./first-places.js";
import { type Parts, partsOf } from "./graph-parts.js";

/** Steps of Lanczos' method at most: more than differences between eigenvalues of such graphs ask for. */
const STEPS = 128;
/** Stands for the eigenvalue of a step that a small part has not: below those of the graph, which are from -1 to 1. */
const NO_EIGENVALUE = -2;

/** Σ or largest over each part of numbers of its samples along the last axis, at each of its samples. */
function overParts(values: Tensor, { labels, count }: Parts, op: "add" | "max"): Tensor {
  if (count === 1) {
    const all = op === "add" ? values.sum({ axis: -1, keepDims: true }) : values.max({ axis: -1, keepDims: true });
    return all.broadcastTo(values.shape) as Tensor;
  }
  const { device, dtype } = values;
  const none = zeros([...values.shape.slice(0, -1), count], { device, dtype }) as Tensor;
  return none.scatter(labels, values, { axis: -1, op, deterministic: true }).take(labels, { axis: -1 }) as Tensor;
}

/** One value of each part. All samples of a part have it. */
function ofParts(values: Tensor, { labels, count }: Parts): Tensor {
  if (count === 1) return values.at(":1") as Tensor;
  return zeros([count], { device: values.device, dtype: values.dtype }).scatter(labels, values) as Tensor;
}

/** Eigenvectors of each part, [samples, components], those that change least first; 0 where a part has no more of them. */
function eigenvectorsOf(edges: EdgeRows, parts: Parts, components: number, seed: number): Tensor {
  const samples = parts.labels.shape[0] as number;
  const { device, dtype } = edges.weights;
  const sum = (values: Tensor): Tensor => overParts(values, parts, "add");
  const degrees = sumOfEdges(edges, edges.weights);
  const roots = degrees.sqrt() as Tensor;
  const inverse = where(roots.greater(0), where(roots.greater(0), roots, 1).reciprocal(), 0) as Tensor;
  const product = (q: Tensor): Tensor =>
    sumOfEdges(edges, edges.weights.mul(q.mul(inverse).take(edges.others)) as Tensor).mul(inverse) as Tensor;
  const steps = Math.max(1, Math.min(STEPS, parts.largest - 1));
  const least = dtype === "f64" ? 1e-9 : 1e-4;
  const unit = (w: Tensor): { readonly length: Tensor; readonly q: Tensor } => {
    const length = sum(w.square() as Tensor).sqrt() as Tensor;
    const isOne = length.greater(least);
    return { length: where(isOne, length, 0) as Tensor, q: where(isOne, w.div(where(isOne, length, 1)), 0) as Tensor };
  };
  const against = (w: Tensor, known: Tensor): Tensor =>
    w.sub(known.mul(sum(known.mul(w) as Tensor)).sum({ axis: 0 })) as Tensor;
  const numbers = full([steps + 1], 1, { device, dtype: "i32" })
    .cumsum()
    .sub(1) as Tensor;
  // The first row is the eigenvector of the eigenvalue 0 that every part has.
  const first = unit(roots).q.expandDims(0);
  const drawn = normal(key(seed, { device }), [samples], { dtype: dtype as "f32" }) as Tensor;
  const begin = unit(against(against(drawn, first as Tensor), first as Tensor)).q;
  const isRow = (i: Tensor): Tensor => numbers.equal(i).expandDims(1) as Tensor;
  const start = where(
    isRow(full([], 1, { device, dtype: "i32" }) as Tensor),
    begin,
    first.mul(isRow(zeros([], { device, dtype: "i32" }) as Tensor).cast(dtype)),
  );
  const step = ({ known, q }: { known: Tensor; q: Tensor }, i: Tensor) => {
    const w = product(q);
    const isThere = sum(q.square() as Tensor).greater(0.5);
    const along = where(isThere, sum(q.mul(w) as Tensor), NO_EIGENVALUE) as Tensor;
    const next = unit(against(against(w, known), known));
    const rows = where(isRow(i.add(1) as Tensor), next.q, known) as Tensor;
    return [
      { known: rows, q: next.q },
      { along: ofParts(along, parts), beside: ofParts(next.length, parts) },
    ] as const;
  };
  const [{ known }, { along, beside }] = scan(step, { known: start as Tensor, q: begin }, numbers.at("1:") as Tensor);
  const diagonal = eye(steps, { device, dtype });
  const shifted = concat([zeros([1, steps], { device, dtype }), diagonal.at(":-1")]) as Tensor;
  // [parts, steps, steps]
  const below = shifted.mul(
    concat([beside.at(":-1").T, zeros([parts.count, 1], { device, dtype })], { axis: 1 }).expandDims(1),
  );
  const small = diagonal
    .mul(along.T.expandDims(1))
    .add(below)
    .add(below.permute([0, 2, 1])) as Tensor;
  const { eigenvectors } = eigh(small);
  const wanted = Math.min(components, steps);
  // Vectors of steps that a part has not are 0, and add nothing.
  const chosen = eigenvectors.flip(2).at(":", ":", `:${wanted}`) as Tensor;
  const found = known
    .at("1:")
    .T.expandDims(2)
    .mul(chosen.take(parts.labels, { axis: 0 }))
    .sum({ axis: 1 }) as Tensor;
  if (wanted === components) return found;
  return concat([found, zeros([samples, components - wanted], { device, dtype })], { axis: 1 }) as Tensor;
}

/** Middles of parts, at each of their samples, and half of the distance to the nearest other. */
function middles(x: Tensor, parts: Parts, components: number, seed: number) {
  const { labels, count } = parts;
  const { device, dtype } = x;
  const none = zeros([count, x.shape[1] as number], { device, dtype });
  const sums = none.scatter(labels, x, { axis: 0, op: "add", deterministic: true });
  const sizes = zeros([count], { device, dtype }).scatter(labels, 1, { op: "add" }).expandDims(1);
  const at = principalPlaces(seed, sums.div(sizes) as Tensor, components);
  const apart = at.expandDims(1).sub(at).square().sum({ axis: 2 }).sqrt();
  const others = where(eye(count, { device, dtype }).equal(1), Number.POSITIVE_INFINITY, apart);
  return {
    places: at.take(labels, { axis: 0 }) as Tensor,
    room: others.min({ axis: 1 }).div(2).take(labels).expandDims(1) as Tensor,
  };
}

/** First places from the graph of these samples, [samples, components]. */
export async function spectralPlaces(edges: EdgeRows, x: Tensor, components: number, seed: number): Promise<Tensor> {
  const parts = await partsOf(edges);
  const vectors = eigenvectorsOf(edges, parts, components, seed);
  if (parts.count === 1) return vectors;
  const { places, room } = middles(x, parts, components, seed);
  const largest = overParts(vectors.abs().max({ axis: 1 }) as Tensor, parts, "max").expandDims(1);
  return vectors
    .div(where(largest.greater(0), largest, 1))
    .mul(room)
    .add(places) as Tensor;
}
