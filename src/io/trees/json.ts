/**
 * JSON in files of models: written only if reading gives the same value back, and read strictly. A number that is not finite would
 * silently become null, and a class would lose its methods. tree-file.ts and the files of models of nn and learn call this.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type JsonValue, parseStrictJson } from "../strict-json.js";

/** A value that JSON holds exactly. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Values in values, at most. */
const MAX_DEPTH = 100;

/** The text of a value. Members that are undefined are left out. `what`: the value, for errors. */
export function jsonText(value: unknown, what: string): string {
  checkJson(value, what, 0);
  return JSON.stringify(value);
}

function checkJson(value: unknown, at: string, depth: number): void {
  if (depth > MAX_DEPTH)
    throw new ArgumentError(`${at}: more than ${MAX_DEPTH} values in one another; it may contain itself.`);
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (Array.isArray(value)) {
    for (const [i, each] of value.entries()) checkJson(each, `${at}[${i}]`, depth + 1);
    return;
  }
  if (!isPlainObject(value)) {
    throw new ArgumentError(
      `${at} is ${shown(value)}, which JSON cannot hold; use finite numbers, text, booleans, null, lists and plain objects.`,
    );
  }
  for (const [name, each] of Object.entries(value)) {
    if (each !== undefined) checkJson(each, `${at}.${name}`, depth + 1);
  }
}

/** An object whose prototype is that of objects, or none. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The value of a text from a file. */
export const parsedJson = (text: string, what: string): Json => plain(parseStrictJson(text, MAX_DEPTH, what));

function plain(value: JsonValue): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof Map)) return value as string | number | boolean | null;
  return objectOf([...value].map(([name, each]) => [name, plain(each)]));
}

/** A plain object of members, in their order. A member may be called __proto__. */
export const objectOf = <T>(members: Iterable<readonly [name: string, value: T]>): { readonly [name: string]: T } =>
  Object.fromEntries(members);
