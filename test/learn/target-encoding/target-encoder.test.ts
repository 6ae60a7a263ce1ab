/** Target encodings against scikit-learn's formulas in NumPy (make-target-cases.py); cross-fitting in pipelines; files; misuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  columnTransformer,
  featureUnion,
  kFold,
  load,
  pipeline,
  ridge,
  type Splitter,
  save,
  standardScaler,
  type TargetEncoderOptions,
  table,
  targetEncoder,
} from "../../../src/learn/index.js";
import { closeTo } from "../../support/learn-cases.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

interface TargetCases {
  readonly x: (string | null)[][];
  readonly new: (string | null)[][];
  readonly folds: number[][];
  readonly cases: readonly {
    readonly name: string;
    readonly options: TargetEncoderOptions;
    readonly y: number[] | string[];
    readonly transformed: number[][];
    readonly new: number[][];
    readonly crossed: number[][];
    readonly mean: number[];
  }[];
}

const cases: TargetCases = JSON.parse(readFileSync(resolve("test/learn/target-encoding/target-cases.json"), "utf8"));
const folder = temporaryFolders();
const named = (rows: (string | null)[][]) =>
  table({ city: rows.map((row) => row[0]!), kind: rows.map((row) => row[1]!) });

/** The folds of the cases. */
const splits: Splitter = {
  kind: "given",
  split: ({ samples }) =>
    cases.folds.map((test) => ({
      test: Int32Array.from(test),
      train: Int32Array.from(Array.from({ length: samples }, (_, i) => i).filter((i) => !test.includes(i))),
    })),
};

describeOnTensorDevices("target encodings", (device) => {
  for (const each of cases.cases) {
    if (device !== "cpu" && each.name !== "several classes") continue;
    for (const dtype of ["f64", "f32"] as const) {
      test(`${each.name}, ${dtype}: the formulas' values, of the fit and cross-fitted, also from a file`, async () => {
        const within = dtype === "f64" ? 1e-12 : 1e-6;
        const x = named(cases.x);
        const estimator = targetEncoder({ ...each.options, splits });
        const { model, transformed } = await estimator.fitTransform(x, each.y, { device, dtype });
        assert.deepEqual([transformed.dtype, transformed.device.startsWith(device)], [dtype, true]);
        await closeTo(transformed, each.crossed, within, "cross-fitted");
        await closeTo(model.transform(x), each.transformed, within, "transformed");
        await closeTo(model.transform(named(cases.new)), each.new, within, "new samples");
        await closeTo(model.learned.targetMean, each.mean, within, "means");
        const plain = await targetEncoder(each.options).fit(x, each.y, { device, dtype });
        const path = join(folder(), "model.safetensors");
        await save(path, plain);
        const loaded = await load(path, { device });
        assert.deepEqual(numbersOf(loaded.transform(x)), numbersOf(model.transform(x)));
        assert.deepEqual(loaded.featureNames(), model.featureNames());
      });
    }
  }
});

test("columns have the names of features, and of classes where there are several", async () => {
  const by = (name: string) => cases.cases.find((each) => each.name === name)!;
  const namesFor = async (name: string) => (await targetEncoder().fit(named(cases.x), by(name).y)).featureNames();
  assert.deepEqual(await namesFor("numbers"), ["city", "kind"]);
  const classes = ["city_low", "city_middle", "city_top", "kind_low", "kind_middle", "kind_top"];
  assert.deepEqual(await namesFor("several classes as texts"), classes);
  assert.deepEqual((await namesFor("several classes")).slice(0, 3), ["city_0", "city_1", "city_2"]);
});

test("pipelines, unions and column transformers fit what comes next to the cross-fitted samples", async () => {
  const { y, crossed } = cases.cases[0]!;
  const x = named(cases.x);
  const encoder = targetEncoder({ splits });
  const wanted = await ridge().fit(crossed, y as number[], { dtype: "f64" });
  const chains = [
    pipeline(encoder, ridge()),
    pipeline(featureUnion(encoder), ridge()),
    pipeline(columnTransformer([{ columns: ["city", "kind"], use: encoder }]), ridge()),
    pipeline(pipeline(encoder), ridge()),
  ];
  for (const chain of chains) {
    const model = await chain.fit(x, y as number[], { dtype: "f64" });
    const last = model.steps[1] as { readonly learned: { readonly coefficients: Tensor } };
    await closeTo(last.learned.coefficients, await wanted.learned.coefficients.array(), 1e-10, String(model));
    const [first] = cases.cases;
    const predicted = wanted.predict(first!.transformed);
    await closeTo(model.predict(x), await predicted.array(), 1e-6, "predictions take the encodings of the whole fit");
  }
  assert.equal(pipeline(standardScaler(), ridge()).fitTransform, undefined);
});

test("folds are mixed by the seed, and of classes stratified", async () => {
  const { y } = cases.cases[0]!;
  const crossed = async (options: object) =>
    numbersOf((await targetEncoder(options).fitTransform(named(cases.x), y)).transformed);
  assert.deepEqual(await crossed({ seed: 1 }), await crossed({ seed: 1 }));
  assert.notDeepEqual(await crossed({ seed: 1 }), await crossed({ seed: 2 }));
  assert.deepEqual(await crossed({ seed: 2, splits: 3 }), await crossed({ splits: kFold(3, { seed: 2 }) }));
  const words = cases.cases.find((each) => each.name === "two classes as texts")!.y;
  await assert.rejects(targetEncoder({ splits: 59 }).fitTransform(named(cases.x), words), /no class has 59 samples/);
});

test("wrong targets and settings are refused by name", async () => {
  const x = [["a"], ["b"], ["a"]];
  assert.throws(() => targetEncoder({ smooth: -1 }), /targetEncoder: smooth is -1/);
  assert.throws(() => targetEncoder({ splits: 1 }), /splits is 1; it is a number of folds/);
  assert.throws(() => targetEncoder({ targetType: "many" as "binary" }), /targetType is "many"/);
  await assert.rejects(async () => targetEncoder().fit(x), /categories are encoded by targets; give them/);
  await assert.rejects(async () => targetEncoder({ targetType: "binary" }).fit(x, [1, 2, 3]), /have 3 values/);
  await assert.rejects(async () => targetEncoder({ targetType: "continuous" }).fit(x, ["u", "v", "u"]), /are labels/);
  await assert.rejects(async () => targetEncoder().fit(x, [[1, 2], [2, 3], [3, 4]]), /one target for each sample/); // biome-ignore format: a matrix
  const some: Splitter = { kind: "some", split: () => [{ train: Int32Array.of(0, 1), test: Int32Array.of(2) }] };
  await assert.rejects(targetEncoder({ splits: some }).fitTransform(x, [1.5, 2, 3]), /must test each sample/);
});
