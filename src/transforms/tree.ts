/** `tree`: nested arrays and objects of tensors, for users: map, flatten, leaves, reduce. */
import { checkFunction } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { ArgumentError } from "../core/errors.js";
import * as core from "../core/tree.js";
import { isTensor, Tensor } from "../tensor/index.js";
import { flattenTensors } from "./trees.js";

/** A tree like the given one with f of every tensor; further trees of the same structure go along. */
export function map<T, R extends readonly unknown[]>(
  f: (leaf: Tensor, ...others: { [I in keyof R]: core.LeafBeside<T, Tensor, R[I]> }) => Tensor,
  tree: T,
  ...others: R
): core.MapTree<T, Tensor, Tensor>;
export function map<B, T, R extends readonly unknown[]>(
  f: (leaf: Tensor, ...others: { [I in keyof R]: core.LeafBeside<T, Tensor, R[I]> }) => B,
  tree: T,
  ...others: R
): core.MapTree<T, Tensor, B>;
export function map(f: (...leaves: never[]) => unknown, tree: unknown, ...others: unknown[]): unknown {
  checkFunction("tree.map", f);
  return core.map(isTensor, f as (leaf: Tensor) => unknown, tree, ...others);
}

/** The tensors of a tree, and a function that puts as many others in their place. */
export function flatten<T>(tree: T): { leaves: Tensor[]; unflatten: (leaves: readonly Tensor[]) => T } {
  checkCount("tree.flatten", 1, arguments);
  const { leaves, structure } = flattenTensors(tree, "tree.flatten");
  return { leaves, unflatten: (others) => core.unflatten(structure, others) as T };
}

/** The tensors of a tree, by sorted key. */
export function leaves(tree: unknown): Tensor[] {
  checkCount("tree.leaves", 1, arguments);
  return core.leaves(tree, isTensor);
}

/** Folds the tensors of a tree, by sorted key. */
export function reduce<V>(f: (value: V, leaf: Tensor) => V, tree: unknown, initial: V): V {
  checkCount("tree.reduce", 3, arguments);
  checkFunction("tree.reduce", f);
  return core.reduce(isTensor, f, tree, initial);
}

/**
 * Lets instances of a class take part in trees: `children` are the trees that transforms see, `data` is the rest that
 * rebuilding needs. Subclasses are registered separately, since they are rebuilt differently. Registering twice is harmless.
 */
export function registerClass<C, D = undefined>(
  treeClass: abstract new (...args: never[]) => C,
  entry: core.TreeClass<C, D>,
): void {
  checkCount("tree.registerClass", 2, arguments);
  if ((treeClass as unknown) === Tensor) {
    throw new ArgumentError("tree.registerClass: Tensor cannot be registered; tensors are the leaves of trees.");
  }
  core.registerClass(treeClass, entry);
}
