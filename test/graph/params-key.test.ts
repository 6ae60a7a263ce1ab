/** Parameters as text: what computes the same has one key, and nothing else has. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../src/graph/node.js";
import { paramsKey } from "../../src/graph/params-key.js";

const keyOf = (params: Node["params"]): string => paramsKey({ params } as Node);

test("numbers that print alike have keys of their own", () => {
  const values = [0, -0, 0n, "0", false, null, Number.NaN, "NaN", Infinity, -Infinity, 1, 1n, "1", true, "true"];
  const keys = values.map((value) => keyOf({ value }));
  assert.equal(new Set(keys).size, values.length, keys.join(" "));
});

test("lists and their nesting are told apart, and names from values", () => {
  const all = [
    { axes: [1, 2] },
    { axes: [12] },
    { axes: [[1], 2] },
    { axes: [[1, 2]] },
    { axes: [1], b: [2] },
    { axis: [1, 2] },
    { axes: "[1,2]" },
    { axes: [1, -0] },
    { axes: [1, 0] },
    { axes: { 0: 1, 1: 2 } },
    {},
  ];
  assert.equal(new Set(all.map(keyOf)).size, all.length);
});

test("equal parameters have equal keys, whoever made them", () => {
  const made = () => ({ shape: [2, 3], dtype: "f32", value: { re: 1, im: -0 }, tile: { rows: 4, columns: 8 } });
  assert.equal(keyOf(made()), keyOf(made()));
  assert.notEqual(keyOf(made()), keyOf({ ...made(), value: { re: 1, im: 0 } }));
});

test("a function of the graph says itself what it is; one of JavaScript is refused", () => {
  assert.equal(keyOf({ body: { key: "a→b", other: 1 } }), keyOf({ body: { key: "a→b", other: 2 } }));
  assert.notEqual(keyOf({ body: { key: "a→b" } }), keyOf({ body: { key: "a→c" } }));
  assert.throws(() => keyOf({ body: () => 1 }), /never a function/);
});
