/** Rows of kernels that come block by block, and go where there is no room, against the whole matrix. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor } from "../../../src/index.js";
import { KernelRows } from "../../../src/learn/kernels/kernel-rows.js";

test("rows are those of the matrix, block by block; an aborted fit ends at the next", async () => {
  const x = random.normal(random.key(2, { device: "cpu" }), [1500, 2]) as Tensor;
  const controller = new AbortController();
  const calls: number[] = [];
  const rows = new KernelRows(
    x,
    (a, b) => {
      calls.push(a.shape[0] as number);
      return a.matmul(b.T) as Tensor;
    },
    controller.signal,
  );
  const whole = (await x.matmul(x.T).data()) as Float32Array;
  for (const i of [0, 1499, 3, 700]) {
    const row = rows.known(i) ?? (await rows.fetch(i));
    assert.ok(row.every((value, j) => Math.abs(value - whole[1500 * i + j]!) < 1e-5));
  }
  assert.deepEqual(calls, [699, 102, 699]);
  assert.ok(Math.abs((await rows.diagonal())[1400]! - whole[1500 * 1400 + 1400]!) < 1e-5);
  assert.equal(calls.length, 3);
  controller.abort(new Error("enough"));
  await assert.rejects(rows.fetch(5), /enough/);
});
