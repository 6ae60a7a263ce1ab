/**
 * The connected parts of a graph of neighbours. Samples take the least number among their neighbours, until none changes; each round also
 * looks up what the sample of that number has found, so that rounds are few.
 */
import { arange, concat, full, type Tensor, where, zeros } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import type { EdgeRows } from "./edge-rows.js";

/** The part of each sample, and how many there are. */
export interface Parts {
  /** [samples], i32, numbered in the order of their first samples. */
  readonly labels: Tensor;
  readonly count: number;
  /** The samples of the largest part. */
  readonly largest: number;
}

/** Parts of a graph. Their number and the largest size are read. */
export async function partsOf({ others, weights, rowsOf }: EdgeRows): Promise<Parts> {
  const samples = rowsOf.shape[0] as number;
  const { device } = rowsOf;
  const own = arange(samples, { device, dtype: "i32" }) as Tensor;
  const none = full([1], samples, { device, dtype: "i32" });
  const isEdge = weights.greater(0);
  const { roots } = whileLoop(
    ({ goesOn }) => goesOn,
    ({ roots }) => {
      const ofRows = where(isEdge, roots.take(others), samples).min({ axis: 1 }).cast("i32");
      const least = concat([ofRows, none]).take(rowsOf).min({ axis: 1 }).minimum(roots) as Tensor;
      const next = least.take(least).cast("i32") as Tensor;
      return { roots: next, goesOn: next.notEqual(roots).any() as Tensor };
    },
    { roots: own, goesOn: full([], true, { device, dtype: "bool" }) as Tensor },
  );
  const numbers = roots.equal(own).cast("i32").cumsum().cast("i32");
  const labels = numbers.take(roots).sub(1).cast("i32").realize() as Tensor;
  const sizes = zeros([samples], { device, dtype: "i32" }).scatter(labels, 1, { op: "add" });
  const [count, largest] = await Promise.all([numbers.max().item(), sizes.max().item()]);
  return { labels, count: Number(count), largest: Number(largest) };
}
