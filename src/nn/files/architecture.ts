/**
 * A model as JSON, and the model from it: kinds of layers, their options, parts, names, dtypes, and what is frozen. Functions are
 * written by their names in the registry. A file that was changed gives an error before anything is made of it. model-file.ts puts
 * this beside the parameters.
 */
import { isDType } from "../../core/dtype.js";
import { ArgumentError, FormatError, PumiceError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isPlainObject, type Json, objectOf } from "../../io/trees/json.js";
import { type AnyLayer, Layer } from "../core/layer.js";
import type { Policy } from "../core/policy.js";
import { asLayer } from "../core/sequential.js";
import * as initializers from "../initializers/index.js";
import { INITIALIZER_OPTIONS, ownMaker } from "./kinds.js";
import { functionNamed, makerOf, nameOfFunction } from "./registry.js";

/** A layer in JSON. A step that is a function has its registered name in the place of kind, options and parts. */
interface LayerJson {
  readonly function?: string;
  readonly kind?: string;
  readonly options?: Json;
  readonly parts?: { readonly [name: string]: LayerJson };
  readonly name?: string;
  readonly frozen?: boolean;
  readonly dtypes?: Partial<Policy>;
}

type AnyFunction = (...given: never[]) => unknown;

const INITIALIZERS = new Map<string, unknown>(Object.entries(initializers));

/** The model as JSON. */
export const describeModel = (model: AnyLayer, operation: string): Json => described(model, [], operation) as Json;

function described(layer: AnyLayer, path: readonly string[], operation: string): LayerJson {
  const label = `${operation}: the layer ${path.length > 0 ? `"${path.join(".")}", ${layer.kind},` : layer.kind}`;
  const { name, policy, isFrozen } = layer.modifiers;
  const modifiers = {
    ...(name === null ? {} : { name }),
    ...(isFrozen === null ? {} : { frozen: isFrozen }),
    ...(Object.keys(policy).length === 0 ? {} : { dtypes: policy }),
  };
  const step = layer.options.function;
  if (typeof step === "function") return { function: functionName(step as AnyFunction, label), ...modifiers };
  const options = objectOf(
    Object.entries(layer.options).flatMap(([option, value]) => {
      const encoded = encodedOption(value, INITIALIZER_OPTIONS.includes(option), `${label} by its option ${option}`);
      return encoded === undefined ? [] : [[option, encoded] as const];
    }),
  );
  checkKind(layer, label);
  const parts = objectOf(
    Object.entries(layer.parts).map(([part, inner]) => [part, described(inner, [...path, part], operation)]),
  );
  return {
    kind: layer.kind,
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(Object.keys(parts).length === 0 ? {} : { parts }),
    ...modifiers,
  };
}

/** Throws on a layer that the maker of its kind would not make: one of the user's own that is not registered. */
function checkKind(layer: AnyLayer, label: string): void {
  if (makerOf(layer.kind)) return;
  const make = ownMaker(layer.kind);
  // A layer of the user's own may have the kind of one of ours; its code tells them apart.
  const isOurs = make && codeOf(make(layer.options, layer.parts)) === codeOf(layer);
  if (isOurs) return;
  throw new ArgumentError(
    `${label} is one of your own, and a file holds no code. Register it in the program that saves and in the one that loads: ` +
      `registerLayer("${layer.kind}", (options) => …); or write the parameters with writeTree, and load them with loadParameters ` +
      "into a model made in code.",
  );
}

/** The code of what a layer computes. Rematerialisation changes how, not what, and is not written. */
const codeOf = ({ definition }: AnyLayer): string => (definition.ownRun ?? definition.run).toString();

function functionName(f: AnyFunction, label: string): string {
  const name = nameOfFunction(f);
  if (name !== undefined) return name;
  throw new ArgumentError(
    `${label} computes with a function of your own, and a file holds no code. Give it a name in the program that saves and in ` +
      `the one that loads: registerFunction("name", f), and use that; or write the parameters with writeTree, and load them with ` +
      "loadParameters into a model made in code.",
  );
}

/** Values that JSON lacks are objects with one key that begins with $. Undefined for what is left out. */
function encodedOption(value: unknown, isInitializer: boolean, label: string): Json | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "function") {
    for (const [name, known] of INITIALIZERS) if (known === value) return { $initializer: name };
    return isInitializer ? undefined : { $function: functionName(value as AnyFunction, label) };
  }
  if (typeof value === "bigint") return { $bigint: String(value) };
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { $number: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (value === null || typeof value === "number" || typeof value === "string" || typeof value === "boolean")
    return value;
  if (Array.isArray(value)) return value.map((each) => encodedOption(each, false, label) ?? null);
  if (isPlainObject(value)) {
    const members = Object.entries(value).map(([name, each]) => [name, encodedOption(each, false, label)] as const);
    return objectOf(members.filter((member): member is readonly [string, Json] => member[1] !== undefined));
  }
  throw new ArgumentError(
    `${label} needs ${shown(value)}, which a file cannot hold; use numbers, texts, lists and plain objects.`,
  );
}

/** The model of a JSON value. `what`: the file, for errors. */
export const rebuildModel = (json: Json | undefined, what: string): AnyLayer => rebuilt(json, [], what);

function rebuilt(json: Json | undefined, path: readonly string[], what: string): AnyLayer {
  const label = `${what}: the layer ${path.length > 0 ? `"${path.join(".")}"` : "at the top"}`;
  if (!isPlainObject(json)) throw new FormatError(`${label} is no JSON object.`);
  const { kind, options, parts, name, frozen, dtypes, function: step } = json;
  for (const key of Object.keys(json)) {
    if (!KEYS.has(key)) throw new FormatError(`${label} has "${key}", which this version of Pumice does not know.`);
  }
  const inner = objectOf(
    Object.entries(membersOf(parts, "parts", label)).map(([part, each]) => [
      part,
      rebuilt(each, [...path, part], what),
    ]),
  );
  const given = objectOf(
    Object.entries(membersOf(options, "options", label)).map(([option, each]) => [option, decodedOption(each, label)]),
  );
  try {
    const bare = step === undefined ? madeLayer(kind, given, inner, label) : asLayer(namedFunction(step, label));
    return modified(bare, { name, frozen, dtypes }, label);
  } catch (error) {
    if (!(error instanceof PumiceError) || error instanceof FormatError) throw error;
    throw new FormatError(`${label} cannot be made: ${error.message}`, { cause: error });
  }
}

const KEYS = new Set(["function", "kind", "options", "parts", "name", "frozen", "dtypes"]);

function membersOf(value: unknown, key: string, label: string): Readonly<Record<string, Json>> {
  if (value === undefined) return {};
  if (isPlainObject(value)) return value as Readonly<Record<string, Json>>;
  throw new FormatError(`${label}: its ${key} are no JSON object.`);
}

function madeLayer(
  kind: unknown,
  options: Readonly<Record<string, unknown>>,
  parts: Readonly<Record<string, AnyLayer>>,
  label: string,
): AnyLayer {
  const make = typeof kind === "string" ? (makerOf(kind) ?? ownMaker(kind)) : undefined;
  if (!make) {
    throw new FormatError(
      `${label} is of the kind ${shown(kind)}, which is not known here; if it is one of your own, registerLayer(${shown(kind)}, ` +
        "(options) => …) before loading.",
    );
  }
  let layer = make(options, parts) as AnyLayer | undefined;
  if (!(layer instanceof Layer))
    throw new FormatError(`${label}: the function registered for ${shown(kind)} makes no layer.`);
  // Layers that make parts by themselves get those of the file: a part may have been replaced.
  for (const [name, part] of Object.entries(parts)) {
    if (layer.parts[name] !== part) layer = layer.replace(name, part) as unknown as AnyLayer;
  }
  const extra = Object.keys(layer.parts).find((name) => !Object.hasOwn(parts, name));
  if (extra !== undefined) throw new FormatError(`${label}: its part "${extra}" is missing.`);
  return layer;
}

function namedFunction(name: unknown, label: string): AnyFunction {
  const found = typeof name === "string" ? functionNamed(name) : undefined;
  if (found) return found;
  throw new FormatError(
    `${label} computes with the function ${shown(name)}, which is not known here; registerFunction(${shown(name)}, f) before loading.`,
  );
}

function decodedOption(value: Json, label: string): unknown {
  if (Array.isArray(value)) return value.map((each) => decodedOption(each, label));
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value) as [string, Json][];
  const [[key, text] = ["", null]] = entries;
  if (entries.length !== 1 || !key.startsWith("$")) {
    return objectOf(entries.map(([name, each]) => [name, decodedOption(each, label)]));
  }
  switch (key) {
    case "$number":
      if (["Infinity", "-Infinity", "NaN", "-0"].includes(text as string)) return Number(text);
      break;
    case "$bigint":
      if (typeof text === "string" && /^-?\d{1,400}$/.test(text)) return BigInt(text);
      break;
    case "$function":
      return namedFunction(text, label);
    case "$initializer":
      if (INITIALIZERS.has(text as string)) return INITIALIZERS.get(text as string);
      break;
  }
  throw new FormatError(`${label}: the option { ${key}: ${shown(text)} } is not known here.`);
}

function modified(
  layer: AnyLayer,
  { name, frozen, dtypes }: { readonly name?: unknown; readonly frozen?: unknown; readonly dtypes?: unknown },
  label: string,
): AnyLayer {
  let result = layer;
  if (name !== undefined) result = result.named(name as string) as AnyLayer;
  if (frozen !== undefined) {
    if (typeof frozen !== "boolean") throw new FormatError(`${label}: "frozen" is neither true nor false.`);
    result = result.frozen(frozen) as AnyLayer;
  }
  if (dtypes === undefined) return result;
  const policy = membersOf(dtypes, "dtypes", label);
  for (const [key, dtype] of Object.entries(policy)) {
    const isKnown =
      key === "parameters" ? isDType(dtype) : ["compute", "output"].includes(key) && (dtype === null || isDType(dtype));
    if (!isKnown) throw new FormatError(`${label}: its dtypes have ${key}: ${shown(dtype)}.`);
  }
  return result.withDTypes(policy as Partial<Policy>) as AnyLayer;
}
