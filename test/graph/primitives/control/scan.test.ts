/** A loop over sequences: its parts, its derivatives by every input, its batches, from either end. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GraphFunction, makePlaceholder } from "../../../../src/graph/function.js";
import type { Node } from "../../../../src/graph/node.js";
import { scanNode } from "../../../../src/graph/primitives/control/scan.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { backendFor } from "../../../../src/tensor/index.js";
import { checkBatches, checkDerivatives, input, valuesOf } from "../../../support/node-rules.js";

const LENGTH = 3;
const placeholder = (...shape: number[]) => makePlaceholder({ shape, dtype: "f64", device: backendFor("cpu") });

/** c, d → w c + x d, sin d - x, with c·x stacked. The carries are numbers of two, the constant and the sequence too. */
function loop(isReverse: boolean, length = LENGTH) {
  const [w, c, d, x] = [placeholder(2), placeholder(2), placeholder(2), placeholder(2)];
  const results = [g.add(g.mul(w, c), g.mul(x, d)), g.sub(g.sin(d), x), g.mul(c, x)];
  const body = new GraphFunction([w, c, d, x], results);
  return (...inputs: Node[]) => scanNode(inputs, { body, constants: 1, carries: 2, length, isReverse });
}

const inputs = [input([2]), input([2], [0.3, -0.7]), input([2], [0.9, 0.2]), input([LENGTH, 2])];

function plainLoop(isReverse: boolean): number[][] {
  const [w, c0, d0, xs] = inputs.map(({ values }) => [...values]) as [number[], number[], number[], number[]];
  let [c, d] = [c0, d0];
  const [stacked, begunC, begunD] = [new Array(6).fill(0), new Array(6).fill(0), new Array(6).fill(0)];
  for (let i = 0; i < LENGTH; i++) {
    const at = isReverse ? LENGTH - 1 - i : i;
    const x = xs.slice(2 * at, 2 * at + 2);
    for (const k of [0, 1]) {
      stacked[2 * at + k] = c[k]! * x[k]!;
      begunC[2 * at + k] = c[k];
      begunD[2 * at + k] = d[k];
    }
    [c, d] = [c.map((value, k) => w[k]! * value + x[k]! * d[k]!), d.map((value, k) => Math.sin(value) - x[k]!)];
  }
  return [c, d, stacked, begunC, begunD];
}

for (const isReverse of [false, true]) {
  describe(isReverse ? "from the end" : "from the start", () => {
    const f = loop(isReverse);

    test("parts are the last carries, the stacked results, and the carries each round began with", () => {
      valuesOf(f, inputs).forEach((got, part) => {
        got.forEach((value, i) => {
          assert.ok(Math.abs(value - plainLoop(isReverse)[part]![i]!) < 1e-12, `part ${part}`);
        });
      });
    });

    test("derivatives of each part by each input", () => {
      checkDerivatives(f, inputs);
      for (const part of [0, 1, 2, 4]) checkDerivatives((...nodes) => f(...nodes)[part]!, inputs);
    });

    test("batches, also where only a constant or a sequence has one", () => checkBatches(f, inputs));
  });
}

test("without rounds the last carries are the first, and stacked results are empty", () => {
  const none = [...inputs.slice(0, 3), input([0, 2], [])];
  const [c, d, stacked] = valuesOf(loop(false, 0), none);
  assert.deepEqual([c, d, stacked], [inputs[1]!.values, inputs[2]!.values, []]);
  checkBatches(loop(false, 0), none.slice(0, 3).concat(none[3]!));
});

test("backwards the loop computes nothing for inputs that are data", () => {
  const nodes = inputs.map(({ shape }) => placeholder(...shape));
  const [last] = loop(false)(...nodes) as [Node];
  /** Carries and stacked results of the loop that goes back, for the cotangents of some inputs. */
  const sizeFor = (...wanted: readonly number[]) => {
    const found = g.pullBack(
      [last],
      [g.constantLike(1, last)],
      wanted.map((i) => nodes[i]!),
    );
    assert.ok(found.every((each) => each !== null));
    const { params } = found[0]!.inputs[0]!;
    const { carries, body } = params as unknown as { carries: number; body: GraphFunction };
    return [carries, body.results.length - carries];
  };
  assert.deepEqual(sizeFor(1), [2, 0], "of a first carry: cotangents of the carries alone");
  assert.deepEqual(sizeFor(0), [3, 0], "of a constant: its sum too");
  assert.deepEqual(sizeFor(3), [2, 1], "of a sequence: one for each element");
  assert.deepEqual(sizeFor(0, 1, 2, 3), [3, 1]);
});

test("a body without results has no parts", () => {
  const x = placeholder(2);
  const body = new GraphFunction([x], []);
  assert.deepEqual(scanNode([x], { body, constants: 0, carries: 0, length: 3, isReverse: false }), []);
});
