/** How large rows on tensors are in this run, and what their definitions share. Files under bench/rows call it. */
import type { Context } from "./harness.js";
import type { Target } from "./row.js";
import { milliseconds, type TensorContext, type Work } from "./tensor-work.js";

type Halved = Pick<Context, "halvings">;

/** The edge of a matrix, and the length of a vector, at the size of this run: small where the device is. */
export const edge = (full: number, { halvings }: Halved): number => full >> halvings;
export const length = (full: number, { halvings }: Halved): number => Math.floor(full / 4 ** halvings);
const SMALL_PRODUCT = 512;
/** The edge of matrices that are multiplied, whose work grows with its cube: no more than 512 on small devices. */
export const productEdge = (full: number, context: Halved): number =>
  context.halvings === 0 ? full : Math.min(SMALL_PRODUCT, edge(full, context));
/** A number of images, sequences or matrices: as an edge, but never none. */
export const atLeastOne = (full: number, context: Halved): number => Math.max(1, edge(full, context));

export function noteSize(context: TensorContext): void {
  if (context.halvings > 0)
    context.note(`edges are ${2 ** context.halvings} times shorter at this pace or on this device`);
}

export type Sized = (device: string, context: TensorContext) => Work;

/** A row's run: milliseconds of work that is made for the size of the run. */
export const timeOf = (work: Sized) => (context: TensorContext) => {
  noteSize(context);
  return milliseconds(context, work(context.tensors, context));
};

/** At least `ratio` times as fast as the best of these peers. */
export const to = (ratio: number, ...labels: string[]): Target => ({ ratio, to: labels });

/** The peers of a row on the GPU, which know the work by its name. */
export const pythonPeers = (name: string) => ({ torch: `torch/${name}`, jax: `jax/${name}` });
