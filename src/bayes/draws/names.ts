/**
 * Names of variables. A few names have a meaning of their own in JavaScript: as a key of somebody's plain object,
 * `__proto__` changes what the object is. No variable is called so: models and readers of files refuse them.
 */
const RESERVED = new Set(["__proto__", "constructor", "prototype"]);

/** Why a variable cannot have this name; null where it can. */
export function whyNoName(name: unknown): string | null {
  if (typeof name !== "string") return "a name is no text";
  if (name === "") return "a name is empty";
  return RESERVED.has(name) ? `"${name}" is no name for a variable` : null;
}
