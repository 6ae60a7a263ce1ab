/** Principal components, batch by batch too, and truncated decompositions against scikit-learn; transforms; misuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, random, type Tensor, tensor } from "../../../src/index.js";
import { incrementalPca, pca, truncatedSvd } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

interface Case {
  readonly kind: string;
  readonly name: string;
  readonly options: object;
  readonly x: number[][];
  readonly components: number[][];
  readonly variances: number[];
  readonly ratios: number[];
  readonly noise?: number;
  readonly transformed: number[][];
  readonly scores?: number[] | null;
  readonly covariance?: number[][] | null;
}

const CASES: readonly Case[] = JSON.parse(
  readFileSync(resolve("test/learn/decomposition/decomposition-cases.json"), "utf8"),
).spectra;
const MAKERS = { pca, incrementalPca, truncatedSvd };

/** 1 or -1 for each of our components: directions have no sign. */
async function signsOf(ours: Tensor, theirs: readonly (readonly number[])[]): Promise<number[]> {
  const found = (await ours.array()) as number[][];
  return theirs.map((row, i) => Math.sign(row.reduce((sum, value, j) => sum + value * found[i]![j]!, 0)));
}

describeOnTensorDevices("principal components", (device) => {
  for (const [place, each] of CASES.entries()) {
    for (const dtype of dtypesOf(device, place === 0)) {
      test(`${each.kind}, ${each.name}, ${dtype}: scikit-learn's components and variances`, async () => {
        const x = of(each.x, dtype);
        const model = await MAKERS[each.kind as "pca"](each.options).fit(x);
        const within = dtype === "f64" ? 1e-9 : 2e-3;
        const { components, explainedVariance, explainedVarianceRatio } = model.learned;
        const signs = tensor(await signsOf(components, each.components), { dtype });
        await closeTo(components.mul(signs.expandDims(1)) as Tensor, each.components, within, "components");
        await closeTo(explainedVariance, each.variances, within, "variances");
        await closeTo(explainedVarianceRatio, each.ratios, within, "shares of the variance");
        await closeTo(model.transform(x).mul(signs) as Tensor, each.transformed, within, "transformed samples");
        if (each.noise !== undefined) await closeTo(model.learned.noiseVariance, each.noise, within, "noise");
        if (each.covariance) await closeTo(model.covariance(), each.covariance, within, "covariance");
        if (each.scores) {
          await closeTo(model.scoreSamples(x), each.scores, within, "log-likelihoods");
          const mean = each.scores.reduce((sum, score) => sum + score, 0) / each.scores.length;
          await closeTo(model.score(x), mean, within, "score");
        }
      });
    }
  }

  for (const whiten of [false, true]) {
    test(`all components give the samples back${whiten ? ", white ones, too" : ""}`, async () => {
      const x = random.normal(random.key(3), [12, 4]).add(5) as Tensor;
      for (const model of [await pca({ whiten }).fit(x), await incrementalPca({ whiten }).fit(x)]) {
        await closeTo(model.inverseTransform(model.transform(x)), await x.array(), 1e-4, model.kind);
      }
    });
  }

  test("samples span one direction less than they are many: what rounding leaves beyond it is no variance", async () => {
    const x = random.normal(random.key(8), [6, 40]).mul(3).add(1000) as Tensor;
    const all = await pca().fit(x);
    const variances = (await all.learned.explainedVariance.array()) as number[];
    assert.equal(variances[5], 0);
    assert.ok(variances[4]! > 1);
    const four = await pca({ nComponents: 4 }).fit(x);
    await closeTo(four.learned.noiseVariance, variances[4]! / 2, 1e-4, "noise");
    const five = await pca({ nComponents: 5 }).fit(x);
    assert.equal(Number(await five.learned.noiseVariance.item()), 0);
  });

  test("a small rest beside strong components keeps its digits in f32, by every way", async () => {
    const strong = tensor([3000, 1000, 0.5, 0.4, 0.5, 0.4]);
    const x = random.normal(random.key(9), [50, 6], { dtype: "f64" }).mul(strong) as Tensor;
    const wanted = await pca({ nComponents: 2, svdSolver: "full" }).fit(x);
    for (const svdSolver of ["full", "randomized"] as const) {
      const model = await pca({ nComponents: 2, svdSolver }).fit(x.cast("f32") as Tensor);
      await closeTo(
        model.learned.noiseVariance,
        await wanted.learned.noiseVariance.item(),
        2e-3,
        `noise, ${svdSolver}`,
      );
      const likely = await wanted.scoreSamples(x).array();
      await closeTo(model.scoreSamples(x.cast("f32") as Tensor), likely, 2e-3, `likelihoods, ${svdSolver}`);
    }
  });

  test("every way finds the same first components of clear data", async () => {
    const strong = tensor([30, 10, 3, 0.1, 0.1, 0.1]);
    const x = random.normal(random.key(4), [90, 6]).mul(strong).add(1) as Tensor;
    const whole = await pca({ nComponents: 3, svdSolver: "full" }).fit(x);
    const wanted = await whole.learned.components.array();
    for (const svdSolver of ["covariance", "randomized", "auto"] as const) {
      const model = await pca({ nComponents: 3, svdSolver, seed: 7 }).fit(x);
      await closeTo(model.learned.components, wanted, 1e-3, svdSolver);
    }
  });

  test("a model that sees batches ends where one that saw them in a fit does", async () => {
    const x = random.normal(random.key(5), [60, 4]) as Tensor;
    const whole = await incrementalPca({ nComponents: 2, batchSize: 20 }).fit(x);
    let model = await incrementalPca({ nComponents: 2 }).fit(x.at(":20"));
    model = model.partialFit(x.at("20:40")).partialFit(x.at("40:"));
    await closeTo(model.learned.components, await whole.learned.components.array(), 1e-4, "components");
    assert.equal(Number(await model.learned.samplesSeen.item()), 60);
    const mean = await x.mean({ axis: 0 }).array();
    await closeTo(model.learned.mean, mean, 1e-5, "mean");
  });

  test("fits trace where the number of components does not depend on values", async () => {
    const x = random.normal(random.key(6), [20, 3]) as Tensor;
    const inside = jit((a: Tensor) => pca({ nComponents: 2 }).fitTensors(a))(x);
    const plain = await pca({ nComponents: 2 }).fit(x);
    await closeTo(inside.transform(x), await plain.transform(x).array(), 1e-4, "transformed samples");
    assert.throws(() => pca({ nComponents: "mle" }).fitTensors(x), /reads values while it learns/);
  });
});

test("wrong numbers of components and ways are refused by name", async () => {
  const x = [[1, 2], [3, 5], [4, 4]]; // biome-ignore format: a matrix
  assert.throws(() => pca({ nComponents: 0 }), /nComponents is 0; it is a whole number, a share/);
  assert.throws(() => pca({ svdSolver: "fast" as "auto" }), /svdSolver is "fast"; it is/);
  await assert.rejects(
    async () => pca({ nComponents: 3 }).fit(x),
    /nComponents is 3; it is a whole number from 1 to 2/,
  );
  await assert.rejects(async () => pca({ nComponents: "mle" }).fit([[1, 2, 3]]), /there are 1 and 3/);
  await assert.rejects(async () => truncatedSvd({ nComponents: 9 }).fit(x), /nComponents is 9/);
  await assert.rejects(async () => incrementalPca({ batchSize: 0 }).fit(x), /batchSize is 0/);
  await assert.rejects(async () => pca().fit(x, undefined, { weights: [1, 1, 1] }), /pca takes no weights/);
});
