/** Particles against closed forms: evidence, moments, the weights of modes, the error that is claimed; and posteriordb. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { beta, factor, flat, halfNormal, model, normal, type SmcStage, smc } from "../../../src/bayes/index.js";
import { foldIn, type Key, key } from "../../../src/random/key.js";
import { arange, setDefaultDevice, type Tensor } from "../../../src/tensor/index.js";
import { jit } from "../../../src/transforms/jit.js";
import { vmap } from "../../../src/transforms/vmap.js";
import { expectDistribution, normalDistribution } from "../../support/goodness-of-fit.js";
import { referenceJson, withoutReference } from "../../support/reference-data.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import {
  betaBinomial,
  betaBinomialAnswer,
  close,
  conjugateAnswer,
  conjugateNormal,
  noisyLine,
  noisyLineEvidence,
  twoModes,
  twoModesAnswer,
} from "../approximation/targets.js";
import { eightSchools } from "../models/eight-schools.js";
import { makeIn } from "../models/reference-model.js";
import { blr } from "../models/regressions.js";

before(() => setDefaultDevice("cpu"));
const f64 = makeIn("f64", "cpu");

test("prior draws have the prior's distribution, also of variables without a name and non-centred ones", () => {
  const posterior = model(() => {
    const scale = halfNormal(2);
    const share = beta(2, 1);
    const effect = normal(1, 3).noncentered();
    return { share, effect, y: normal(scale.mul(effect), 1) };
  }).given({ y: f64([1, 2]) });
  const draw = jit((from: Key, numbers: Tensor) => {
    return vmap((i: Tensor): Record<string, Tensor> => posterior.constrain(posterior.priorDraw(foldIn(from, i))))(
      numbers,
    );
  });
  const values = draw(key(1), arange(1000));
  expectDistribution(numbersOf(values.share!), (x) => x * x, "share");
  expectDistribution(numbersOf(values.effect!), (x) => normalDistribution((x - 1) / 3), "effect");
  expectDistribution(numbersOf(values.halfNormal_1!), (x) => 2 * normalDistribution(x / 2) - 1, "scale");
});

describeOnTensorDevices("a conjugate normal model in f32", (device) => {
  test("has its evidence and its moments", async () => {
    const fit = await smc(conjugateNormal(makeIn("f32", device)), { seed: 1 });
    assert.equal(fit.from, "prior");
    assert.ok(fit.logEvidenceError < 0.05);
    close(fit.logEvidence, conjugateAnswer.logEvidence, 4 * fit.logEvidenceError, "the log evidence");
    const { mean, sd, mcseMean, essBulk } = fit.summary().get("mu")!;
    close(mean, conjugateAnswer.mean, 4 * mcseMean, "the mean");
    close(sd / conjugateAnswer.sd, 1, 4 / Math.sqrt(2 * essBulk), "the standard deviation over the true one");
    assert.ok(fit.check().ok, String(fit.check()));
    assert.match(String(fit), /All is well: \d+ stages from the prior, log evidence -[78]\.\d\d ± 0\.0\d/);
  });
});

for (const move of ["hamiltonian", "random-walk"] as const) {
  describe(`with ${move} moves`, () => {
    test("a beta-binomial model has its evidence and its distribution", async () => {
      const fit = await smc(betaBinomial(f64), { seed: 2, move });
      close(fit.logEvidence, betaBinomialAnswer.logEvidence, 4 * fit.logEvidenceError, "the log evidence");
      const { mean, mcseMean } = fit.summary().get("p")!;
      close(mean, betaBinomialAnswer.mean, 4 * mcseMean, "the mean");
      expectDistribution(fit.draws.scalar("p").values, betaBinomialAnswer.distribution, "p");
    });

    test("two modes have their weights, and moves within each", async () => {
      const fit = await smc(twoModes(f64), { seed: 3, move });
      close(fit.logEvidence, twoModesAnswer.logEvidence, 4 * fit.logEvidenceError, "the log evidence");
      const x = fit.draws.values("x").filter((_, i) => i % 2 === 0);
      const left = x.filter((value) => value < 0).length / x.length;
      close(left, twoModesAnswer.left, 0.08, "the share of the left mode");
      const spread = (side: Float64Array) => {
        const mean = side.reduce((a, b) => a + b, 0) / side.length;
        return Math.sqrt(side.reduce((a, b) => a + (b - mean) ** 2, 0) / side.length);
      };
      close(spread(x.filter((value) => value < 0)) / (0.3 / Math.sqrt(1 + 0.09 / 25)), 1, 0.15, "the left spread");
      close(spread(x.filter((value) => value > 0)) / (0.6 / Math.sqrt(1 + 0.36 / 25)), 1, 0.15, "the right spread");
    });
  });
}

describe("the error that is claimed is the one that repeated runs have", () => {
  const squares = (values: readonly number[]) => values.reduce((sum, z) => sum + z * z, 0);

  test("of the evidence and of means", async () => {
    const y = [1.2, -3.3];
    const posterior = model(() => {
      const mu = normal(0, 10).shape(2);
      return { mu, y: normal(mu, 0.5) };
    }).given({ y: f64(y) });
    const logEvidence = y.reduce((sum, v) => sum - (Math.log(2 * Math.PI * 100.25) + (v * v) / 100.25) / 2, 0);
    const scores: number[] = [];
    const means: number[] = [];
    for (let seed = 0; seed < 12; seed++) {
      const fit = await smc(posterior, { seed, particles: 256 });
      scores.push((fit.logEvidence - logEvidence) / fit.logEvidenceError);
      fit.summary().rows.forEach(({ mean, mcseMean }, i) => {
        means.push((mean - (y[i]! * 100) / 100.25) / mcseMean);
      });
    }
    // χ² with 12 and 24 degrees of freedom: beyond these once in a thousand times each.
    assert.ok(squares(scores) > 2.2 && squares(scores) < 32.9, `z² of the evidence sum to ${squares(scores)}`);
    assert.ok(squares(means) > 8 && squares(means) < 51.2, `z² of the means sum to ${squares(means)}`);
  });

  test("also where the way is narrow and most particles are elsewhere", async () => {
    const logEvidence = noisyLineEvidence();
    close(logEvidence, -9.0933, 1e-4, "the evidence of another program");
    const scores: number[] = [];
    for (let seed = 0; seed < 6; seed++) {
      const fit = await smc(noisyLine(f64), { seed, particles: 1024 });
      scores.push((fit.logEvidence - logEvidence) / fit.logEvidenceError);
    }
    assert.ok(squares(scores) < 22.5, `z² of the evidence sum to ${squares(scores)}`);
  });
});

test("without a prior to draw from, particles start at normal numbers and find the integral", async () => {
  const y = [0.4, 1.1, 0.9];
  const posterior = model(() => {
    const mu = flat();
    return { mu, y: normal(mu, 1) };
  }).given({ y: f64(y) });
  const fit = await smc(posterior, { seed: 4 });
  assert.equal(fit.from, "normal");
  const mean = y.reduce((a, b) => a + b, 0) / 3;
  const squares = y.reduce((sum, v) => sum + (v - mean) ** 2, 0);
  // ∫ ∏ N(y | mu, 1) dmu
  const integral = -Math.log(2 * Math.PI) - Math.log(3) / 2 - squares / 2;
  close(fit.logEvidence, integral, 4 * fit.logEvidenceError, "the log of the integral");
  close(fit.summary().get("mu")!.mean, mean, 4 * fit.summary().get("mu")!.mcseMean, "the mean");
});

test("temperatures rise to 1 at the wanted effective sizes, and progress tells of every stage", async () => {
  const stages: SmcStage[] = [];
  const fit = await smc(betaBinomial(f64), { seed: 5, effectiveShare: 0.9, onProgress: (stage) => stages.push(stage) });
  assert.deepEqual(stages, fit.stages);
  assert.ok(stages.length > 3);
  stages.forEach(({ temperature, effective }, i) => {
    assert.ok(temperature > (stages[i - 1]?.temperature ?? 0));
    if (i < stages.length - 1) close(effective / 2048, 0.9, 1e-6, `the effective share of stage ${i}`);
    else assert.ok(temperature === 1 && effective >= 0.9 * 2048);
  });
});

test("the seed decides the draws", async () => {
  const posterior = conjugateNormal(f64);
  const [a, b, c] = await Promise.all(
    [7, 7, 8].map(async (seed) => (await smc(posterior, { seed, particles: 64 })).draws.values("mu")),
  );
  assert.deepEqual(a, b);
  assert.notDeepEqual(a, c);
});

test("few particles for a long way are said to be few", async () => {
  const far = model(() => {
    const mu = normal(0, 1).shape(5);
    return { mu, y: normal(mu, 0.01) };
  }).given({ y: f64([3, -3, 3, -3, 3]) });
  const { problems } = (await smc(far, { seed: 1, particles: 64 })).check();
  assert.ok(problems.some(({ kind, message }) => kind === "particles" && /come from \d+ of the 64/.test(message)));
});

test("moves that are enough are no complaint, also where they are all that was allowed", async () => {
  const fit = await smc(model(() => ({ x: normal(0, 1) })).given({}), { seed: 1, maxMoves: 1, dtype: "f64" });
  const { moves, correlation } = fit.stages.at(-1)!;
  assert.ok(moves === 1 && correlation < 0.1, `${moves} moves to a correlation of ${correlation}`);
  assert.ok(fit.check().ok, String(fit.check()));
  const stiff = await smc(twoModes(f64), { seed: 1, maxMoves: 1, move: "random-walk" });
  assert.ok(stiff.stages.at(-1)!.correlation > 0.1);
  assert.match(String(stiff.check()), /The particles hardly moved at the end/);
});

test("a run that is stopped throws the reason, since its particles are not the posterior's yet", async () => {
  const stop = new AbortController();
  const run = smc(twoModes(f64), { seed: 1, signal: stop.signal, onProgress: () => stop.abort(new Error("enough")) });
  await assert.rejects(run, /^Error: enough$/);
});

test("impossible data and bad options are refused in words", async () => {
  const impossible = model(() => {
    const mu = normal(0, 1);
    factor(mu.mul(0).sub(Number.POSITIVE_INFINITY));
    return { mu };
  }).given({});
  await assert.rejects(
    smc(impossible, { particles: 64 }),
    /^ArgumentError: smc: the data are impossible under every particle/,
  );
  await assert.rejects(smc(conjugateNormal(f64), { effectiveShare: 1 }), /effectiveShare is 1; it is a share between/);
  await assert.rejects(
    smc(conjugateNormal(f64), { move: "random-walk", leapfrogs: 3 }),
    /^ArgumentError: smc: leapfrogs are those of move: "hamiltonian"/,
  );
  await assert.rejects(smc(conjugateNormal(f64), { particles: 2.5 }), /smc: particles is 2.5/);
});

describe("posteriordb", () => {
  // Of blr: given sigma the observations are normal, and sigma was integrated out by a sum, with NumPy.
  for (const [reference, logEvidence] of [[eightSchools], [blr, -194.968]] as const) {
    const skip = withoutReference(`posteriordb/${reference.name}`);
    test(`${reference.name}: every mean within four standard errors of the reference`, { skip }, async () => {
      const fit = await smc(reference.posterior(f64), { seed: 6, particles: 1024 });
      if (logEvidence) close(fit.logEvidence, logEvidence, 4 * fit.logEvidenceError, "the log evidence");
      const { summary } = referenceJson(`posteriordb/${reference.name}/reference.json`) as {
        summary: Record<string, { mean: number; sd: number }>;
      };
      for (const { name, mean, sd, mcseMean } of fit.summary()) {
        const known = summary[name.replace(/\[(\d+)\]/, (_, i) => `[${Number(i) + 1}]`)]!;
        // The reference has 10,000 draws.
        close(mean, known.mean, 4 * Math.hypot(mcseMean, known.sd / 100), `the mean of ${name}`);
        close(sd / known.sd, 1, 0.2, `the standard deviation of ${name} over the reference's`);
      }
    });
  }
});
