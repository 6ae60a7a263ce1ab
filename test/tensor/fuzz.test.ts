/**
 * Random graphs of every kind of primitive: computed fused on each engine, against the same graph computed node by node,
 * against a plain interpreter that shares nothing with the library. With numbers changed, the same graph has run with other
 * constants before, so that its own are data of the program. What fails is cut smaller and printed.
 *
 * A fixed set of seeds runs by default. PUMICE_FUZZ_SECONDS=600 goes on with new seeds for that long, from
 * PUMICE_FUZZ_SEED (or the clock) on; PUMICE_FUZZ_SEED alone runs that one.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PanelTile, SharedTile } from "../../src/compiler/target/tile-profile.js";
import { sizeOf } from "../../src/core/shape.js";
import { dataOf } from "../../src/core/storage.js";
import type { Node } from "../../src/graph/node.js";
import type { Backend, DeviceStorage } from "../../src/runtime/backend.js";
import { backendFor } from "../../src/tensor/index.js";
import type { Value } from "../support/element-oracle.js";
import { withTiles } from "../support/forced-tiles.js";
import { type GraphOptions, randomSpec } from "../support/graph-generator.js";
import { shrink } from "../support/graph-shrink.js";
import { buildGraph, interpret, type Plain, printSpec, type Spec } from "../support/graph-specs.js";
import { testDevices } from "../support/tensors.js";

type Mode = "fused" | "node by node" | "numbers changed";

function readNode(node: Node, backend: Backend): Value[] {
  backend.realize([node]);
  const bytes = backend.readSync(node.storage as DeviceStorage);
  return Array.from(dataOf(bytes, node.dtype, sizeOf(node.shape)) as ArrayLike<Value>);
}

/** The first difference in words, or null. */
function difference(got: readonly Value[], { values, doubt, isApproximate, shape, dtype }: Plain): string | null {
  if (got.length !== values.length) return `${got.length} elements, not ${values.length}`;
  for (let i = 0; i < got.length; i++) {
    const [value, want] = [got[i]!, values[i]!];
    if (doubt?.[i] || value === want || (Number.isNaN(value) && Number.isNaN(want))) continue;
    if (isApproximate && Math.abs(Number(value) - Number(want)) <= 1e-5 * Math.max(1, Math.abs(Number(want)))) continue;
    return `element ${i} of ${dtype}[${shape}] is ${value}, not ${want}`;
  }
  return null;
}

/** The graph with 0, 1 or 2 in the place of some constants: what folds, and what is not folded in the next. */
function withOtherNumbers(spec: Spec, isChanged: (constant: number) => boolean): Spec {
  const nodes = spec.nodes.map((node, i) => {
    if (node.op !== "constant" || !isChanged(i)) return node;
    const { value } = node.params;
    const other = typeof value === "boolean" ? !value : typeof value === "bigint" ? BigInt(i % 3) : i % 3;
    return { ...node, params: { ...node.params, value: other } };
  });
  return { ...spec, nodes };
}

interface Failure {
  /** The node that is wrong; the last root where computing threw. */
  readonly node: number;
  readonly text: string;
}

/** A device as a spec is to meet it: one that knows no programs where it matters which numbers came first. */
type Fresh = () => Backend;
const freshFor = (mode: Mode, device: string): Fresh =>
  mode === "numbers changed" ? () => withTiles(device, {}) : () => backendFor(device);

/** What is wrong with the library's answer, or null. */
function failure(spec: Spec, device: string, mode: Mode, backend: Backend): Failure | null {
  const wanted = interpret(spec);
  let found: Failure | null = null;
  const compare = (node: Node, index: number) => {
    if (found) return;
    const text = difference(readNode(node, backend), wanted[index] as Plain);
    if (text) found = { node: index, text };
  };
  let reached = 0;
  const built = (given: Spec, each?: (node: Node, index: number) => void) => buildGraph(given, device, each, backend);
  const realize = (nodes: readonly Node[]) => backend.realize(spec.roots.map((root) => nodes[root] as Node));
  try {
    if (mode === "numbers changed") {
      realize(built(withOtherNumbers(spec, (constant) => constant % 2 === 0)));
      realize(built(withOtherNumbers(spec, () => true)));
    }
    const nodes = built(spec, (node, index) => {
      reached = index;
      if (mode === "node by node") compare(node, index);
    });
    if (mode !== "node by node") {
      realize(nodes);
      for (const root of spec.roots) compare(nodes[root] as Node, root);
    }
    return found;
  } catch (error) {
    return { node: reached, text: `it throws ${error instanceof Error ? error.message : error}` };
  }
}

/** Returns how many programs were compiled. */
function checkSpec(
  seed: number,
  options: GraphOptions,
  device: string,
  mode: Mode,
  fresh = freshFor(mode, device),
): number {
  const spec = randomSpec(seed, options);
  const backend = fresh();
  const before = backend.counters.compiled;
  const wrong = failure(spec, device, mode, backend);
  if (wrong === null) return backend.counters.compiled - before;
  // Node by node, what is wrong need not be a root.
  const start = mode === "node by node" ? { ...spec, roots: [wrong.node] } : spec;
  const isWrong = (candidate: Spec) => failure(candidate, device, mode, fresh()) !== null;
  const small = shrink(start, isWrong, device === "cpu" ? 3000 : 600);
  const left = failure(small, device, mode, fresh());
  assert.fail(
    `seed ${seed} ${JSON.stringify(options)}, ${mode} on ${device}: n${wrong.node}: ${wrong.text}\n` +
      `cut down to n${left?.node}: ${left?.text}\n${printSpec(small)}`,
  );
}

const small: GraphOptions = { steps: 12, maxSize: 400 };
const middling: GraphOptions = { steps: 40, maxSize: 2000 };
const large: GraphOptions = { steps: 120, maxSize: 600 };
const moving: GraphOptions = { steps: 14, maxSize: 1500, onlyMovement: true };
/** Long enough for vectors, lanes and reductions in two steps. */
const wide: GraphOptions = { steps: 7, maxSize: 40000, extents: [1, 2, 3, 5, 129, 1030, 20001, 33000] };
/** Many values asked for at once, over few shapes, so that they share kernels. */
const siblings: GraphOptions = { steps: 24, maxSize: 5000, extents: [1, 6, 70], extraRoots: 12 };
/** Products of matrices, small ones in tiles like large ones. */
const products: GraphOptions = { steps: 12, maxSize: 1200, products: true };
const kinds = { small, middling, large, moving, wide, siblings, products };

const tileOn = (device: string): PanelTile | SharedTile =>
  device === "cpu"
    ? { kind: "panels", rows: 8, columns: 8, depth: 12, micro: [4, 2], lanes: 4 }
    : { kind: "shared", rows: 32, columns: 32, depth: 8, perLane: [4, 4], buffers: 1, unrolled: 4 };

/** Every other graph in the tiles that are planned for it. */
function inTiles(seed: number, device: string): Backend {
  const tile = seed % 2 === 0 ? tileOn(device) : undefined;
  return withTiles(device, { ...(tile && { kind: tile.kind }), forced: { tile, parts: seed % 3 === 0 ? 3 : 1 } });
}

const devices = testDevices();
const named = process.env.PUMICE_FUZZ_SEED ? Number(process.env.PUMICE_FUZZ_SEED) : null;
const seconds = Number(process.env.PUMICE_FUZZ_SECONDS ?? 0);

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);

describe("random graphs", { skip: devices.length === 0 ? "missing: a device for tensors" : false }, () => {
  if (named !== null || seconds > 0) {
    test("open-ended", () => {
      const end = Date.now() + 1000 * seconds;
      let seed = named ?? Date.now() % 2 ** 31;
      let count = 0;
      do {
        for (const options of Object.values(kinds)) {
          for (const device of devices) {
            checkSpec(seed, options, device, "fused", options.products ? () => inTiles(seed, device) : undefined);
            if (device === "cpu" || count % 10 === 0) {
              checkSpec(seed, options, device, "node by node");
              checkSpec(seed, options, device, "numbers changed");
            }
          }
        }
        seed++;
        count++;
      } while (Date.now() < end);
      console.log(`${count} seeds from ${seed - count} on, ${Object.keys(kinds).length} graphs each: no difference`);
    });
    return;
  }
  // Drivers take long to compile, so they get fewer graphs.
  const plans: readonly (readonly [keyof typeof kinds, Mode, string, number])[] = devices.flatMap((device) => {
    const isHost = device === "cpu";
    return [
      ["small", "fused", device, isHost ? 100 : 15],
      ["moving", "fused", device, isHost ? 100 : 20],
      ["middling", "fused", device, isHost ? 20 : 4],
      ["large", "fused", device, isHost ? 6 : 1],
      ["wide", "fused", device, isHost ? 15 : 6],
      ["siblings", "fused", device, isHost ? 40 : 8],
      ["products", "fused", device, isHost ? 80 : 10],
      ["small", "numbers changed", device, isHost ? 60 : 6],
      ["middling", "numbers changed", device, isHost ? 10 : 2],
      ["large", "numbers changed", device, isHost ? 3 : 0],
      ["wide", "numbers changed", device, isHost ? 8 : 2],
      ["siblings", "numbers changed", device, isHost ? 15 : 3],
      ["products", "numbers changed", device, isHost ? 30 : 4],
      ["small", "node by node", device, isHost ? 40 : 2],
      ["middling", "node by node", device, isHost ? 4 : 0],
      ["large", "node by node", device, isHost ? 2 : 0],
    ] as const;
  });
  for (const [kind, mode, device, count] of plans) {
    if (count === 0) continue;
    test(`${count} ${kind} graphs, ${mode}, on ${device}`, () => {
      let compiled = 0;
      for (const seed of range(1, count)) {
        const fresh = kind === "products" ? () => inTiles(seed, device) : undefined;
        compiled += checkSpec(seed, kinds[kind], device, mode, fresh);
      }
      // Most have constants, which are then data of a second program.
      if (mode === "numbers changed") assert.ok(compiled > 1.5 * count, `${compiled} programs for ${count} graphs`);
    });
  }
});
