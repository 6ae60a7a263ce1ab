/** Making nodes: what operands become where they meet, what is not made because it would change nothing, long chains. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  broadcastNode,
  castNode,
  checkOneDevice,
  commonDType,
  derive,
  makeNode,
  meet,
  permuteNode,
  remakeNode,
  reshapeNode,
  scalarNode,
  sourceOf,
} from "../../src/graph/build.js";
import { Node } from "../../src/graph/node.js";
import { add, cast, neg } from "../../src/graph/primitives/elementwise.js";
import { buffer, constant } from "../../src/graph/primitives/leaf.js";
import { expand, permute, slice } from "../../src/graph/primitives/movement.js";
import { sum } from "../../src/graph/primitives/reduce.js";
import { make, nowhere, stored, storedAs } from "../support/nodes.js";

test("a number takes the dtype of the floats it meets, and the shape", () => {
  for (const dtype of ["f16", "f32", "f64"] as const) {
    const x = storedAs(dtype, 2, 3);
    const [first, second] = meet("add", [x, 2.5]);
    assert.equal(first, x);
    assert.deepEqual([second!.primitive, second!.dtype, second!.shape], [constant, dtype, [2, 3]]);
    assert.equal(second!.params.value, 2.5);
  }
});

test("tensors meet in the common dtype and shape, and keep what they are where they have both", () => {
  const [x, y] = [storedAs("i32", 4, 1), storedAs("f32", 3)];
  const [a, b] = meet("add", [x, y]);
  assert.deepEqual(
    [a!.shape, b!.shape],
    [
      [4, 3],
      [4, 3],
    ],
  );
  assert.equal(a!.dtype, b!.dtype);
  assert.equal(a!.dtype, commonDType("add", [x, y]));
  const [same, alike] = [storedAs("f32", 4), storedAs("f32", 4)];
  assert.deepEqual(meet("add", [same, alike]), [same, alike]);
});

test("what is computed of numbers alone stays a number until it meets a tensor", () => {
  const one = scalarNode(1, "f64", nowhere);
  one.isWeak = true;
  const half = makeNode(add, [one, one], {}, nowhere);
  assert.equal(half.isWeak, true);
  assert.equal(commonDType("add", [half, storedAs("f16", 2)]), "f16", "a number does not widen what it meets");
  assert.equal(commonDType("add", [half, one]), "f64", "among themselves they stay what they are computed in");
  assert.equal(castNode(half, "f32").isWeak, false);
  assert.equal(makeNode(sum, [broadcastNode(half, [2])], { axes: [0] }, nowhere).isWeak, false);
});

test("a number that was stretched is cast itself, so that it is rounded once", () => {
  const number = scalarNode(0.1, "f64", nowhere);
  number.isWeak = true;
  const stretched = broadcastNode(number, [2, 3]);
  const narrow = castNode(stretched, "f32");
  assert.equal(narrow.dtype, "f32");
  assert.deepEqual(narrow.shape, [2, 3]);
  let source = narrow;
  while (source.primitive !== cast) [source] = source.inputs as [Node];
  assert.equal(source.inputs[0], number);
});

test("what would change nothing is not made", () => {
  const x = stored(2, 1, 3);
  assert.equal(castNode(x, "f32"), x);
  assert.equal(reshapeNode(x, [2, 1, 3]), x);
  assert.equal(broadcastNode(x, [2, 1, 3]), x);
  assert.equal(permuteNode(x, [0, 1, 2]), x);
  assert.notEqual(permuteNode(x, [0, 2, 1]), x);
  assert.deepEqual(broadcastNode(x, [5, 2, 4, 3]).shape, [5, 2, 4, 3]);
});

test("operands on two devices are refused, with the way to move one", () => {
  const elsewhere = new Node(buffer, {}, [], [2], "f32", { id: "vulkan:1", realize: () => {} });
  const here = stored(2);
  assert.throws(
    () => checkOneDevice("add", [here, elsewhere]),
    /add: operands on nowhere and vulkan:1.*\.to\("nowhere"\)/,
  );
  assert.throws(() => meet("add", [here, elsewhere]), /operands on nowhere and vulkan:1/);
  checkOneDevice("add", [here, here]);
});

test("what is no number and no tensor is refused with the operation's name", () => {
  assert.throws(() => meet("add", [stored(2), "3" as unknown as number]), /add/);
});

test("the same operation on other inputs keeps what was attached to it", () => {
  const x = make(neg, [stored(2)]);
  x.attachment = { by: "hand" };
  const again = remakeNode(x, [stored(5)]);
  assert.deepEqual([again.primitive, again.shape, again.attachment], [neg, [5], x.attachment]);
});

/** A device that computes at once, and remembers what it was asked for. */
function recordingDevice() {
  const asked: (readonly Node[])[] = [];
  const device = {
    id: "recording",
    realize: (nodes: readonly Node[]) => {
      asked.push(nodes);
      for (const node of nodes) node.realize({ byteLength: 4 });
    },
  };
  const leaf = new Node(buffer, { shape: [1], dtype: "f32" }, [], [1], "f32", device);
  leaf.realize({ byteLength: 4 });
  return { asked, leaf };
}

test("a chain is computed each time it has grown to 200 operations, and not before", () => {
  const { asked, leaf } = recordingDevice();
  let x = leaf;
  for (let i = 0; i < 200; i++) x = derive(neg, x, {});
  assert.equal(asked.length, 0);
  for (let i = 0; i < 300; i++) x = derive(neg, x, {});
  assert.equal(asked.length, 2);
  assert.ok(asked.every((nodes) => nodes.length === 1));
});

test("the source of a node is what it only rearranges or repeats, never more than it has itself", () => {
  const x = stored(4, 1);
  const repeated = derive(permute, derive(expand, x, { shape: [4, 3] }), { axes: [1, 0] });
  assert.equal(sourceOf(repeated), x);
  const few = derive(slice, x, { start: [0, 0], step: [1, 1], shape: [2, 1] });
  assert.equal(sourceOf(derive(expand, few, { shape: [2, 5] })), few, "a slice of a larger one is its own source");
  const negated = derive(neg, x, {});
  assert.equal(sourceOf(derive(expand, negated, { shape: [4, 2] })), negated);
});

test("what has no value is not computed, however long it gets", () => {
  const { asked, leaf } = recordingDevice();
  let x: Node = new Node(buffer, { shape: [1], dtype: "f32" }, [], [1], "f32", leaf.device);
  x.isAbstract = true;
  for (let i = 0; i < 500; i++) x = derive(neg, x, {});
  assert.equal(asked.length, 0);
});
