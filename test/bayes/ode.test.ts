/** Models with differential equations: their posterior by a grid, their gradient by CmdStan, and what cannot be sampled. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { logNormal, model, normal, positive } from "../../src/bayes/index.js";
import { stack, type Tensor, tensor } from "../../src/index.js";
import { integrate } from "../../src/learn/index.js";
import { referenceJson, withoutReference } from "../support/reference-data.js";
import { describeOnTensorDevices, f64 } from "../support/tensors.js";

type Options = Parameters<typeof integrate.odeSolve>[3];

const decay = (how: Options) =>
  model(({ times }: { times: Tensor }) => {
    const k = logNormal(-1, 0.5);
    const y0 = normal(5, 2);
    const y = integrate.odeSolve((_, y: Tensor) => y.mul(k).neg(), y0 as Tensor, times, how).y.at("1:");
    return { k, y0, y: normal(y, 0.3) };
  });

const seen = [3.9, 2.8, 2.3, 1.4, 1.2];
const times = [0, 0.5, 1, 1.5, 2, 3];

describeOnTensorDevices("a decay", (device) => {
  test("has the posterior of a grid of 2000 × 1500 points", async () => {
    const like = { device, dtype: "f32" } as const;
    const posterior = decay({ method: "rk4", steps: 4 }).given(
      { y: tensor(seen, like) },
      { times: tensor(times, like) },
    );
    const fit = await posterior.sample({ chains: 4, warmup: 500, draws: 1000, seed: 3 });
    // Sums over k from 0.02 to 2.5 and y0 from 1 to 10 with SciPy's densities and y0·exp(-k·t).
    for (const [name, mean, sd] of [
      ["k", 0.53549583, 0.08589284],
      ["y0", 4.95324659, 0.49741938],
    ] as const) {
      const { rows } = fit.summary(name);
      const row = rows[0]!;
      assert.ok(row.rHat < 1.02);
      assert.ok(Math.abs(row.mean - mean) < 4.5 * row.mcseMean, `${name}: ${row.mean} ± ${row.mcseMean}, not ${mean}`);
      assert.ok(
        Math.abs(row.sd / sd - 1) < 4.5 / Math.sqrt(2 * row.essBulk) + 0.03,
        `${name}: sd ${row.sd}, not ${sd}`,
      );
    }
  });
});

test("steps that follow errors cannot run inside a kernel of chains; the error says what to write", async () => {
  const posterior = decay({}).given({ y: f64(seen) }, { times: f64(times) });
  await assert.rejects(
    async () => posterior.sample({ draws: 5, warmup: 5 }),
    /whileLoop.*cannot run inside a kernel of chains.*odeSolve is told them by { steps }/,
  );
  const stiff = decay({ method: "rodas5p", steps: 2 }).given({ y: f64(seen) }, { times: f64(times) });
  await assert.rejects(async () => stiff.sample({ draws: 5, warmup: 5 }), /cannot run inside a kernel of chains/);
});

/** Stan's lotka_volterra. */
const hares = (how: Options) =>
  model(({ times }: { times: Tensor }) => {
    const theta = normal([1, 0.05, 1, 0.05], [0.5, 0.05, 0.5, 0.05]).constrained(positive);
    const start = logNormal(Math.log(10), 1).shape(2);
    const sigma = logNormal(-1, 1).shape(2);
    const [a, b, c, d] = [0, 1, 2, 3].map((i) => theta.at(i));
    const f = (_: Tensor, z: Tensor) => {
      const [u, v] = [z.at(0), z.at(1)];
      return stack([u.mul(a!.sub(v.mul(b!))), v.mul(u.mul(d!).sub(c!))]);
    };
    const z = integrate.odeSolve(f, start as Tensor, times, how).y.at("1:");
    return { theta, start, sigma, first: logNormal(start.log(), sigma), y: logNormal(z.log(), sigma) };
  });

test("hares and lynxes: gradients are CmdStan's, as far as its solver goes", {
  skip: withoutReference("stan/cmdstan.json"),
}, () => {
  const data = referenceJson("stan/lotka_volterra/data.json") as { ts: number[]; y_init: number[]; y: number[][] };
  const known = (referenceJson("stan/cmdstan.json") as Record<string, number[]>).lotka_volterra!.slice(1);
  const q = f64(known.map((_, i) => 0.1 + 0.05 * (i % 7) - 0.15 * (i % 3)));
  const gradientOf = (how: Options): Float64Array => {
    const posterior = hares(how).given({ first: f64(data.y_init), y: f64(data.y) }, { times: f64([0, ...data.ts]) });
    return posterior.logDensityAndGrad(q)[1].dataSync() as Float64Array;
  };
  const fixed = gradientOf({ method: "rk4", steps: 16 });
  const adaptive = gradientOf({ rtol: 1e-9, atol: 1e-10 });
  known.forEach((wanted, i) => {
    // CmdStan was told an absolute error of 1e-3.
    assert.ok(Math.abs(fixed[i]! - wanted) < 3e-2, `${i}: ${fixed[i]}, not ${wanted}`);
    assert.ok(Math.abs(fixed[i]! - adaptive[i]!) < 1e-3, `${i}: ${fixed[i]} and ${adaptive[i]}`);
  });
});
