/** Compiled forms for people: the graph, the kernels, the memory and the results of a jitted function. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { jit, tensor, whileLoop, zeros } from "../../src/index.js";

const x = tensor([1, 2, 3, 4], { device: "cpu" });

test("a form shows its operations, its kernels and the bytes of its results", () => {
  const form = jit((y: typeof x) => y.mul(2).add(1)).lower(x);
  assert.match(form.graph, /mul/);
  assert.match(form.graph, /add/);
  assert.equal(form.memory.resultBytes, 16);
  assert.equal(form.memory.arenaBytes, 0);
  const text = String(form);
  assert.equal(inspect(form), text);
  for (const part of ["graph (traced in", "kernels (", "memory: results 16 bytes", "results: f32[4]", form.kernels]) {
    assert.ok(text.includes(part), part);
  }
});

test("intermediates that do not live together share memory", () => {
  const { memory } = jit((y: typeof x) => y.sort().cumsum({ axis: 0 }).sort().cumsum({ axis: 0 })).lower(
    zeros([5000], { device: "cpu" }),
  );
  assert.ok(memory.arenaBytes > 0 && memory.arenaBytes < memory.withoutSharingBytes, JSON.stringify(memory));
});

test("a function with a loop of unknown length is compiled when its form is asked for", () => {
  const f = jit((y: typeof x) =>
    whileLoop(
      (z) => z.sum().less(100),
      (z) => z.mul(2),
      y,
    ),
  );
  assert.match(f.lower(x).graph, /while/i);
});
