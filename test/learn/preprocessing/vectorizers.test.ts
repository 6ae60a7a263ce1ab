/** Texts as counts and weights of terms against scikit-learn's, on texts of the fit and on others. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  columnTransformer,
  countVectorizer,
  hashingVectorizer,
  load,
  multinomialNaiveBayes,
  pipeline,
  save,
  standardScaler,
  table,
  tfidfTransformer,
  tfidfVectorizer,
} from "../../../src/learn/index.js";
import { murmurHash } from "../../../src/learn/preprocessing/murmur-hash.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { type Cells, casesIn, near } from "./cases.js";

interface TextCase {
  readonly kind: "countVectorizer" | "tfidfVectorizer";
  readonly name: string;
  readonly options: object;
  readonly texts: readonly string[];
  readonly new: readonly string[];
  readonly transformed: Cells;
  readonly newTransformed: Cells;
  readonly names: readonly string[];
}

interface HashedCases {
  /** Texts, and their hashes with the seeds 0 and 42. */
  readonly hashes: readonly (readonly [string, number, number])[];
  readonly cases: readonly {
    readonly name: string;
    readonly options: object;
    readonly texts: readonly string[];
    readonly transformed: Cells;
  }[];
}

const hashed = casesIn<HashedCases>("hashed-cases");
const MAKERS = { countVectorizer, tfidfVectorizer } as const;
const cases = casesIn<readonly TextCase[]>("text-cases");
const folder = temporaryFolders();

describeOnTensorDevices("texts", (device) => {
  for (const each of cases.filter(
    ({ kind, name }) => device === "cpu" || (kind === "tfidfVectorizer" && name === "plain"),
  )) {
    for (const dtype of ["f64", "f32"] as const) {
      test(`${each.kind}, ${each.name}, ${dtype}: scikit-learn's terms and numbers, also from a file`, async () => {
        const model = await MAKERS[each.kind](each.options).fit(each.texts, undefined, { device, dtype });
        const within = dtype === "f64" ? 1e-12 : 1e-6;
        assert.deepEqual(model.featureNames(), each.names);
        near(model.transform(each.texts), each.transformed, within, "transformed");
        near(model.transform(each.new), each.newTransformed, within, "new texts");
        const path = join(folder(), "model.safetensors");
        await save(path, model);
        const loaded = await load(path, { device });
        assert.deepEqual(numbersOf(loaded.transform(each.new)), numbersOf(model.transform(each.new)));
        assert.deepEqual(loaded.featureNames(), each.names);
      });
    }
  }
});

test("texts have scikit-learn's hashes", () => {
  for (const [text, plain, seeded] of hashed.hashes) {
    assert.deepEqual([murmurHash(text), murmurHash(text, 42)], [plain, seeded], text);
  }
});

describeOnTensorDevices("hashed texts", (device) => {
  for (const { name, options, texts, transformed } of hashed.cases) {
    if (device !== "cpu" && name !== "plain") continue;
    for (const dtype of ["f64", "f32"] as const) {
      test(`${name}, ${dtype}: scikit-learn's columns`, async () => {
        const model = await hashingVectorizer(options).fit(["other texts"], undefined, { device, dtype });
        near(model.transform(texts), transformed, dtype === "f64" ? 1e-12 : 1e-6, "transformed");
      });
    }
  }
});

test("hashed texts have as many columns as told, go into pipelines, and refuse what is no text", async () => {
  const texts = ["the ship at sea", "a tree on the hill"];
  assert.deepEqual((await hashingVectorizer().fit(texts)).transform(texts).shape, [2, 4096]);
  const model = await pipeline(hashingVectorizer({ alternateSign: false }), multinomialNaiveBayes()).fit(texts, [
    "a",
    "b",
  ]);
  assert.deepEqual(await model.predictLabels(["ships at sea"]), ["a"]);
  assert.equal(model.steps[0].featureNames()[7], "hashingVectorizer7");
  assert.throws(() => hashingVectorizer({ nFeatures: 0 }), /nFeatures is a whole number from 1 on, not 0/);
  assert.throws(() => hashingVectorizer({ norm: "max" as "l1" }), /norm is "max"/);
  await assert.rejects(async () => hashingVectorizer().fit([[1, 2]]), /takes a list of texts/);
});

test("counts, then weights, are the vectoriser of both; names go through", async () => {
  const { texts } = cases[0]!;
  const two = await pipeline(countVectorizer(), tfidfTransformer()).fit(texts);
  const one = await tfidfVectorizer().fit(texts);
  assert.deepEqual(numbersOf(two.transform(texts)), numbersOf(one.transform(texts)));
  assert.deepEqual(two.featureNames(), one.featureNames());
});

test("a classifier of texts, and a column of texts in a table", async () => {
  const model = await pipeline(countVectorizer(), multinomialNaiveBayes()).fit(
    ["sea sea ship", "hill tree"],
    ["a", "b"],
  );
  assert.deepEqual(await model.predictLabels(["the ship at sea", "a tree"]), ["a", "b"]);
  const notes = table({ note: ["good good", null, "bad"], size: [1, 2, 3] });
  const columns = columnTransformer({ note: countVectorizer(), size: standardScaler() });
  const fitted = await columns.fit(notes);
  assert.deepEqual(fitted.featureNames(), ["bad", "good", "size"]);
  near(fitted.transform(notes), [[0, 2, -Math.sqrt(1.5)], [0, 0, 0], [1, 0, Math.sqrt(1.5)]], 1e-6, "columns"); // biome-ignore format: rows
});

test("what is no text is refused, and so are settings that leave nothing", async () => {
  await assert.rejects(async () => countVectorizer().fit([[1, 2]]), /takes a list of texts/);
  await assert.rejects(
    async () => countVectorizer().fit(table({ a: [1] })),
    /takes one column of text, and the table has a/,
  );
  await assert.rejects(async () => countVectorizer().fit(["a b", "c"]), /no term is left/);
  await assert.rejects(async () => countVectorizer().fit([]), /there are no samples/);
  await assert.rejects(
    async () => countVectorizer().fit(["ab"], undefined, { wrong: 1 } as object),
    /no option "wrong"/,
  );
  assert.throws(() => countVectorizer({ ngramRange: [2, 1] }), /ngramRange is \[2, 1\]/);
  assert.throws(() => countVectorizer({ tokenPattern: "(" }), /tokenPattern is "\("/);
  assert.throws(() => countVectorizer({ minDf: 1.5 }), /minDf is 1.5/);
  assert.throws(() => countVectorizer({ vocabulary: ["a", "a"] }), /each once/);
  assert.throws(() => tfidfVectorizer({ norm: "l3" as never }), /norm is "l3"/);
});
