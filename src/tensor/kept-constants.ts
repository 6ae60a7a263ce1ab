/**
 * Constants that operations compute on the host and use again: tables of Fourier transforms, weights of cosine transforms. Each
 * device keeps some, the most recently used ones. What is let go stays valid for programs that hold it; the garbage collector
 * frees it.
 */
import type { DType } from "../core/dtype.js";
import type { Shape } from "../core/shape.js";
import { viewBytes } from "../core/storage.js";
import type { Node } from "../graph/node.js";
import type { Backend } from "../runtime/backend.js";
import { storedNode } from "./build.js";

/** Bytes that a device keeps. */
const KEPT_BYTES = 1 << 26;

const kept = new WeakMap<Backend, Map<string, Node>>();

/** Numbers as a node; `key` says which they are, of all constants of this shape and dtype. */
export function keptConstants(
  backend: Backend,
  key: string,
  shape: Shape,
  dtype: DType,
  make: () => ArrayBufferView,
): Node {
  const known = kept.get(backend) ?? new Map<string, Node>();
  kept.set(backend, known);
  const name = `${key} ${dtype}[${shape}]`;
  const found = known.get(name) ?? held(storedNode(backend, viewBytes(make()), shape, dtype));
  // The last in the map is the one that was used last.
  known.delete(name);
  known.set(name, found);
  release(known);
  return found;
}

/** Held, as a tensor would hold it. */
function held(node: Node): Node {
  node.handles++;
  return node;
}

function release(known: Map<string, Node>): void {
  let bytes = [...known.values()].reduce((sum, { storage }) => sum + (storage?.byteLength ?? 0), 0);
  for (const [name, { storage }] of known) {
    if (bytes <= KEPT_BYTES || known.size === 1) return;
    bytes -= storage?.byteLength ?? 0;
    known.delete(name);
  }
}
