/** Places that are data: a movement that begins where memory says gives what it gives from that place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isNumber } from "../../../src/compiler/rewrite/given-numbers.js";
import { beginningOf, begunAt, numberAt, placeOf } from "../../../src/compiler/rewrite/given-places.js";
import type { Node } from "../../../src/graph/node.js";
import type { Beginning } from "../../../src/graph/primitive.js";
import { pad, permute, slice, wrap } from "../../../src/graph/primitives/movement.js";
import { make, stored, storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

const EXTENTS = [3, 4];
const VALUES = Array.from({ length: 12 }, (_, i) => i + 1);

/** The movement as it is, and as it begins where memory says along each set of axes. */
function checkPlaces(x: Node, movement: Node): void {
  const expected = plainValues([movement], new Map([[x, VALUES]]))[0];
  for (const axes of [[0], [1], [0, 1]]) {
    const places = new Map(axes.map((axis) => [axis, storedAs("i32")]));
    const begins = beginningOf(movement) as Beginning;
    const memory = [...places].map(([axis, node]) => [node, [begins.at(movement, axis)]] as const);
    const begun = begunAt(movement, x, places);
    assert.deepEqual(begun.shape, movement.shape);
    const values = plainValues([begun], new Map<Node, readonly number[]>([[x, VALUES], ...memory]))[0];
    assert.deepEqual(values, expected, `${movement.primitive.name} ${JSON.stringify(movement.params)} along ${axes}`);
  }
}

test("slices of any start and step begin where memory says", () => {
  const x = stored(...EXTENTS);
  for (const [start, step, shape] of [
    [
      [0, 0],
      [1, 1],
      [1, 4],
    ],
    [
      [1, 2],
      [1, 1],
      [2, 2],
    ],
    [
      [0, 1],
      [2, 2],
      [2, 2],
    ],
    [
      [2, 3],
      [-1, -3],
      [3, 2],
    ],
    [
      [2, 0],
      [-2, 1],
      [2, 3],
    ],
  ])
    checkPlaces(x, make(slice, [x], { start, step, shape }));
});

test("pads of any amounts begin where memory says, those that cut off and those that spread too", () => {
  const x = stored(...EXTENTS);
  for (const [low, high, interior] of [
    [
      [0, 2],
      [2, 0],
      [0, 0],
    ],
    [
      [-1, 1],
      [3, -4],
      [0, 0],
    ],
    [
      [-3, 4],
      [3, 0],
      [0, 0],
    ],
    [
      [1, 0],
      [0, 2],
      [1, 2],
    ],
    [
      [-2, -1],
      [1, 1],
      [2, 0],
    ],
  ])
    checkPlaces(x, make(pad, [x], { low, high, interior, value: -7 }));
});

test("periods of any start and length begin where memory says", () => {
  const x = stored(...EXTENTS);
  for (const [start, shape] of [
    [
      [1, 3],
      [3, 4],
    ],
    [
      [-1, -9],
      [3, 4],
    ],
    [
      [5, 0],
      [8, 2],
    ],
  ])
    checkPlaces(x, make(wrap, [x], { start, shape }));
});

test("movements without a beginning, of complex numbers, without elements or too long have no place", () => {
  const one = (x: Node, shape: number[]) =>
    make(slice, [x], { start: shape.map(() => 0), step: shape.map(() => 1), shape });
  assert.ok(beginningOf(one(stored(3), [1])));
  assert.equal(beginningOf(make(permute, [stored(3, 4)], { axes: [1, 0] })), null);
  assert.equal(beginningOf(one(storedAs("c64", 3), [1])), null);
  assert.equal(beginningOf(one(stored(3), [0])), null);
  assert.equal(beginningOf(one(storedAs("u8", 2 ** 30), [1])), null);
});

test("a place is a number of i32 that knows its movement", () => {
  const movement = make(slice, [stored(9)], { start: [4], step: [1], shape: [2] });
  const number = numberAt(movement, 0, 4);
  assert.ok(isNumber(number));
  assert.deepEqual([number.dtype, number.shape, number.params.value], ["i32", [], 4]);
  assert.deepEqual(placeOf(number), { movement, axis: 0 });
  assert.equal(placeOf(make(slice, [stored(9)], { start: [4], step: [1], shape: [2] })), null);
});
