import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { flatParams } from "../../../src/nn/optimizers/optimizer.js";
import { labelled, selected } from "../../../src/nn/optimizers/selection.js";

const flat = flatParams("test", { list: [tensor([1]), tensor([[2]])], one: { w: tensor([3]) } });

test("a mask is one for all, a function of path and parameter, or a tree that may end early", () => {
  assert.deepEqual(flat.paths, ["list[0]", "list[1]", "one.w"]);
  assert.deepEqual(selected("test", false, flat), [false, false, false]);
  assert.deepEqual(
    selected("test", (_, { rank }) => rank === 2, flat),
    [false, true, false],
  );
  assert.deepEqual(selected("test", { list: [true, false], one: true }, flat), [true, false, true]);
  assert.deepEqual(labelled("test", { list: "a", one: { w: "b" } }, flat), ["a", "a", "b"]);
  assert.deepEqual(
    labelled("test", (path) => path.slice(0, 1), flat),
    ["l", "l", "o"],
  );
});

test("anything else is refused by name", () => {
  assert.throws(() => selected("test", 3 as never, flat), {
    message: /test: the mask are a function of the path or a tree, not 3/,
  });
  assert.throws(() => labelled("test", { list: "a" }, flat), { message: /test, the labels beside the parameters/ });
  assert.throws(() => selected("test", tensor([1]) as never, flat), { name: "ArgumentError" });
});
