/** Loops over the elements of diag(d) + ρ z zᵀ: each is seen once, and rows find their member and position. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { both, memberOf, overAll } from "../../../../../src/compiler/routines/linalg/eigen/rank-one-problem.js";
import { laneValues } from "../../../../support/lane-values.js";

test("rows of all members in turn: member, position, what is live, and places from the member's first on", () => {
  const problem = { batch: 2, m: 3, type: "f64", lanes: 1 } as const;
  const inputs = [{ dtype: "i32" as const, values: [2, 77, 3, 78] }];
  const [member, live, start, own, at] = laneValues({ rows: 6, inputs }, (k) => {
    const found = memberOf(k, problem, 0);
    return [found.member, found.live, found.start, found.own, found.at(k.constant("i32", 1))];
  });
  assert.deepEqual(member, [0, 0, 0, 1, 1, 1]);
  assert.deepEqual(live, [2, 2, 2, 3, 3, 3]);
  assert.deepEqual(start, [0, 0, 0, 3, 3, 3]);
  assert.deepEqual(own, [0, 1, 2, 0, 1, 2]);
  assert.deepEqual(at, [1, 1, 1, 4, 4, 4]);
});

test("lanes see every position once between them; where they are too many a position is safe, and said to be outside", () => {
  for (const lanes of [1, 4, 8]) {
    for (const m of [1, 7, 8, 9, 16]) {
      const [count, sum, most] = laneValues({ lanes }, (k) => {
        const i = (value: number) => k.constant("i32", value);
        return overAll(k, m, [i(0), i(0), i(0)], (index, isInside, [seen, total, largest]) => {
          const one = isInside ? k.select(isInside, i(1), i(0)) : i(1);
          return [
            k.binary("add", seen!, one),
            k.binary("add", total!, k.binary("mul", one, index)),
            k.binary("max", largest!, index),
          ];
        });
      });
      const add = (values: readonly number[]) => values.reduce((a, b) => a + b);
      assert.deepEqual([add(count!), add(sum!)], [m, (m * (m - 1)) / 2], `${m} positions, ${lanes} lanes`);
      assert.equal(Math.max(...most!), m - 1);
    }
  }
});

test("both conditions, or the one there is", () => {
  const found = laneValues({ lanes: 4 }, (k) => {
    const bit = (at: number) => k.compare("ne", k.binary("and", k.lane, k.constant("i32", at)), k.constant("i32", 0));
    return [both(k, bit(1), bit(2)), both(k, bit(1), null)];
  });
  assert.deepEqual(found, [[0, 0, 0, 1], [0, 1, 0, 1]]); // biome-ignore format: one line
});
