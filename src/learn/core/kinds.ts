/**
 * Kinds by name: how the estimators and models of each are taken apart into plain values and tensors, and made again of them. Makers
 * tell it when they are defined; files (src/learn/files) ask. A file only ever names a kind: no code comes out of it.
 */
import { ArgumentError } from "../../core/errors.js";

/** The parts of an estimator or a model by name: options, tensors, other models, lists and plain objects of them. */
type Parts = Readonly<Record<string, unknown>>;

/** How things of one kind are made of their parts. Throws on parts that make no sense. */
type Remake = (parts: Parts) => object;

interface Kind {
  readonly estimator: Remake | null;
  readonly model: Remake | null;
}

const kinds = new Map<string, Kind>();
const apart = new WeakMap<object, { readonly sort: "estimator" | "model"; readonly kind: string; parts(): Parts }>();

/** Tells how estimators and models of a kind are made of their parts. */
export function registerKind(kind: string, remakes: Partial<Kind>): void {
  if (kinds.has(kind)) throw new ArgumentError(`learn: two kinds are called "${kind}".`);
  kinds.set(kind, { estimator: remakes.estimator ?? null, model: remakes.model ?? null });
}

/** Notes how this estimator is taken apart, and returns it. */
export function takenApart<T extends object>(
  sort: "estimator" | "model",
  kind: string,
  made: T,
  parts: () => Parts,
): T {
  apart.set(made, { sort, kind, parts });
  return made;
}

/** An estimator or a model as files hold it; undefined for anything else. */
export const partsOf = (value: object) => apart.get(value);

/** How things of a kind are made; undefined where no maker has this name. */
export const kindNamed = (kind: string): Kind | undefined => kinds.get(kind);

/** The names of all kinds. */
export const kindNames = (): string[] => [...kinds.keys()].sort();
