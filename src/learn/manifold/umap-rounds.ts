/**
 * The rounds of UMAP. A round moves every sample at once: along one of its edges, drawn by weight, and away from samples drawn among all.
 * A sample with more edges takes longer steps, so that over the rounds of an epoch each edge pulls as often as its weight says. Edges pull
 * both of their ends, and each end has the edge among its own: a step takes the pull twice, and nothing is scattered. Places are columns,
 * [components, samples].
 */
import { foldIn, type Key, randint, split, uniform } from "../../random/index.js";
import { stack, type Tensor, where } from "../../tensor/index.js";
import { forLoop } from "../../transforms/control.js";
import { columnsOf, squaresOf } from "./columns.js";
import { type EdgeRows, sumOfEdges } from "./edge-rows.js";
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
  /** The last of them in each row of a sample, [samples, most rows]. */
  readonly ends: Tensor;
  /** Σ of the weights of each sample, [samples]. */
  readonly degrees: Tensor;
  readonly [name: string]: Tensor;
}

/** Edges to draw from. */
export function deckOf(edges: EdgeRows): Deck {
  const { rowsOf, weights, others, owners } = edges;
  const rows = owners.shape[0] as number;
  const sums = weights.sum({ axis: 1 }) as Tensor;
  // Rows that fill up have the number after the last.
  const ofSample = where(rowsOf.less(rows), sums.take(rowsOf.minimum(rows - 1)), 0) as Tensor;
  const ends = ofSample.cumsum({ axis: 1 }) as Tensor;
  const firstRows = rowsOf.at(":", 0).take(owners);
  const numbers = owners.mul(0).add(1).cumsum().sub(1).cast("i32");
  const before = ends
    .sub(ofSample)
    .reshape([-1])
    .take(
      owners
        .mul(rowsOf.shape[1] as number)
        .add(numbers)
        .sub(firstRows),
    );
  return {
    others,
    rowsOf,
    reached: weights.cumsum({ axis: 1 }).add(before.expandDims(1)).realize() as Tensor,
    ends: ends.realize() as Tensor,
    degrees: sumOfEdges(edges, weights).realize() as Tensor,
  };
}

/** The other end of an edge of each sample. */
function drawnEnds({ others, rowsOf, reached, ends }: Deck, from: Key): Tensor {
  const [samples, most] = rowsOf.shape as [number, number];
  const [rows, width] = reached.shape as [number, number];
  const place = uniform(from, [samples], { dtype: "f32" })
    .cast(ends.dtype)
    .mul(ends.at(":", most - 1))
    .expandDims(1);
  const nth = ends
    .less(place)
    .cast("i32")
    .sum({ axis: 1, keepDims: true })
    .minimum(most - 1);
  const row = rowsOf
    .takeAlongAxis(nth, { axis: 1 })
    .squeeze(1)
    .minimum(rows - 1) as Tensor;
  const inside = reached
    .take(row, { axis: 0 })
    .less(place)
    .cast("i32")
    .sum({ axis: 1 })
    .minimum(width - 1);
  return others.flatten().take(row.mul(width).add(inside)) as Tensor;
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
  const amounts = deck.degrees.div(pace.perEpoch) as Tensor;
  return forLoop(
    0,
    count,
    (i, now: Tensor) => {
      const round = first.add(i) as Tensor;
      const [edgeKey, farKey] = split(foldIn(from, round)) as [Key, Key];
      const near = drawnEnds(deck, edgeKey);
      const far = randint(farKey, [samples, pace.negatives], 0, samples) as Tensor;
      const rate = round.cast(now.dtype).div(pace.rounds).neg().add(1).mul(pace.rate).mul(amounts);
      const columns = columnsOf(now);
      const pulled = pulls(
        columns.map((column) => column.sub(column.take(near)) as Tensor),
        curve,
      );
      const pushed = pushes(
        columns.map((column) => column.expandDims(1).sub(column.take(far)) as Tensor),
        curve,
        pace.repulsion,
      );
      const steps = pulled.map(
        (pull, c) =>
          pull
            .mul(2)
            .add((pushed[c] as Tensor).sum({ axis: 1 }))
            .mul(rate) as Tensor,
      );
      return now.add(stack(steps)) as Tensor;
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
  const k = indices.shape[1] as number;
  const degrees = reached.at(":", k - 1) as Tensor;
  const fixed = columnsOf(hosts);
  return forLoop(
    0,
    pace.rounds,
    (round, now: Tensor) => {
      const [edgeKey, farKey] = split(foldIn(from, round)) as [Key, Key];
      const place = degrees.mul(uniform(edgeKey, [], { dtype: "f32" }).cast(degrees.dtype)).expandDims(1);
      const nth = reached
        .less(place)
        .cast("i32")
        .sum({ axis: 1, keepDims: true })
        .minimum(k - 1);
      const near = indices.takeAlongAxis(nth, { axis: 1 }).squeeze(1) as Tensor;
      const far = randint(farKey, [pace.negatives], 0, samples) as Tensor;
      const rate = round
        .cast(now.dtype)
        .div(pace.rounds)
        .neg()
        .add(1)
        .mul(pace.rate / pace.perEpoch)
        .mul(degrees);
      const columns = columnsOf(now);
      const pulled = pulls(
        columns.map((column, c) => column.sub((fixed[c] as Tensor).take(near)) as Tensor),
        curve,
      );
      const pushed = pushes(
        columns.map((column, c) => column.expandDims(1).sub((fixed[c] as Tensor).take(far)) as Tensor),
        curve,
        pace.repulsion,
      );
      const steps = pulled.map((pull, c) => pull.add((pushed[c] as Tensor).sum({ axis: 1 })).mul(rate) as Tensor);
      return now.add(stack(steps)) as Tensor;
    },
    places,
  );
}
