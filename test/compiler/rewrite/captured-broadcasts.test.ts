/** Constants of a scan that are something repeated: the body repeats it itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { repeatingInside } from "../../../src/compiler/rewrite/captured-broadcasts.js";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import type { Node } from "../../../src/graph/node.js";
import { type ScanParams, scanNode } from "../../../src/graph/primitives/control/scan.js";
import { g } from "../../../src/graph/vocabulary.js";
import { nowhere, stored, storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

/** carry · constant, three rounds. */
function scanOf(constant: Node, carry: Node): Node {
  const [k, c] = [constant, carry].map(makePlaceholder) as [Node, Node];
  const body = new GraphFunction([k, c], [g.mul(c, k)]);
  return scanNode([constant, carry], { body, constants: 1, carries: 1, length: 3, isReverse: false })[0]!.inputs[0]!;
}

const bodyOf = (scan: Node): GraphFunction => (scan.params as unknown as ScanParams).body;

test("the source takes the place of what was repeated, and the body computes the same of it", () => {
  const [row, carry] = [stored(3), stored(2, 3)];
  const repeated = g.broadcast(row, [2, 3]);
  const scan = scanOf(repeated, carry);
  const inside = repeatingInside(scan, scan.inputs)!;
  assert.deepEqual(inside.inputs, [row, carry]);
  assert.deepEqual([inside.primitive, inside.shape, inside.dtype], [scan.primitive, scan.shape, scan.dtype]);
  const [x, y, z] = [stored(3), stored(2, 3), stored(2, 3)];
  const [rows, all, carries] = [
    [1, 2, 3],
    [1, 2, 3, 1, 2, 3],
    [5, 6, 7, 8, 9, 10],
  ];
  const got = plainValues(
    bodyOf(inside).apply([x, z]),
    new Map([
      [x, rows],
      [z, carries],
    ]),
  );
  assert.deepEqual(
    got,
    plainValues(
      bodyOf(scan).apply([y, z]),
      new Map([
        [y, all],
        [z, carries],
      ]),
    ),
  );
});

test("what repeats nothing stays as it is: another shape, memory, what is computed", () => {
  const carry = stored(2, 3);
  for (const constant of [stored(2, 3), g.reshape(stored(6), [2, 3]), g.exp(stored(2, 3))]) {
    const scan = scanOf(constant, carry);
    assert.equal(repeatingInside(scan, scan.inputs), null);
  }
});

test("carries are theirs who loop: a repeated one is not taken apart", () => {
  const carry = g.broadcast(stored(3), [2, 3]);
  const scan = scanOf(stored(2, 3), carry);
  assert.equal(repeatingInside(scan, scan.inputs), null);
});

test("a repeated tensor that was computed is memory of its own size", () => {
  const repeated = g.broadcast(stored(3), [2, 3]);
  repeated.realize({ byteLength: 24 });
  const scan = scanOf(repeated, stored(2, 3));
  assert.equal(repeatingInside(scan, scan.inputs), null);
});

test("complex constants stay: they are two numbers in memory and one in the body", () => {
  const repeated = g.broadcast(storedAs("c64", 3), [2, 3]);
  const scan = scanOf(repeated, storedAs("c64", 2, 3));
  assert.equal(repeatingInside(scan, scan.inputs), null);
  assert.equal(scan.device, nowhere);
});
