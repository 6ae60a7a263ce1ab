/** A draw of random numbers: one node that stands for a function of its key. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { draw, drawNode } from "../../../src/graph/primitives/draw.js";
import { g } from "../../../src/graph/vocabulary.js";
import { random } from "../../../src/index.js";
import { backendFor, Tensor } from "../../../src/tensor/index.js";
import { checkBatches, given, numbers, valuesOf } from "../../support/node-rules.js";

const key = { shape: [2], values: [7, 11], dtype: "u32", isFixed: true } as const;
const parameter = makePlaceholder({ shape: [2], dtype: "u32", device: backendFor("cpu") });
const uniform = (from: Node) => random.uniform(new Tensor<"u32">(from), [3, 2]).node;
const body = new GraphFunction([parameter], [uniform(parameter)]);

test("it has the shape, the dtype and the numbers of its function", () => {
  const node = drawNode(body, given(key));
  assert.deepEqual([node.shape, node.dtype], [[3, 2], "f32"]);
  // Inside of a traced function nothing is bundled, so this is the function itself.
  const [want] = valuesOf((from) => body.apply([from!])[0]!, [key]);
  assert.deepEqual(numbers(node), want);
});

test("batches of keys draw what each of them draws", () => {
  checkBatches((from) => drawNode(body, from!), [key]);
});

test("a key has no derivative", () => {
  const node = drawNode(body, given(key));
  assert.equal(draw.jvp!(g, node, [null]), null);
  assert.deepEqual(draw.vjp!(g, node, node), [null]);
});

test("an expansion shares no node with another one, nor with the function", () => {
  const nodes = [1, 2].map(() => {
    const from = given(key);
    const expanded = draw.expand(g, drawNode(body, from), [from]) as Node;
    return new Set(inputsFirst([expanded], ({ inputs }) => inputs));
  });
  const own = inputsFirst(body.results, ({ inputs }) => inputs);
  for (const node of nodes[0]!) assert.ok(!nodes[1]!.has(node) && !own.includes(node));
});
