/**
 * Options with other values. An option that is an estimator may be changed by options of its own, and a list of estimators by those of
 * some of them: `.with({ estimator: { alpha: 2 } })`, `.with({ estimators: { 0: { alpha: 2 } } })`. `with` of every kind calls this.
 */
import { isPlainObject } from "../../io/trees/json.js";

interface Changeable {
  with(options: object): unknown;
}

const isChangeable = (value: unknown): value is Changeable =>
  typeof value === "object" && value !== null && "fit" in value && "with" in value;

/** Options of an estimator in place of an estimator. */
const areOptions = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isPlainObject(value) && !isChangeable(value);

/** A value, or that which stood there with other options. */
export function changedOption(current: unknown, given: unknown): unknown {
  if (!areOptions(given)) return given;
  if (isChangeable(current)) return current.with(given);
  if (!Array.isArray(current) || !current.some(isChangeable)) return given;
  return current.map((each, place) => (place in given ? changedOption(each, given[place]) : each));
}

/** @see changedOption */
export function changedOptions<O extends object>(options: O, others: Partial<O>): O {
  const known = options as Readonly<Record<string, unknown>>;
  const changed = Object.entries(others).map(([name, value]) => [name, changedOption(known[name], value)]);
  return { ...options, ...Object.fromEntries(changed) };
}
