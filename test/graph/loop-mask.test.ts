/** Loops that run only under a flag: every one of a function, however deep, and nothing else of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { scalarNode } from "../../src/graph/build.js";
import { GraphFunction, makePlaceholder } from "../../src/graph/function.js";
import { hasWhileLoop, masked } from "../../src/graph/loop-mask.js";
import { inputsFirst, type Node } from "../../src/graph/node.js";
import { choiceNode } from "../../src/graph/primitives/control/choice.js";
import { scanNode } from "../../src/graph/primitives/control/scan.js";
import { whileLoop, whileNode } from "../../src/graph/primitives/control/while.js";
import { and } from "../../src/graph/primitives/elementwise.js";
import { g } from "../../src/graph/vocabulary.js";
import { nowhere } from "../support/nodes.js";

const parameter = (dtype: "f32" | "bool" = "f32") => makePlaceholder({ shape: [], dtype, device: nowhere });

/** Doubles a number until it is above ten. */
function doubling(x: Node): Node {
  const [p, q] = [parameter(), parameter()];
  const test = new GraphFunction([p], [g.less(p, 10)]);
  const body = new GraphFunction([q], [g.mul(q, 2)]);
  return whileNode([x], { test, body, constants: 0, maxRounds: 100 })[0]!;
}

const functionOf = (build: (x: Node) => Node): GraphFunction => {
  const p = parameter();
  return new GraphFunction([p], [build(p)]);
};

const inBranch = (x: Node): Node =>
  choiceNode(scalarNode(0, "i32", nowhere), [x], [functionOf(doubling), functionOf(g.neg)])[0]!;
const inScan = (x: Node): Node => {
  const body = functionOf(doubling);
  return scanNode([x], { body, constants: 0, carries: 1, length: 3, isReverse: false })[0]!;
};

test("loops that may not end are found in functions, in branches and in the bodies of other loops", () => {
  assert.equal(hasWhileLoop(functionOf(g.neg).results), false);
  assert.equal(hasWhileLoop(functionOf(doubling).results), true);
  assert.equal(hasWhileLoop(functionOf(inBranch).results), true);
  assert.equal(hasWhileLoop(functionOf(inScan).results), true);
  const counted = (x: Node) =>
    scanNode([x], { body: functionOf(g.neg), constants: 0, carries: 1, length: 3, isReverse: false })[0]!;
  assert.equal(hasWhileLoop(functionOf(counted).results), false, "rounds that are counted end");
});

/** The while loops inside a node's functions, and their own. */
function loopsIn(nodes: readonly Node[]): Node[] {
  return inputsFirst(nodes, ({ inputs }) => inputs).flatMap((node) => {
    const {
      body,
      test,
      branches = [],
    } = node.params as { body?: GraphFunction; test?: GraphFunction; branches?: GraphFunction[] };
    const inner = [body, test, ...branches].flatMap((each) => (each ? loopsIn(each.results) : []));
    return node.primitive === whileLoop ? [node, ...inner] : inner;
  });
}

for (const [title, build] of Object.entries({
  "in a function": doubling,
  "in a branch": inBranch,
  "in a scan": inScan,
})) {
  test(`a loop ${title} goes on only while the flag says so`, () => {
    const f = functionOf(build);
    const flag = parameter("bool");
    const results = masked(g, f, flag);
    const loops = loopsIn(results);
    assert.equal(loops.length, 1);
    const {
      test: condition,
      body,
      constants,
    } = loops[0]!.params as { test: GraphFunction; body: GraphFunction; constants: number };
    assert.equal(constants, 1, "the flag is the same in all rounds");
    const [own] = condition.parameters;
    assert.deepEqual([own!.dtype, own!.shape], ["bool", []]);
    const [goesOn] = condition.results;
    assert.equal(goesOn!.primitive, and);
    assert.equal(goesOn!.inputs[0], own);
    assert.equal(condition.parameters.length, body.parameters.length);
    assert.ok(inputsFirst(results, ({ inputs }) => inputs).includes(flag), "it is handed in from outside");
  });
}

test("what has no loop is built as it was", () => {
  const f = functionOf((x) => g.add(g.neg(x), x));
  const [result] = masked(g, f, parameter("bool"));
  assert.equal(new GraphFunction(f.parameters, [result!]).key, f.key);
});
