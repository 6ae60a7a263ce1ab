/**
 * Sums over the edges of a graph, for rounds that take thousands of them. Edges go from each sample to k others and pull both ends. Adding
 * to the far end would be a scatter, in an order that differs from run to run, or is sorted in every round. So the edges are sorted once
 * by their ends into rows of a fixed width; a round gathers and sums rows, always in the same order.
 */
import { arange, concat, type Tensor, where, zeros } from "../../tensor/index.js";

/** The edges at each sample, both those that go out and those that come in. */
export interface EdgeRows {
  /** The sample to which the edges of a row belong, i32 [rows]. */
  readonly owners: Tensor;
  /** Their other ends, i32 [rows, WIDTH]. */
  readonly others: Tensor;
  /** Their weights, [rows, WIDTH]; 0 fills a row up. */
  readonly weights: Tensor;
  /** The rows of each sample, i32 [samples, most rows of one]; an extra row after the last fills up. */
  readonly rowsOf: Tensor;
  readonly [name: string]: Tensor;
}

/** Items of a list by the samples at which they end. */
interface EndRows {
  /** The sample to which the items of a row belong, i32 [rows]. */
  readonly owners: Tensor;
  /** Places of items in the list, i32 [rows, WIDTH]. */
  readonly items: Tensor;
  /** bool, [rows, WIDTH]: false fills a row up. */
  readonly isItem: Tensor;
  /** The rows of each sample, as of `EdgeRows`. */
  readonly rowsOf: Tensor;
  readonly [name: string]: Tensor;
}

/** Edges in a row. */
const WIDTH = 32;

/** Sorted rows of items, by the sample at which each ends, [items]. The largest number of rows of a sample is read. */
export async function endRows(ends: Tensor, count: number): Promise<EndRows> {
  const { device } = ends;
  const samples = arange(count, { device, dtype: "i32" }) as Tensor;
  const order = ends.argsort() as Tensor;
  const sorted = ends.take(order) as Tensor;
  const starts = sorted.searchSorted(samples).cast("i32") as Tensor;
  const degrees = sorted.searchSorted(samples, { side: "right" }).cast("i32").sub(starts) as Tensor;
  const rowCounts = degrees.add(WIDTH - 1).floorDivide(WIDTH) as Tensor;
  const [total, most] = await Promise.all([rowCounts.sum().item(), rowCounts.max().item()]);
  const rows = Number(total);
  const lastRows = rowCounts.cumsum().cast("i32") as Tensor;
  const firstRows = lastRows.sub(rowCounts) as Tensor;
  const numbers = arange(rows, { device, dtype: "i32" }) as Tensor;
  const owners = lastRows.searchSorted(numbers, { side: "right" }).cast("i32") as Tensor;
  const begin = numbers.sub(firstRows.take(owners)).mul(WIDTH) as Tensor;
  const inside = begin.expandDims(1).add(arange(WIDTH, { device, dtype: "i32" })) as Tensor;
  const places = inside.add(starts.take(owners).expandDims(1)).minimum((ends.shape[0] as number) - 1) as Tensor;
  const nth = arange(Number(most), { device, dtype: "i32" });
  return {
    owners: owners.realize() as Tensor,
    items: order.take(places).cast("i32").realize() as Tensor,
    isItem: inside.less(degrees.take(owners).expandDims(1)).realize() as Tensor,
    rowsOf: where(nth.less(rowCounts.expandDims(1)), firstRows.expandDims(1).add(nth), rows).realize() as Tensor,
  };
}

/** Sorted rows of the edges from each sample to others, [samples, k]. */
export async function edgeRows(indices: Tensor, weights: Tensor): Promise<EdgeRows> {
  const [count, k] = indices.shape as [number, number];
  const samples = arange(count, { device: indices.device, dtype: "i32" }) as Tensor;
  const from = samples.expandDims(1).broadcastTo([count, k]).flatten();
  const to = indices.flatten();
  const { owners, items, isItem, rowsOf } = await endRows(concat([from, to]) as Tensor, count);
  return {
    owners,
    others: concat([to, from]).take(items).cast("i32").realize() as Tensor,
    weights: where(isItem, weights.flatten().take(items.remainder(count * k)), 0).realize() as Tensor,
    rowsOf,
  };
}

/** Σ over the edges of each sample of what they carry, [rows, WIDTH] to [samples]. */
export function sumOfEdges({ rowsOf }: { readonly rowsOf: Tensor }, carried: Tensor): Tensor {
  const sums = carried.sum({ axis: 1 });
  return concat([sums, zeros([1], { device: sums.device, dtype: sums.dtype })])
    .take(rowsOf)
    .sum({ axis: 1 }) as Tensor;
}
