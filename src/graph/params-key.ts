/** A node's parameters as text: two nodes of the same primitive, inputs and parameters compute the same. */
import type { Node } from "./node.js";

/** Shape and dtype are no part of the key: they follow from inputs and parameters, and leaves have them as parameters. */
export function paramsKey({ params }: Pick<Node, "params">): string {
  let key = "";
  for (const name in params) key += `${name}=${valueKey(params[name])};`;
  return key;
}

/** Numbers that print alike but differ (0 and -0, 1 and 1n) must not share a key. */
function valueKey(value: unknown): string {
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(valueKey).join()}]`;
  if (typeof value === "string") return JSON.stringify(value);
  // A GraphFunction has its own key.
  if (typeof value === "object" && value !== null && "key" in value) return `<${String(value.key)}>`;
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value)
      .map(([name, part]) => `${name}:${valueKey(part)}`)
      .join()}}`;
  }
  // The text of a function does not show its captured variables, and programs are cached on disk under these keys.
  if (typeof value === "function") throw new Error("paramsKey: a parameter is data, never a function.");
  return String(value);
}
