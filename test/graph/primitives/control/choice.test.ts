/** One of several functions: values, derivatives that no other branch spoils, batches with an index for each member. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { GraphFunction, makePlaceholder } from "../../../../src/graph/function.js";
import type { Node } from "../../../../src/graph/node.js";
import { branching, choice, choiceNode } from "../../../../src/graph/primitives/control/choice.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { backendFor } from "../../../../src/tensor/index.js";
import { checkBatches, checkDerivatives, fixed, given, input, numbers, valuesOf } from "../../../support/node-rules.js";

const placeholder = (...shape: number[]) => makePlaceholder({ shape, dtype: "f64", device: backendFor("cpu") });

const branches = [
  (x: Node, y: Node) => [g.mul(x, y), g.sum(x, [0])],
  (x: Node, y: Node) => [g.sin(x), g.sum(g.mul(y, y), [0])],
  (x: Node, y: Node) => [g.log(g.sub(x, 100)), g.sum(g.sub(x, y), [0])],
].map((f) => {
  const [x, y] = [placeholder(3), placeholder(3)];
  return new GraphFunction([x, y], f(x, y));
});
const chosen = (index: Node, x: Node, y: Node) => choiceNode(index, [x, y], branches);
const [x, y] = [input([3]), input([3], [0.5, -1, 2])];
const at = (value: number) => fixed([], [value]);

test("the results are those of the branch that the index names", () => {
  const sum = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
  const first = valuesOf(chosen, [at(0), x, y]);
  assert.deepEqual(first, [x.values.map((v, i) => v * y.values[i]!), [sum(x.values)]]);
  const [sines] = valuesOf(chosen, [at(1), x, y]);
  assert.ok(sines!.every((v, i) => Math.abs(v - Math.sin(x.values[i]!)) < 1e-15));
  assert.deepEqual(valuesOf(chosen, [at(2), x, y])[0], [NaN, NaN, NaN]);
});

test("derivatives are those of the branch, and the NaN of another does not reach them", () => {
  for (const index of [0, 1]) checkDerivatives(chosen, [at(index), x, y]);
  const nodes = [x, y].map(given) as [Node, Node];
  const [made] = chosen(given(at(0)), ...nodes);
  const [ct] = g.pullBack([made!], [given(input([3], [1, 1, 1]))], nodes);
  assert.deepEqual(numbers(ct!), y.values);
});

test("batches, with one index for all and with one for each member", () => {
  checkBatches(chosen, [at(1), x, y], (each, m) =>
    each.isFixed ? { ...each, values: [m % 2] } : { ...each, values: each.values.map((v) => v + m) },
  );
});

test("a choice and a branching have the parts of the first branch", () => {
  const parts = chosen(given(at(0)), given(x), given(y));
  assert.deepEqual(
    parts.map(({ shape }) => shape),
    [[3], []],
  );
  assert.ok(parts.every(({ inputs: [bundle] }) => bundle!.primitive === choice));
  assert.equal(branching.kind, "routine");
});
