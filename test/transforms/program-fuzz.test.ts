/**
 * Random graphs as jitted functions and as the bodies of loops, against a plain interpreter: intermediate values share an
 * arena, arguments are donated, and elements of sequences begin anywhere; none may write over what another still needs.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jit, scan, stack, Tensor } from "../../src/index.js";
import type { Value } from "../support/element-oracle.js";
import { type GraphOptions, randomSpec } from "../support/graph-generator.js";
import { buildGraph, interpret, type Plain, printSpec, type Spec } from "../support/graph-specs.js";
import { tensorOf } from "../support/plain-views.js";
import { testDevices } from "../support/tensors.js";

const leavesOf = ({ nodes }: Spec) => nodes.filter(({ op }) => op === "buffer");

/** The spec as a function of its leaves. */
const functionOf = (spec: Spec, device: string) => (leaves: readonly Tensor[]) => {
  const nodes = buildGraph(
    spec,
    device,
    () => {},
    undefined,
    leaves.map(({ node }) => node),
  );
  return spec.roots.map((root) => new Tensor(nodes[root]!));
};

function compare(got: Tensor, want: Plain, rounds: number, what: string): void {
  const values = Array.from(got.dataSync() as ArrayLike<Value>);
  const size = want.values.length;
  assert.equal(values.length, rounds * size, what);
  values.forEach((value, i) => {
    const expected = want.values[i % size]!;
    if (want.doubt?.[i % size] || value === expected || (Number.isNaN(value) && Number.isNaN(expected))) return;
    const error = Math.abs(Number(value) - Number(expected));
    if (want.isApproximate && error <= 1e-5 * Math.max(1, Math.abs(Number(expected)))) return;
    assert.fail(`${what}: element ${i} is ${value}, not ${expected}`);
  });
}

const ways = {
  /** Three calls of one program, every other leaf given away. */
  jitted: (spec: Spec, device: string, check: (results: readonly Tensor[], rounds: number) => void) => {
    const [given, kept] = [0, 1].map((rest) => leavesOf(spec).filter((_, i) => i % 2 === rest));
    const inOrder = (a: readonly Tensor[], b: readonly Tensor[]) =>
      leavesOf(spec).map((_, i) => (i % 2 ? b : a)[i >> 1]!);
    const f = functionOf(spec, device);
    const quick = jit((a: readonly Tensor[], b: readonly Tensor[]) => f(inOrder(a, b)), { donate: 0 });
    const make = (list: typeof given) =>
      list!.map(({ values, shape, dtype }) => tensorOf(values as Value[], shape, dtype, device));
    const held = make(kept!);
    const results = [0, 1, 2].map(() => quick(make(given!), held));
    for (const each of results) check(each, 1);
  },
  /** The body of a loop over sequences, each of the same element three times. */
  "in a loop": (spec: Spec, device: string, check: (results: readonly Tensor[], rounds: number) => void) => {
    const f = functionOf(spec, device);
    const sequences = leavesOf(spec).map(({ values, shape, dtype }) => {
      const x = tensorOf(values as Value[], shape, dtype, device);
      return stack([x, x, x]);
    });
    const run = (xs: readonly Tensor[]) =>
      scan((_: null, each: readonly Tensor[]) => [null, f(each)] as const, null, xs)[1];
    check(jit(run)(sequences), 3);
  },
} as const;
type Way = keyof typeof ways;

function checkSpec(seed: number, options: GraphOptions, device: string, way: Way): void {
  const spec = randomSpec(seed, options);
  if (leavesOf(spec).length === 0) return;
  const wanted = interpret(spec);
  try {
    ways[way](spec, device, (results, rounds) => {
      results.forEach((result, i) => {
        compare(result, wanted[spec.roots[i]!]!, rounds, `n${spec.roots[i]}`);
      });
    });
  } catch (error) {
    const text = error instanceof Error ? error.message : error;
    assert.fail(`seed ${seed} ${JSON.stringify(options)}, ${way} on ${device}: ${text}\n${printSpec(spec)}`);
  }
}

const small: GraphOptions = { steps: 12, maxSize: 400 };
const middling: GraphOptions = { steps: 40, maxSize: 2000 };
const wide: GraphOptions = { steps: 7, maxSize: 40000, extents: [1, 2, 3, 5, 129, 1030, 20001, 33000] };
const siblings: GraphOptions = { steps: 24, maxSize: 5000, extents: [1, 6, 70], extraRoots: 12 };
const kinds = { small, middling, wide, siblings };

const devices = testDevices();
const counts: Readonly<Record<keyof typeof kinds, readonly [cpu: number, gpu: number]>> = {
  small: [40, 4],
  middling: [8, 2],
  wide: [6, 2],
  siblings: [12, 2],
};

describe("random programs", { skip: devices.length === 0 ? "missing: a device for tensors" : false }, () => {
  for (const device of devices) {
    for (const way of Object.keys(ways) as Way[]) {
      for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
        const count = Number(process.env.PUMICE_FUZZ_COUNT ?? counts[kind][device === "cpu" ? 0 : 1]);
        test(`${count} ${kind} graphs, ${way}, on ${device}`, () => {
          for (let seed = 1; seed <= count; seed++) checkSpec(500 + seed, kinds[kind], device, way);
        });
      }
    }
  }
});
