/** Factorisations in the middle of a jitted step: nothing is read back on the way, and the whole step is one submission. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eye, grad, jit, linalg, type Tensor } from "../../src/index.js";
import { vulkanEngineOf } from "../support/engines.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { normals } from "./accuracy.js";

/** A result of each factorisation, as a number. Iterations of `eig` are counted on the host, so it is not among them. */
const STEPS: Readonly<Record<string, (a: Tensor, b: Tensor) => Tensor>> = {
  solve: (a, b) => linalg.solve(a, b),
  cholesky: (a, b) => linalg.choSolve(linalg.cholesky(a), b),
  qr: (a) => linalg.qr(a).r,
  eigh: (a) => linalg.eigh(a).eigenvectors,
  svd: (a) => linalg.svd(a).s,
  "the gradient of solve": (a, b) => grad((x: Tensor) => linalg.solve(x, b).square().sum())(a),
};

describeOnTensorDevices("a jitted step", (device) => {
  for (const [name, middle] of Object.entries(STEPS)) {
    test(`with ${name} in the middle is one submission`, { skip: device === "cpu" && "the CPU has no queue" }, () => {
      const step = jit((a: Tensor, b: Tensor) => {
        const even = a.matmul(a.mT).add(eye(6).mul(4));
        return middle(even, b.tanh()).mul(2).sum().add(b.mean());
      });
      const inputs = [normals([6, 6], "f32", 1).realize(), normals([6, 2], "f32", 2).realize()] as const;
      const first = step(...inputs).itemSync();
      const { stream } = vulkanEngineOf(device);
      stream.flush();
      const { submissions } = stream.counters;
      const again = step(...inputs);
      stream.flush();
      assert.equal(stream.counters.submissions - submissions, 1);
      assert.equal(again.itemSync(), first);
    });
  }
});
