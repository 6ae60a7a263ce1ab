/** Parameters chosen by path: masks for weight decay, labels for groups. Trees may end early and count for all below. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { spreadLeaves } from "../../transforms/trees.js";
import type { FlatParams } from "./optimizer.js";

/** A value for each parameter: by a function of its path and itself, one for all, or a tree of them that may end early. */
export type ByParameter<V> =
  | V
  | ((path: string, param: Tensor) => V)
  | { readonly [name: string]: unknown }
  | readonly unknown[];

/** Parameters that something holds for: `(path) => path.endsWith("weights")`, or a tree of booleans. */
export type Mask = ByParameter<boolean>;

/** Names of groups: `(path) => path.endsWith("biases") ? "noDecay" : "decay"`, or a tree of names. */
export type Labels = ByParameter<string>;

/** For each parameter, whether the mask holds. */
export function selected(operation: string, mask: Mask, params: FlatParams): boolean[] {
  return valuesFor(operation, "the mask", mask, params, (value) => typeof value === "boolean", "true or false");
}

/** The label of each parameter. */
export function labelled(operation: string, labels: Labels, params: FlatParams): string[] {
  return valuesFor(operation, "the labels", labels, params, (value) => typeof value === "string", "a name");
}

function valuesFor<V>(
  operation: string,
  what: string,
  given: ByParameter<V>,
  { leaves, paths, structure }: FlatParams,
  isValue: (value: unknown) => boolean,
  kind: string,
): V[] {
  if (typeof given === "function") {
    const f = given as (path: string, param: Tensor) => V;
    return leaves.map((leaf, i) => {
      const value = f(paths[i] as string, leaf);
      if (isValue(value)) return value;
      throw new ArgumentError(`${operation}: ${what} gave ${shown(value)} for ${paths[i]}; it gives ${kind}.`);
    });
  }
  if (isTensor(given) || (typeof given !== "object" && !isValue(given)) || given === null) {
    throw new ArgumentError(`${operation}: ${what} are a function of the path or a tree, not ${shown(given)}.`);
  }
  const test = (value: unknown): value is V => isValue(value);
  return spreadLeaves(structure, given, test, 2, `${operation}, ${what} beside the parameters`);
}
