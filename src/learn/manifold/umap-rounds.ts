/**
 * The rounds of UMAP. A round moves every sample at once: along one of its edges, drawn by weight, and away from samples drawn among all.
 * A sample with more edges takes longer steps, so that over the rounds of an epoch each edge pulls as often as its weight says. Edges pull
 * both of their ends, and each end has the edge among its own: a step takes the pull twice, and nothing is scattered. Places are columns,
 * [components, samples].
 */
import { foldIn, type Key, randint, split, uniform } from "../../random/index.js";
import { arange, stack, type Tensor, where } from "../../tensor/index.js";
import { forLoop } from "../../transforms/control.js";
import { columnsOf, squaresOf } from "./columns.js";
import type { EdgeRows } from "./edge-rows.js";
import type { Curve } from "./umap-curve.js";

/** How rounds go. */
export interface Pace {
  /** Rounds of all epochs together. */
  readonly rounds: number;
  /** Rounds of one epoch. */
  readonly perEpoch: number;
  /** The length of steps at first; it falls to 0. */
  readonly rate: number;
  /** Samples drawn for each edge. */
  readonly negatives: number;
  /** How much those push. */
  readonly repulsion: number;
}

/** A step along one axis for one pair is at most this long, over the rate. */
const LONGEST = 4;
/** Keeps the push between samples at one place finite. */
const NEAR = 1e-3;

const times = (differences: readonly Tensor[], factor: Tensor): Tensor[] =>
  differences.map((d) => d.mul(factor).clip(-LONGEST, LONGEST) as Tensor);

/** Steps that bring samples nearer to their neighbours, by their differences. @internal for tests: the slope of a logarithm */
export function pulls(differences: readonly Tensor[], { a, b }: Curve): Tensor[] {
  const squares = squaresOf(differences);
  const isApart = squares.greater(0);
  const safe = where(isApart, squares, 1) as Tensor;
  const power = safe.pow(b).mul(a) as Tensor;
  const factor = power.div(safe).mul(b).mul(-2).div(power.add(1));
  return times(differences, where(isApart, factor, 0) as Tensor);
}

/** Steps that take samples away from others. @internal for tests: the slope of a logarithm */
export function pushes(differences: readonly Tensor[], { a, b }: Curve, repulsion: number): Tensor[] {
  const squares = squaresOf(differences);
  const power = squares.pow(b).mul(a);
  return times(differences, b.mul(2 * repulsion).div(squares.add(NEAR).mul(power.add(1))) as Tensor);
}

/** The edges of each sample, from which one is drawn by weight. */
interface Deck {
  readonly others: Tensor;
  readonly rowsOf: Tensor;
  /** Sums of weights up to each edge, over all rows of its sample, [rows, width]. */
  readonly reached: Tensor;
  /** The last of them in each row of a sample, [samples, most rows]; infinite where a sample has no more rows. */
  readonly ends: Tensor;
  /** Σ of the weights of each sample, [samples]. */
  readonly degrees: Tensor;
  readonly [name: string]: Tensor;
}

/** Edges to draw from. */
export function deckOf({ rowsOf, weights, others, owners }: EdgeRows): Deck {
  const rows = owners.shape[0] as number;
  const most = rowsOf.shape[1] as number;
  // Rows that fill up have the number after the last.
  const isRow = rowsOf.less(rows);
  const ofSample = (values: Tensor): Tensor => values.take(rowsOf.minimum(rows - 1)) as Tensor;
  const sums = where(isRow, ofSample(weights.sum({ axis: 1 }) as Tensor), 0) as Tensor;
  const before = sums.cumsum({ axis: 1 }).sub(sums).flatten();
  const nth = arange(rows, { device: owners.device, dtype: "i32" }).sub(rowsOf.at(":", 0).take(owners));
  const reached = weights.cumsum({ axis: 1 }).add(before.take(owners.mul(most).add(nth)).expandDims(1)) as Tensor;
  const last = ofSample(reached.at(":", -1) as Tensor);
  return {
    others,
    rowsOf,
    reached: reached.realize() as Tensor,
    ends: where(isRow, last, Number.POSITIVE_INFINITY).realize() as Tensor,
    degrees: where(isRow, last, 0).max({ axis: 1 }).realize() as Tensor,
  };
}

/** The first place of each row, sums of weights that climb, that reaches a share of the last: draws by weight. [rows, 1]. */
const drawnPlace = (sums: Tensor, share: Tensor): Tensor =>
  sums.less(share).cast("i32").sum({ axis: 1, keepDims: true }) as Tensor;

/** The other end of an edge of each sample. */
function drawnEnds({ others, rowsOf, reached, ends, degrees }: Deck, from: Key): Tensor {
  const share = uniform(from, degrees.shape, { dtype: "f32" }).cast(degrees.dtype).mul(degrees).expandDims(1) as Tensor;
  const row = rowsOf.takeAlongAxis(drawnPlace(ends, share), { axis: 1 }).squeeze(1) as Tensor;
  const inside = drawnPlace(reached.take(row, { axis: 0 }) as Tensor, share).squeeze(1);
  return others.flatten().take(row.mul(reached.shape[1] as number).add(inside)) as Tensor;
}

/** Whom a round moves by whom. */
interface Meeting {
  /** The columns of those who pull and push. */
  readonly columns: readonly Tensor[];
  /** Who pulls each, [moved]. */
  readonly near: Tensor;
  /** Who push each, [moved, negatives], or all of them, [negatives]. */
  readonly far: Tensor;
  /** How often a pull counts. */
  readonly pulling: number;
  /** Σ of the weights of the edges of each, [moved]. */
  readonly degrees: Tensor;
}

/** Places, [components, moved], after a round. */
function met(
  places: Tensor,
  round: Tensor,
  { columns, near, far, pulling, degrees }: Meeting,
  curve: Curve,
  pace: Pace,
): Tensor {
  const { rounds, perEpoch, rate, repulsion } = pace;
  const own = columnsOf(places);
  const others = (who: Tensor): Tensor[] => columns.map((column) => column.take(who) as Tensor);
  const toward = others(near).map((column, c) => (own[c] as Tensor).sub(column) as Tensor);
  const away = others(far).map((column, c) => (own[c] as Tensor).expandDims(1).sub(column) as Tensor);
  const pushed = pushes(away, curve, repulsion).map((push) => push.sum({ axis: 1 }) as Tensor);
  const left = round.cast(places.dtype).div(-rounds).add(1);
  const length = left.mul(rate / perEpoch).mul(degrees);
  const steps = pulls(toward, curve).map(
    (pull, c) =>
      pull
        .mul(pulling)
        .add(pushed[c] as Tensor)
        .mul(length) as Tensor,
  );
  return places.add(stack(steps)) as Tensor;
}

/** Places after some rounds of all, from `first` on. */
export function afterRounds(
  places: Tensor,
  deck: Deck,
  curve: Curve,
  from: Key,
  first: Tensor,
  count: number,
  pace: Pace,
): Tensor {
  const samples = places.shape[1] as number;
  const { degrees } = deck;
  return forLoop(
    0,
    count,
    (i, now: Tensor) => {
      const round = first.add(i) as Tensor;
      const [edgeKey, farKey] = split(foldIn(from, round)) as [Key, Key];
      const near = drawnEnds(deck, edgeKey);
      const far = randint(farKey, [samples, pace.negatives], 0, samples) as Tensor;
      return met(now, round, { columns: columnsOf(now), near, far, pulling: 2, degrees }, curve, pace);
    },
    places,
  );
}

/** Samples that are not among those of the fit, and their neighbours there. */
interface Guests {
  /** Places of the samples of the fit, [components, samples]. */
  readonly hosts: Tensor;
  /** [queries, k]. */
  readonly indices: Tensor;
  readonly memberships: Tensor;
}

/** Places of new samples, [components, queries], from first ones. The samples of the fit stay; all queries draw the same numbers. */
export function guestsAfterRounds(
  places: Tensor,
  { hosts, indices, memberships }: Guests,
  curve: Curve,
  from: Key,
  pace: Pace,
): Tensor {
  const samples = hosts.shape[1] as number;
  const reached = memberships.cumsum({ axis: 1 }) as Tensor;
  const degrees = reached.at(":", -1) as Tensor;
  const columns = columnsOf(hosts);
  return forLoop(
    0,
    pace.rounds,
    (round, now: Tensor) => {
      const [edgeKey, farKey] = split(foldIn(from, round)) as [Key, Key];
      const share = uniform(edgeKey, [], { dtype: "f32" }).cast(degrees.dtype).mul(degrees).expandDims(1) as Tensor;
      const near = indices.takeAlongAxis(drawnPlace(reached, share), { axis: 1 }).squeeze(1) as Tensor;
      const far = randint(farKey, [pace.negatives], 0, samples) as Tensor;
      return met(now, round, { columns, near, far, pulling: 1, degrees }, curve, pace);
    },
    places,
  );
}
