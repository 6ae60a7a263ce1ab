/**
 * Batches of rows of tensors that are on the device already: there is nothing to read ahead. A compiled step takes the rows itself, in
 * one program with what it computes of them.
 */
import type { Tensor } from "../../tensor/index.js";
import { map } from "../../transforms/tree.js";

/** A batch that has not been taken yet: the numbers of its rows, and the tree of tensors that they are rows of. */
export class Drawn {
  constructor(
    readonly whole: unknown,
    readonly places: Tensor,
  ) {}
}

/** The rows themselves. */
export const rowsAt = (whole: unknown, places: Tensor): unknown =>
  map((leaf: Tensor) => leaf.take(places, { axis: 0 }) as Tensor, whole);

/** The name of the method by which batches of an epoch are drawn, for data that have it: `epoch` without taking the rows. */
export const DRAW = Symbol("draw");

interface DrawnBatches {
  [DRAW](index: number, from: number): AsyncIterable<Drawn>;
}

export const areDrawn = (data: object): data is DrawnBatches => DRAW in data;
