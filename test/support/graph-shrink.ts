/** Cuts a failing spec smaller while it keeps failing: fewer roots, fewer nodes, smaller extents, plainer values. */

import type { Value } from "./element-oracle.js";
import { inferred, interpret, type Plain, type Spec, type SpecNode } from "./graph-specs.js";
import { sizeOf } from "./plain-views.js";

/** Tries until no step helps. `isFailing` must not throw. */
export function shrink(spec: Spec, isFailing: (spec: Spec) => boolean, maxTries = 2000): Spec {
  let best = prune(spec);
  let tries = 0;
  const attempt = (candidate: Spec | null): boolean => {
    if (!candidate || tries >= maxTries) return false;
    tries++;
    const pruned = prune(candidate);
    if (!isSmaller(pruned, best) || !isFailing(pruned)) return false;
    best = pruned;
    return true;
  };
  for (let isBetter = true; isBetter && tries < maxTries; ) {
    isBetter = false;
    if (best.roots.length > 1) {
      isBetter ||= best.roots.some((root) => attempt({ ...best, roots: [root] }));
    }
    // From the root backwards: what is cut early takes the most with it.
    for (let i = best.nodes.length - 1; i >= 0; i--) {
      if (i >= best.nodes.length) continue;
      if (attempt(asLeaf(best, i))) isBetter = true;
      else for (const candidate of bypasses(best, i)) if (attempt(candidate)) isBetter = true;
    }
    for (const extent of extentsOf(best)) {
      for (const smaller of [0, 1, 2, Math.floor(extent / 2), extent - 1]) {
        if (smaller < extent && smaller >= 0 && attempt(withExtent(best, extent, smaller))) {
          isBetter = true;
          break;
        }
      }
    }
    for (const node of best.nodes.keys()) if (attempt(withZeros(best, node))) isBetter = true;
  }
  return best;
}

const weight = ({ nodes, roots }: Spec): number =>
  nodes.reduce((sum, { shape, values, op }) => {
    const isPlain = values?.every((value) => value === 0 || value === 0n) === true;
    return sum + 1000 * (op === "buffer" ? 0.5 : 1) + Math.min(900, sizeOf(shape)) + (isPlain ? 0 : 0.5);
  }, 0) +
  10 * roots.length;

const isSmaller = (a: Spec, b: Spec): boolean => weight(a) < weight(b);

/** Only what the roots need, numbered anew. */
function prune({ nodes, roots }: Spec): Spec {
  const needed = new Set<number>();
  const visit = (root: number) => {
    const stack = [root];
    for (let i = stack.pop(); i !== undefined; i = stack.pop()) {
      if (needed.has(i)) continue;
      needed.add(i);
      stack.push(...(nodes[i] as SpecNode).inputs);
    }
  };
  roots.forEach(visit);
  const numbers = new Map([...needed].sort((a, b) => a - b).map((old, i) => [old, i]));
  const at = (old: number) => numbers.get(old) as number;
  return {
    nodes: [...numbers.keys()].map((old) => {
      const node = nodes[old] as SpecNode;
      return { ...node, inputs: node.inputs.map(at) };
    }),
    roots: roots.map(at),
  };
}

/** The node's value instead of the node. */
function asLeaf(spec: Spec, i: number): Spec | null {
  const node = spec.nodes[i];
  if (!node || node.op === "buffer") return null;
  const value = interpret({ nodes: spec.nodes.slice(0, i + 1), roots: [i] })[i] as Plain;
  const leaf: SpecNode = {
    op: "buffer",
    inputs: [],
    params: { shape: node.shape, dtype: node.dtype },
    shape: node.shape,
    dtype: node.dtype,
    values: value.values,
  };
  return { ...spec, nodes: spec.nodes.with(i, leaf) };
}

/** An input of the same shape and dtype instead of the node. */
function bypasses(spec: Spec, i: number): Spec[] {
  const node = spec.nodes[i];
  if (!node) return [];
  return node.inputs
    .filter((input) => {
      const { shape, dtype } = spec.nodes[input] as SpecNode;
      return dtype === node.dtype && shape.length === node.shape.length && shape.every((n, k) => n === node.shape[k]);
    })
    .map((input) => ({
      nodes: spec.nodes.map((other) => ({ ...other, inputs: other.inputs.map((k) => (k === i ? input : k)) })),
      roots: spec.roots.map((root) => (root === i ? input : root)),
    }));
}

const extentsOf = ({ nodes }: Spec): number[] =>
  [...new Set(nodes.flatMap(({ shape }) => shape))].sort((a, b) => b - a);

/** One extent replaced wherever it stands, if the operations still fit. */
function withExtent({ nodes, roots }: Spec, from: number, to: number): Spec | null {
  const changed: SpecNode[] = [];
  const swap = (shape: readonly number[]) => shape.map((extent) => (extent === from ? to : extent));
  try {
    for (const node of nodes) {
      if (node.op === "buffer") {
        const shape = swap(node.shape);
        const values = Array.from(
          { length: sizeOf(shape) },
          (_, i) => node.values?.[i % Math.max(1, node.values.length)] as Value,
        );
        changed.push({ ...node, shape, values, params: { shape, dtype: node.dtype } });
        continue;
      }
      const { shape: wanted } = node.params as { shape?: readonly number[] };
      const params = wanted ? { ...node.params, shape: swap(wanted) } : node.params;
      const inputs = node.inputs.map((input) => changed[input] as SpecNode);
      changed.push({ ...node, params, ...inferred(node.op, inputs, params) });
    }
    const spec = { nodes: changed, roots };
    // What reads past the end of an input has not thrown.
    return interpret(spec).every(({ values }) => !values.includes(undefined as never)) ? spec : null;
  } catch {
    return null;
  }
}

function withZeros(spec: Spec, i: number): Spec | null {
  const node = spec.nodes[i];
  if (!node?.values || node.values.every((value) => value === 0 || value === 0n)) return null;
  const zero = typeof node.values[0] === "bigint" ? 0n : 0;
  return { ...spec, nodes: spec.nodes.with(i, { ...node, values: node.values.map(() => zero) }) };
}
