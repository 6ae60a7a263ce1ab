/**
 * Memory of tensors that nobody disposes of: what the graph shows to be dead goes at once, the rest does not fill V8's heap in
 * loops of any length. `PUMICE_LONG=1` runs the loop of a million steps in full.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { arange, devices, grad, jit, scope, type Tensor, tensor, zeros } from "../../src/index.js";
import { engineOf } from "../support/engines.js";
import { runNode } from "../support/subprocess.js";

for (const device of devices()) {
  describe(`what the graph shows to be dead, ${device}`, () => {
    const used = () => engineOf(device).stats().usedBytes;
    const BYTES = 4 * 1024 * 1024;
    const large = (): Tensor =>
      zeros([BYTES / 4], { device })
        .add(1)
        .realize();

    test("an argument that was disposed of before the evaluation is freed by it", () => {
      engineOf(device).collect();
      const before = used();
      const x = large();
      const y = x.sum();
      x.dispose();
      assert.ok(used() >= before + BYTES, "it is needed still");
      assert.equal(y.itemSync(), BYTES / 4);
      assert.ok(used() < before + BYTES, `${used() - before} bytes more`);
    });

    test("temporaries of a scope do not hold its arguments back", () => {
      engineOf(device).collect();
      const before = used();
      const x = large();
      const y = scope(() => x.mul(2).add(1).exp().sum());
      assert.ok((y.itemSync() as number) > 0);
      x.dispose();
      assert.ok(used() < before + BYTES, `${used() - before} bytes more`);
    });

    test("an expression that was disposed of unevaluated does not hold its arguments back", () => {
      engineOf(device).collect();
      const before = used();
      const x = large();
      x.mul(2).dispose();
      x.dispose();
      assert.ok(used() < before + BYTES, `${used() - before} bytes more`);
    });

    test("a slice keeps the memory it shares, and the rest of a graph its values", () => {
      const x = arange(0, 1000, 1, { device, dtype: "f32" }).realize();
      const part = x.at("100:200").realize();
      const sum = part.add(x.sum());
      x.dispose();
      assert.equal(sum.dataSync()[0], 100 + 499_500);
      assert.equal(part.dataSync()[99], 199);
    });

    test("gradients, and functions that are jitted, find what they captured", () => {
      const w = tensor([1, 2, 3], { device }).add(0).realize();
      const scaled = jit((x: Tensor) => x.mul(w));
      assert.deepEqual([...scaled(w).dataSync()], [1, 4, 9]);
      const slope = grad((x: Tensor) => {
        const y = x.mul(w);
        y.realize();
        return y.mul(y).sum();
      });
      const x = tensor([1, 1, 1], { device });
      assert.deepEqual([...slope(x).dataSync()], [2, 8, 18]);
      w.dispose();
      assert.deepEqual([...scaled(x).dataSync()], [1, 2, 3]);
    });
  });

  const [steps, heap] = process.env.PUMICE_LONG ? [1_000_000, 150] : [100_000, 30];
  test(`${steps} steps of one element in a loop without await fit into ${heap} MB of V8's heap, ${device}`, async () => {
    const { code, output } = await runNode(
      `
      import { tensor } from "SRC/index.js";
      const one = tensor([1], { device: "${device}" });
      let x = one;
      for (let i = 0; i < ${steps}; i++) x = x.add(one).realize();
      console.log(x.dataSync()[0]);
      process.exit(0);`,
      { args: [`--max-old-space-size=${heap}`], timeoutMs: 300_000 },
    );
    assert.equal(output.trim().split("\n").at(-1), String(steps + 1), output.slice(-500));
    assert.equal(code, 0);
  });
}
