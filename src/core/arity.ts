/**
 * Refuses arguments that a function has no parameter for. JavaScript drops them in silence, so that `x.exp(5)` or
 * `x.matmul(y, { dtype })` would seem to mean something. `src/tensor/tensor.ts` wraps the methods of `Tensor` once, when it
 * assembles them; free functions call `checkCount` in their first line.
 */
import { ArgumentError } from "./errors.js";
import { shown } from "./shown.js";

// biome-ignore lint/suspicious/noExplicitAny: the receiver and the arguments are the method's own business
type Method = (this: any, ...args: any[]) => unknown;

/** Throws if more than `most` arguments were given: `checkCount("matmul", 2, arguments)`. Those left undefined do not count. */
export function checkCount(operation: string, most: number, given: ArrayLike<unknown>): void {
  if (given.length > most) checkSurplus(operation, most, Array.from(given), false);
}

/** The number of arguments of wrapped methods. */
const COUNTS = new WeakMap<object, number>();

/** The number of arguments of a method that `refusingSurplus` has wrapped; of others, Infinity. */
export const mostArguments = (method: object): number => COUNTS.get(method) ?? Infinity;

/** The same method, which throws on surplus arguments. One with a rest parameter takes any number and stays as it is. */
export function refusingSurplus<M extends Method>(name: string, method: M): M {
  const most = parameterCount(method);
  if (most === Infinity) return method;
  const takesOptions = /^[^{]*\boptions\b/.test(method.toString());
  const refuse = (given: ArrayLike<unknown>) => checkSurplus(name, most, Array.from(given), takesOptions);
  const checked = passing(method, most, refuse);
  COUNTS.set(checked, most);
  // Stacks name the method, and transforms may ask how many arguments it takes.
  return Object.defineProperties(checked, { name: { value: name }, length: { value: method.length } }) as Method as M;
}

/**
 * A function that passes its arguments on to the method, and calls `refuse` when there are more than `most`. Few arguments are
 * passed one by one: an array of them for every operation is felt.
 */
function passing(method: Method, most: number, refuse: (given: ArrayLike<unknown>) => void): Method {
  switch (most) {
    case 0:
      return function (this: unknown) {
        if (arguments.length > 0) refuse(arguments);
        return method.call(this);
      };
    case 1:
      return function (this: unknown, a: unknown) {
        if (arguments.length > 1) refuse(arguments);
        return method.call(this, a);
      };
    case 2:
      return function (this: unknown, a: unknown, b: unknown) {
        if (arguments.length > 2) refuse(arguments);
        return method.call(this, a, b);
      };
    default:
      return function (this: unknown, ...args: unknown[]) {
        if (args.length > most) refuse(args);
        return method.apply(this, args);
      };
  }
}

function checkSurplus(operation: string, most: number, given: readonly unknown[], takesOptions: boolean): void {
  const surplus = given.slice(most);
  if (surplus.every((value) => value === undefined)) return;
  const takes = ["no argument, but", "one argument, but also"][most] ?? `${most} arguments at most, but also`;
  const [index, list] = given.slice(-2);
  const isCallback = given.length > 2 && Array.isArray(list) && Number.isInteger(index);
  // As in sum(0, { keepDims: true }).
  const before = given[most - 1];
  const isBesideOptions = takesOptions && isPlainObject(surplus[0]) && Number.isInteger(before);
  const remedy = isCallback
    ? `, as array methods pass them; write xs.map((x) => ${operation}(x))`
    : isBesideOptions
      ? `; put ${before} into it by name, as { axis: ${before} } for an axis`
      : `; leave ${surplus.length === 1 ? "it" : "them"} out`;
  throw new ArgumentError(`${operation}: takes ${takes} got ${surplus.map(shown).join(", ")}${remedy}.`);
}

const isPlainObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/**
 * The number of parameters that a function declares, counted in its text: `length` stops at the first one with a default value.
 * Infinity with a rest parameter.
 * @internal for tests: it reads JavaScript, so that its grammar is tested by itself
 */
export function parameterCount(method: (...args: never[]) => unknown): number {
  const text = method.toString().replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
  let depth = 0;
  let count = 0;
  let isFresh = true;
  for (let i = text.indexOf("("); i < text.length; i++) {
    const char = text[i];
    if (depth === 1 && char === ")") return count;
    if (depth === 1 && char === ",") isFresh = true;
    else if (depth === 1 && isFresh && /\S/.test(char)) {
      if (text.startsWith("...", i)) return Infinity;
      count++;
      isFresh = false;
    }
    if ("\"'`".includes(char)) i = text.indexOf(char, i + 1);
    else if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
  }
  return Infinity;
}
