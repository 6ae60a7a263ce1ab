/** Models in files: the same bits come back, also of models of models, and files that lie are refused by name. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { ArgumentError, FormatError } from "../../../src/core/errors.js";
import { random, type Tensor, tensor } from "../../../src/index.js";
import { writeTree } from "../../../src/io/trees/tree-file.js";
import { transformer } from "../../../src/learn/core/sorts.js";
import { gaussianNaiveBayes, load, pipeline, ridge, save, standardScaler, table } from "../../../src/learn/index.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const folder = temporaryFolders();
const at = (): string => join(folder(), "model.safetensors");

describeOnTensorDevices("models in files", (device) => {
  test("a pipeline with labels that are texts comes back", async () => {
    const x = random.normal(random.key(3, { device }), [12, 3]) as Tensor;
    const labels = Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? "ä" : "b.c"));
    const estimator = pipeline(standardScaler({ withMean: false }), gaussianNaiveBayes());
    const model = await estimator.fit(x, labels);
    const path = at();
    await save(path, model);
    const loaded = await load(path, { device, like: estimator });
    assert.deepEqual(numbersOf(loaded.predictProbability(x)), numbersOf(model.predictProbability(x)));
    assert.deepEqual(await loaded.predictLabels(x), await model.predictLabels(x));
    assert.equal(String(loaded), String(model));
  });

  test("options that are tensors or not finite, and names of columns, come back", async () => {
    const path = at();
    const data = table({ "a.b": [1, 2, 4], __proto__x: [3, 1, 1] });
    const model = await ridge({ alpha: tensor(0.5, { device }) as Tensor }).fit(data, [1, 2, 3], { device });
    await save(path, model);
    const loaded = await load(path, { like: ridge(), device });
    assert.deepEqual(numbersOf(loaded.predict(data)), numbersOf(model.predict(data)));
    assert.equal(await (loaded.options.alpha as Tensor).item(), 0.5);
    assert.deepEqual(loaded.features, { count: 2, names: ["a.b", "__proto__x"], categories: null });
  });
});

const odd = transformer<{ readonly shift: Tensor }, { readonly value?: unknown }>({
  kind: "odd of the test",
  options: { value: "any" },
  learn: ({ x }) => ({ shift: x.mean({ axis: 0 }) as Tensor }),
  transform: ({ shift }, x) => x.sub(shift) as Tensor,
});

test("options may be nested estimators, typed arrays and numbers that JSON lacks", async () => {
  const path = at();
  const value = {
    inner: ridge({ alpha: 3 }),
    list: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, null, "text", true],
    array: Int32Array.of(1, -2),
    is: "tensor",
  };
  await save(path, odd({ value }));
  const { value: found } = (await load(path)).options;
  assert.deepEqual(found.list, value.list);
  assert.ok(Object.is(found.list[3], -0));
  assert.deepEqual(found.array, value.array);
  assert.equal(found.is, "tensor");
  assert.equal(found.inner.options.alpha, 3);
  assert.equal(typeof found.inner.fit, "function");
});

test("functions are refused with the place and the remedy; what is no model, too", async () => {
  const model = await odd({ value: { deep: [() => 1] } }).fit([[1], [2]]);
  await assert.rejects(save(at(), model), (error: Error) => {
    assert.ok(error instanceof ArgumentError);
    assert.match(error.message, /options\.value\.deep\.0 is a function.*no file can hold.*after loading/);
    return true;
  });
  await assert.rejects(save(at(), { kind: "ridge" }), /save: takes a fitted model or an estimator/);
  await assert.rejects(save(at(), ridge().fit([[1]], [1])), /awaited first/);
});

const good = {
  is: "model",
  kind: "ridge",
  parts: {
    learned: {
      is: "object",
      members: { coefficients: { is: "tensor", name: "w" }, intercept: { is: "tensor", name: "b" } },
    },
    options: { is: "object", members: {} },
    features: { is: "object", members: { count: 1, names: null, categories: null } },
    classes: null,
  },
};

async function loading(model: unknown, metadata: object = {}): Promise<unknown> {
  const path = at();
  await writeTree(path, { w: tensor([2]) as Tensor, b: tensor(1) as Tensor }, { learn: 1, model, ...metadata });
  return load(path);
}

test("a file that lies gets FormatError, whatever it says", async () => {
  const model = (await loading(good)) as { predict(x: number[][]): Tensor };
  assert.deepEqual(numbersOf(model.predict([[3]])), [7]);
  const parts = (changed: object): object => ({ ...good, parts: { ...good.parts, ...changed } });
  const lies: [unknown, RegExp][] = [
    [{ ...good, kind: "noSuchKind" }, /no model of the kind "noSuchKind"; it has .*ridge/],
    [{ ...good, kind: "constructor" }, /no model of the kind "constructor"/],
    [{ ...good, kind: "__proto__" }, /no model of the kind/],
    [{ ...good, is: "function" }, /unknown sort, "function"/],
    [{ ...good, parts: null }, /cannot be made/],
    [parts({ options: { is: "object", members: { alpha: -1 } } }), /alpha is -1/],
    [parts({ options: { is: "object", members: { other: 1 } } }), /no option "other"/],
    [parts({ options: { is: "object", members: JSON.parse('{"__proto__": 1}') } }), /no option "__proto__"/],
    [parts({ learned: { is: "object", members: { coefficients: 3 } } }), /no tensor/],
    [parts({ learned: { is: "tensor", name: "nowhere" } }), /has none of this name/],
    [parts({ learned: { is: "tensor", name: "w" } }), /no object of tensors/],
    [
      parts({ features: { is: "object", members: { count: 2, names: ["a"], categories: null } } }),
      /columns of its samples/,
    ],
    [parts({ classes: [null] }), /no list of labels/],
    [{ is: "array", of: "constructor", values: [] }, /array that is none/],
    [{ is: "number", text: "1e3" }, /is no number/],
    [{ is: "model", kind: "pipeline", parts: { steps: [1] } }, /a pipeline is made of models/],
    [{ is: "model", kind: "pipeline", parts: {} }, /a pipeline is made of models/],
    ["ridge", /no model in its description/],
    [{ is: "object", members: {} }, /no model in its description/],
  ];
  for (const [lie, message] of lies) {
    await assert.rejects(loading(lie), (error: Error) => {
      assert.ok(error instanceof FormatError, `${error.name}: ${error.message}`);
      assert.match(error.message, message);
      return true;
    });
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  await assert.rejects(loading(good, { learn: 2 }), /a model of version 2/);
  await assert.rejects(loading(good, { learn: "x" }), /no model of pumice\/learn/);
});

test("a kind other than the one that is asked for is refused", async () => {
  const path = at();
  await save(path, await ridge().fit([[1], [2]], [1, 2]));
  await assert.rejects(load(path, { like: standardScaler() }), /the model is a ridge, not a standardScaler/);
});
