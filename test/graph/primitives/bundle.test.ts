/** Operations with several results: a bundle without a value, and parts that are its results. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import {
  batchedPlaceholders,
  deviceOf,
  inferBundle,
  outputOf,
  outputsOf,
  part,
  partsOf,
} from "../../../src/graph/primitives/bundle.js";
import { choice } from "../../../src/graph/primitives/control/choice.js";
import { make, nowhere, stored, storedAs } from "../../support/nodes.js";

const outputs = [
  { shape: [2, 3], dtype: "f32" },
  { shape: [], dtype: "i64" },
] as const;
const bundle = () => make(choice, [stored(2)], { outputs, branches: [] });

test("parts are numbered, with the shape and dtype of their output", () => {
  const node = bundle();
  const parts = partsOf(node);
  assert.deepEqual(
    parts.map(({ shape, dtype, params, primitive, inputs }) => [
      shape,
      dtype,
      params.index,
      primitive === part,
      inputs[0] === node,
    ]),
    [
      [[2, 3], "f32", 0, true, true],
      [[], "i64", 1, true, true],
    ],
  );
  assert.equal(outputsOf(node), outputs);
  assert.ok(parts.every(({ device }) => device === node.device));
  assert.deepEqual(inferBundle().shape, []);
});

test("an output is a copy: the node's own shape is not shared", () => {
  const node = storedAs("u8", 4, 5);
  const output = outputOf(node);
  assert.deepEqual(output, { shape: [4, 5], dtype: "u8" });
  assert.notEqual(output.shape, node.shape);
});

test("the device is that of the first input, else of what the body has", () => {
  const elsewhere = { id: "elsewhere", realize: () => {} };
  const parameter = makePlaceholder({ shape: [], dtype: "f32", device: elsewhere });
  const body = new GraphFunction([parameter], [parameter]);
  assert.equal(deviceOf([stored(2)], body), nowhere);
  assert.equal(deviceOf([], body), elsewhere);
  assert.equal(deviceOf([], new GraphFunction([parameter], [])), elsewhere);
});

test("placeholders of a body have the batch in front where the inputs do", () => {
  const parameters = [stored(3), storedAs("i32", 2)];
  const made = batchedPlaceholders(parameters, [false, true], 5);
  assert.deepEqual(
    made.map(({ node: { shape, dtype, isAbstract }, isBatched }) => [shape, dtype, isAbstract, isBatched]),
    [
      [[3], "f32", true, false],
      [[5, 2], "i32", true, true],
    ],
  );
  assert.ok(made.every(({ node }, i) => node !== parameters[i]));
});
