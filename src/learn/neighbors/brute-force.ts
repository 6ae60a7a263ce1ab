/**
 * Nearest neighbours by looking at all samples, exactly, as a function of tensors: `jit`, `vmap` and `grad` go through it. Queries go in
 * bands, so that the distances of one band are in memory and not those of all.
 *
 * With many features, distances come from a product of matrices: |q − x|² = |q|² − 2 q·x + |x|². That loses digits, so the product, in f32,
 * only proposes more candidates than are wanted; distances by differences decide among them. A bound on the product's error then proves
 * that no other sample can be nearer. Where the proof fails, queries are compared by differences alone, few at a time.
 */
import { arange, concat, full, type Tensor, where } from "../../tensor/index.js";
import { scan, whileLoop } from "../../transforms/control.js";
import { stopGradient } from "../../transforms/grad.js";
import { normOf, type Space } from "./metric.js";
import { reducedBetween } from "./pair-metric.js";

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
    count > candidatesFor(k) &&
    count * features * (queries.shape[0] as number) > PRODUCT_WORK;
  const most = Math.max(1, Math.floor(BAND / paddedCount(count)));
  if (isProduct) return byProduct(samples, queries, { k, space, isSelf, most });
  const search = byDifferences(samples, k, space);
  return inBands(queries, most, (band, rows) => search(band, isSelf ? rows : null));
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
    const reduced = reducedBetween(band, samples, space);
    const { values, indices } = smallest(withoutSelf(reduced, self), k);
    return { reduced: values, indices };
  };

/** How many samples the product proposes: more than are wanted, so that the last of them is clearly farther than the last wanted. */
const candidatesFor = (k: number): number => k + Math.max(6, k >> 1);
/** Queries in doubt that are searched again together. */
const AGAIN = 8;

interface Search {
  readonly k: number;
  readonly space: Space;
  readonly isSelf: boolean;
  /** Queries in a band, at most. */
  readonly most: number;
}

function byProduct(samples: Tensor, queries: Tensor, { k, space, isSelf, most }: Search): Nearest {
  // Places have no derivative; distances get theirs below.
  const [constant, asked] = [stopGradient(samples), stopGradient(queries)];
  const propose = proposals(constant, candidatesFor(k));
  const proved = inBands(asked, most, (band, rows) => {
    const self = isSelf ? rows : null;
    const { places, others } = propose(band, self);
    const exact = distancesTo(constant, places, band, space);
    const distances = self ? where(places.equal(self.expandDims(1)), Number.POSITIVE_INFINITY, exact) : exact;
    const { values, indices } = distances.topK(k, { largest: false });
    // Distances by differences are rounded, too.
    const farthest = values.at(":", k - 1).cast("f32");
    const isProved = farthest.mul(1 + errorShare(samples.shape[1] as number)).less(others) as Tensor;
    return { indices: places.takeAlongAxis(indices, { axis: 1 }) as Tensor, isProved };
  });
  const exactly = byDifferences(constant, k, space);
  const indices = settled(proved, (rows) => exactly(asked.take(rows, { axis: 0 }) as Tensor, isSelf ? rows : null));
  return { reduced: distancesTo(samples, indices, queries, space), indices };
}

/** Reduced distances of queries to the samples at these places, [queries, places]. */
const distancesTo = (samples: Tensor, places: Tensor, queries: Tensor, space: Space): Tensor =>
  normOf(queries.expandDims(1).sub(samples.take(places, { axis: 0 })) as Tensor, space);

/**
 * The places, those of queries in doubt searched again. A loop over a few queries at a time, which most often has no round: a branch for
 * all of them would cost a GPU their threads even where it is not taken.
 */
function settled(
  { indices, isProved }: { readonly indices: Tensor; readonly isProved: Tensor },
  searchAgain: (rows: Tensor) => Nearest,
): Tensor {
  const [count, k] = indices.shape as [number, number];
  const { device } = indices;
  const few = Math.min(AGAIN, count);
  const doubts = isProved.logicalNot().sum().cast("i32");
  const inDoubtFirst = isProved.cast("i32").argsort().cast("i32") as Tensor;
  const end = whileLoop(
    ({ done }) => done.less(doubts) as Tensor,
    ({ places, done }) => {
      // The last round repeats the last query.
      const rows = inDoubtFirst.take(
        arange(few, { device, dtype: "i32" })
          .add(done)
          .minimum(count - 1),
      ) as Tensor;
      const found = searchAgain(rows).indices;
      const targets = rows.expandDims(1).broadcastTo([few, k]);
      return { places: places.putAlongAxis(targets, found, { axis: 0 }) as Tensor, done: done.add(few) as Tensor };
    },
    { places: indices, done: full([], 0, { device, dtype: "i32" }) as Tensor },
  );
  return end.places;
}

/** What a product of matrices knows of the samples near queries. */
interface Proposal {
  /** Places of candidates, [queries, candidates], in their order. */
  readonly places: Tensor;
  /** A number below the squared distances of all other samples, [queries]; -Infinity where it is not known. */
  readonly others: Tensor;
}

/**
 * The error of an estimate is at most this share of |q|² + |x|². With u = 2⁻²⁴: sums of `features` terms have 2·features·u together, in
 * the product and in the squares; rounded inputs and the operations around them 10u. Where the product splits operands into
 * halves, parts of 2⁻²² of a row's largest number are lost: 8·√features·u.
 */
const errorShare = (features: number): number => (features + 4 * Math.sqrt(features) + 8) * 2 ** -23;
/** Squares below it lose more than a share in f32. */
const TINY = 2 ** -100;

/** Proposes candidates by a product in f32, also of samples in f64. */
function proposals(samples: Tensor, candidates: number): (band: Tensor, self: Tensor | null) => Proposal {
  const [count, features] = samples.shape as [number, number];
  // Distances do not depend on the origin; the error of the product does.
  const mean = samples.mean({ axis: 0 });
  const centred = samples.sub(mean).cast("f32") as Tensor;
  const squares = centred.square().sum({ axis: 1 }) as Tensor;
  // The error is taken away from every sample's own square: far samples spoil nothing for near ones.
  const certain = 1 - errorShare(features);
  const least = withRows(squares.mul(certain) as Tensor, Number.POSITIVE_INFINITY);
  const columns = withRows(centred, 0).T;
  const isInRange = squares.isFinite().all();
  return (band, self) => {
    const centredBand = band.sub(mean).cast("f32") as Tensor;
    const products = centredBand.matmul(columns, { precision: "high" });
    const chosen = smallest(withoutSelf(products.mul(-2).add(least) as Tensor, self), candidates);
    // In the order of places, so that equals stay in it.
    const places = chosen.indices.minimum(count - 1).sort({ axis: 1 }) as Tensor;
    const own = centredBand.square().sum({ axis: 1 }).mul(certain).sub(TINY);
    const others = chosen.values.at(":", candidates - 1).add(own);
    const isKnown = others.isFinite().logicalAnd(isInRange);
    return { places, others: where(isKnown, others, Number.NEGATIVE_INFINITY) as Tensor };
  };
}

/** Rows up to a whole number of groups: cheaper than to lengthen the rows of distances. */
function withRows(x: Tensor, value: number): Tensor {
  const [count, ...rest] = x.shape as [number, ...number[]];
  const missing = paddedCount(count) - count;
  if (missing === 0) return x;
  return concat([x, full([missing, ...rest], value, { device: x.device, dtype: x.dtype })]) as Tensor;
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
