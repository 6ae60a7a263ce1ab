/**
 * Parameters and state of a model: plain trees of tensors, by the names of layers and then of their parameters, as in
 * `{ dense0: { weights, biases } }`. Every transform, optimiser and file format takes them as they are.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Tensor } from "../../tensor/index.js";

/** Tensors by name, in objects by the names of layers. */
export interface VariableTree {
  readonly [name: string]: Tensor | VariableTree;
}

/** The result of `init`: parameters, which are trained, and state, which layers such as batch norm keep up to date. */
export interface Variables {
  readonly params: VariableTree;
  readonly state: VariableTree;
}

/** A path as people write it: `encoder.dense0`. The whole model is the empty path. */
export const pathText = (path: readonly string[]): string => path.join(".");

/** A tree that is being filled. Objects have no prototype: a layer may be called "constructor". */
export interface GrowingTree {
  [name: string]: Tensor | GrowingTree;
}

export const emptyTree = (): GrowingTree => Object.create(null) as GrowingTree;

/** Puts a tensor at a path, making the objects on the way. */
export function putAt(tree: GrowingTree, path: readonly string[], name: string, value: Tensor): void {
  let at = tree;
  for (const part of path) {
    at[part] ??= emptyTree();
    at = at[part] as GrowingTree;
  }
  at[name] = value;
}

/** The subtree or tensor at a path; undefined where there is none. */
export function findAt(tree: VariableTree, path: readonly string[]): Tensor | VariableTree | undefined {
  let at: Tensor | VariableTree | undefined = tree;
  for (const part of path) {
    if (at === undefined || !isSubtree(at) || !Object.hasOwn(at, part)) return undefined;
    at = at[part];
  }
  return at;
}

/** The tensor at a path of a tree of parameters or state: `parameterAt(trained.params, "head.weights")`. */
export function parameterAt(tree: VariableTree, path: string): Tensor {
  const names = typeof path === "string" ? path.split(".") : [];
  if (typeof tree !== "object" || tree === null || !isSubtree(tree) || names.length === 0) {
    throw new ArgumentError(
      `parameterAt: takes a tree and a path, as in parameterAt(params, "head.weights"), not ${shown(tree)} and ${shown(path)}.`,
    );
  }
  let depth = 0;
  let at: Tensor | VariableTree = tree;
  for (; depth < names.length && isSubtree(at); depth++) {
    const next: Tensor | VariableTree | undefined = findAt(at, [names[depth] as string]);
    if (next === undefined) break;
    at = next;
  }
  if (depth === names.length && !isSubtree(at)) return at;
  const found = names.slice(0, depth).join(".");
  const place = found === "" ? "the tree" : `"${found}"`;
  const there = isSubtree(at) ? `${place} has ${Object.keys(at).join(", ") || "nothing"}` : `${place} is a tensor`;
  throw new ArgumentError(`parameterAt: no tensor at "${path}": ${there}.`);
}

/** Whether a value of a tree is a tree in turn. Tensors are the leaves. */
export const isSubtree = (value: unknown): value is VariableTree =>
  typeof value === "object" && value !== null && !("dtype" in value && "device" in value);

/** Plain objects, as users expect them, of a tree that was filled. */
export function finished(tree: GrowingTree): VariableTree {
  const copy: Record<string, Tensor | VariableTree> = {};
  for (const [name, value] of Object.entries(tree)) {
    const child = isSubtree(value) ? finished(value as GrowingTree) : value;
    Object.defineProperty(copy, name, { value: child, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}

/** A tree without the tensors at some paths, and without the objects that hold nothing else. */
export function withoutPaths(tree: VariableTree, paths: ReadonlySet<string>): VariableTree {
  if (paths.size === 0) return tree;
  const kept = emptyTree();
  const walk = (at: VariableTree, path: readonly string[]): void => {
    for (const [name, value] of Object.entries(at)) {
      if (isSubtree(value)) walk(value, [...path, name]);
      else if (!paths.has(pathText([...path, name]))) putAt(kept, path, name, value);
    }
  };
  walk(tree, []);
  return finished(kept);
}

/** One tree of several: `mergeTrees(small.state, attentionCache(…))`. Where two have a tensor at one path, the later one counts. */
export function mergeTrees(...trees: readonly VariableTree[]): VariableTree {
  const merged = emptyTree();
  const merge = (into: GrowingTree, tree: VariableTree): void => {
    for (const [name, value] of Object.entries(tree)) {
      const there = into[name];
      const isOpen = there !== undefined && isSubtree(there) && isSubtree(value);
      const next = isOpen ? (there as GrowingTree) : isSubtree(value) ? emptyTree() : value;
      into[name] = next;
      if (isSubtree(value)) merge(next as GrowingTree, value);
    }
  };
  for (const tree of trees) {
    if (typeof tree !== "object" || tree === null || !isSubtree(tree)) {
      throw new ArgumentError(`mergeTrees: takes trees of tensors, as params and state are, not ${shown(tree)}.`);
    }
    merge(merged, tree);
  }
  return finished(merged);
}
