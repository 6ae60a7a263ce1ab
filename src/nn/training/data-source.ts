/** Data as `train` and `evaluate` take them: batches by epoch, or all examples at once, of which a loader makes batches. */
import { inOperation } from "../../core/arguments.js";
import type { Key } from "../../random/index.js";
import { isTensor } from "../../tensor/index.js";
import type { Batches } from "../data/batches.js";
import { loader } from "../data/loader.js";

/** All examples: tensors or arrays whose first axis counts them. */
export interface WholeData {
  readonly x: unknown;
  readonly y?: unknown;
  readonly weights?: unknown;
}

/** Batches by epoch, as `loader` gives them; or all examples, at once or as a list of `{ x, y }`. */
export type DataSource<B> = Batches<B> | WholeData | readonly WholeData[];

/** Whether data are batches already. */
export const isBatches = (source: unknown): boolean =>
  typeof (source as Partial<Batches<unknown>> | null | undefined)?.epoch === "function";

/** Batches of some data. `order`: for an order that is new in each epoch; without it they come as they lie. */
export function dataOf<B>(
  operation: string,
  source: DataSource<B>,
  { batchSize, order }: { readonly batchSize: number; readonly order?: Key },
): Batches<B> {
  if (isBatches(source)) return source as Batches<B>;
  const options = { batchSize, ...(order && { shuffle: order }) };
  return inOperation(operation, () => loader(source, options)) as unknown as Batches<B>;
}

/** The device of whole tensors; null for anything else. */
export function deviceOfData(source: unknown): string | null {
  const { x } = (typeof source === "object" && source !== null ? source : {}) as { readonly x?: unknown };
  return isTensor(x) ? x.device : null;
}
