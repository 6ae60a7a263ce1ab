/** vmap against a loop: a function on each member of a batch, and the results laid out by hand. */
import assert from "node:assert/strict";
import { type Tensor, tensor, vmap } from "../../src/index.js";
import { valuesOf } from "./gradient-check.js";
import type { Input, OperationCase } from "./operation-cases.js";
import { indicesOf, type Plain, plainOf, read } from "./tensors.js";

const SIZE = 3;

/** Members along a new axis. */
function stacked(members: readonly Plain[], axis: number): Plain {
  const [{ shape }] = members as [Plain];
  const whole = [...shape.slice(0, axis), members.length, ...shape.slice(axis)];
  return plainOf(whole, (index) =>
    read(
      members[index[axis]!]!,
      index.filter((_, i) => i !== axis),
    ),
  );
}

const tensorsOn =
  (device: string) =>
  ({ shape, values }: Plain, { dtype }: Input): Tensor =>
    tensor([...values], { shape, dtype: dtype === "float" ? "f64" : dtype, device });

const listOf = (result: Tensor | readonly Tensor[]): Tensor[] =>
  Array.isArray(result) ? [...result] : [result as Tensor];

function plainsOf(result: Tensor | readonly Tensor[]): Plain[] {
  const tensors = listOf(result);
  const values = valuesOf(tensors);
  let at = 0;
  return tensors.map(({ shape, size }) => {
    at += size;
    return { shape, values: values.slice(at - size, at) };
  });
}

function expectSame(got: Plain, want: Plain, what: string): void {
  assert.deepEqual(got.shape, want.shape, `${what}: shape`);
  indicesOf(want.shape).forEach((index, i) => {
    const [a, b] = [got.values[i]!, want.values[i]!];
    const isSame = Object.is(a, b) || Math.abs(a - b) <= 1e-12 * (1 + Math.abs(b));
    assert.ok(isSame, `${what}: at [${index}] ${a}, in a loop ${b}`);
  });
}

/** Each choice of batched operands, along axes that change with it. */
export function checkVmap({ inputs, f }: OperationCase, device: string, seed = 1): void {
  const toTensor = tensorsOn(device);
  const members = inputs.map((rule, i) => Array.from({ length: SIZE }, (_, b) => rule(seed * 100 + i + 1000 * b)));
  for (let choice = 1; choice < 2 ** inputs.length; choice++) {
    const axes = members.map(([first], i) => {
      const isBatched = ((choice >> i) & 1) === 1;
      return isBatched ? (choice + i) % (first!.shape.length + 1) : null;
    });
    const args = members.map((each, i) => {
      const axis = axes[i]!;
      return toTensor(axis === null ? each[0]! : stacked(each, axis), each[0]!);
    });
    const loop = Array.from({ length: SIZE }, (_, b) =>
      plainsOf(f(...members.map((each, i) => toTensor(each[axes[i] === null ? 0 : b]!, each[0]!)))),
    );
    const out = choice % 2 === 1 ? 0 : -1;
    const g = (...x: Tensor[]) => listOf(f(...x));
    const got = plainsOf(vmap(g, { in: axes, out })(...args));
    got.forEach((each, i) => {
      const parts = loop.map((results) => results[i]!);
      const axis = out === 0 ? 0 : parts[0]!.shape.length;
      expectSame(each, stacked(parts, axis), `in axes [${axes.map(String)}], out axis ${out}, result ${i}`);
    });
  }
}
