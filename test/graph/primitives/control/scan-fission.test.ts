/** What leaves the loop of a reverse scan: large products of values that are known before it, and sums of large products. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeNode } from "../../../../src/graph/build.js";
import { makePlaceholder } from "../../../../src/graph/function.js";
import type { Node } from "../../../../src/graph/node.js";
import {
  bytesTogether,
  dependsOnAny,
  hoistable,
  sinkable,
  sumOverRounds,
} from "../../../../src/graph/primitives/control/scan-fission.js";
import { matrixProduct } from "../../../../src/graph/primitives/dot.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { backendFor } from "../../../../src/tensor/index.js";
import { input, valuesOf } from "../../../support/node-rules.js";

const placeholder = (...shape: number[]) => makePlaceholder({ shape, dtype: "f64", device: backendFor("cpu") });
const EDGE = 64;

/** A round: h and x are its own, c is a cotangent that goes from round to round, w belongs to all rounds. */
function round() {
  const [h, x, c, w] = [1, 1, 1, 1].map(() => placeholder(1, EDGE, EDGE)) as [Node, Node, Node, Node];
  const product = g.dot(h, w);
  return { h, x, c, w, product, keptBytes: bytesTogether([h, x]) };
}

describe("before the loop", () => {
  test("costly values that do not depend on the cotangents, back from where the loop reads them", () => {
    const { h, x, c, product, keptBytes } = round();
    const gate = g.exp(g.add(x, product));
    const next = g.mul(c, g.mul(gate, g.neg(gate)));
    assert.deepEqual(hoistable([next], { perRound: [h, x], carried: [c], keptBytes }), [gate]);
    assert.deepEqual(hoistable([g.mul(c, g.add(x, product))], { perRound: [h, x], carried: [c], keptBytes }), [
      product,
    ]);
  });

  test("of matrices as well as of batches of them", () => {
    const [h, c, w] = [1, 1, 1].map(() => placeholder(EDGE, EDGE)) as [Node, Node, Node];
    const product = makeNode(matrixProduct, [h, w], {}, h.device);
    const given = { perRound: [h], carried: [c], keptBytes: bytesTogether([h]) };
    assert.deepEqual(hoistable([g.mul(c, product)], given), [product]);
  });

  test("nothing without a large product, and nothing that depends on the cotangents", () => {
    const { h, x, c, w, keptBytes } = round();
    const given = { perRound: [h, x], carried: [c], keptBytes };
    assert.deepEqual(hoistable([g.mul(c, g.exp(x))], given), []);
    assert.deepEqual(hoistable([g.exp(g.dot(c, w))], given), []);
    const [a, b] = [placeholder(1, 4, 4), placeholder(1, 4, 4)];
    const small = g.mul(g.dot(a, a), b);
    assert.deepEqual(hoistable([small], { perRound: [a], carried: [b], keptBytes }), []);
  });

  test("nothing where it would take much more memory than the loop keeps anyway", () => {
    const { h, x, c, product } = round();
    const next = g.mul(c, product);
    const given = { perRound: [h, x], carried: [c] };
    assert.deepEqual(hoistable([next], { ...given, keptBytes: bytesTogether([product]) / 4 }), [product]);
    assert.deepEqual(hoistable([next], { ...given, keptBytes: bytesTogether([product]) / 5 }), []);
  });
});

describe("after the loop", () => {
  test("a sum of large products, also under reshapes and permutations, of values that change", () => {
    const { h, c, w } = round();
    const isOfRound = (node: Node) => dependsOnAny(node, [h, c]);
    const [first, second] = [g.dot(g.transposed(h), c), g.dot(h, h)];
    const term = g.reshape(g.add(g.permute(first, [0, 2, 1]), second), [EDGE, EDGE]);
    const sum = sinkable(term, isOfRound);
    assert.deepEqual(new Set(sum?.products), new Set([first, second]));
    assert.deepEqual(new Set(sum?.sources), new Set([h, c]));
    assert.equal(sinkable(g.dot(w, c), isOfRound), null);
    assert.equal(sinkable(g.add(first, g.exp(h)), isOfRound), null);
    assert.equal(sinkable(g.mul(first, second), isOfRound), null);
  });

  test("the sum over the rounds is the sum of the rounds' products", () => {
    const rounds = 3;
    const size = rounds * EDGE * EDGE;
    const values = (seed: number) => Array.from({ length: size }, (_, i) => ((i * seed) % 17) - 8);
    const [as, bs] = [values(5), values(7)];
    const summed = (...[a, b]: Node[]) => {
      const { h, c } = round();
      const sum = sinkable(g.permute(g.dot(g.transposed(h), c), [0, 2, 1]), () => true);
      return [sumOverRounds(g, sum!, (source) => (source === h ? a! : b!), rounds)];
    };
    const [got] = valuesOf(summed, [input([rounds, 1, EDGE, EDGE], as), input([rounds, 1, EDGE, EDGE], bs)]);
    for (const [row, column] of [
      [0, 0],
      [3, 60],
      [63, 63],
      [17, 2],
    ] as const) {
      let want = 0;
      for (let r = 0; r < rounds; r++) {
        for (let k = 0; k < EDGE; k++) {
          want += as[(r * EDGE + k) * EDGE + column]! * bs[(r * EDGE + k) * EDGE + row]!;
        }
      }
      assert.equal(got![row * EDGE + column], want, `${row}, ${column}`);
    }
  });
});
