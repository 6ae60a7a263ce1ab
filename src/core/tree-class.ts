/**
 * Lets instances of a class be nodes of trees: a class names its parts that are trees, its other data, and how to rebuild
 * it. The entry lives on the class itself, under a symbol, so there is no registry to keep in step.
 * tree.ts looks entries up; users reach `registerClass` through it.
 */
import { checkFunction, checkOptions, checkString } from "./arguments.js";
import { ArgumentError } from "./errors.js";
import { shown } from "./shown.js";

/** The rules by which instances of a class are parts of trees. */
export interface TreeClass<C, D = undefined> {
  /** Its name in error messages. */
  readonly name: string;
  /** The parts that are trees. */
  children(instance: C): Readonly<Record<string, unknown>>;
  /** Other data needed to rebuild it; part of the structure. Plain data is compared by value, anything else by identity. */
  data?(instance: C): D;
  rebuild(children: Readonly<Record<string, unknown>>, data: D): C;
}

export interface Registered extends TreeClass<unknown, unknown> {
  /** Tells classes of the same name apart in structure keys. */
  readonly id: string;
}

const REGISTERED = Symbol("pumice.tree");
let registrations = 0;

/** Registers a class. Subclasses are registered separately, since they are rebuilt differently. Registering twice is fine. */
export function registerClass<C, D = undefined>(
  treeClass: abstract new (...args: never[]) => C,
  entry: TreeClass<C, D>,
): void {
  checkEntry(treeClass, entry);
  const { name, children, data, rebuild } = entry;
  const known = registrationOf(treeClass);
  if (known) {
    if (known.children === children && known.data === data && known.rebuild === rebuild) return;
    throw new ArgumentError(`tree.registerClass: ${name} is registered already, in another way.`);
  }
  const registered = { name, children, data, rebuild, id: `${name}#${registrations++}` };
  Object.defineProperty(treeClass, REGISTERED, { value: registered });
}

function checkEntry<C, D>(treeClass: unknown, entry: TreeClass<C, D>): void {
  const operation = "tree.registerClass";
  if (typeof treeClass !== "function") {
    throw new ArgumentError(`${operation}: takes a class, not ${shown(treeClass)}.`);
  }
  if (treeClass === Array || treeClass === Object) {
    throw new ArgumentError(
      `${operation}: ${treeClass.name} cannot be registered; arrays and objects are part of trees.`,
    );
  }
  if (typeof entry !== "object" || entry === null) {
    throw new ArgumentError(
      `${operation}: ${treeClass.name} comes with ${shown(entry)}; say how it is taken apart: { name, children, rebuild }.`,
    );
  }
  checkOptions<TreeClass<C, D>>(operation, entry, { name: "any", children: "any", data: "any", rebuild: "any" });
  checkString(operation, "the name", entry.name);
  checkFunction(operation, entry.children, "children");
  checkFunction(operation, entry.rebuild, "rebuild");
  if (entry.data !== undefined) checkFunction(operation, entry.data, "data");
}

/** The registration of this very class, not of one it extends. */
function registrationOf(made: unknown): Registered | undefined {
  if (typeof made !== "function" || !Object.hasOwn(made, REGISTERED)) return undefined;
  return (made as unknown as { [REGISTERED]: Registered })[REGISTERED];
}

export function registeredAs(value: unknown): Registered | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return registrationOf(value.constructor);
}
