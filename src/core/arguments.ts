/**
 * Checks of the arguments that users pass. Most programs that call us are not type-checked, and a misspelt option that is
 * ignored costs more than one that throws. An operation lists its options and their kinds in a table; a check loops over the
 * few keys given. Every public operation checks here.
 */
import { checkDType, isDType } from "./dtype.js";
import { ArgumentError, PumiceError } from "./errors.js";
import { remedyForTensor, shown } from "./shown.js";

/** Values in lists in lists, to any depth. */
export type Values<T> = T | readonly Values<T>[];

interface Kind {
  readonly what: string;
  holds(value: unknown): boolean;
}

const isNumbers = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === "number");

/** The kinds of options. `any`: the operation checks the value itself. */
const KINDS = {
  flag: { what: "true or false", holds: (value) => typeof value === "boolean" },
  number: { what: "a number", holds: (value) => typeof value === "number" },
  numbers: { what: "a number or a list of numbers", holds: (value) => typeof value === "number" || isNumbers(value) },
  list: { what: "a list of numbers", holds: isNumbers },
  text: { what: "a string", holds: (value) => typeof value === "string" },
  dtype: { what: "a dtype", holds: isDType },
  function: { what: "a function", holds: (value) => typeof value === "function" },
  signal: { what: "an AbortSignal", holds: (value) => value instanceof AbortSignal },
  any: { what: "anything", holds: () => true },
} as const satisfies Record<string, Kind>;

/** The options of an operation. */
export type OptionKinds<O> = { readonly [K in keyof Required<O>]: keyof typeof KINDS };

/** Throws on an unknown option, on one of the wrong kind, and on a value that is no object of options. */
export function checkOptions<O extends object>(operation: string, options: O, known: OptionKinds<O>): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw noOptions(operation, options, known);
  for (const name in options) {
    if (!Object.hasOwn(known, name)) throw noOption(operation, options, name, known);
    const value = options[name];
    const kind: Kind = KINDS[known[name]];
    if (value === undefined || kind.holds(value)) continue;
    if (kind === KINDS.dtype) checkDType(value, operation);
    throw new ArgumentError(`${operation}: the option ${name} is ${kind.what}, ${butNot(value)}`);
  }
}

function noOption(operation: string, options: object, name: string, known: object): ArgumentError {
  if (Object.getPrototypeOf(options) !== Object.prototype) return noOptions(operation, options, known);
  const names = Object.keys(known);
  const list = ["there is none", `the only one is ${names[0]}`][names.length] ?? `there are ${names.join(", ")}`;
  return new ArgumentError(`${operation}: there is no option "${name}"; ${list}.`);
}

/** The error for a value in place of the options object: often the value of one option. All that it fits are named. */
function noOptions(operation: string, value: unknown, known: object): ArgumentError {
  const kinds = Object.entries(known) as [string, keyof typeof KINDS][];
  if (kinds.length === 0) return new ArgumentError(`${operation}: takes no options; leave ${shown(value)} out.`);
  const isAxis = (Array.isArray(value) ? value : [value]).every(Number.isInteger);
  const holding = kinds.filter(
    ([name, kind]) => kind !== "any" && KINDS[kind].holds(value) && (isAxis || !/^ax[ei]s$/.test(name)),
  );
  const dtypes = holding.filter(([, kind]) => kind === "dtype");
  const fitting = dtypes.length > 0 ? dtypes : holding;
  const example =
    fitting.length === 0
      ? `{ ${kinds[0][0]}: … }`
      : fitting.map(([name]) => `{ ${name}: ${shown(value)} }`).join(" or ");
  return new ArgumentError(
    `${operation}: ${shown(value)} stands where options do, which come last, as an object; write ${example}.${remedyForTensor(value)}`,
  );
}

/** The end of a message: the value that was given. */
const butNot = (value: unknown): string => `not ${shown(value)}.${remedyForTensor(value)}`;

/** Checks that a value is one of the choices, or undefined. */
export function checkChoice(operation: string, what: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value as string)) return;
  throw new ArgumentError(`${operation}: ${what} is ${shown(value)}; it is ${choices.map(shown).join(" or ")}.`);
}

/** A whole number from `least` on. */
export function checkWhole(operation: string, what: string, value: number, least = Number.MIN_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  const from = least === Number.MIN_SAFE_INTEGER ? "" : ` from ${least} on`;
  throw new ArgumentError(`${operation}: ${what} is a whole number${from}, ${butNot(value)}`);
}

export function checkNumber(operation: string, what: string, value: number): number {
  if (typeof value === "number") return value;
  throw new ArgumentError(`${operation}: ${what} is a number, ${butNot(value)}`);
}

export function checkString(operation: string, what: string, value: string): string {
  if (typeof value === "string") return value;
  throw new ArgumentError(`${operation}: ${what} is a string, not ${shown(value)}.`);
}

/** `what` names the argument, for operations that take several functions. */
export function checkFunction(operation: string, value: unknown, what?: string): void {
  if (typeof value === "function") return;
  const claim = what === undefined ? "takes a function" : `${what} is a function`;
  throw new ArgumentError(`${operation}: ${claim}, not ${shown(value)}.`);
}

/**
 * Runs the steps of an operation. An error in a step names the operation that the user called, not the step.
 */
export function inOperation<T>(operation: string, steps: () => T): T {
  try {
    return steps();
  } catch (error) {
    throw error instanceof PumiceError ? renamed(error, operation) : error;
  }
}

/** Replaces the operation's name at the beginning of a message. Messages of engines have none and stay. */
function renamed(error: PumiceError, operation: string): PumiceError {
  const step = /^[a-z][\w.]*(?=[:,] )/i.exec(error.message)?.[0];
  if (step === operation) return error;
  const Class = error.constructor as new (message: string, options: ErrorOptions) => PumiceError;
  const rest = step === undefined ? `: ${error.message}` : error.message.slice(step.length);
  return new Class(operation + rest, { cause: error });
}
