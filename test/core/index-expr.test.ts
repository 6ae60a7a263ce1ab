import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Atom,
  add,
  bound,
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

test("a shifted index that was split is joined again", () => {
  const space = new IndexSpace();
  const i = space.variable("i", 50);
  for (const shift of [-9, -7, -1, 1, 3]) {
    const shifted = add(i, constantExpr(shift));
    for (const shape of [
      [10, 7],
      [70, 1, 1],
      [5, 2, 7],
      [2, 3, 4, 5],
    ]) {
      // biome-ignore format: a list of shapes
      assert.equal(text(ravel(unravel(space, shifted, shape), shape)), text(shifted), `${shift}, [${shape}]`);
    }
  }
});

test("a quotient of a shifted quotient is one division", () => {
  const space = new IndexSpace();
  const i = space.variable("i", 1000);
  const shifted = add(space.quotient(i, 8), constantExpr(22));
  assert.equal(text(space.quotient(shifted, 24)), "((i + 176) / 192)");
});

test("bounds without divisions hold for the same indices", () => {
  const { below } = randomFrom(11);
  let [divisionsBefore, divisionsAfter] = [0, 0];
  const divisionsIn = ({ terms }: IndexExpr) =>
    terms.filter(({ atom }) => atom.kind === "quotient" || atom.kind === "remainder").length;
  for (let round = 0; round < 2000; round++) {
    const space = new IndexSpace();
    const extents = [1 + below(6), 1 + below(6), 1 + below(6)];
    const variables = extents.map((extent, i) => space.variable("abc"[i] as string, extent));
    const sum = variables.reduce((x, variable) => add(x, scale(variable, below(9) - 2)), constantExpr(below(20) - 10));
    const value = add(
      add(below(2) ? space.quotient(sum, 1 + below(8)) : sum, scale(variables[0] as IndexExpr, below(4))),
      constantExpr(below(9) - 4),
    );
    const low = below(20) - 8;
    const high = low + below(12);
    const simple = bound(value, low, high);
    divisionsBefore += divisionsIn(value);
    divisionsAfter += divisionsIn(simple.value);
    for (let at = 0; at < extents.reduce((product, extent) => product * extent); at++) {
      const [a = 1, b = 1] = extents;
      const values = [at % a, Math.floor(at / a) % b, Math.floor(at / (a * b))];
      const valueFor = (atom: Atom) => values["abc".indexOf(nameOf(atom))] as number;
      const [was, is] = [evaluate(value, valueFor), evaluate(simple.value, valueFor)];
      const message = `${low} <= ${text(value)} < ${high}: ${simple.low} <= ${text(simple.value)} < ${simple.high}`;
      assert.equal(is >= simple.low && is < simple.high, was >= low && was < high, `${message} at ${values}`);
    }
  }
  assert.ok(divisionsAfter < 0.6 * divisionsBefore, `${divisionsAfter} of ${divisionsBefore} divisions are left`);
});

test("a bound on rows of equal length is a bound on the row", () => {
  const space = new IndexSpace();
  const [i, j] = [space.variable("i", 12), space.variable("j", 8)];
  const flat = add(ravel([i, j], [12, 8]), constantExpr(-8));
  const { value, low, high } = bound(flat, 0, 80);
  assert.deepEqual([text(value), low, high], ["i", 1, 11]);
  assert.equal(text(bound(flat, 1, 80).value), "8*i + j");
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
