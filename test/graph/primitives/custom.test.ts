/** Derivatives given by hand: they are used in place of the true ones, turned around where only one is given. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { UnsupportedError } from "../../../src/core/errors.js";
import { makePlaceholder } from "../../../src/graph/function.js";
import type { Node } from "../../../src/graph/node.js";
import { type CustomRules, customNode, transposed } from "../../../src/graph/primitives/custom.js";
import { g } from "../../../src/graph/vocabulary.js";
import { given, input, numbers, valuesOf } from "../../support/node-rules.js";

/** Says that the derivative of the result by its argument is `factor`, whatever it is. */
const rules = (factor: number, hasForward: boolean): CustomRules => ({
  jvp: hasForward ? (_args, _results, [t]) => [t ? g.mul(t, factor + 1) : null] : null,
  vjp: (_args, _results, [ct]) => [ct ? g.mul(ct, factor) : null],
  batch: () => rules(factor, hasForward),
});
const squared = (x: Node, own: CustomRules) => customNode([g.square(x)], [x], own)[0]!;
const x = input([2], [3, 4]);
const ones = input([2], [1, 1]);

test("the value is that of the result, and the derivatives are those of the rules", () => {
  assert.deepEqual(valuesOf((node) => squared(node, rules(5, true)), [x])[0], [9, 16]);
  const node = given(x);
  const y = squared(node, rules(5, true));
  assert.deepEqual(numbers(g.pullBack([y], [given(ones)], [node])[0]!), [5, 5]);
  assert.deepEqual(numbers(g.pushForward([y], [node], [given(ones)])[0]!), [6, 6]);
});

test("without a forward rule forward mode turns the reverse rule around", () => {
  const node = given(x);
  const y = squared(node, rules(5, false));
  assert.deepEqual(numbers(g.pushForward([y], [node], [given(ones)])[0]!), [5, 5]);
});

test("a rule that is not linear cannot be turned around, and the error says what to give", () => {
  const node = given(x);
  const clipping: CustomRules = {
    jvp: null,
    vjp: (_args, _results, [ct]) => [g.square(ct!)],
    batch: () => clipping,
  };
  assert.throws(
    () => g.pushForward([squared(node, clipping)], [node], [given(ones)]),
    (error: Error) =>
      error instanceof UnsupportedError && /vjp is not linear in the cotangent.*give a jvp/s.test(error.message),
  );
});

test("the transpose of a linear rule sums over what it reads", () => {
  const seed = makePlaceholder(given(x));
  const made = [g.mul(seed, 2), g.sum(seed, [0])];
  const [ct] = transposed(g, "jvp", [seed], made, [given(ones), given(input([], [10]))]);
  assert.deepEqual(numbers(ct!), [12, 12]);
});

test("a batch asks the rules for rules of a batch, with what has one", () => {
  const asked: unknown[] = [];
  const own: CustomRules = {
    ...rules(5, true),
    batch: (isBatched, size) => {
      asked.push([isBatched, size]);
      return rules(7, true);
    },
  };
  const parameter = makePlaceholder(given(x));
  const whole = given(input([3, 2]));
  const [made] = g.vectorize([squared(parameter, own)], [parameter], [{ node: whole, isBatched: true }], 3);
  assert.deepEqual(asked, [[[true, true], 3]]);
  assert.deepEqual(
    numbers(g.pullBack([made!.node], [given(input([3, 2], new Array(6).fill(1)))], [whole])[0]!),
    new Array(6).fill(7),
  );
});

test("no results, no parts", () => {
  assert.deepEqual(customNode([], [given(x)], rules(1, true)), []);
});
