/** The members of `Tensor`, read from the class itself: sweeps over all methods fail when one is new and not in their table. */
import { Tensor } from "../../src/tensor/index.js";

/** Marked @internal: not for users. */
const INTERNAL = [
  "constructor",
  "node",
  "tensorOf",
  "again",
  "surrender",
  "isOnlyHolder",
  "isDisposed",
  "checkReadable",
];

/** Properties that describe a tensor, and what ends it: no operations. */
export const PROPERTIES = ["shape", "dtype", "device", "rank", "size", "dispose", "toString"] as const;

/** Refusals that TypeScript does not know of; see src/tensor/methods/no-values.ts. */
const UNDECLARED = ["toJSON"];

/** The names of everything a user may call or read on a tensor. */
export function publicMembers(): string[] {
  const names: string[] = [];
  for (let type: object = Tensor.prototype; type !== Object.prototype; type = Object.getPrototypeOf(type)) {
    names.push(...Object.getOwnPropertyNames(type));
  }
  return [...new Set(names)].filter((name) => ![...INTERNAL, ...UNDECLARED].includes(name));
}

/** The names of operations on tensors. */
export const operations = (): string[] =>
  publicMembers().filter((name) => !(PROPERTIES as readonly string[]).includes(name));
