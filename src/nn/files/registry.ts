/**
 * Functions and layers that files name: a file holds no code, so a function of the user's own has a name that the saving and the
 * loading program agree on. Activations have names already. architecture.ts looks here.
 */
import { checkFunction, checkString } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import * as activations from "../activations/index.js";
import type { AnyLayer } from "../core/layer.js";

type AnyFunction = (...given: never[]) => unknown;

/** Makes a layer from its options, and its parts where it has any. */
export type LayerMaker = (
  options: Readonly<Record<string, unknown>>,
  parts: Readonly<Record<string, AnyLayer>>,
) => AnyLayer;

const functions = new Map<string, AnyFunction>();
const names = new Map<AnyFunction, string>();
const layers = new Map<string, LayerMaker>();

for (const [name, value] of Object.entries(activations)) {
  if (typeof value === "function") note(`activations.${name}`, value as AnyFunction);
}

function note(name: string, f: AnyFunction): void {
  functions.set(name, f);
  if (!names.has(f)) names.set(f, name);
}

/**
 * Gives a function a name under which files know it, and returns it: `sequential(dense(8), registerFunction("leaky", (x) => …))`. The
 * program that loads the model registers it, too. Functions of `block` and `cond` are registered in the same way.
 */
export function registerFunction<F extends (...given: never[]) => unknown>(name: string, f: F): F {
  checkString("registerFunction", "the name", name);
  checkFunction("registerFunction", f);
  const other = functions.get(name);
  if (other !== undefined && other !== f) {
    throw new ArgumentError(`registerFunction: another function is called "${name}"; take another name.`);
  }
  note(name, f);
  return f;
}

/** Tells files how a layer of the user's own is made from the options that it was made with: `registerLayer("scale", () => scale)`. */
export function registerLayer(kind: string, make: LayerMaker): void {
  checkString("registerLayer", "the kind", kind);
  checkFunction("registerLayer", make);
  const other = layers.get(kind);
  if (other !== undefined && other !== make) {
    throw new ArgumentError(`registerLayer: layers of kind "${kind}" are registered already; take another kind.`);
  }
  layers.set(kind, make);
}

export const functionNamed = (name: string): AnyFunction | undefined => functions.get(name);
export const nameOfFunction = (f: AnyFunction): string | undefined => names.get(f);
export const makerOf = (kind: string): LayerMaker | undefined => layers.get(kind);
