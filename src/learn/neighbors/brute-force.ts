/**
 * Nearest neighbours by looking at all samples, exactly, as a function of tensors: `jit`, `vmap` and `grad` go through it. Queries go in
 * bands, so that the distances of one band are in memory and not those of all.
 *
 * With many features, distances come from a product of matrices: |q − x|² = |q|² − 2 q·x + |x|². That loses digits, so the product only
 * proposes more candidates than are wanted; distances by differences decide among them. A bound on the product's error then proves that
 * no other sample can be nearer; a band where the proof fails is computed by differences alone.
 */
import { arange, concat, full, type Tensor, where } from "../../tensor/index.js";
import { cond, scan } from "../../transforms/control.js";
import { normOf, type Space } from "./metric.js";

/** Neighbours of queries, the nearest first; of equals, the first among the samples. */
export interface Nearest {
  /** Reduced distances, [queries, k]. */
  readonly reduced: Tensor;
  /** Places among the samples, [queries, k], i32. */
  readonly indices: Tensor;
}

/** Distances in memory at a time. */
const BAND = 1 << 24;
/** From so many features on, a product of matrices is faster than differences; from so much work on it is worth its checks. */
const PRODUCT_FEATURES = 16;
const PRODUCT_WORK = 1 << 24;
/** Candidates are chosen by the least of groups of this many, so that most samples are only compared once. */
const GROUP = 64;

/** The k nearest samples of each query. Both are embedded (metric.ts). `isSelf`: query i is sample i, and not its own neighbour. */
export function nearestOfAll(samples: Tensor, queries: Tensor, k: number, space: Space, isSelf = false): Nearest {
  const [count, features] = samples.shape as [number, number];
  const isProduct =
    space.norm === "squares" &&
    features >= PRODUCT_FEATURES &&
    count * features * (queries.shape[0] as number) > PRODUCT_WORK;
  const search = isProduct ? byProduct(samples, k, space) : byDifferences(samples, k, space);
  return inBands(queries, Math.max(1, Math.floor(BAND / paddedCount(count))), (band, rows) =>
    search(band, isSelf ? rows : null),
  );
}

/** What a function gives for queries, band by band: a loop where there are several. `rows` are the places of a band's queries. */
export function inBands<R>(queries: Tensor, most: number, compute: (band: Tensor, rows: Tensor) => R): R {
  const [count, features] = queries.shape as [number, number];
  const { device } = queries;
  const rounds = Math.ceil(count / most);
  if (rounds <= 1) return compute(queries, arange(count, { device, dtype: "i32" }) as Tensor);
  const perBand = Math.ceil(count / rounds);
  const whole = rounds * perBand;
  // The last band is filled with the last query; what it gives is cut off.
  const places = arange(whole, { device, dtype: "i32" }).minimum(count - 1) as Tensor;
  const bands = {
    band: queries.take(places, { axis: 0 }).reshape(rounds, perBand, features) as Tensor,
    rows: places.reshape(rounds, perBand) as Tensor,
  };
  const round = (carry: null, { band, rows }: typeof bands) => [carry, compute(band, rows)] as const;
  const [, stacked] = scan<null, typeof bands, R>(round, null, bands);
  const joined = Object.entries(stacked as object).map(([name, value]: [string, Tensor]) => [
    name,
    value.reshape(whole, ...value.shape.slice(2)).at(`:${count}`),
  ]);
  return Object.fromEntries(joined) as R;
}

type BandSearch = (band: Tensor, self: Tensor | null) => Nearest;

const paddedCount = (count: number): number => Math.ceil(count / GROUP) * GROUP;

/** Infinity at a query's own place. */
function withoutSelf(reduced: Tensor, self: Tensor | null): Tensor {
  if (!self) return reduced;
  const columns = arange(reduced.shape[1] as number, { device: reduced.device, dtype: "i32" });
  return where(columns.equal(self.expandDims(1)), Number.POSITIVE_INFINITY, reduced) as Tensor;
}

const byDifferences =
  (samples: Tensor, k: number, space: Space): BandSearch =>
  (band, self) => {
    const reduced = normOf(band.expandDims(1).sub(samples) as Tensor, space);
    const { values, indices } = smallest(withoutSelf(reduced, self), k);
    return { reduced: values, indices };
  };

function byProduct(samples: Tensor, k: number, space: Space): BandSearch {
  const [count, features] = samples.shape as [number, number];
  const exactly = byDifferences(samples, k, space);
  const candidates = Math.min(count, k + Math.max(6, k >> 1));
  // Distances do not depend on the origin; the error of the product does.
  const mean = samples.mean({ axis: 0 });
  const centred = samples.sub(mean) as Tensor;
  const squares = centred.square().sum({ axis: 1 }) as Tensor;
  const epsilon = samples.dtype === "f64" ? 2 ** -52 : 2 ** -23;
  const error = (features + 8) * epsilon;
  const largest = squares.max();
  return (band, self) => {
    const centredBand = band.sub(mean) as Tensor;
    const own = centredBand.square().sum({ axis: 1, keepDims: true });
    const products = centredBand.matmul(centred.T, { precision: "high" });
    const estimates = withoutSelf(products.mul(-2).add(squares) as Tensor, self);
    const chosen = smallest(estimates, candidates);
    // In the order of places, so that equals stay in it.
    const places = chosen.indices.sort({ axis: 1 }) as Tensor;
    const differences = band.expandDims(1).sub(samples.take(places, { axis: 0 })) as Tensor;
    const exact = normOf(differences, space);
    const distances = self ? where(places.equal(self.expandDims(1)), Number.POSITIVE_INFINITY, exact) : exact;
    const { values, indices } = distances.topK(k, { largest: false });
    const found: Nearest = { reduced: values as Tensor, indices: places.takeAlongAxis(indices, { axis: 1 }) as Tensor };
    if (candidates === count) return found;
    const rest = chosen.values.at(":", candidates - 1).add(own.squeeze(1)) as Tensor;
    const margin = own.squeeze(1).add(largest).mul(error);
    const isProved = values
      .at(":", k - 1)
      .lessEqual(rest.sub(margin))
      .all();
    return cond(
      isProved,
      () => found,
      () => exactly(band, self),
    );
  };
}

/**
 * The k smallest of each row, the smallest first, and their places. Of long rows only k groups are looked at: the k smallest lie in
 * the groups whose least are smallest.
 */
export function smallest(values: Tensor, k: number): { readonly values: Tensor; readonly indices: Tensor } {
  const [rows, count] = values.shape as [number, number];
  const groups = Math.ceil(count / GROUP);
  if (groups < 4 * k || groups < GROUP) {
    return values.topK(k, { largest: false }) as { values: Tensor; indices: Tensor };
  }
  const { device, dtype } = values;
  const missing = groups * GROUP - count;
  const filled =
    missing === 0
      ? values
      : concat([values, full([rows, missing], Number.POSITIVE_INFINITY, { device, dtype })], { axis: 1 });
  const grouped = filled.reshape(rows, groups, GROUP) as Tensor;
  // In the order of places, so that equals stay in it.
  const chosen = grouped.min({ axis: 2 }).topK(k, { largest: false }).indices.sort({ axis: 1 });
  const inside = grouped.takeAlongAxis(chosen.expandDims(2).broadcastTo([rows, k, GROUP]), { axis: 1 });
  const found = inside.reshape(rows, k * GROUP).topK(k, { largest: false });
  const group = chosen.takeAlongAxis(found.indices.floorDivide(GROUP), { axis: 1 });
  const indices = group.mul(GROUP).add(found.indices.remainder(GROUP));
  return { values: found.values as Tensor, indices: indices.cast("i32") as Tensor };
}
