/**
 * Models and estimators in files: one safetensors file (src/io/trees) that holds the tensors by name, so that any reader of the format
 * finds them, and beside them a description in JSON: kinds by name, options, columns, classes. `save` takes any model of
 * `pumice/learn`, also one made of others, and `load` gives it back with the same bits. Files hold no code: a kind is looked up among
 * those that this program has, and everything else is checked.
 */
import { checkOptions, checkString } from "../../core/arguments.js";
import { ArgumentError, FormatError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isPlainObject, type Json, objectOf } from "../../io/trees/json.js";
import { openTree, wholeTree, writeTree } from "../../io/trees/tree-file.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { kindNamed, kindNames, partsOf } from "../core/kinds.js";

/** The version of the description; a reader refuses what is newer than itself. */
const VERSION = 1;

/** Values in values, at most. A description has two levels for one of the value. */
const MAX_DEPTH = 40;

/** Arrays of numbers that options may have. */
const ARRAYS = { Float32Array, Float64Array, Int32Array, Uint8Array, Uint32Array } as const;

/**
 * Writes a fitted model, or an estimator: `await save("model.safetensors", model)`. A process that is killed meanwhile leaves the old file
 * as it was. Options that are functions cannot be saved.
 */
export async function save(path: string, model: object): Promise<void> {
  checkString("save", "the path", path);
  if (typeof model !== "object" || model === null || !partsOf(model)) {
    throw new ArgumentError(
      `save: takes a fitted model or an estimator of pumice/learn, not ${shown(model)}; a fit is awaited first.`,
    );
  }
  const tensors = new Map<string, Tensor>();
  const description = described(model, [], tensors);
  await writeTree(path, objectOf(tensors), { learn: VERSION, model: description }, "save");
}

/** A value as JSON; tensors go into the map and leave their names. Objects always say what they are. */
function described(value: unknown, at: readonly string[], tensors: Map<string, Tensor>): Json {
  if (at.length > MAX_DEPTH) throw new ArgumentError(`save: the model is more than ${MAX_DEPTH} levels deep.`);
  const inside = (key: string, each: unknown): Json => described(each, [...at, key], tensors);
  const members = (object: object): Json =>
    objectOf(
      Object.entries(object)
        .filter(([, each]) => each !== undefined)
        .map(([key, each]) => [key, inside(key, each)]),
    );
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { is: "number", text: Object.is(value, -0) ? "-0" : String(value) };
    case "object":
      break;
    case "undefined":
      return { is: "undefined" };
    default:
      throw new ArgumentError(
        `save: ${at.join(".")} is ${shown(value)}, which no file can hold; make the model with an option that has a name, ` +
          "or save its parts and put them together again after loading.",
      );
  }
  if (value === null) return null;
  if (isTensor(value)) {
    const name = freeName(at.join("."), tensors);
    tensors.set(name, value);
    return { is: "tensor", name };
  }
  if (Array.isArray(value)) return value.map((each, i) => inside(String(i), each));
  const parts = partsOf(value);
  if (parts) return { is: parts.sort, kind: parts.kind, parts: members(parts.parts()) };
  for (const [name, Class] of Object.entries(ARRAYS)) {
    if (value instanceof Class) return { is: "array", of: name, values: inside("values", Array.from(value)) };
  }
  if (isPlainObject(value)) return { is: "object", members: members(value) };
  throw new ArgumentError(`save: ${at.join(".")} is ${shown(value)}, which no file can hold.`);
}

/** Keys may contain full stops, so that two paths may read alike. */
function freeName(path: string, taken: ReadonlyMap<string, unknown>): string {
  let name = path;
  for (let count = 1; taken.has(name); count++) name = `${path}~${count}`;
  return name;
}

/** Options of `load`. */
export interface LoadOptions<Mo> {
  /** Where the tensors go: the default device unless told. */
  readonly device?: string;
  /** An estimator of the kind that is expected: others are refused, and the model has its type. */
  readonly like?: { readonly kind: string; fit(samples: never, targets: never): PromiseLike<Mo> };
}

/**
 * The model, or estimator, in a file: `const model = await load("model.safetensors", { like: ridge() })`. Without `like` its kind is
 * whatever the file says.
 */
// biome-ignore lint/suspicious/noExplicitAny: the type of a model is known from `like`, or by the reader
export async function load<Mo = any>(path: string, options: LoadOptions<Mo> = {}): Promise<Mo> {
  checkString("load", "the path", path);
  checkOptions("load", options, { device: "text", like: "any" });
  const what = `load: ${path}`;
  await using file = await openTree(path, "load");
  const { learn: version, model: description } = membersOf(file.metadata);
  if (version !== VERSION) {
    throw new FormatError(
      typeof version === "number"
        ? `${what}: a model of version ${version}; this version of Pumice reads ${VERSION}.`
        : `${what}: there is no model of pumice/learn in this file.`,
    );
  }
  const tree: object = (await wholeTree(file, options.device)) ?? {};
  const tensors = new Map(Object.entries(tree).filter((entry): entry is [string, Tensor] => isTensor(entry[1])));
  const model = remade(description, { what, tensors });
  if (typeof model !== "object" || model === null || !partsOf(model)) {
    throw new FormatError(`${what}: there is no model in its description.`);
  }
  const { kind } = partsOf(model) as { readonly kind: string };
  if (options.like && options.like.kind !== kind) {
    throw new FormatError(`${what}: the model is a ${kind}, not a ${options.like.kind}.`);
  }
  return model as Mo;
}

const membersOf = (value: unknown): Readonly<Record<string, Json>> =>
  (isPlainObject(value) ? value : {}) as Readonly<Record<string, Json>>;

interface Source {
  readonly what: string;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

/** The value of a description. */
function remade(description: Json | undefined, source: Source): unknown {
  if (description === undefined) throw new FormatError(`${source.what}: its description has a gap.`);
  if (typeof description !== "object" || description === null) return description;
  if (Array.isArray(description)) return description.map((each: Json) => remade(each, source));
  const { is, text, name, of, values, members, kind, parts } = description as Readonly<Record<string, Json>>;
  const all = (object: Json | undefined): Readonly<Record<string, unknown>> =>
    objectOf(Object.entries(membersOf(object)).map(([key, each]) => [key, remade(each, source)]));
  switch (is) {
    case "undefined":
      return undefined;
    case "number":
      return numberOf(text, source);
    case "tensor":
      return tensorOf(name, source);
    case "array":
      return arrayOf(of, values, source);
    case "object":
      return all(members);
    case "estimator":
    case "model":
      return ofKind(is, kind, all(parts), source);
    default:
      throw new FormatError(`${source.what}: its description has a value of an unknown sort, ${shown(is)}.`);
  }
}

function numberOf(text: Json | undefined, { what }: Source): number {
  if (text === "NaN" || text === "Infinity" || text === "-Infinity" || text === "-0") return Number(text);
  throw new FormatError(`${what}: ${shown(text)} is no number.`);
}

function tensorOf(name: Json | undefined, { what, tensors }: Source): Tensor {
  const found = typeof name === "string" ? tensors.get(name) : undefined;
  if (found) return found;
  throw new FormatError(`${what}: the model has a tensor ${shown(name)}, and the file has none of this name.`);
}

function arrayOf(name: Json | undefined, values: Json | undefined, source: Source): unknown {
  const Class = typeof name === "string" && Object.hasOwn(ARRAYS, name) ? ARRAYS[name as keyof typeof ARRAYS] : null;
  const numbers = Array.isArray(values) ? values.map((each: Json) => remade(each, source)) : null;
  if (Class && numbers?.every((each) => typeof each === "number")) return Class.from(numbers as number[]);
  throw new FormatError(`${source.what}: its description has an array that is none.`);
}

function ofKind(
  sort: "estimator" | "model",
  kind: Json | undefined,
  parts: Readonly<Record<string, unknown>>,
  { what }: Source,
): object {
  const remake = typeof kind === "string" ? kindNamed(kind)?.[sort] : undefined;
  if (!remake) {
    throw new FormatError(
      `${what}: this version of Pumice has no ${sort} of the kind ${shown(kind)}; it has ${kindNames().join(", ")}.`,
    );
  }
  try {
    return remake(parts);
  } catch (error) {
    throw new FormatError(`${what}: the ${sort} of the kind ${kind} cannot be made: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
