/** A kernel while it is written: what is remembered and forgotten, loops over several axes, and speculation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Element } from "../../../src/compiler/elements/elements.js";
import { type Kernel, type Value, walkStatements } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { KernelScope } from "../../../src/compiler/lower/kernel-scope.js";
import { constantExpr } from "../../../src/core/index-expr.js";
import { dataOf, encodeValues } from "../../../src/core/storage.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { stored } from "../../support/nodes.js";

/** The parts that only `Lowering` uses are called here as well. */
class OpenScope extends KernelScope {
  override remember(...given: Parameters<KernelScope["remember"]>): Element {
    return super.remember(...given);
  }

  override recall(...given: Parameters<KernelScope["recall"]>): Element | undefined {
    return super.recall(...given);
  }

  override forgetting<T>(work: () => T): T {
    return super.forgetting(work);
  }

  correct(condition: Value, usual: Value, compute: () => Value): Value {
    return this.rarely(condition, usual, compute);
  }
}

const node = stored(4);
const start = (rows = 1) => {
  const k = new KernelBuilder("scope", rows);
  return { k, scope: new OpenScope(k) };
};
const kindsOf = ({ body }: Kernel): string[] => {
  const kinds: string[] = [];
  walkStatements(body, ({ kind }) => void kinds.push(kind));
  return kinds;
};

test("elements of a loop are forgotten when it ends, those that do not depend on it are kept", () => {
  const { k, scope } = start();
  const from = k.buffer("f32", false);
  const i = scope.variable("i", 4);
  scope.loop(i, 4, [], () => {
    const inner = { dtype: "f32", value: k.load(from, scope.indexValue(i), "f32") } as const;
    scope.remember(node, "inner", inner);
    scope.remember(node, "outer", { dtype: "f32", value: k.load(from, k.constant("i32", 0), "f32") });
    assert.equal(scope.recall(node, "inner"), inner);
    return [];
  });
  assert.equal(scope.recall(node, "inner"), undefined);
  assert.ok(scope.recall(node, "outer"));
});

test("work that is to be forgotten leaves nothing behind, and earlier elements stay", () => {
  const { k, scope } = start();
  const element = { dtype: "f32", value: k.constant("f32", 1) } as const;
  scope.remember(node, "before", element);
  const made = scope.forgetting(() => scope.remember(node, "within", element));
  assert.equal(made, element);
  assert.equal(scope.recall(node, "within"), undefined);
  assert.equal(scope.recall(node, "before"), element);
});

test("a loop of one round is no loop, and its variable is 0", () => {
  const { k, scope } = start();
  const to = k.buffer("i32", true);
  const i = scope.variable("i", 1);
  scope.loop(i, 1, [], () => {
    k.store(to, scope.indexValue(i), k.constant("i32", 7), true);
    return [];
  });
  const kernel = k.finish();
  assert.deepEqual(
    kindsOf(kernel).filter((kind) => kind === "loop"),
    [],
  );
});

test("loops over axes reach every index once, the last axis fastest", () => {
  const { k, scope } = start();
  const to = k.buffer("i32", true);
  const count = k.array("i32", 1);
  k.set(count, k.constant("i32", 0), k.constant("i32", 0));
  scope.overAxes([2, 1, 3], (positions) => {
    const [a, b, c] = positions.map((position) => scope.indexValue(position)) as [Value, Value, Value];
    const digits = [a, b, c].reduce((sum, digit) =>
      k.binary("add", k.binary("mul", sum, k.constant("i32", 10)), digit),
    );
    const at = k.get(count, k.constant("i32", 0));
    k.store(to, at, digits, true);
    k.set(count, k.constant("i32", 0), k.binary("add", at, k.constant("i32", 1)));
  });
  const bytes = new Uint8Array(4 * 6);
  interpretKernel(k.finish(), [bytes]);
  assert.deepEqual([...dataOf(bytes, "i32")], [0, 1, 2, 100, 101, 102]);
});

test("a condition that is tested already is not tested again", () => {
  const { k, scope } = start();
  const [a, b] = [0, 1].map((at) => k.compare("lt", k.row, k.constant("i32", at))) as [Value, Value];
  const both = scope.both(a, b);
  assert.equal(both.op, "and");
  assert.equal(scope.both(null, a), a);
  assert.equal(scope.both(a, a), a);
  assert.equal(scope.both(a, both), both);
});

test("speculation has one branch for a batch, and gives the rare result where it is due", () => {
  const { k, scope } = start(4);
  const [from, to] = [k.buffer("f32", false), k.buffer("f32", true)];
  const row = scope.bind("row", 4, k.row);
  const at = (i: number) =>
    k.load(
      from,
      k.binary("add", k.binary("mul", scope.indexValue(row), k.constant("i32", 2)), k.constant("i32", i)),
      "f32",
    );
  /** x, or 100 where x is negative, which is rare. */
  const corrected = (x: Value) =>
    scope.correct(k.compare("lt", x, k.constant("f32", 0)), x, () => k.constant("f32", 100));
  const pair = () => [corrected(at(0)), corrected(at(1))];
  const [sum] = scope.speculate(
    pair,
    ([a, b]) => [k.binary("add", a!, b!)],
    () =>
      scope.overBatch({ count: 2, at: (i) => i }, [k.constant("f32", 0)], (position, [total]) => {
        const index = k.binary(
          "add",
          k.binary("mul", scope.indexValue(row), k.constant("i32", 2)),
          scope.indexValue(position),
        );
        return [k.binary("add", total!, corrected(k.load(from, index, "f32")))];
      }),
  );
  k.store(to, k.row, sum!, true);
  const kernel = k.finish();
  assert.equal(kindsOf(kernel).filter((kind) => kind === "branch").length, 1);
  const bytes = new Uint8Array(4 * 4);
  interpretKernel(kernel, [encodeValues([1, 2, -1, 3, 4, -2, -5, -6], "f32", "test"), bytes]);
  assert.deepEqual([...dataOf(bytes, "f32")], [3, 103, 104, 200]);
});

test("an index is below a limit", () => {
  const { k, scope } = start(3);
  const to = k.buffer("i32", true);
  const isBelow = scope.isBelow(scope.bind("row", 3, k.row), 2);
  k.store(to, k.row, k.select(isBelow, k.constant("i32", 1), k.constant("i32", 0)), true);
  const bytes = new Uint8Array(12);
  interpretKernel(k.finish(), [bytes]);
  assert.deepEqual([...dataOf(bytes, "i32")], [1, 1, 0]);
  assert.equal(scope.indexValue(constantExpr(3)).attribute, 3);
});
