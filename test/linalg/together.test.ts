/** Results of one factorisation that are read one after another come from one computation, as if both had been asked for at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { linalg, random, type Tensor } from "../../src/index.js";
import { backendFor } from "../../src/tensor/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const factorisations: Readonly<Record<string, (a: Tensor) => object>> = {
  qr: (a) => linalg.qr(a),
  svd: (a) => linalg.svd(a),
  eigh: (a) => linalg.eigh(a.add(a.T)),
  lu: (a) => linalg.lu(a),
  luFactor: (a) => linalg.luFactor(a),
  slogdet: (a) => linalg.slogdet(a),
  ldl: (a) => linalg.ldl(a.add(a.T)),
};

describeOnTensorDevices("one after another", (device) => {
  const { counters } = backendFor(device);
  for (const [name, factorise] of Object.entries(factorisations)) {
    test(name, async () => {
      const a = random.normal(random.key(3, { device }), [6, 6]).realize();
      const results = Object.values(factorise(a)) as Tensor[];
      await results[0]!.data();
      const before = counters.kernels;
      for (const result of results.slice(1)) await result.data();
      assert.equal(counters.kernels, before, "the others were computed with the first");
    });
  }
});
