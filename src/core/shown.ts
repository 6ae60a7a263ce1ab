/** Wrong values as text for error messages: short, and never throwing. */

export function shown(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
    case "bigint":
      return `${value}n`;
    case "symbol":
    case "function":
      return `a ${typeof value}`;
    case "object":
      return value === null ? "null" : shownObject(value);
    default:
      return String(value);
  }
}

export const KEPT_NUMBERS = " Inside jit numbers are tensors, unless their positions are listed in { static }.";

/**
 * The remedy for a tensor in place of a plain number, for the end of a message: most likely the number went through `jit`.
 * Empty if no value is a tensor.
 */
export function remedyForTensor(...values: readonly unknown[]): string {
  const isTensor = (value: unknown) =>
    typeof value === "object" && value !== null && value.constructor?.name === "Tensor";
  return values.flat(2).some(isTensor) ? KEPT_NUMBERS : "";
}

/** Lists are shown two levels deep, because a list may contain itself. */
function shownList(list: readonly unknown[], depth: number): string {
  if (depth === 0) return "[…]";
  const some = list.slice(0, 8).map((each) => (Array.isArray(each) ? shownList(each, depth - 1) : shown(each)));
  return `[${[...some, ...(list.length > 8 ? ["…"] : [])].join(", ")}]`;
}

function shownObject(value: object): string {
  if (Array.isArray(value)) return shownList(value, 2);
  const { re, im } = value as { re?: unknown; im?: unknown };
  if (typeof re === "number" && typeof im === "number") return `{ re: ${re}, im: ${im} }`;
  const { name } = value.constructor ?? {};
  if (!name || name === "Object") return "an object";
  return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
}
