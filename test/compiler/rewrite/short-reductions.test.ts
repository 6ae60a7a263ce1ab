/** Short reductions of broadcast expressions, which become operations on slices. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import { kernelsOf } from "../../../src/compiler/program/program.js";
import { shortReductions, writtenOut } from "../../../src/compiler/rewrite/short-reductions.js";
import type { Node } from "../../../src/graph/node.js";
import { reducePrimitives } from "../../../src/graph/primitives/reduce.js";
import { REDUCE_OPS, reductionOf } from "../../../src/graph/reduction.js";
import { g } from "../../../src/graph/vocabulary.js";
import { tensor } from "../../../src/index.js";
import { make, stored, storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";
import { asKernel, codelessTarget } from "../../support/targets.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

/** x[j] - x[i], for points of `width` numbers. */
function differences(x: Node): Node {
  const [n, width] = x.shape as [number, number];
  const all = [n, n, width];
  return g.sub(g.broadcast(g.reshape(x, [1, n, width]), all), g.broadcast(g.reshape(x, [n, 1, width]), all));
}

test("every reduction gives the same written out, over one axis or several", () => {
  for (const op of REDUCE_OPS) {
    const dtype = reductionOf(op).kinds.includes("int") ? "i32" : "bool";
    for (const [shape, axes] of [
      [[5, 3], [1]],
      [[3, 5], [0]],
      [
        [2, 4, 3],
        [0, 2],
      ],
    ] as const) {
      const x = storedAs(dtype, ...shape);
      const size = shape.reduce<number>((a, b) => a * b, 1);
      const given = new Map([
        [x, Array.from({ length: size }, (_, i) => (dtype === "bool" ? i % 2 : ((i * 7) % 5) - 2))],
      ]);
      const node = make(reducePrimitives[op], [x], { axes });
      const found = plainValues([writtenOut(node, x) as Node], given);
      assert.deepEqual(found, plainValues([node], given), `${op} of [${shape}] over [${axes}]`);
    }
  }
});

test("a distance between all pairs that is reduced again is written out, and nothing else is", () => {
  const x = stored(100, 3);
  const distances = g.sum(g.square(differences(x)), [2]);
  const isFound = (root: Node, node: Node) => shortReductions([root]).has(node);
  assert.ok(isFound(g.sum(g.exp(distances), [1]), distances));
  assert.ok(!isFound(g.exp(distances), distances), "it is not reduced again");
  const many = g.sum(g.square(differences(stored(100, 9))), [2]);
  assert.ok(!isFound(g.sum(many, [1]), many), "it is long");
  const cube = stored(100, 100, 3);
  const plain = g.sum(g.square(cube), [2]);
  assert.ok(!isFound(g.sum(g.exp(plain), [1]), plain), "it is of as many numbers as it is made from");
  const half = g.sum(g.square(differences(storedAs("f16", 100, 3))), [2]);
  assert.ok(!isFound(g.sum(half, [1]), half), "f16 is summed in f32");
});

/** Forces between bodies, as one expression. */
function forces(x: Node, masses: Node): Node {
  const [n, width] = x.shape as [number, number];
  const apart = differences(x);
  const near = g.add(g.sum(g.square(apart), [2]), 0.01);
  const pull = g.mul(g.broadcast(g.reshape(masses, [1, n]), [n, n]), g.div(1, g.mul(near, near)));
  return g.sum(g.mul(apart, g.broadcast(g.reshape(pull, [n, n, 1]), [n, n, width])), [1]);
}

test("forces between bodies are one kernel, in which a thread computes all components of a body", () => {
  const [x, masses] = [stored(300, 3), stored(300)];
  const program = compile([forces(x, masses)], [x, masses], codelessTarget(), asKernel);
  const [kernel, ...others] = kernelsOf(program.steps).map(({ code }) => code);
  assert.equal(others.length, 0);
  assert.equal(kernel!.rows, 300);
  assert.equal(kernel!.body.filter(({ kind }) => kind === "store").length, 3);
});

describeOnTensorDevices("forces between bodies", (device) => {
  for (const [count, width] of [
    [37, 3],
    [600, 3],
    [513, 2],
    [65, 5],
  ] as const) {
    test(`are right: ${count} bodies in ${width} dimensions`, async () => {
      const at = (i: number) => Math.fround(Math.sin(i * 1.3 + 0.2));
      const places = Array.from({ length: count * width }, (_, i) => at(i));
      const masses = Array.from({ length: count }, (_, i) => Math.fround(1 + at(i * 7) / 2));
      const x = tensor(places, { device }).reshape(count, width);
      const m = tensor(masses, { device });
      const apart = x.expandDims(0).sub(x.expandDims(1));
      const near = apart.square().sum({ axis: -1 }).add(0.01).rsqrt();
      const pull = m.mul(near).mul(near).mul(near);
      const found = await apart.mul(pull.expandDims(-1)).sum({ axis: 1 }).data();
      for (let i = 0; i < count; i++) {
        for (let k = 0; k < width; k++) {
          let want = 0;
          let size = 0;
          for (let j = 0; j < count; j++) {
            let square = 0.01;
            for (let l = 0; l < width; l++) square += (places[j * width + l]! - places[i * width + l]!) ** 2;
            const term = (masses[j]! * (places[j * width + k]! - places[i * width + k]!)) / square ** 1.5;
            want += term;
            size += Math.abs(term);
          }
          const value = found[i * width + k] as number;
          assert.ok(Math.abs(value - want) < 2e-6 * size, `${i}, ${k}: ${value}, not ${want}`);
        }
      }
    });
  }
});
