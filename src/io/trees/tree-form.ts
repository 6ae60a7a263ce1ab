/**
 * The form of a tree of tensors, apart from its tensors: nested objects and lists with a name in the place of each tensor. It is
 * JSON, and comes back from a file with every key, also one such as `__proto__`. tree-file.ts writes and reads it.
 */
import { ArgumentError, FormatError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { type JsonValue, parseStrictJson } from "../strict-json.js";
import { isPlainObject, objectOf } from "./json.js";

/** Tensors in plain objects and lists; null and undefined stay where they are. */
export type TensorTree = Tree<Tensor>;

/** Values of one kind in plain objects and lists. */
type Tree<L> = L | null | undefined | readonly Tree<L>[] | { readonly [name: string]: Tree<L> };

/** A tensor is its name, undefined is false. */
export type TreeForm = string | null | false | readonly TreeForm[] | { readonly [name: string]: TreeForm };

/** Containers in containers, at most. */
const MAX_DEPTH = 100;

/** The form of a tree, and its tensors by the names that they have in it. */
export function formOf(
  tree: TensorTree,
  operation: string,
): { readonly form: TreeForm; readonly tensors: ReadonlyMap<string, Tensor> } {
  const tensors = new Map<string, Tensor>();
  const walk = (value: unknown, keys: readonly string[]): TreeForm => {
    if (isTensor(value)) {
      const name = freeName(keys.join("."), tensors);
      tensors.set(name, value);
      return name;
    }
    if (value === null) return null;
    if (value === undefined) return false;
    if (keys.length > MAX_DEPTH)
      throw new ArgumentError(`${operation}: the tree is more than ${MAX_DEPTH} containers deep.`);
    if (Array.isArray(value)) return value.map((each, i) => walk(each, [...keys, String(i)]));
    if (isPlainObject(value))
      return objectOf(Object.entries(value).map(([key, each]) => [key, walk(each, [...keys, key])]));
    throw new ArgumentError(
      `${operation}: ${keys.join(".") || "the tree"} is ${shown(value)}; a tree holds tensors, plain objects, lists, null and ` +
        "undefined. Anything else belongs in the metadata.",
    );
  };
  return { form: walk(tree, []), tensors };
}

/** Keys may contain full stops, so that two paths may read alike. The format has a meaning of its own for one name. */
function freeName(path: string, taken: ReadonlyMap<string, unknown>): string {
  let name = path;
  for (let count = 1; taken.has(name) || name === "__metadata__"; count++) name = `${path}~${count}`;
  return name;
}

/** The tree of a form, with a value for each name. */
export function treeOfForm<L>(form: TreeForm, leaf: (name: string) => L): Tree<L> {
  if (typeof form === "string") return leaf(form);
  if (form === null) return null;
  if (form === false) return undefined;
  if (Array.isArray(form)) return form.map((each: TreeForm) => treeOfForm(each, leaf));
  return objectOf(Object.entries(form).map(([key, each]) => [key, treeOfForm(each as TreeForm, leaf)]));
}

/** The form in a file, which has each tensor of the file once and no other. */
export function parsedForm(text: string, names: readonly string[], what: string): TreeForm {
  const where = `${what}: the form of its tree`;
  const left = new Set(names);
  const walk = (value: JsonValue): TreeForm => {
    if (value === null || value === false) return value;
    if (typeof value === "string") {
      if (left.delete(value)) return value;
      throw new FormatError(
        `${where}: "${value}" ${names.includes(value) ? "comes twice" : "is no tensor of the file"}.`,
      );
    }
    if (Array.isArray(value)) return value.map(walk);
    if (value instanceof Map) return objectOf([...value].map(([key, each]) => [key, walk(each)]));
    throw new FormatError(`${where} holds ${shown(value)}, which is neither a name nor a container.`);
  };
  const form = walk(parseStrictJson(text, MAX_DEPTH + 1, where));
  for (const name of left) throw new FormatError(`${where}: the tensor "${name}" is not in it.`);
  return form;
}

/** Nested objects by names with full stops, as files of other programs have them. */
export function formOfNames(names: readonly string[], what: string): TreeForm {
  type Growing = Map<string, Growing | string>;
  const top: Growing = new Map();
  for (const name of names) {
    const keys = name.split(".");
    if (keys.length > MAX_DEPTH)
      throw new FormatError(`${what}: a name of ${keys.length} parts; ${MAX_DEPTH} are the most.`);
    const last = keys.pop() as string;
    let at = top;
    for (const key of keys) {
      const next = at.get(key) ?? new Map();
      if (typeof next === "string") throw bothKinds(next, name, what);
      at.set(key, next);
      at = next;
    }
    const there = at.get(last);
    if (there !== undefined) throw bothKinds(name, firstName(there), what);
    at.set(last, name);
  }
  const done = (growing: Growing): TreeForm =>
    objectOf([...growing].map(([key, value]) => [key, typeof value === "string" ? value : done(value)]));
  return done(top);

  function firstName(value: Growing | string): string {
    let at = value;
    while (typeof at !== "string") at = at.values().next().value as Growing | string;
    return at;
  }
}

const bothKinds = (tensor: string, inside: string, what: string): FormatError =>
  new FormatError(`${what}: "${tensor}" is a tensor, but "${inside}" lies inside it.`);
