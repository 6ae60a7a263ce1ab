/** Which choices compute only the branch that is taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { branched, isWorthBranching } from "../../../src/compiler/rewrite/branching.js";
import type { DType } from "../../../src/core/dtype.js";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { part } from "../../../src/graph/primitives/bundle.js";
import { branching, choiceNode } from "../../../src/graph/primitives/control/choice.js";
import { scanNode } from "../../../src/graph/primitives/control/scan.js";
import { whileNode } from "../../../src/graph/primitives/control/while.js";
import { g } from "../../../src/graph/vocabulary.js";
import { nowhere, storedAs } from "../../support/nodes.js";

type Build = (x: Node) => Node;

/** The choice itself, between functions of one tensor. */
function choosing(
  builds: readonly Build[],
  shape: readonly number[],
  dtype: DType = "f32",
  members: readonly number[] = [],
): Node {
  const branches = builds.map((build) => {
    const p = makePlaceholder({ shape, dtype, device: nowhere });
    return new GraphFunction([p], [build(p)]);
  });
  const [output] = choiceNode(storedAs("i32", ...members), [storedAs(dtype, ...members, ...shape)], branches);
  return output!.inputs[0]!;
}

const LARGE = 1 << 18;
const cheap: Build = (x) => g.neg(x);

test("branches of a few small operations are all computed; where there is much to do only one is", () => {
  assert.equal(isWorthBranching(choosing([cheap, cheap], [100])), false);
  assert.equal(isWorthBranching(choosing([cheap, cheap], [LARGE])), true);
  const long: Build = (x) => Array.from({ length: 300 }).reduce<Node>((y) => g.neg(y), x);
  assert.equal(isWorthBranching(choosing([cheap, long], [1000])), true);
  assert.equal(isWorthBranching(choosing([cheap, long], [500])), false);
});

test("a product counts its multiplications, a loop its rounds, one that may not end as endless, a choice its longest branch", () => {
  const product: Build = (x) => g.dot(x, x);
  assert.equal(isWorthBranching(choosing([product, product], [1, 64, 64])), true);
  assert.equal(isWorthBranching(choosing([product, product], [1, 16, 16])), false);
  const looping =
    (length: number): Build =>
    (x) => {
      const p = makePlaceholder(x);
      return scanNode([x], {
        body: new GraphFunction([p], [g.neg(p)]),
        constants: 0,
        carries: 1,
        length,
        isReverse: false,
      })[0]!;
    };
  assert.equal(isWorthBranching(choosing([cheap, looping(10)], [100])), false);
  assert.equal(isWorthBranching(choosing([cheap, looping(5000)], [100])), true);
  const waiting: Build = (x) => {
    const [p, q] = [makePlaceholder(x), makePlaceholder(x)];
    const test = new GraphFunction([p], [g.any(g.less(p, 1), [0])]);
    return whileNode([x], { test, body: new GraphFunction([q], [g.neg(q)]), constants: 0, maxRounds: 3 })[0]!;
  };
  assert.equal(isWorthBranching(choosing([cheap, waiting], [1])), true);
});

test("members that choose for themselves and single branches are selected element by element; complex numbers are not", () => {
  assert.equal(isWorthBranching(choosing([cheap, cheap], [LARGE], "f32", [2])), false);
  assert.equal(isWorthBranching(choosing([cheap], [LARGE])), false);
  assert.equal(isWorthBranching(choosing([cheap, cheap], [LARGE], "c64")), true);
});

test("complex numbers go in and come out as they lie in memory", () => {
  const choice = choosing([cheap, cheap], [7], "c64");
  const [result] = branched(choice, [storedAs("i32"), storedAs("c64", 7)]);
  assert.deepEqual([result!.dtype, result!.shape], ["c64", [7]]);
  const parts = inputsFirst([result!], ({ inputs }) => inputs);
  const [bundle] = parts.filter(({ primitive }) => primitive === branching);
  assert.deepEqual(bundle!.inputs.map(({ dtype, shape }) => [dtype, shape]), [["i32", []], ["f32", [7, 2]]]); // biome-ignore format: one line
  const [made] = parts.filter(({ primitive }) => primitive === part);
  assert.deepEqual([made!.dtype, made!.shape], ["f32", [7, 2]]);
});

test("the results are parts of one branching, of the inputs that are given", () => {
  const choice = choosing([cheap, cheap], [7]);
  const inputs = [storedAs("i32"), storedAs("f32", 7)];
  const [result, ...others] = branched(choice, inputs);
  assert.equal(others.length, 0);
  assert.deepEqual([result!.primitive, result!.shape, result!.dtype, result!.isAbstract], [part, [7], "f32", true]);
  const [bundle] = result!.inputs;
  assert.equal(bundle!.primitive, branching);
  assert.deepEqual(bundle!.inputs, inputs);
  assert.equal(bundle!.params, choice.params);
});
