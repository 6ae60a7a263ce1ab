/** A program may end while its work still runs; the driver is torn down with the process and must not be busy then. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runNode } from "../support/subprocess.js";
import { describeOnTensorDevices } from "../support/tensors.js";

describeOnTensorDevices("the end of a program", (device) => {
  test("with work under way is a normal end", async () => {
    const program = `
      import { key, normal } from "SRC/random/index.js";
      const a = normal(key(0), [300, 256]).realize();
      const b = normal(key(1), [256, 300]).realize();
      a.matmul(b).dataSync();
      for (let i = 0; i < 3; i++) normal(key(i), [2, 8, 34, 34 + i]).realize();
    `;
    for (let run = 0; run < 3; run++) {
      assert.deepEqual(await runNode(program, { env: { PUMICE_DEVICE: device } }), { code: 0, output: "" });
    }
  });
});
