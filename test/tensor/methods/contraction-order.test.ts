/** The order of contractions: every operand once, few multiplications, also of more operands than are tried out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contractionOrder, type Order, operandsOf } from "../../../src/tensor/methods/contraction-order.js";

const orderOf = (inputs: string, output: string, sizes: Readonly<Record<string, number>>): Order =>
  contractionOrder(
    inputs.split(",").map((labels) => [...labels]),
    [...output],
    new Map(Object.entries(sizes)),
  );

test("a chain of matrices is multiplied from the side where it is thin", () => {
  assert.deepEqual(orderOf("ij,jk,kl", "il", { i: 1000, j: 2, k: 1000, l: 2 }), [0, [1, 2]]);
  assert.deepEqual(orderOf("ij,jk,kl", "il", { i: 2, j: 1000, k: 2, l: 1000 }), [[0, 1], 2]);
});

/** Multiplications of an order, counted by hand: all letters of a pair, of which those that nobody else needs are summed. */
function multiplications(inputs: readonly string[], output: string, size: number, order: Order): number {
  const letters = (own: Order): string[] => {
    const inside = new Set(operandsOf(own));
    const outside = inputs.filter((_, i) => !inside.has(i)).join("") + output;
    const found = typeof own === "number" ? [...inputs[own]!] : own.flatMap(letters);
    return [...new Set(found)].filter((letter) => outside.includes(letter));
  };
  if (typeof order === "number") return 0;
  const own = size ** new Set(order.flatMap(letters)).size;
  return own + order.reduce<number>((sum, part) => sum + multiplications(inputs, output, size, part), 0);
}

test("no order of four operands takes fewer multiplications", () => {
  const [inputs, output] = [["abc", "cd", "bde", "ea"], ""];
  const all = (members: readonly number[]): Order[] => {
    if (members.length === 1) return [members[0]!];
    return Array.from({ length: 2 ** (members.length - 1) - 1 }, (_, k) => k + 1).flatMap((mask) => {
      const [left, right] = [0, 1].map((side) => members.filter((_, i) => ((mask >> i) & 1) === side));
      return all(left!).flatMap((a) => all(right!).map((b): Order => [a, b]));
    });
  };
  const sizes = Object.fromEntries([..."abcde"].map((letter) => [letter, 10]));
  const found = multiplications(inputs, output, 10, orderOf(inputs.join(","), output, sizes));
  assert.equal(found, Math.min(...all([0, 1, 2, 3]).map((order) => multiplications(inputs, output, 10, order))));
});

test("one operand is itself", () => {
  assert.equal(orderOf("ij", "i", { i: 2, j: 3 }), 0);
});

test("every operand comes once, of few and of many", () => {
  for (const count of [2, 5, 8, 9, 20]) {
    const letters = Array.from({ length: count + 1 }, (_, i) => String.fromCharCode(97 + i));
    const inputs = Array.from({ length: count }, (_, i) => `${letters[i]}${letters[i + 1]}`).join(",");
    const sizes = Object.fromEntries(letters.map((letter, i) => [letter, 2 + ((7 * i) % 5)]));
    const order = orderOf(inputs, `${letters[0]}${letters[count]}`, sizes);
    assert.deepEqual(
      operandsOf(order).sort((a, b) => a - b),
      Array.from({ length: count }, (_, i) => i),
    );
  }
});
