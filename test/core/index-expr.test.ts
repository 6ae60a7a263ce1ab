import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Atom,
  add,
  constantExpr,
  evaluate,
  type IndexExpr,
  IndexSpace,
  ravel,
  scale,
  describe as text,
  unravel,
} from "../../src/core/index-expr.js";
import { randomFrom } from "../support/random.js";

const nameOf = (atom: Atom) => (atom.kind === "variable" ? atom.name : "?");

test("reshaping there and back leaves the index as it was", () => {
  const space = new IndexSpace();
  const index = [space.variable("i", 6), space.variable("j", 4)];
  const flat = ravel(index, [6, 4]);
  assert.equal(text(flat), "4*i + j");
  assert.deepEqual(
    unravel(space, flat, [6, 4]).map((x) => text(x)),
    ["i", "j"],
  );
  const through = unravel(space, ravel(unravel(space, flat, [3, 8]), [3, 8]), [6, 4]);
  assert.deepEqual(
    through.map((x) => text(x)),
    ["i", "j"],
  );
});

test("joining three axes that one was split into leaves the index as it was", () => {
  const space = new IndexSpace();
  const k = space.variable("k", 24);
  const other = space.variable("j", 7);
  const parts = unravel(space, k, [2, 4, 3]);
  assert.equal(text(ravel([other, ...parts], [7, 2, 4, 3])), "k + 24*j");
});

test("an axis that splits evenly needs no division", () => {
  const space = new IndexSpace();
  const [i, j] = [space.variable("i", 5), space.variable("j", 12)];
  const flat = ravel([i, j], [5, 12]);
  assert.deepEqual(
    unravel(space, flat, [5, 3, 4]).map((x) => text(x)),
    ["i", "(j / 4)", "(j % 4)"],
  );
});

test("negative indices divide towards minus infinity", () => {
  const space = new IndexSpace();
  const i = space.variable("i", 10);
  const shifted = add(i, constantExpr(-7));
  for (let n = 0; n < 10; n++) {
    assert.equal(
      evaluate(space.quotient(shifted, 4), () => n),
      Math.floor((n - 7) / 4),
    );
    assert.equal(
      evaluate(space.remainder(shifted, 4), () => n),
      (((n - 7) % 4) + 4) % 4,
    );
  }
});

test("simplified expressions keep the value and the range of what they came from", () => {
  const { below } = randomFrom(7);
  for (let round = 0; round < 300; round++) {
    const space = new IndexSpace();
    const extents = [1 + below(6), 1 + below(6), 1 + below(6)];
    const variables = extents.map((extent, i) => space.variable("abc"[i] as string, extent));
    // The same steps on expressions and on plain functions of the variables.
    const start = below(5);
    let expression = constantExpr(start);
    let plain = (_values: readonly number[]) => start;
    for (let step = 0; step < 8; step++) {
      const before = plain;
      const choice = below(4);
      if (choice === 0) {
        const which = below(3);
        const factor = below(9) - 4;
        expression = add(expression, scale(variables[which] as IndexExpr, factor));
        plain = (values) => before(values) + factor * (values[which] as number);
      } else if (choice === 1) {
        const by = 1 + below(6);
        expression = space.quotient(expression, by);
        plain = (values) => Math.floor(before(values) / by);
      } else if (choice === 2) {
        const by = 1 + below(6);
        expression = space.remainder(expression, by);
        plain = (values) => before(values) - by * Math.floor(before(values) / by);
      } else {
        const factor = 1 + below(4);
        expression = scale(expression, factor);
        plain = (values) => before(values) * factor;
      }
    }
    for (let trial = 0; trial < 20; trial++) {
      const values = extents.map((extent) => below(extent));
      const found = evaluate(expression, (atom) => values["abc".indexOf(nameOf(atom))] as number);
      assert.ok(found === plain(values), `${text(expression)} at ${values}: ${found}, not ${plain(values)}`);
      assert.ok(found >= expression.min && found <= expression.max, `range of ${text(expression)}`);
    }
  }
});

test("neighbours stay neighbours when an axis is split or wrapped around", () => {
  const space = new IndexSpace();
  const i = space.variable("i", 100);
  for (const over of [0, 1, 2, 3]) {
    const index = add(scale(i, 4), constantExpr(over));
    assert.equal(text(space.quotient(index, 12)), "(i / 3)");
    assert.equal(text(space.remainder(index, 12)), over === 0 ? "4*(i % 3)" : `4*(i % 3) + ${over}`);
    assert.equal(text(ravel(unravel(space, index, [34, 12]), [34, 12])), text(index));
  }
});

test("a vector that ends before the axis does stays whole when the axis is split", () => {
  const space = new IndexSpace();
  const [vector, lane] = [space.variable("v", 100), space.variable("lane", 4)];
  const index = add(scale(vector, 4), lane);
  assert.equal(text(space.quotient(index, 28)), "(v / 7)");
  assert.equal(text(space.remainder(index, 28)), "lane + 4*(v % 7)");
  assert.equal(text(ravel(unravel(space, index, [15, 28]), [15, 28])), text(index));
});

test("multiples of a divisor are taken out of it, and what is over stays: the diagonal of a square needs no division", () => {
  const space = new IndexSpace();
  const i = space.variable("i", 3);
  assert.deepEqual(
    unravel(space, scale(i, 4), [3, 3]).map((x) => text(x)),
    ["i", "i"],
  );
  assert.equal(text(space.remainder(scale(i, -2), 3)), "i");
  const [j, k] = [space.variable("j", 50), space.variable("k", 50)];
  const x = add(scale(j, 17), scale(k, -9));
  assert.equal(text(space.quotient(x, 8)), "2*j - k + ((j - k) / 8)");
  assert.equal(text(space.remainder(x, 8)), "((j - k) % 8)");
});
