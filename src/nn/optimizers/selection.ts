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
  const found = paths.map((path) => valueAt(given, path, isValue));
  if (found.every((value) => value !== undefined)) return found as V[];
  // Something is missing, or keys hold full stops.
  return spreadLeaves(structure, given, test, 2, `${operation}, ${what} beside the parameters`);
}

/** The value for a path of a tree that may end early; undefined where it has none. Parts that are not asked for, as those of frozen layers, may be there. */
function valueAt(tree: unknown, path: string, isValue: (value: unknown) => boolean): unknown {
  let at = tree;
  for (const name of path.split(".")) {
    if (isValue(at)) return at;
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return isValue(at) ? at : undefined;
}
