/**
 * Trees: parameters, states and arguments as nested plain objects and arrays with leaves in them. Transforms and jit
 * see a tree as a list of leaves and a structure to put them back into; that is all this does, for any kind of leaf.
 *
 * - null and undefined are empty trees: they hold no leaf and come back as they were (an optional bias, say).
 * - Leaves are listed by *sorted* key, so {w, b} and {b, w} have the same leaves in the same order and match. Rebuilt
 *   objects keep the original order of keys. Functions can see that order, so jit traces once for each.
 * - Instances of a class take part once it is registered, see `registerClass`.
 * - All walks are loops: a tree may be as deep as memory allows.
 *
 * The transforms, optimisers and file formats call this; `tree` in the public surface wraps it for tensors.
 */
import { ArgumentError } from "./errors.js";
import { identityOf } from "./identity.js";
import { shown } from "./shown.js";
import { type Registered, registeredAs } from "./tree-class.js";

export { registerClass, type TreeClass } from "./tree-class.js";

/** Nested arrays and objects of L. */
export type Tree<L> = L | null | undefined | readonly Tree<L>[] | { readonly [key: string]: Tree<L> };

/** The type of tree T when its leaves of type A become B. */
export type MapTree<T, A, B> = T extends A
  ? B
  : T extends null | undefined
    ? T
    : T extends (...args: never[]) => unknown
      ? T
      : T extends object
        ? { [K in keyof T]: MapTree<T[K], A, B> }
        : T;

/** The type that tree R has at the leaves of tree T. */
export type LeafBeside<T, A, R> = unknown extends R
  ? unknown
  : T extends A
    ? R
    : T extends readonly (infer E)[]
      ? R extends readonly (infer F)[]
        ? LeafBeside<E, A, Present<E, F>>
        : never
      : T extends object
        ? { [K in keyof T]-?: K extends keyof R ? LeafBeside<T[K], A, Present<T[K], R[K]>> : never }[keyof T]
        : never;

/** Equal trees are empty in the same places: where T has a leaf, so has R. */
type Present<T, R> = T & (null | undefined) extends never ? R : NonNullable<R>;

export type LeafTest<L> = (value: unknown) => value is L;

type Node =
  | { readonly kind: "leaf" }
  | { readonly kind: "empty"; readonly value: null | undefined }
  | { readonly kind: "array"; readonly length: number }
  /** keys are sorted; order lists the positions in keys as the object was written. */
  | { readonly kind: "object"; readonly keys: readonly string[]; readonly order: readonly number[] }
  | {
      readonly kind: "class";
      readonly keys: readonly string[];
      readonly order: readonly number[];
      readonly entry: Registered;
      readonly data: unknown;
    };

/** A tree without its leaves: its nodes, each before its children. */
export interface TreeStructure {
  readonly nodes: readonly Node[];
  readonly leafCount: number;
  /** Equal for equal structures, whatever the order of keys; valid in this process. */
  readonly key: string;
}

export interface FlatTree<L> {
  readonly leaves: L[];
  readonly structure: TreeStructure;
}

const LEAF: Node = { kind: "leaf" };
const EMPTY = { null: { kind: "empty", value: null }, undefined: { kind: "empty", value: undefined } } as const;

/** Keys that error messages list. */
const SHOWN_KEYS = 6;

/** The attributes of an assigned property. */
const PLAIN = { enumerable: true, configurable: true, writable: true };

/** A leaf is anything that is not a container: the test used when none is given. */
export const isAnyLeaf: LeafTest<unknown> = (value): value is unknown =>
  value !== null && value !== undefined && !Array.isArray(value) && !isPlainObject(value) && !registeredAs(value);

/** The leaves of a tree and the structure to put them back into. */
export function flatten(tree: unknown): FlatTree<unknown>;
export function flatten<L>(tree: unknown, isLeaf: LeafTest<L>, operation?: string): FlatTree<L>;
export function flatten<L>(
  tree: unknown,
  isLeaf: LeafTest<L> = isAnyLeaf as LeafTest<L>,
  operation = "tree.flatten",
): FlatTree<L> {
  const nodes: Node[] = [];
  const leaves: L[] = [];
  const open: Container[] = [];
  let key = "";
  let value = tree;
  for (;;) {
    if (isLeaf(value)) {
      nodes.push(LEAF);
      leaves.push(value);
      key += "*";
    } else if (value === null || value === undefined) {
      nodes.push(value === null ? EMPTY.null : EMPTY.undefined);
      key += value === null ? "n" : "u";
    } else {
      const container = openContainer(value);
      if (!container) throw notALeaf(value, open, operation);
      nodes.push(container.node);
      key += container.key;
      open.push(container);
      // A cycle is endlessly deep. Checking at each doubling of the depth costs next to nothing.
      if (open.length >= 1024 && (open.length & (open.length - 1)) === 0) checkAcyclic(open, operation);
    }
    while (open.length > 0 && open[open.length - 1].next === open[open.length - 1].children.length) {
      open.pop();
      key += ")";
    }
    const parent = open.at(-1);
    if (!parent) return { leaves, structure: { nodes, leafCount: leaves.length, key } };
    value = parent.children[parent.next++];
  }
}

/** Differs for trees of equal structure whose keys are written in another order. */
export function orderKey({ nodes }: TreeStructure): string {
  let key = "";
  for (const node of nodes) if ("order" in node) key += `${node.order};`;
  return key;
}

/**
 * The leaves of a tree of exactly this structure, with keys in the same order; null for any other tree. It builds no keys, so
 * it is fast for trees that are probably alike: the arguments of repeated calls. It does not descend into classes.
 */
export function leavesLike<L>(structure: TreeStructure, tree: unknown, isLeaf: LeafTest<L>): L[] | null {
  const found: L[] = [];
  const pending: unknown[] = [tree];
  for (const node of structure.nodes) {
    const value = pending.pop();
    switch (node.kind) {
      case "leaf":
        if (!isLeaf(value)) return null;
        found.push(value);
        break;
      case "empty":
        if (value !== node.value) return null;
        break;
      case "array":
        if (!Array.isArray(value) || value.length !== node.length) return null;
        for (let i = node.length - 1; i >= 0; i--) pending.push(value[i]);
        break;
      case "object": {
        if (!isPlainObject(value)) return null;
        const { keys, order } = node;
        const written = Object.keys(value);
        if (written.length !== keys.length) return null;
        for (let i = 0; i < keys.length; i++) if (written[i] !== keys[order[i]]) return null;
        for (let i = keys.length - 1; i >= 0; i--) pending.push(value[keys[i]]);
        break;
      }
      case "class":
        return null;
    }
  }
  return found;
}

interface Container {
  readonly source: unknown;
  readonly node: Node;
  readonly key: string;
  readonly children: readonly unknown[];
  next: number;
}

function openContainer(source: unknown): Container | undefined {
  if (Array.isArray(source)) {
    // Array.from turns holes into undefined.
    const children: unknown[] = Array.from(source);
    return { source, node: { kind: "array", length: children.length }, key: "[(", children, next: 0 };
  }
  if (isPlainObject(source)) {
    const { keys, order, children } = sortedEntries(source);
    return { source, node: { kind: "object", keys, order }, key: `{${listKeys(keys)}(`, children, next: 0 };
  }
  const entry = registeredAs(source);
  if (!entry) return undefined;
  const { keys, order, children } = sortedEntries(entry.children(source));
  const data = entry.data?.(source);
  const key = `<${entry.id} ${dataKey(data)} ${listKeys(keys)}(`;
  return { source, node: { kind: "class", keys, order, entry, data }, key, children, next: 0 };
}

/** Equal for plain data of equal values; anything else differs by identity. */
function dataKey(data: unknown): string {
  if (data === undefined) return "";
  if (typeof data === "number") return Object.is(data, -0) ? "-0" : String(data);
  if (typeof data === "function" || typeof data === "symbol") return identityOf(data);
  if (typeof data === "bigint") return `${data}n`;
  if (Array.isArray(data)) return `[${data.map(dataKey).join()}]`;
  if (isPlainObject(data)) {
    const { keys, children } = sortedEntries(data);
    return `{${listKeys(keys)}:${children.map(dataKey).join()}}`;
  }
  return typeof data === "object" && data !== null ? identityOf(data) : (JSON.stringify(data) as string);
}

function sortedEntries(object: Readonly<Record<string, unknown>>) {
  const written = Object.keys(object);
  const order = written.map((_, i) => i);
  // Most objects are small and in order, and flatten runs on every call of a jitted function.
  if (written.every((key, i) => i === 0 || written[i - 1] < key)) {
    return { keys: written, order, children: written.map((key) => object[key]) };
  }
  const places = order.slice().sort((a, b) => (written[a] < written[b] ? -1 : 1));
  for (let sorted = 0; sorted < places.length; sorted++) order[places[sorted]] = sorted;
  const keys = places.map((place) => written[place]);
  return { keys, order, children: keys.map((key) => object[key]) };
}

/** Unambiguous whatever the keys contain: each comes with its length. */
function listKeys(keys: readonly string[]): string {
  let list = "";
  for (const key of keys) list += `${key.length}:${key}`;
  return list;
}

/** A plain object of any realm: its prototype has no prototype. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Puts leaves back: the inverse of flatten. */
export function unflatten(structure: TreeStructure, leaves: readonly unknown[], operation = "tree.unflatten"): unknown {
  if (leaves.length !== structure.leafCount) {
    throw new ArgumentError(`${operation}: ${leaves.length} leaves for a tree that has ${structure.leafCount}.`);
  }
  const { nodes } = structure;
  // From the back: when a container is met, its children lie on the stack, the first on top.
  const built: unknown[] = [];
  let leaf = leaves.length;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    switch (node.kind) {
      case "leaf":
        built.push(leaves[--leaf]);
        break;
      case "empty":
        built.push(node.value);
        break;
      case "array":
        built.push(poppedArray(built, node.length));
        break;
      case "object":
        built.push(rebuiltObject(node, built));
        break;
      case "class":
        built.push(node.entry.rebuild(rebuiltObject(node, built), node.data));
        break;
    }
  }
  return built[0];
}

function poppedArray(built: unknown[], length: number): unknown[] {
  const array = new Array<unknown>(length);
  for (let i = 0; i < length; i++) array[i] = built.pop();
  return array;
}

function rebuiltObject(node: { keys: readonly string[]; order: readonly number[] }, built: unknown[]) {
  const children = node.keys.map(() => built.pop());
  const object: Record<string, unknown> = {};
  for (const i of node.order) {
    const key = node.keys[i];
    // Assigning to __proto__ would set the prototype.
    if (key === "__proto__") Object.defineProperty(object, key, { ...PLAIN, value: children[i] });
    else object[key] = children[i];
  }
  return object;
}

/** The leaves of a tree, by sorted key. */
export function leaves<L>(tree: unknown, isLeaf: LeafTest<L>, operation = "tree.leaves"): L[] {
  return flatten(tree, isLeaf, operation).leaves;
}

/**
 * A tree of the same structure with f of every leaf. With further trees, f also gets their values at the leaf's position;
 * they must have the first tree's structure down to there.
 */
export function map<A, B, T, R extends readonly unknown[]>(
  isLeaf: LeafTest<A>,
  f: (leaf: A, ...others: { [I in keyof R]: LeafBeside<T, A, R[I]> }) => B,
  tree: T,
  ...others: R
): MapTree<T, A, B> {
  const first = flatten(tree, isLeaf, "tree.map");
  const lists = others.map((other, i) => leavesBeside(first.structure, other, i + 2, "tree.map"));
  const apply = f as (leaf: A, ...others: unknown[]) => B;
  const mapped = first.leaves.map((leaf, i) => apply(leaf, ...lists.map((list) => list[i])));
  return unflatten(first.structure, mapped) as MapTree<T, A, B>;
}

/** Folds the leaves, by sorted key. */
export function reduce<L, V>(isLeaf: LeafTest<L>, f: (value: V, leaf: L) => V, tree: unknown, initial: V): V {
  return leaves(tree, isLeaf, "tree.reduce").reduce(f, initial);
}

/** A string that is equal for trees of equal structure: the key of a cache, in this process. */
export function structureKey<L>(tree: unknown, isLeaf: LeafTest<L>): string {
  return flatten(tree, isLeaf, "tree.structureKey").structure.key;
}

/**
 * The values of a tree at the leaves of `structure`. `ordinal` is the tree's number among the caller's, for the error that a
 * different structure gives.
 */
export function leavesBeside(structure: TreeStructure, tree: unknown, ordinal: number, operation: string): unknown[] {
  const found: unknown[] = [];
  const pending: unknown[] = [tree];
  for (const [at, node] of structure.nodes.entries()) {
    const value = pending.pop();
    if (node.kind === "leaf") {
      found.push(value);
      continue;
    }
    if (node.kind === "empty") {
      if (value === null || value === undefined) continue;
      throw mismatch(structure, at, value, ordinal, operation);
    }
    const container = openContainer(value);
    if (!container || !sameContainer(container.node, node)) throw mismatch(structure, at, value, ordinal, operation);
    for (let i = container.children.length - 1; i >= 0; i--) pending.push(container.children[i]);
  }
  return found;
}

/**
 * For each leaf of `structure` the value of a tree that may end earlier: a value counts for all leaves below it. Errors
 * call it tree `ordinal`, as in leavesBeside.
 */
export function spreadLeaves<V>(
  structure: TreeStructure,
  tree: unknown,
  isValue: LeafTest<V>,
  ordinal: number,
  operation: string,
): V[] {
  const found: V[] = [];
  const pending: unknown[] = [tree];
  for (const [at, node] of structure.nodes.entries()) {
    const value = pending.pop();
    if (isValue(value)) {
      if (node.kind === "leaf") found.push(value);
      for (let i = childCount(node); i > 0; i--) pending.push(value);
      continue;
    }
    if (node.kind === "empty" && (value === null || value === undefined)) continue;
    const container = openContainer(value);
    if (!container || !sameContainer(container.node, node)) throw mismatch(structure, at, value, ordinal, operation);
    for (let i = container.children.length - 1; i >= 0; i--) pending.push(container.children[i]);
  }
  return found;
}

function sameContainer(a: Node, b: Node): boolean {
  if (a.kind === "array" && b.kind === "array") return a.length === b.length;
  if (a.kind === "object" && b.kind === "object") return sameKeys(a.keys, b.keys);
  return a.kind === "class" && b.kind === "class" && a.entry === b.entry && sameKeys(a.keys, b.keys);
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

/** The first place where two structures differ, and what each has there, in words. */
export function partingOf(one: TreeStructure, other: TreeStructure): { at: string; first: string; second: string } {
  // Nodes come before their children, so both walks agree up to the first node that differs.
  const i = one.nodes.findIndex((node, k) => !sameNode(node, other.nodes[k]));
  const [a, b] = [one.nodes[i], other.nodes[i]];
  const at = nodePaths(one.nodes)[i] || "the top";
  if (a.kind === "class" && b.kind === "class" && a.entry === b.entry && sameKeys(a.keys, b.keys)) {
    const [first, second] = [shownData(a.data), shownData(b.data)];
    const what = `${a.entry.name} with`;
    return {
      at,
      first: `${what} the data ${first}`,
      second: `${what} ${first === second ? "other data," : "the data"} ${second}`,
    };
  }
  return { at, first: describeBeside(a, b), second: describeBeside(b, a) };
}

function sameNode(a: Node, b: Node): boolean {
  if (a.kind === "empty" && b.kind === "empty") return a.value === b.value;
  if (a.kind === "leaf" && b.kind === "leaf") return true;
  if (a.kind === "class" && b.kind === "class" && dataKey(a.data) !== dataKey(b.data)) return false;
  return sameContainer(a, b);
}

function shownData(data: unknown): string {
  if (!isPlainObject(data)) return shown(data);
  const entries = Object.entries(data).slice(0, 6);
  return `{${entries.map(([key, value]) => `${key}: ${shown(value)}`).join(", ")}}`;
}

/** With many keys: those that only this node has, or else those that it lacks. */
function describeBeside(node: Node, other: Node): string {
  if (node.kind !== "object" || other.kind !== "object" || node.keys.length <= SHOWN_KEYS) return describeNode(node);
  const without = (keys: readonly string[], others: readonly string[]) => keys.filter((key) => !others.includes(key));
  const own = without(node.keys, other.keys);
  if (own.length > 0) return describeKeys("an object", own);
  return `an object without ${without(other.keys, node.keys).slice(0, SHOWN_KEYS).join(", ")}`;
}

/** The path of the n-th leaf as code, such as layers[0].w. Empty for a tree that is a leaf. */
export function pathOf(structure: TreeStructure, leaf: number): string {
  return leafPaths(structure)[leaf];
}

/** The path of every leaf. */
export function leafPaths(structure: TreeStructure): string[] {
  const paths = nodePaths(structure.nodes);
  return paths.filter((_, i) => structure.nodes[i].kind === "leaf");
}

/** The path of every node. */
function nodePaths(nodes: readonly Node[]): string[] {
  const pending: string[] = [""];
  return nodes.map((node) => {
    const path = pending.pop() as string;
    for (let child = childCount(node) - 1; child >= 0; child--) pending.push(path + stepTo(node, child, path === ""));
    return path;
  });
}

function childCount(node: Node): number {
  return node.kind === "array" ? node.length : "keys" in node ? node.keys.length : 0;
}

function stepTo(node: Node, child: number, isFirst: boolean): string {
  if (!("keys" in node)) return `[${child}]`;
  const key = node.keys[child];
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `[${JSON.stringify(key)}]`;
  return isFirst ? key : `.${key}`;
}

/** The path of the child that is being looked at. */
function openPath(open: readonly Container[]): string {
  return open.reduce((path, { node, next }) => path + stepTo(node, next - 1, path === ""), "");
}

function notALeaf(value: unknown, open: readonly Container[], operation: string): ArgumentError {
  return new ArgumentError(
    `${operation}: ${openPath(open) || "the tree"} is ${describe(value)}, ` +
      `neither a leaf nor an object or array of leaves; ${remedyFor(value)}.`,
  );
}

function remedyFor(value: unknown): string {
  if (ArrayBuffer.isView(value)) return "make it a tensor with tensor(array)";
  if (value instanceof Promise) return "a function that is traced must not be async, so await it before or after";
  if (value instanceof Map || value instanceof Set) return "use a plain object or an array";
  if (typeof value === "object") return "register its class with tree.registerClass";
  return typeof value === "number" || typeof value === "boolean"
    ? `make it a tensor with tensor(${value}), or pass it separately`
    : "take it out and pass it separately";
}

function mismatch(
  structure: TreeStructure,
  at: number,
  value: unknown,
  ordinal: number,
  operation: string,
): ArgumentError {
  return new ArgumentError(
    `${operation}: the trees differ at ${nodePaths(structure.nodes)[at] || "the top"}: ` +
      `the first has ${describeNode(structure.nodes[at])}, tree ${ordinal} has ${describe(value)}.`,
  );
}

function checkAcyclic(open: readonly Container[], operation: string): void {
  const seen = new Set<unknown>();
  for (const [depth, { source }] of open.entries()) {
    if (seen.has(source)) {
      throw new ArgumentError(`${operation}: the tree contains itself, at ${openPath(open.slice(0, depth))}.`);
    }
    seen.add(source);
  }
}

function describeNode(node: Node): string {
  switch (node.kind) {
    case "leaf":
      return "a leaf";
    case "empty":
      return String(node.value);
    case "array":
      return `an array of ${node.length}`;
    case "object":
      return describeKeys("an object", node.keys);
    case "class":
      return describeKeys(node.entry.name, node.keys);
  }
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const container = openContainer(value);
  if (container) return describeNode(container.node);
  if (typeof value === "string")
    return `the string ${JSON.stringify(value.length > 20 ? `${value.slice(0, 20)}…` : value)}`;
  if (typeof value === "object") return `an instance of ${value.constructor?.name ?? "an unknown class"}`;
  return typeof value === "function" ? "a function" : `the ${typeof value} ${String(value)}`;
}

function describeKeys(what: string, keys: readonly string[]): string {
  if (keys.length === 0) return `${what} without keys`;
  const some = keys.slice(0, SHOWN_KEYS).join(", ");
  return `${what} with ${keys.length === 1 ? "key" : "keys"} ${some}${keys.length > SHOWN_KEYS ? ", …" : ""}`;
}
