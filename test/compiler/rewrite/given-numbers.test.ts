/** Numbers that are data of a program: which share memory, what it holds, and how they are read from it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfPack, isNumber, numberIn, packsOf } from "../../../src/compiler/rewrite/given-numbers.js";
import { scalarNode } from "../../../src/graph/build.js";
import { nowhere, stored } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

const number = (
  value: number | bigint | boolean,
  dtype: "f32" | "f64" | "f16" | "i64" | "u8" | "bool",
  shape: number[] = [],
) => scalarNode(value, dtype, nowhere, shape);

test("a constant is a number until it has been computed; memory is none", () => {
  const constant = number(1, "f32");
  assert.equal(isNumber(constant), true);
  assert.equal(isNumber(stored(1)), false);
  constant.realize({ byteLength: 4 });
  assert.equal(isNumber(constant), false);
});

test("numbers of one dtype lie side by side, in the order they were given, dtypes in the order they came", () => {
  const numbers = [number(1, "f32"), number(2, "f64"), number(3, "f32"), number(4, "u8"), number(5, "f32")];
  const packs = packsOf(numbers);
  assert.deepEqual(
    packs.map(({ dtype }) => dtype),
    ["f32", "f64", "u8"],
  );
  assert.deepEqual(packs[0]!.numbers, [numbers[0], numbers[2], numbers[4]]);
  assert.deepEqual(packsOf([]), []);
});

test("memory holds each as its dtype has it", () => {
  const bytes = (...numbers: ReturnType<typeof number>[]) => bytesOfPack(packsOf(numbers)[0]!);
  assert.deepEqual(
    [...new Float32Array(bytes(number(0.1, "f32"), number(-0, "f32")).slice().buffer)],
    [Math.fround(0.1), -0],
  );
  assert.deepEqual(
    [...new Uint16Array(bytes(number(1, "f16"), number(65504, "f16")).slice().buffer)],
    [0x3c00, 0x7bff],
  );
  assert.deepEqual([...new BigInt64Array(bytes(number(-1n, "i64")).slice().buffer)], [-1n]);
  assert.deepEqual([...bytes(number(true, "bool"), number(false, "bool"))], [1, 0]);
  assert.deepEqual([...bytes(number(300, "u8"))], [300 % 256]);
});

test("a number is read from its place, over its shape", () => {
  const memory = stored(3);
  const node = numberIn(memory, 1, [2, 2]);
  assert.deepEqual(node.shape, [2, 2]);
  assert.deepEqual(plainValues([node], new Map([[memory, [10, 20, 30]]]))[0], [20, 20, 20, 20]);
  assert.deepEqual(numberIn(memory, 2, []).shape, []);
});
