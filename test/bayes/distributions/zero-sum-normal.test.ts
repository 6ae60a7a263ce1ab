/** Normal vectors that sum to 0 as latent variables: the posterior is known, centred or not. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { halfNormal, model, normal, sumToZero, zeroSumNormal } from "../../../src/bayes/index.js";
import { type Tensor, tensor } from "../../../src/tensor/index.js";
import { vmap } from "../../../src/transforms/vmap.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const [tau, sigma] = [1.3, 0.7];
const y = [0.9, -0.4, 1.6];
const average = (y[0]! + y[1]! + y[2]!) / 3;
/** On the plane of vectors that sum to 0 the posterior is normal, around the data there, shrunk by this. */
const kept = tau ** 2 / (tau ** 2 + sigma ** 2);
const expected = y.map((value) => (value - average) * kept);
const logNormal = (x: number, sd: number) => -0.5 * (x / sd) ** 2 - Math.log(sd * Math.sqrt(2 * Math.PI));

describe("given normal observations", () => {
  for (const isCentred of [true, false]) {
    test(`evidence and mean are those of the plane, ${isCentred ? "centred" : "non-centred"}`, () => {
      const posterior = model(() => {
        const a = zeroSumNormal(3, tau);
        return { a: isCentred ? a : a.noncentered(), y: normal(a, sigma) };
      }).given({ y: f64(y) });
      assert.equal(posterior.dim, 2);
      const step = 1 / 16;
      const line = Array.from({ length: 257 }, (_, i) => (i - 128) * step);
      const free = f64(line.flatMap((u) => line.map((v) => [u, v])));
      const masses = numbersOf(vmap((u: Tensor) => posterior.logDensity(u))(free)).map(
        (log) => Math.exp(log) * step ** 2,
      );
      const values = numbersOf(vmap((u: Tensor) => posterior.constrain(u).a)(free));
      const total = masses.reduce((sum, mass) => sum + mass, 0);
      // Two coordinates in the plane of variance τ² + σ², and the average of the data, which the effects do not touch.
      const inPlane = y.reduce((sum, value) => sum + (value - average) ** 2, 0);
      const spread = Math.hypot(tau, sigma);
      const evidence =
        -inPlane / (2 * spread ** 2) - Math.log(2 * Math.PI * spread ** 2) + logNormal(average * Math.sqrt(3), sigma);
      assert.ok(Math.abs(Math.log(total) - evidence) < 1e-9, `${Math.log(total)}, not ${evidence}`);
      expected.forEach((value, e) => {
        const mean = masses.reduce((sum, mass, i) => sum + mass * values[3 * i + e]!, 0) / total;
        assert.ok(Math.abs(mean - value) < 1e-9, `element ${e}: ${mean}, not ${value}`);
      });
    });
  }

  test("a scale that is sampled has one power fewer than the vector has elements; .constrained(sumToZero) has one more", () => {
    const at = (posterior: { logDensity(u: Tensor): Tensor }, log: number) =>
      posterior.logDensity(f64([log, 0, 0])).itemSync() as number;
    const made = model(() => {
      const s = halfNormal(1);
      return { s, a: zeroSumNormal(3, s) };
    }).given({});
    const narrowed = model(() => {
      const s = halfNormal(1);
      return { s, a: normal(0, s).shape(3).constrained(sumToZero) };
    }).given({});
    const difference = (log: number) => at(made, log) - at(narrowed, log);
    assert.ok(Math.abs(difference(0.5) - difference(0) - 0.5) < 1e-5);
  });
});

describeOnTensorDevices("chains", (device) => {
  test("have the posterior mean, in f32 and f64", async () => {
    for (const dtype of ["f32", "f64"] as const) {
      const posterior = model(() => {
        const a = zeroSumNormal(3, tau).noncentered();
        return { a, y: normal(a, sigma) };
      }).given({ y });
      const fit = await posterior.sample({ chains: 8, draws: 250, warmup: 200, seed: 5, device, dtype });
      const sums = numbersOf(fit.draws.tensor("a").sum({ axis: -1 }));
      assert.ok(sums.every((sum) => Math.abs(sum) < 1e-5));
      fit.summary("a").rows.forEach(({ name, mean, mcseMean }, i) => {
        assert.ok(Math.abs(mean - expected[i]!) < 4.5 * mcseMean, `${name} is ${mean}, not ${expected[i]}`);
      });
    }
  });
});

test("arguments in the wrong order are named, and fewer than two numbers are refused", () => {
  const swapped = () => zeroSumNormal(tensor([1, 2]) as unknown as number, 3);
  assert.throws(swapped, /^ArgumentError: zeroSumNormal: .*; the number comes first: zeroSumNormal\(n, scale\)\.$/);
  assert.throws(() => zeroSumNormal(1, 0.5), /numbers that sum to 0 are 2 or more/);
});
