/** Sums whose rows another kernel goes over anyway are stored by themselves; those that have to wait are not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { schedule } from "../../../src/compiler/schedule/schedule.js";
import { cpuProfile, gpuProfile } from "../../../src/compiler/target/profile.js";
import type { Node } from "../../../src/graph/node.js";
import { g } from "../../../src/graph/vocabulary.js";
import { stored } from "../../support/nodes.js";

const N = 2048;
const across = (x: Node): Node => g.unreduce(x, [N, N], [0]);
const down = (x: Node): Node => g.unreduce(x, [N, N], [1]);

/** The sums that each kernel computes of values with so many elements. */
const sumsOf = (roots: readonly Node[], profile = cpuProfile, size = N * N): Node[][] =>
  schedule(roots, profile).map((task) => {
    assert.equal(task.kind, "group");
    const { results, isLoaded } = (task as Extract<typeof task, { kind: "group" }>).group;
    const seen = new Set<Node>(results.map(({ node }) => node));
    for (const node of seen) {
      for (const input of node.inputs) if (input.storage === null && !isLoaded(input)) seen.add(input);
    }
    const isOfAll = ({ primitive, inputs }: Node) =>
      primitive.kind === "reduce" && inputs[0]!.shape.reduce((a, b) => a * b, 1) === size;
    return [...seen].filter(isOfAll);
  });

/** Pushes between all pairs of places, divided by the sum of all nearness. */
function forces(x: Node) {
  const difference = g.sub(down(x), across(x));
  const near = g.div(g.square(difference), g.add(g.square(difference), 1));
  const nearby = g.sum(near, [1]);
  const pushes = g.sum(g.mul(g.square(near), difference), [1]);
  const total = g.sum(nearby, [0]);
  return { nearby, pushes, result: g.div(pushes, g.unreduce(total, pushes.shape, [0])) };
}

for (const profile of [cpuProfile, gpuProfile]) {
  test(`${profile === cpuProfile ? "CPU" : "GPU"}: a sum that is divided by the total of another of the same pairs is computed with it`, () => {
    const { nearby, pushes, result } = forces(stored(N));
    const sums = sumsOf([result], profile).filter(({ length }) => length > 0);
    assert.deepEqual(
      sums.map((each) => new Set(each)),
      [new Set([nearby, pushes])],
      "the pairs are gone over once",
    );
  });
}

test("a sum that needs the total itself waits for it, in a kernel with what follows", () => {
  const x = stored(N, N);
  const mean = g.div(g.sum(g.sum(g.square(x), [1]), [0]), N * N);
  const off = g.sum(g.square(g.sub(x, g.unreduce(mean, x.shape, [0, 1]))), [1]);
  const kernels = sumsOf([g.exp(off)]);
  assert.deepEqual(kernels.at(-1), [off]);
  assert.ok(
    schedule([g.exp(off)], cpuProfile).every(
      (task) => task.kind === "group" && !task.group.results.some(({ node }) => node === off),
    ),
  );
});

test("few elements are computed where they are used", () => {
  const small = 64;
  const x = stored(small);
  const difference = g.sub(g.unreduce(x, [small, small], [1]), g.unreduce(x, [small, small], [0]));
  const near = g.div(g.square(difference), g.add(g.square(difference), 1));
  const pushes = g.sum(g.mul(near, difference), [1]);
  const total = g.sum(g.sum(near, [1]), [0]);
  const result = g.div(pushes, g.unreduce(total, pushes.shape, [0]));
  const results = schedule([result], cpuProfile).flatMap((task) => (task.kind === "group" ? task.group.results : []));
  assert.ok(!results.some(({ node }) => node === pushes));
});
