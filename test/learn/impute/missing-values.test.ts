/** Numbers and texts that stand for missing values: the same models and samples as with NaN in their place. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../src/index.js";
import {
  kNeighborsImputer,
  load,
  missingIndicator,
  pipeline,
  ridge,
  save,
  simpleImputer,
  table,
} from "../../../src/learn/index.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { testDevices } from "../../support/tensors.js";

const folder = temporaryFolders();
const given = [[1, -1], [3, 4], [-1, 6], [5, 8]]; // biome-ignore format: short
const marked = given.map((row) => row.map((each) => (each === -1 ? Number.NaN : each)));
const filled = [[1, 6], [3, 4], [3, 6], [5, 8]]; // biome-ignore format: short

for (const device of testDevices()) {
  test(`a number stands for a missing value in rows, tensors and tables, ${device}`, async () => {
    const whole = tensor(given, { device, dtype: "i32" }) as Tensor;
    const columns = table({ a: given.map(([a]) => a!), b: given.map(([, b]) => b!) });
    for (const samples of [given, given.map((row) => Float32Array.from(row)), whole, whole.cast("f32"), columns]) {
      const model = await simpleImputer({ missingValues: -1 }).fit(samples, undefined, { device });
      assert.deepEqual(await model.transform(samples).array(), filled);
      assert.deepEqual(await model.transform(marked).array(), filled, "NaN is missing, too");
    }
  });
}

const device = "cpu";

test("imputers by neighbours and indicators take it as well, and as a step of a pipeline", async () => {
  const near = await kNeighborsImputer({ nNeighbors: 1, missingValues: -1 }).fit(given, undefined, { device });
  const plain = await kNeighborsImputer({ nNeighbors: 1 }).fit(marked, undefined, { device });
  assert.deepEqual(await near.transform(given).array(), await plain.transform(marked).array());
  const told = await missingIndicator({ missingValues: -1 }).fit(given, undefined, { device });
  assert.deepEqual(await told.transform(given).array(), [[0, 1], [0, 0], [1, 0], [0, 0]]); // biome-ignore format: short
  const model = await pipeline(simpleImputer({ missingValues: -1 }), ridge()).fit(given, [1, 2, 3, 4], { device });
  const same = await pipeline(simpleImputer(), ridge()).fit(marked, [1, 2, 3, 4], { device });
  assert.deepEqual(await model.predict(given).array(), await same.predict(marked).array());
});

test("a text stands for a missing one in tables, rows and lists", async () => {
  const texts = ["red", "?", "red", "blue"];
  const options = { strategy: "mostFrequent", missingValues: "?" } as const;
  for (const samples of [table({ colour: texts }), texts, texts.map((text) => [text])]) {
    const model = await simpleImputer(options).fit(samples, undefined, { device });
    assert.deepEqual(model.features.categories, [["blue", "red"]]);
    assert.deepEqual(await model.transform(samples).array(), [[1], [1], [1], [0]]);
  }
});

test("files keep it; anything but a number or a text is refused", async () => {
  const path = join(folder(), "imputer.safetensors");
  const estimator = simpleImputer({ missingValues: -1 });
  await save(path, await estimator.fit(given, undefined, { device }));
  const loaded = await load(path, { device, like: estimator });
  assert.deepEqual(await loaded.transform(given).array(), filled);
  assert.throws(
    () => simpleImputer({ missingValues: null as never }),
    /missingValues is null; it is a number or a text/,
  );
});
