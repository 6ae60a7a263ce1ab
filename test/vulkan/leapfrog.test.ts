/**
 * leapfrogChain: whole Hamiltonian trajectories in one dispatch, by shaders compiled from GLSL and by one written with our
 * assembler, against the same steps in plain JavaScript and against what any leapfrog integrator must satisfy.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, DisposedError, FormatError, SizeMismatchError } from "../../src/core/errors.js";
import { catalogue, type VulkanDevice } from "../../src/vulkan/index.js";
import { describeOnOpenDevices } from "../support/devices.js";
import { type FloatType, floats } from "../support/floats.js";
import { optimized, withoutSpirvOpt } from "../support/foreign-compilers.js";
import { glsl, temporaryFile, withoutGlslang } from "../support/glsl.js";
import { referenceJson, withoutReference } from "../support/reference-data.js";
import {
  type Chain,
  correlatedGaussian,
  independentGaussian,
  leapfrog,
  type Model,
  regime,
  syntheticReturns,
} from "./chain-models.js";

const { leapfrogChain, gaussianChainShader } = catalogue;
const TYPES = ["f32", "f64"] as const;
const STEPS = 32;
const EPS = 0.1;

/** The push block of the contract: K, observations, d, padding, ε, and what the model adds. */
function pushBlock(type: FloatType, k: number, eps: number, { observations, d, parameters }: Model): Uint8Array {
  const head = new Uint32Array([k, observations.length, d, 0]);
  const tail = floats(type, [eps, ...parameters]);
  return new Uint8Array([...new Uint8Array(head.buffer), ...new Uint8Array(tail.buffer)]);
}

async function runChain(
  device: VulkanDevice,
  type: FloatType,
  model: Model,
  shader: Uint8Array | Uint32Array | string,
  from: Model["start"] = model.start,
  steps = STEPS,
  eps = EPS,
): Promise<Chain> {
  const pack = (values: readonly number[]) => floats(type, values);
  const extras = pack([...model.observations, ...model.inverseMass]);
  const push = pushBlock(type, steps, eps, model);
  const chain = await leapfrogChain(device, pack(from.q), pack(from.p), extras, push, steps, shader, { type });
  const { q, p, grad, logp } = chain;
  return { q: [...q], p: [...p], grad: [...grad], logp: [...logp] };
}

/** The largest error of each quantity over the chain, relative to that quantity's largest value in it. */
function assertChainsAgree(got: Chain, want: Chain, d: number, tolerance: number): void {
  for (const part of ["q", "p", "grad", "logp"] as const) {
    assert.equal(got[part].length, want[part].length, `entries of the ${part} chain`);
    const width = part === "logp" ? 1 : d;
    for (let i = 0; i < width; i++) {
      const values = want[part].filter((_, at) => at % width === i);
      const size = Math.max(...values.map(Math.abs));
      values.forEach((value, t) => {
        const off = Math.abs(got[part][t * width + i] - value) / size;
        assert.ok(off <= tolerance, `${part}[${i}] after step ${t + 1} is ${got[part][t * width + i]}, not ${value}`);
      });
    }
  }
}

const energy = (model: Model, q: readonly number[], p: readonly number[]) =>
  -model.density(q).logp + p.reduce((sum, x, i) => sum + 0.5 * model.inverseMass[i] * x * x, 0);

const entry = (chain: readonly number[], t: number, d: number) => chain.slice(t * d, (t + 1) * d);

const REGIME_FILE = "regime_returns.json";

/** Each model with why it may not run here. The models of the two types differ only in the size of their push block. */
const models: readonly { make: (type: FloatType) => Model; skip: string | false }[] = [
  { make: () => independentGaussian(37), skip: false },
  { make: correlatedGaussian, skip: false },
  { make: () => regime(syntheticReturns(), "the regime model on 200 drawn returns"), skip: false },
  {
    make: () => {
      const { y } = withoutReference(REGIME_FILE) ? { y: [0] } : (referenceJson(REGIME_FILE) as { y: number[] });
      return regime(y, "the regime model on the reference returns");
    },
    skip: withoutReference(REGIME_FILE),
  },
];

for (const { make, skip } of models) {
  const model = make("f64");
  test(`the JavaScript gradient of ${model.name} is the slope of its log density`, { skip }, () => {
    const { q } = model.start;
    const { grad } = model.density(q);
    const scale = model.inverseMass.map(Math.sqrt);
    for (let i = 0; i < model.d; i++) {
      const h = 1e-5 * scale[i];
      const at = (by: number) => model.density(q.map((x, j) => (i === j ? x + by : x))).logp;
      // Richardson's extrapolation of central differences.
      const slope = (4 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h)) / 2) / (6 * h);
      assert.ok(Math.abs(slope - grad[i]) * scale[i] < 1e-6, `component ${i}: ${grad[i]}, by differences ${slope}`);
    }
  });
}

test("the reference returns have their likeliest parameters where another sampler found them", {
  skip: withoutReference(REGIME_FILE),
}, () => {
  const { y } = referenceJson(REGIME_FILE) as { y: number[] };
  const model = regime(y, "the regime model");
  const means = [0.0092, 0.0253, 0.646, -0.425, ...[0.0074, 0.0063, 0.0447, 0.193].map(Math.log)];
  const { grad } = model.density(means);
  // Less than a posterior standard deviation from the peak, in every parameter.
  for (const [i, slope] of grad.entries()) {
    assert.ok(Math.abs(slope) * Math.sqrt(model.inverseMass[i]) < 1, `parameter ${i}`);
  }
});

describeOnOpenDevices("leapfrog chains from GLSL", withoutGlslang, (device) => {
  const hasType = (type: FloatType) => type === "f32" || device().plan.features.includes("shaderFloat64");

  for (const type of TYPES) {
    for (const { make, skip } of models) {
      const model = make(type);
      const bytes = pushBlock(type, STEPS, EPS, model).length;
      const tolerance = type === "f64" ? 1e-11 : 1e-4;
      const claim = `${model.name} agrees with JavaScript to ${tolerance} over ${STEPS} steps, at ${type} with ${bytes} bytes pushed`;
      test(claim, { skip }, async (t) => {
        if (!hasType(type)) return t.skip("the device has no f64");
        const got = await runChain(device(), type, model, glsl(model.glsl(type)));
        assertChainsAgree(got, leapfrog(model, model.start, STEPS, EPS), model.d, tolerance);
      });
    }
  }

  test("entry t is the state after step t + 1: its gradient and log density are its own, never a step behind", async (t) => {
    if (!hasType("f64")) return t.skip("the device has no f64");
    for (const { make, skip } of models) {
      if (skip) continue;
      const model = make("f64");
      const got = await runChain(device(), "f64", model, glsl(model.glsl("f64")));
      for (let step = 0; step < STEPS; step++) {
        const { logp, grad } = model.density(entry(got.q, step, model.d));
        const size = Math.max(...got.logp.map(Math.abs));
        assert.ok(Math.abs(got.logp[step] - logp) < 1e-12 * size, `${model.name}: log density of entry ${step}`);
        const steepest = Math.max(...grad.map(Math.abs));
        entry(got.grad, step, model.d).forEach((slope, i) => {
          assert.ok(Math.abs(slope - grad[i]) < 1e-9 * steepest, `${model.name}: gradient ${i} of entry ${step}`);
        });
        // The state before would not have passed for this one.
        const before = step === 0 ? model.start.q : entry(got.q, step - 1, model.d);
        assert.ok(Math.abs(model.density(before).logp - logp) > 1e-9 * size, `${model.name}: step ${step} moves`);
      }
    }
  });

  test("halving the step size quarters the energy error", async (t) => {
    if (!hasType("f64")) return t.skip("the device has no f64");
    for (const { make, skip } of models) {
      if (skip) continue;
      const model = make("f64");
      const start = energy(model, model.start.q, model.start.p);
      const errors: number[] = [];
      for (const halvings of [0, 1, 2]) {
        const [steps, eps] = [STEPS * 2 ** halvings, EPS / 2 ** halvings];
        const got = await runChain(device(), "f64", model, glsl(model.glsl("f64")), model.start, steps, eps);
        // At the same times for every step size.
        const drift = Array.from({ length: STEPS }, (_, at) => {
          const step = (at + 1) * 2 ** halvings - 1;
          return Math.abs(energy(model, entry(got.q, step, model.d), entry(got.p, step, model.d)) - start);
        });
        errors.push(Math.max(...drift));
      }
      const ratios = [errors[0] / errors[1], errors[1] / errors[2]];
      assert.ok(
        ratios.every((ratio) => ratio > 3.8 && ratio < 4.2),
        `${model.name}: errors ${errors}, ratios ${ratios}`,
      );
    }
  });

  test("with the momentum turned round the chain goes back to where it came from", async () => {
    for (const type of TYPES.filter(hasType)) {
      for (const { make, skip } of models) {
        if (skip) continue;
        const model = make(type);
        const shader = glsl(model.glsl(type));
        const there = await runChain(device(), type, model, shader);
        const [q, p] = [there.q, there.p].map((chain) => entry(chain, STEPS - 1, model.d));
        const back = await runChain(device(), type, model, shader, { q, p: p.map((x) => -x) });
        const tolerance = type === "f64" ? 1e-11 : 1e-4;
        model.inverseMass.forEach((inverse, i) => {
          const scale = Math.sqrt(inverse);
          const off = [back.q.at(i - model.d)! - model.start.q[i], -back.p.at(i - model.d)! - model.start.p[i]];
          assert.ok(Math.abs(off[0]) < tolerance * scale, `${type}, ${model.name}: position ${i} off by ${off[0]}`);
          assert.ok(Math.abs(off[1]) < tolerance / scale, `${type}, ${model.name}: momentum ${i} off by ${off[1]}`);
        });
      }
    }
  });

  test("a chain shader may come from a file, and be optimised", { skip: withoutSpirvOpt }, async () => {
    const model = independentGaussian(5);
    const module = glsl(model.glsl("f32"));
    const file = temporaryFile("chain.spv", optimized(module, "-O"));
    try {
      const want = await runChain(device(), "f32", model, module);
      assertChainsAgree(await runChain(device(), "f32", model, file.path), want, 5, 1e-6);
    } finally {
      file.remove();
    }
  });
});

describeOnOpenDevices("the leapfrog chain of our own assembler", false, (device) => {
  const hasType = (type: FloatType) => type === "f32" || device().plan.features.includes("shaderFloat64");

  for (const type of TYPES) {
    for (const d of [1, 5, 64, 200]) {
      test(`${d} independent normals at ${type}: every position, momentum and gradient bit for bit`, async (t) => {
        if (!hasType(type)) return t.skip("the device has no f64");
        const model = independentGaussian(d);
        const got = await runChain(device(), type, model, gaussianChainShader(type));
        const r = type === "f32" ? Math.fround : (x: number) => x;
        const rounded = (values: readonly number[]) => values.map(r);
        const [mean, precision] = [model.observations.slice(0, d), model.observations.slice(d)].map(rounded);
        const [inverseMass, eps] = [rounded(model.inverseMass), r(EPS)];
        let [q, p] = [rounded(model.start.q), rounded(model.start.p)];
        const slopes = (at: readonly number[]) => at.map((x, i) => r(precision[i] * r(mean[i] - x)));
        for (let step = 0; step < STEPS; step++) {
          const before = slopes(q);
          p = p.map((x, i) => r(x + r(r(eps * 0.5) * before[i])));
          q = q.map((x, i) => r(x + r(eps * r(inverseMass[i] * p[i]))));
          const grad = slopes(q);
          p = p.map((x, i) => r(x + r(r(eps * 0.5) * grad[i])));
          assert.deepEqual(entry(got.q, step, d), q, `positions after step ${step + 1}`);
          assert.deepEqual(entry(got.p, step, d), p, `momenta after step ${step + 1}`);
          assert.deepEqual(entry(got.grad, step, d), grad, `gradients after step ${step + 1}`);
          const logp = -0.5 * q.reduce((sum, x, i) => sum + precision[i] * (mean[i] - x) ** 2, 0);
          const off = Math.abs(got.logp[step] - logp);
          assert.ok(off <= 16 * (type === "f32" ? 2 ** -24 : 2 ** -53) * -logp, `log density after step ${step + 1}`);
        }
      });
    }
  }

  test("a single step, and chains run at once, each with their own results", async () => {
    const model = independentGaussian(3);
    const shader = gaussianChainShader();
    const lengths = [1, 2, 7, 32];
    const chains = await Promise.all(
      lengths.map((steps) => runChain(device(), "f32", model, shader, model.start, steps)),
    );
    chains.forEach((chain, i) => {
      assert.deepEqual([chain.q.length, chain.logp.length], [3 * lengths[i], lengths[i]]);
      assert.deepEqual(chain.q, chains[3].q.slice(0, 3 * lengths[i]));
    });
  });
});

describeOnOpenDevices("misuse of leapfrogChain", false, (device, which) => {
  const good = {
    q: new Float32Array(2),
    p: new Float32Array(2),
    extras: new Float32Array(6),
    push: pushBlock("f32", 4, 0.1, independentGaussian(2)),
    k: 4,
    shader: gaussianChainShader() as Uint32Array | Uint8Array | string,
    type: "f32" as FloatType,
  };
  const call = (change: Partial<typeof good>) => {
    const { q, p, extras, push, k, shader, type } = { ...good, ...change };
    return leapfrogChain(device(), q, p, extras, push, k, shader, { type });
  };
  const sized = (bytes: number) => Uint8Array.from({ length: bytes }, (_, i) => good.push[i] ?? 0);

  const cases: readonly (readonly [string, Partial<typeof good>, new (message: string) => Error, RegExp])[] = [
    ["k that is not the K pushed", { k: 5 }, ArgumentError, /k is 5, but the push block says K = 4/],
    ["k of 0", { k: 0 }, ArgumentError, /k is 0; it must be at least 1/],
    ["k of 1.5", { k: 1.5 }, ArgumentError, /k is 1.5/],
    [
      "a short q",
      { q: new Float32Array(1) },
      SizeMismatchError,
      /q has 4 bytes; with d = 2 and 4 observations it has 8/,
    ],
    ["a long p", { p: new Float32Array(3) }, SizeMismatchError, /p has 12 bytes; with d = 2 .* it has 8/],
    [
      "extras without the masses",
      { extras: new Float32Array(4) },
      SizeMismatchError,
      /extras has 16 bytes; .* it has 24/,
    ],
    ["f32 data said to be f64", { type: "f64", push: sized(24) }, SizeMismatchError, /q has 8 bytes; .* it has 16/],
    ["a push block too short", { push: sized(16) }, ArgumentError, /a push block of 16 bytes; it has 20 to 128/],
    ["a push block too short for f64", { push: sized(20), type: "f64" }, ArgumentError, /20 bytes; it has 24 to 128/],
    ["a push block too long", { push: sized(132) }, ArgumentError, /a push block of 132 bytes; it has 20 to 128/],
    ["a push block the shader does not have", { push: sized(128) }, SizeMismatchError, /has 20 bytes; 128 were given/],
    ["a shader that is not a chain", { shader: new Uint8Array(64) }, FormatError, /Not SPIR-V/],
    ["a file that is not there", { shader: "/nowhere/chain.spv" }, ArgumentError, /nowhere/],
  ];
  for (const [what, change, kind, message] of cases) {
    test(`${what} is refused, and nothing stays behind`, async () => {
      const { buffers } = device().stats();
      await assert.rejects(call(change), (error: Error) => {
        assert.ok(error instanceof kind, `${error.name}: ${error.message}`);
        assert.match(error.message, message);
        return true;
      });
      assert.equal(device().stats().buffers, buffers);
    });
  }

  test("a correct call leaves nothing behind either", async () => {
    const { buffers } = device().stats();
    assert.equal((await call({})).logp.length, 4);
    assert.equal(device().stats().buffers, buffers);
  });

  test("on a closed device it says so", async () => {
    const closed = await which.open();
    await closed.close();
    const { q, p, extras, push, k, shader } = good;
    await assert.rejects(leapfrogChain(closed, q, p, extras, push, k, shader), DisposedError);
  });
});
