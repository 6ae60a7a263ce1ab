/** Subscripts of einsum: letters and ellipses, the result that NumPy implies, and texts that mean nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, ShapeError } from "../../../src/core/errors.js";
import { zeros } from "../../../src/index.js";
import { labelSizes, parseSubscripts } from "../../../src/tensor/methods/subscripts.js";

test("letters name axes; without an arrow the result has those that occur once, sorted", () => {
  assert.deepEqual(parseSubscripts("ij, jk -> ik", [2, 2]), {
    inputs: [
      ["i", "j"],
      ["j", "k"],
    ],
    output: ["i", "k"],
  });
  assert.deepEqual(parseSubscripts("ca,ab", [2, 2]).output, ["b", "c"]);
  assert.deepEqual(parseSubscripts("ii", [2]).output, []);
});

test("axes under an ellipsis are counted from the end, and come first in an implied result", () => {
  const { inputs, output } = parseSubscripts("...ij,...jk", [4, 3]);
  assert.deepEqual(inputs, [
    [".1", ".0", "i", "j"],
    [".0", "j", "k"],
  ]);
  assert.deepEqual(output, [".1", ".0", "i", "k"]);
  assert.deepEqual(parseSubscripts("i...->...i", [3]).output, [".1", ".0", "i"]);
});

test("texts that mean nothing say why", () => {
  const refused: readonly [string, readonly number[], RegExp][] = [
    ["i->j->k", [1], /more than one ->/],
    ["i", [], /no operand/],
    ["i,j", [1], /describes 2 operands, and 1 are given/],
    ["i..j", [2], /"\." in "i\.\.j" is no letter/],
    ["......i", [2], /more than one ellipsis/],
    ["ij", [3], /names 2 axes of operand 1, which has 3; add "\.\.\."/],
    ["ijk", [2], /names 3 axes of operand 1, which has 2/],
    ["...i->i", [2], /cannot be summed over/],
    ["ij->ii", [2], /names "i" twice/],
    ["i->k", [1], /names "k", which no operand has/],
  ];
  for (const [text, ranks, message] of refused) {
    assert.throws(
      () => parseSubscripts(text, ranks),
      (error: Error) => error instanceof ArgumentError && message.test(error.message),
      text,
    );
  }
});

test("extents of a letter agree, or are 1 and stretch; twins within an operand agree exactly", () => {
  const of = (labels: readonly string[], ...shapes: number[][]) =>
    labelSizes(
      "test",
      labels.map((each) => [...each]),
      shapes.map((shape) => zeros(shape, { device: "cpu" })),
    );
  assert.deepEqual(
    [...of(["ij", "jk"], [2, 1], [3, 4])],
    [
      ["i", 2],
      ["j", 3],
      ["k", 4],
    ],
  );
  assert.throws(() => of(["ij", "jk"], [2, 5], [3, 4]), ShapeError);
  assert.throws(() => of(["ii"], [1, 3]), /"i" is 1 and 3/);
});
