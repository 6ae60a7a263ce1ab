/** Numbers that tell objects, functions and symbols apart: parts of keys, in this process. */

const ofObjects = new WeakMap<object, string>();
/** Not every symbol can be held weakly; there are few. */
const ofSymbols = new Map<symbol, string>();
let count = 0;

export function identityOf(value: object | symbol | null): string {
  if (value === null) return "null";
  const known = typeof value === "symbol" ? ofSymbols.get(value) : ofObjects.get(value);
  if (known !== undefined) return known;
  const made = `@${++count}`;
  if (typeof value === "symbol") ofSymbols.set(value, made);
  else ofObjects.set(value, made);
  return made;
}
