/** Methods of models that keep samples and search them: the nearest samples, and graphs of them. */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { full, type Tensor, where } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { samplesFor } from "../core/sorts.js";
import type { Neighbors } from "./search.js";

/** The entries of a graph of neighbours: 1 ("connectivity") or the distance. */
export type GraphMode = "connectivity" | "distance";

/** Options of `kNeighbors`. */
export interface KNeighborsOptions {
  /** How many; as many as the estimator was told, unless told. */
  readonly nNeighbors?: number;
}

/** Options of `kNeighborsGraph`. */
export interface KNeighborsGraphOptions extends KNeighborsOptions {
  /** "connectivity" unless told. */
  readonly mode?: GraphMode;
}

/** The part of learned models and of options that the methods need. */
interface ByCount {
  readonly nNeighbors?: number;
}

/** Methods of models that search by number. Samples are those of the fit, each without itself, where they are left out. */
export interface KNeighborsMethods<L, O> {
  /** The nearest samples of the fit. */
  kNeighbors(model: Fitted<L, O>, samples?: Samples | null, options?: KNeighborsOptions): Neighbors;
  /** A matrix [samples, samples of the fit] of the nearest of each: 1 or the distance, and 0 elsewhere. */
  kNeighborsGraph(model: Fitted<L, O>, samples?: Samples | null, options?: KNeighborsGraphOptions): Tensor;
  readonly [name: string]: (model: Fitted<L, O>, ...rest: never[]) => unknown;
}

/** Samples of a method as a matrix; null where they are left out. */
export const queriesFor = (model: Fitted<unknown, object>, method: string, samples?: Samples | null): Tensor | null =>
  samples === undefined || samples === null ? null : samplesFor(model, method, samples);

/** A search by number: of queries, or of the samples of the fit among themselves where they are null. */
type Search<L, O> = (operation: string, learned: L, queries: Tensor | null, k: number, options: O) => Neighbors;

/** The methods of a kind that searches by number. */
export function kNeighborsMethods<L extends { readonly samples: Tensor }, O extends ByCount>(
  searchIn: Search<L, O>,
): KNeighborsMethods<L, O> {
  const search = (model: Fitted<L, O>, method: string, samples?: Samples | null, nNeighbors?: number): Neighbors => {
    const queries = queriesFor(model as Fitted<unknown, object>, method, samples);
    const k = nNeighbors ?? model.options.nNeighbors ?? 5;
    return searchIn(`${model.kind}.${method}`, model.learned, queries, k, model.options);
  };
  return {
    kNeighbors(model, samples, options = {}) {
      checkOptions(`${model.kind}.kNeighbors`, options, { nNeighbors: "number" });
      return search(model, "kNeighbors", samples, options.nNeighbors);
    },
    kNeighborsGraph(model, samples, options = {}) {
      const operation = `${model.kind}.kNeighborsGraph`;
      checkOptions(operation, options, { nNeighbors: "number", mode: "text" });
      checkChoice(operation, "mode", options.mode, ["connectivity", "distance"]);
      const { distances, indices } = search(model, "kNeighborsGraph", samples, options.nNeighbors);
      const { device, dtype } = distances;
      const shape = [indices.shape[0] as number, model.learned.samples.shape[0] as number];
      // A search that is not exact may find fewer: -1 in their place.
      const isNone = indices.less(0);
      const entries = where(isNone, 0, options.mode === "distance" ? distances : 1).cast(dtype);
      return full(shape, 0, { device, dtype }).putAlongAxis(indices.maximum(0), entries, {
        axis: 1,
        op: "add",
      }) as Tensor;
    },
  };
}
