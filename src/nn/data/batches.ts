/**
 * Batches of data in a fixed order: the form in which training takes its data. An epoch is known by its number, and a batch by
 * its place in the epoch, so that a run that was cut off goes on with the batch that it would have seen next. `loader` makes
 * these from tensors, arrays, generators and files; anything else with these two members will do.
 */

/** Batches by epoch. `B` is a tree of tensors: `{ x, y }` for training. */
export interface Batches<B> {
  /** The number of batches in an epoch; null where only its end tells. */
  readonly batchesPerEpoch: number | null;
  /** The batches of an epoch, from the given one on. The same numbers give the same batches, whatever was read before. */
  epoch(index: number, from?: number): AsyncIterable<B>;
}
