/** Placeholders for the memory that a program will be given. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { copyLeaves } from "../../../src/compiler/rewrite/leaves.js";
import { scalarNode } from "../../../src/graph/build.js";
import { g } from "../../../src/graph/vocabulary.js";
import { nowhere, stored, storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

test("a leaf's copy has its shape and dtype, and not its memory", () => {
  const x = storedAs("i32", 2, 3);
  const { copies, memory } = copyLeaves([x]);
  assert.equal(copies.get(x), memory[0]);
  assert.deepEqual([memory[0]!.shape, memory[0]!.dtype, memory[0]!.isAbstract], [[2, 3], "i32", true]);
  assert.notEqual(memory[0]!.storage, null, "it counts as computed");
  assert.notEqual(memory[0]!.storage, x.storage);
});

test("numbers share memory of their dtype, which comes after that of the leaves", () => {
  const x = stored(2);
  const [rate, decay] = [0.1, 0.9].map((value) => scalarNode(value, "f32", nowhere, [2]));
  const count = scalarNode(3, "i32", nowhere);
  const { copies, memory } = copyLeaves([rate!, x, count, decay!]);
  assert.deepEqual(
    memory.map(({ shape, dtype }) => [shape, dtype]),
    [
      [[2], "f32"],
      [[2], "f32"],
      [[1], "i32"],
    ],
  );
  assert.equal(copies.get(x), memory[0]);
  const read = [rate!, decay!, count].map((number) => copies.get(number)!);
  const given = new Map([
    [memory[1]!, [10, 5]],
    [memory[2]!, [7]],
  ]);
  assert.deepEqual(plainValues(read, given), [[10, 10], [5, 5], [7]]);
});

test("leaves that are the same part of memory are one argument", () => {
  const x = stored(8);
  const [part, again, other] = [g.slice(x, [4], [2]), g.slice(x, [4], [2]), g.slice(x, [2], [2])];
  const { copies, memory } = copyLeaves([part, again, other]);
  assert.equal(memory.length, 2);
  assert.equal(copies.get(again), copies.get(part));
  assert.notEqual(copies.get(other), copies.get(part));
});

test("a complex leaf is a view of pairs of real numbers", () => {
  const z = storedAs("c64", 3);
  const { copies, memory } = copyLeaves([z]);
  assert.deepEqual([memory[0]!.shape, memory[0]!.dtype], [[3, 2], "f32"]);
  assert.deepEqual([copies.get(z)!.shape, copies.get(z)!.dtype], [[3], "c64"]);
});
