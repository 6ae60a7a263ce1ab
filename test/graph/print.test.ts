/** Graphs as text: a line for each operation, names for what is used, functions inside loops below theirs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { scalarNode } from "../../src/graph/build.js";
import { GraphFunction, makePlaceholder } from "../../src/graph/function.js";
import { choiceNode } from "../../src/graph/primitives/control/choice.js";
import { scanNode } from "../../src/graph/primitives/control/scan.js";
import { pad } from "../../src/graph/primitives/movement.js";
import { printGraph } from "../../src/graph/print.js";
import { g } from "../../src/graph/vocabulary.js";
import { make, nowhere, stored } from "../support/nodes.js";

const parameter = (...shape: number[]) => makePlaceholder({ shape, dtype: "f32", device: nowhere });

test("an operation is a line with its inputs' names, its parameters and its type", () => {
  const p = parameter(2, 3);
  const text = printGraph([g.sum(g.mul(p, p), [1])]);
  assert.deepEqual(text.split("\n"), [
    "  %0 = placeholder : f32[2, 3]",
    "  %1 = mul %0 %0 : f32[2, 3]",
    "  %2 = sum %1 {axes=[1]} : f32[2]",
    "  return %2",
  ]);
});

test("what is in memory, what is constant and what is a number say so", () => {
  const [x, p, q] = [stored(4), parameter(), parameter()];
  const lines = printGraph([g.add(x, scalarNode(-0, "f32", nowhere, [4])), p, q], (each) => each === q).split("\n");
  assert.ok(lines.includes("  %0 = memory : f32[4]"));
  assert.ok(lines.includes("  %1 = constant -0 : f32[4]"));
  assert.ok(lines.some((line) => / = placeholder : f32\[\]$/.test(line)));
  assert.ok(lines.some((line) => / = number : f32\[\]$/.test(line)));
  const complex = printGraph([scalarNode({ re: 1, im: -2 }, "c64", nowhere)]);
  assert.match(complex, /constant 1 \+ -2i : c64\[\]/);
});

test("what several need is printed once, roots in their order", () => {
  const p = parameter(2);
  const shared = g.exp(p);
  const text = printGraph([g.neg(shared), shared]);
  assert.equal(text.match(/exp/g)?.length, 1);
  assert.match(text, /return %2, %1$/);
});

test("parameters that would fill the line are cut", () => {
  const zeros = Array.from({ length: 12 }, () => 0);
  const x = stored(...zeros.map(() => 1));
  const text = printGraph([make(pad, [x], { low: zeros, high: zeros, interior: zeros, value: 1 })]);
  const [, line] = text.split("\n");
  assert.match(line!, /…\}/);
  assert.ok(line!.length < 140, line);
});

test("the body of a scan is below it, with names under its own, and says what its parameters are", () => {
  const [c, x, k] = [parameter(), parameter(), parameter()];
  const body = new GraphFunction([k, c, x], [g.add(g.mul(c, k), x), c]);
  const [last] = scanNode([stored(), stored(), stored(5)], {
    body,
    constants: 1,
    carries: 1,
    length: 5,
    isReverse: true,
  });
  const lines = printGraph([last!]).split("\n");
  assert.ok(
    lines.some((line) => /= scan %0 %1 %2, 5 rounds, from the end : f32\[\], f32\[5\]$/.test(line)),
    lines.join("\n"),
  );
  assert.ok(lines.includes("      %3.0 = from outside : f32[]"));
  assert.ok(lines.includes("      %3.1 = carry : f32[]"));
  assert.ok(lines.includes("      %3.2 = element : f32[]"));
  assert.ok(lines.includes("      return %3.4, %3.1"));
  assert.ok(lines.includes("  %4 = part %3 0 : f32[]"));
});

test("each branch of a choice has a title", () => {
  const branches = [0, 1].map(() => {
    const p = parameter(2);
    return new GraphFunction([p], [g.neg(p)]);
  });
  const index = scalarNode(1, "i32", nowhere);
  const text = printGraph(choiceNode(index, [stored(2)], branches));
  assert.match(text, / {4}branch 0:\n {6}%\d+\.0 = operand : f32\[2\]/);
  assert.match(text, / {4}branch 1:/);
});
