/**
 * Lets instances of a class be nodes of trees: a class says which of its parts are trees, what else it needs, and how
 * to make it anew. The entry lives on the class itself, under a symbol, so there is no registry to keep in step.
 * tree.ts looks entries up; users reach `registerClass` through it.
 */
import { ArgumentError } from "./errors.js";

/** How instances of a class take part in trees. */
export interface TreeClass<C, D = undefined> {
  /** What error messages call it. */
  readonly name: string;
  /** The parts that are trees. */
  children(instance: C): Readonly<Record<string, unknown>>;
  /** Everything else that is needed to rebuild it: part of the structure. Plain data counts by value, other things by identity. */
  data?(instance: C): D;
  rebuild(children: Readonly<Record<string, unknown>>, data: D): C;
}

export interface Registered extends TreeClass<unknown, unknown> {
  /** Tells classes of the same name apart in structure keys. */
  readonly id: string;
}

const REGISTERED = Symbol("pumice.tree");
let registrations = 0;

/** Registers a class; its subclasses are registered separately, since they are rebuilt differently. */
export function registerClass<C, D = undefined>(
  treeClass: abstract new (...args: never[]) => C,
  entry: TreeClass<C, D>,
): void {
  if (Object.hasOwn(treeClass, REGISTERED)) {
    throw new ArgumentError(`tree.registerClass: ${entry.name} is registered already.`);
  }
  const registered = { ...entry, id: `${entry.name}#${registrations++}` };
  Object.defineProperty(treeClass, REGISTERED, { value: registered });
}

export function registeredAs(value: unknown): Registered | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const made = value.constructor;
  if (typeof made !== "function" || !Object.hasOwn(made, REGISTERED)) return undefined;
  return (made as unknown as { [REGISTERED]: Registered })[REGISTERED];
}
