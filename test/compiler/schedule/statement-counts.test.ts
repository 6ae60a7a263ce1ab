/** How long the code of operations is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { statementsOf, usualStatementsOf } from "../../../src/compiler/schedule/statement-counts.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../support/nodes.js";

test("an addition is one statement, movement and reductions about one, functions are long", () => {
  const x = stored(4);
  assert.equal(statementsOf(g.add(x, x)), 1);
  assert.equal(statementsOf(g.flip(x, [0])), 1);
  assert.equal(statementsOf(g.sum(x, [0])), 1);
  assert.equal(statementsOf(x), 1);
  assert.ok(statementsOf(g.exp(x)) > 10);
});

test("the same operation is longer of f64 than of f32, and of narrow numbers, which are cut or rounded", () => {
  const exp = (dtype: "f32" | "f64") => statementsOf(g.exp(storedAs(dtype, 4)));
  assert.ok(exp("f64") > exp("f32"));
  const sum = (dtype: "i32" | "i8") => {
    const x = storedAs(dtype, 4);
    return statementsOf(g.add(x, x));
  };
  assert.ok(sum("i8") > sum("i32"));
});

test("what was counted before is not counted again", () => {
  const counted = { lowered: 0 };
  const { primitive } = g.neg(stored(4));
  assert.ok(primitive.kind === "elementwise");
  const { lower } = primitive;
  const spied = {
    ...primitive,
    lower: ((...args: Parameters<typeof lower>) => {
      counted.lowered++;
      return lower(...args);
    }) as typeof lower,
  };
  const node = make(spied, [stored(4)]);
  assert.equal(statementsOf(node), statementsOf(node));
  assert.equal(counted.lowered, 1);
});

test("rare corrections are not among the usual statements", () => {
  const x = storedAs("bf16", 4);
  const quotient = g.div(x, x);
  assert.ok(usualStatementsOf(quotient) < statementsOf(quotient) / 3);
  assert.equal(usualStatementsOf(g.mul(x, x)), statementsOf(g.mul(x, x)));
});
