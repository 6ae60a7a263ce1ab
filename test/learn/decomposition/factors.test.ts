/** Factorisations against scikit-learn: parts that add up, independent components, factors with noise. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, random, type Tensor, tensor } from "../../../src/index.js";
import { factorAnalysis, fastIca, nmf } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

type Matrix = readonly (readonly number[])[];
interface Case {
  readonly name: string;
  readonly options: object;
  readonly x: Matrix;
  readonly components: Matrix;
  readonly transformed: Matrix;
}
interface Cases {
  readonly nmf: readonly (Case & { readonly error: number })[];
  readonly fastIca: readonly (Case & { readonly mixing: Matrix })[];
  readonly factorAnalysis: readonly (Case & {
    readonly noise: readonly number[];
    readonly likelihood: number;
    readonly iterations: number;
    readonly covariance: Matrix;
    readonly precision: Matrix;
    readonly scores: readonly number[];
  })[];
}

const cases: Cases = JSON.parse(readFileSync(resolve("test/learn/decomposition/factor-cases.json"), "utf8"));

/** 1 or -1 for each of our components: directions have no sign. */
const signsOf = (ours: Tensor, theirs: Matrix): Tensor => {
  const found = numbersOf(ours);
  const signs = theirs.map((row, i) =>
    Math.sign(row.reduce((sum, value, j) => sum + value * found[i * row.length + j]!, 0)),
  );
  return tensor(signs, { dtype: ours.dtype as "f32", device: ours.device });
};

/** The first case of a kind everywhere; the others are the same programs but for numbers. */
const dtypesFor = (device: string, place: number) =>
  place === 0 ? dtypesOf(device, false) : device === "cpu" ? (["f64"] as const) : [];

describeOnTensorDevices("factorisations", (device) => {
  for (const [place, each] of cases.nmf.entries()) {
    for (const dtype of dtypesFor(device, place)) {
      test(`nmf, ${each.name}, ${dtype}: scikit-learn's parts`, async () => {
        const tight = dtype === "f64" ? { tol: 1e-9, maxIter: 20000 } : { tol: 1e-6, maxIter: 2000 };
        const model = await nmf({ ...each.options, ...tight }).fit(of(each.x, dtype));
        const within = dtype === "f64" ? 1e-4 : 1e-2;
        await closeTo(model.learned.components, each.components, within, "parts");
        await closeTo(model.learned.reconstructionError, each.error, within, "what is left");
        await closeTo(model.transform(of(each.x.slice(0, 7), dtype)), each.transformed, within, "shares");
      });
    }
  }

  for (const [place, each] of cases.fastIca.entries()) {
    for (const dtype of dtypesFor(device, place)) {
      test(`fastIca, ${each.name}, ${dtype}: scikit-learn's components`, async () => {
        const tight = dtype === "f64" ? { tol: 1e-10, maxIter: 2000 } : { tol: 1e-6 };
        const model = await fastIca({ ...each.options, ...tight }).fit(of(each.x, dtype));
        const within = dtype === "f64" ? 1e-4 : 1e-2;
        const signs = signsOf(model.learned.components, each.components);
        await closeTo(
          model.learned.components.mul(signs.expandDims(1)) as Tensor,
          each.components,
          within,
          "components",
        );
        await closeTo(model.learned.mixing.mul(signs) as Tensor, each.mixing, within, "the way back");
        const some = of(each.x.slice(0, 7), dtype);
        await closeTo(model.transform(some).mul(signs) as Tensor, each.transformed, within, "sources");
      });
    }
  }

  for (const [place, each] of cases.factorAnalysis.entries()) {
    for (const dtype of dtypesFor(device, place)) {
      test(`factorAnalysis, ${each.name}, ${dtype}: scikit-learn's loadings and noise`, async () => {
        const model = await factorAnalysis(each.options).fit(of(each.x, dtype));
        const isWide = dtype === "f64";
        const within = isWide ? 1e-8 : 2e-2;
        // Rounding of f32 may end the search a round earlier or later.
        if (isWide) assert.equal(Number(await model.learned.iterations.item()), each.iterations);
        const signs = signsOf(model.learned.components, each.components);
        await closeTo(model.learned.components.mul(signs.expandDims(1)) as Tensor, each.components, within, "loadings");
        await closeTo(model.learned.noiseVariance, each.noise, within, "noise");
        await closeTo(model.learned.logLikelihood, each.likelihood, within, "likelihood");
        const some = of(each.x.slice(0, 7), dtype);
        await closeTo(model.transform(some).mul(signs) as Tensor, each.transformed, within, "factors");
        await closeTo(model.covariance(), each.covariance, within, "covariance");
        await closeTo(model.precision(), each.precision, within, "precision");
        await closeTo(model.scoreSamples(some), each.scores, within, "log-likelihoods");
      });
    }
  }
});

test("fits go through jit, and more parts than features begin at random", async () => {
  const x = random.uniform(random.key(2, { device: "cpu" }), [20, 4]) as Tensor;
  const plain = await nmf({ nComponents: 2 }).fit(x);
  const jitted = jit((a: Tensor) => nmf({ nComponents: 2 }).fitTensors(a).learned.components)(x);
  await closeTo(jitted, numbersOf(plain.learned.components), 1e-4, "parts");
  const model = await nmf({ nComponents: 6, maxIter: 2000 }).fit(x);
  await closeTo(model.inverseTransform(model.transform(x)), numbersOf(x), 0.05, "samples");
  const sources = await fastIca().fit(x);
  await closeTo(sources.inverseTransform(sources.transform(x)), numbersOf(x), 1e-4, "samples of their sources");
  const found = jit((a: Tensor) => factorAnalysis({ nComponents: 2 }).fitTensors(a).learned.noiseVariance)(x);
  const { noiseVariance } = (await factorAnalysis({ nComponents: 2 }).fit(x)).learned;
  await closeTo(found, numbersOf(noiseVariance), 1e-3, "noise");
});

test("misuse is refused by name", async () => {
  await assert.rejects(
    nmf().fit([
      [1, -2],
      [3, 4],
    ]) as Promise<unknown>,
    /nmf.fit: a value is -2; parts add up/,
  );
  assert.throws(() => nmf({ init: "zeros" as "random" }), /init is "zeros"/);
  assert.throws(() => nmf({ alphaW: -1 }), /alphaW is -1/);
  const few = [
    [1, 2],
    [3, 4],
    [5, 7],
  ];
  await assert.rejects(async () => nmf({ nComponents: 3, init: "nndsvd" }).fit(few), /nComponents is 3/);
  assert.throws(() => fastIca({ fun: "sine" as "cube" }), /fun is "sine"/);
  assert.throws(() => fastIca({ alpha: 3 }), /alpha is 3; it is a number, from 1 to 2/);
  await assert.rejects(
    async () => fastIca({ wInit: [[1]] }).fit(few),
    /wInit has the shape \[1, 1\]; for 2 sources it is \[2, 2\]/,
  );
  assert.throws(() => factorAnalysis({ rotation: "promax" as "varimax" }), /rotation is "promax"/);
  assert.throws(() => factorAnalysis({ noiseVarianceInit: [0] }), /variances are above zero/);
  await assert.rejects(
    async () => factorAnalysis({ noiseVarianceInit: [1] }).fit(few),
    /has 1 numbers, and there are 2 features/,
  );
});
