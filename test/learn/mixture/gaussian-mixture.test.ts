/** Mixtures of normal distributions against scikit-learn from the same start, and from their own; draws; transforms; misuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, LinalgError, random, type Tensor, tensor, vmap } from "../../../src/index.js";
import { type CovarianceType, gaussianMixture } from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

type Nested = number | readonly Nested[];

interface Case {
  readonly set: string;
  readonly kind: CovarianceType;
  readonly rounds: number;
  readonly tol: number;
  readonly start: { readonly weights: number[]; readonly means: number[][]; readonly precisions: readonly Nested[] };
  readonly weights: Nested;
  readonly means: Nested;
  readonly covariances: Nested;
  readonly precisions: Nested;
  readonly lowerBound: number;
  readonly iterations: number;
  readonly converged: boolean;
  readonly labels: readonly number[];
  readonly scores: Nested;
  readonly probabilities: Nested;
  readonly bic: number;
  readonly aic: number;
  /** The mean log-likelihood of the best of several starts. */
  readonly best: number;
}

const { sets, mixtures }: { sets: Readonly<Record<string, number[][]>>; mixtures: readonly Case[] } = JSON.parse(
  readFileSync(resolve("test/learn/mixture/mixture-cases.json"), "utf8"),
);

const estimatorOf = ({ kind, start, rounds, tol }: Case) =>
  gaussianMixture({
    nComponents: start.weights.length,
    covarianceType: kind,
    maxIter: rounds,
    tol,
    initParams: "random",
    weightsInit: start.weights,
    meansInit: start.means,
    precisionsInit: start.precisions,
  });

/** The cases that are fitted on Vulkan, too. */
const IN_ALL = 1;

describeOnTensorDevices("mixtures of normal distributions", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  const within = dtype === "f64" ? 1e-8 : 1e-3;
  for (const each of device === "cpu" ? mixtures : mixtures.slice(0, IN_ALL)) {
    const { set, kind, labels } = each;
    test(`${set}, ${kind}, ${each.start.weights.length} components, ${dtype}: from the same start, scikit-learn's end`, async () => {
      const x = of(sets[set], dtype);
      const model = await estimatorOf(each).fit(x);
      const { weights, means, covariances, lowerBound, iterations, converged } = model.learned;
      await closeTo(weights, each.weights, within, "weights");
      await closeTo(means, each.means, within, "means");
      await closeTo(covariances, each.covariances, within, "covariances");
      await closeTo(model.precisions(), each.precisions, within, "precisions");
      await closeTo(lowerBound, each.lowerBound, within, "lower bound");
      assert.equal(await iterations.item(), each.iterations);
      assert.equal(Boolean(await converged.item()), each.converged);
      assert.deepEqual(numbersOf(model.learned.labels), labels);
      assert.deepEqual(numbersOf(model.predict(x)), labels);
      const few = x.at(":6") as Tensor;
      await closeTo(model.scoreSamples(few), each.scores, within, "log-likelihoods");
      await closeTo(model.predictProbability(few), each.probabilities, within, "probabilities");
      await closeTo(model.bic(x), each.bic, within, "bic");
      await closeTo(model.aic(x), each.aic, within, "aic");
    });
  }
});

test("from clusters of k-means, the best of several starts is as likely as scikit-learn's, in f32 and far from zero, too", async () => {
  for (const each of mixtures.filter(({ set, kind }) => set === "far" || (set === "iris" && kind === "tied"))) {
    for (const dtype of ["f64", "f32"] as const) {
      const x = of(sets[each.set], dtype);
      const nComponents = each.start.weights.length;
      const model = await gaussianMixture({ nComponents, covarianceType: each.kind, nInit: 3 }).fit(x);
      const score = Number(await model.score(x).item());
      assert.ok(score >= each.best - 0.01 * Math.abs(each.best), `${each.set}, ${dtype}: ${score} and ${each.best}`);
    }
  }
});

test("draws have the moments of the mixture", async () => {
  const x = of(sets.blobs, "f64");
  for (const covarianceType of ["full", "tied", "diag", "spherical"] as const) {
    const model = await gaussianMixture({ nComponents: 4, covarianceType }).fit(x);
    const { samples, labels } = model.sample(random.key(5), 20000);
    assert.deepEqual([samples.shape, labels.shape], [[20000, 2], [20000]]);
    const { weights, means } = model.learned;
    const wanted = weights.expandDims(1).mul(means).sum({ axis: 0 });
    const errors = samples.std({ axis: 0 }).div(Math.sqrt(20000));
    const scores = numbersOf(samples.mean({ axis: 0 }).sub(wanted).div(errors) as Tensor);
    assert.ok(
      scores.every((z) => Math.abs(z) < 4),
      `${covarianceType}: ${scores}`,
    );
    // By the law of large numbers, draws are as likely as samples of the fit.
    const [own, drawn] = [await model.score(x).item(), await model.score(samples).item()].map(Number);
    assert.ok(Math.abs(own! - drawn!) < 0.25, `${covarianceType}: ${own} and ${drawn}`);
  }
});

test("duplicates and columns that do not vary keep the least variance, and one sample is a mixture", async () => {
  const same = await gaussianMixture({ nComponents: 2, regCovar: 1e-3 }).fit([
    [1, 5],
    [1, 5],
    [4, 5],
    [4, 5],
  ]);
  const variances = numbersOf(same.learned.covariances.diagonal() as Tensor);
  assert.ok(
    variances.every((variance) => Math.abs(variance - 1e-3) < 1e-6),
    String(variances),
  );
  const one = await gaussianMixture().fit([[3, 4]]);
  assert.deepEqual(numbersOf(one.learned.means), [3, 4]);
});

test("a covariance that is not positive definite is an error with its remedy, and regCovar is one", async () => {
  const flat = [[1, 5], [2, 5], [4, 5]]; // biome-ignore format: a matrix
  for (const [covarianceType, x] of [
    ["full", flat],
    ["tied", flat],
    ["diag", flat],
    ["spherical", [[5], [5]]],
  ] as const) {
    // biome-ignore format: a table
    const estimator = gaussianMixture({ covarianceType, regCovar: 0 });
    await assert.rejects(estimator.fit(x), (error: Error) => {
      assert.ok(error instanceof LinalgError);
      assert.match(
        error.message,
        /^gaussianMixture\.fit: a covariance is not positive definite in f32; .*Raise regCovar/,
      );
      return true;
    });
    const model = await estimator.with({ regCovar: 1e-3 }).fit(x);
    assert.ok(Number.isFinite(await model.learned.lowerBound.item()));
  }
  // The last round alone has made it: the likelihood that the round started from is a finite number.
  const late = gaussianMixture({ regCovar: 0, maxIter: 1, meansInit: [[3]], precisionsInit: [[[1]]] });
  await assert.rejects(late.fit([[3], [3]]), /not positive definite/);
  const { lowerBound } = late.fitTensors(tensor([[3], [3]])).learned;
  assert.ok(Number.isFinite(await lowerBound.item()));
});

test("fits go through jit, and through vmap over keys", async () => {
  const x = of(sets.blobs, "f64");
  const estimator = gaussianMixture({ nComponents: 2, maxIter: 5, initParams: "random" });
  const plain = estimator.fitTensors(x);
  const inside = jit((a: Tensor) => estimator.fitTensors(a))(x);
  await closeTo(inside.learned.means, await plain.learned.means.array(), 1e-9, "means");
  const keys = random.split(random.key(4), [3]);
  const many = vmap((seed: Tensor) => estimator.with({ seed }).fitTensors(x))(keys);
  const alone = estimator.with({ seed: keys.at(1) as Tensor }).fitTensors(x);
  await closeTo(many.learned.means.at(1) as Tensor, await alone.learned.means.array(), 1e-9, "means");
});

test("wrong options are refused by name", async () => {
  assert.throws(() => gaussianMixture({ nComponents: 0 }), /nComponents is a whole number from 1 on/);
  assert.throws(() => gaussianMixture({ covarianceType: "round" as never }), /covarianceType is "round"/);
  assert.throws(() => gaussianMixture({ regCovar: -1 }), /regCovar is -1/);
  assert.throws(() => gaussianMixture({ meansInit: 3 as never }), /meansInit is neither a tensor nor a list/);
  await assert.rejects(
    gaussianMixture({ nComponents: 3 }).fit([[1], [2]]),
    /nComponents is 3; it is a whole number from 1 to 2/,
  );
  await assert.rejects(
    gaussianMixture({ meansInit: [[1, 2]] }).fit([[1], [2]]),
    /meansInit has the shape \[1, 2\]; it is \[1, 1\] here/,
  );
});
