/** checkpoint: the function's own values and derivatives, with its inner values computed again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { checkpointNode } from "../../../src/graph/primitives/checkpoint.js";
import { g } from "../../../src/graph/vocabulary.js";
import { backendFor } from "../../../src/tensor/index.js";
import { checkBatches, checkDerivatives, given, input, valuesOf } from "../../support/node-rules.js";

const placeholder = (...shape: number[]) => makePlaceholder({ shape, dtype: "f64", device: backendFor("cpu") });
const inner = (x: Node, y: Node) => [g.mul(g.sin(x), y), g.sum(g.exp(y), [0])];
const [p, q] = [placeholder(3), placeholder(3)];
const body = new GraphFunction([p, q], inner(p, q));
const f = (...inputs: Node[]) => checkpointNode(body, inputs);
const inputs = [input([3]), input([3], [0.5, -1, 2])];

test("values, derivatives and batches are those of the function", () => {
  assert.deepEqual(
    valuesOf(f, inputs),
    valuesOf((x, y) => inner(x!, y!), inputs),
  );
  checkDerivatives(f, inputs);
  for (const part of [0, 1]) checkDerivatives((...nodes) => f(...nodes)[part]!, inputs);
  checkBatches(f, inputs);
});

test("reverse mode reads its inputs through a mark that keeps them apart from the forward pass", () => {
  const nodes = inputs.map(given);
  const [result] = f(...nodes);
  const [ct] = g.pullBack([result!], [given(input([3], [1, 1, 1]))], nodes);
  const marks = inputsFirst([ct!], (node) => node.inputs).filter(({ primitive }) => primitive.name === "recompute");
  assert.ok(marks.length > 0);
});

test("a function without results has no parts", () => {
  assert.deepEqual(checkpointNode(new GraphFunction([p], []), [given(inputs[0]!)]), []);
});
