/** A node's parameters as text: two nodes of the same primitive, inputs and parameters compute the same. */
import type { Node } from "./node.js";

/** Shape and dtype follow from the inputs and the parameters, except for leaves, whose parameters hold them. */
export function paramsKey({ params }: Node): string {
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
  // A function says itself what it is.
  if (typeof value === "object" && value !== null && "key" in value) return `<${String(value.key)}>`;
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value)
      .map(([name, part]) => `${name}:${valueKey(part)}`)
      .join()}}`;
  }
  // Its text would not tell what it closes over, and programs are kept on disk under such keys.
  if (typeof value === "function") throw new Error("paramsKey: a parameter is data, never a function.");
  return String(value);
}
