/**
 * The checks that every estimator must pass: shapes, misuse, determinism, what models carry. Each family's tests call `sweepEstimators`
 * with its estimators; a test of src/learn/index.ts finds those that nobody swept.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { jit, random, Tensor, tensor } from "../../src/index.js";
import { type AnyEstimator, load, save, Table, table } from "../../src/learn/index.js";
import { temporaryFolders } from "./temporary-folder.js";
import { numbersOf } from "./tensors.js";

/**
 * An estimator of the sweep, with the kind of its targets and a method of its models that takes samples. Clusterers that place no new
 * samples have "labels" in its place, embeddings "embedding": what they learned of the samples of the fit.
 */
export interface SweptEstimator {
  readonly make: () => AnyEstimator;
  /** "amounts" are numbers above zero; "pairs" two whole numbers for each sample. */
  readonly targets: "numbers" | "amounts" | "labels" | "pairs" | "none";
  readonly method: string;
  /** NaN is a missing value, which the estimator handles. */
  readonly allowsMissing?: boolean;
  /** Tables may have columns of categories. */
  readonly takesCategories?: boolean;
  /** Samples that the kind takes: whole numbers from zero on, texts, or any numbers unless told. */
  readonly samples?: "counts" | "texts";
  /** How often the handwritten samples of the checks stand one after the other, for kinds that split them; once unless told. */
  readonly repeats?: number;
  /** The only number of features that the kind takes; any unless told. */
  readonly features?: 1;
}

const device = "cpu";
const folder = temporaryFolders();
const drawn = (shape: number[], samples?: string): Tensor => {
  const normal = random.normal(random.key(1, { device }), shape) as Tensor;
  return samples === "counts" ? (normal.abs().mul(3).floor() as Tensor) : normal;
};

const targetsOf = (targets: string, count: number) =>
  targets === "none"
    ? undefined
    : Array.from({ length: count }, (_, i) =>
        targets === "pairs"
          ? [i % 2, (i + 1) % 2]
          : targets === "labels"
            ? i % 2
            : targets === "amounts"
              ? 1.5 + Math.sin(i)
              : Math.sin(i),
      );

/** Few samples and their targets, several times one after the other. Targets that do not fit stay. */
function repeated(x: unknown, y: unknown, repeats: number): [number[][], unknown] {
  const isRows = x instanceof Table || (x instanceof Tensor ? x.rank === 2 : Array.isArray(x));
  const rows = !isRows
    ? 0
    : x instanceof Table
      ? x.rows
      : x instanceof Tensor
        ? (x.shape[0] as number)
        : (x as []).length;
  if (repeats === 1 || rows === 0 || rows > 7 || (Array.isArray(y) && y.length !== rows)) return [x as number[][], y];
  const times = <T>(list: readonly T[]): T[] => Array.from({ length: repeats }, () => list).flat();
  const places = times(Array.from({ length: rows }, (_, i) => i));
  const more =
    x instanceof Table
      ? x.take(places)
      : x instanceof Tensor
        ? x.take(tensor(places, { device, dtype: "i32" }), { axis: 0 })
        : places.map((i) => (x as unknown[])[i]);
  return [more as number[][], Array.isArray(y) ? times(y) : y];
}

/** The same estimator, whose fits to few samples see them several times. */
function repeating(made: AnyEstimator, repeats: number): AnyEstimator {
  const { fit } = made;
  const more: AnyEstimator["fit"] = (x, y, options) =>
    options?.weights ? fit(x, y, options) : fit(...repeated(x, y, repeats), options);
  // The estimator itself is changed: files know it by its identity.
  return Object.assign(made, { fit: more });
}

export function sweepEstimators(estimators: readonly SweptEstimator[]): void {
  for (const { repeats = 1, ...given } of estimators) {
    const each = repeats === 1 ? given : { ...given, make: () => repeating(given.make(), repeats) };
    (each.samples === "texts" ? sweepOfTexts : each.features === 1 ? sweepOfOneFeature : sweep)(each);
  }
}

function sweep(swept: SweptEstimator): void {
  const { make, targets, method, samples, allowsMissing = false, takesCategories = false } = swept;
  const normal = (shape: number[]) => drawn(shape, samples);
  const { kind } = make();
  const fit = async (x: unknown, y: unknown = targetsOf(targets, (x as { length: number }).length)) =>
    make().fit(x as number[][], y, { device });
  const isOfFit = method === "labels" || method === "embedding";
  const apply = (model: Record<string, (x: unknown) => Tensor>, x: unknown): Tensor =>
    isOfFit ? (model as unknown as { learned: Record<string, Tensor> }).learned[method]! : model[method]!(x);

  test(`${kind}: a fit twice gives the same numbers, and leaves the samples as they were`, async () => {
    const x = normal([12, 3]);
    const before = numbersOf(x);
    const [a, b] = [await fit(x, targetsOf(targets, 12)), await fit(x, targetsOf(targets, 12))];
    assert.deepEqual(numbersOf(apply(a, x)), numbersOf(apply(b, x)));
    assert.deepEqual(numbersOf(x), before);
  });

  test(`${kind}: one feature, and columns that do not vary or stand twice`, async () => {
    const y = targetsOf(targets, 6);
    for (const x of [[[1], [2], [4], [8], [9], [11]], [1, 2, 4, 8, 9, 11].map((v) => [v, 5, v])]) {
      assert.ok(numbersOf(apply(await fit(x, y), x)).every(Number.isFinite));
    }
  });

  test(`${kind}: rows one by one give what they give together`, { skip: isOfFit && "no new samples" }, async () => {
    const x = normal([10, 4]);
    const model = await fit(x, targetsOf(targets, 10));
    const alone = numbersOf(apply(model, x.at("3:4")));
    const width = alone.length;
    numbersOf(apply(model, x))
      .slice(3 * width, 4 * width)
      .forEach((value, i) => {
        assert.ok(Math.abs(value - alone[i]!) <= 1e-5 * Math.max(1, Math.abs(value)), `${value} and ${alone[i]}`);
      });
  });

  test(`${kind}: NaN and infinities are refused with their place, in samples, targets and weights`, async () => {
    const gap = [
      [1, 2],
      [3, Number.NaN],
      [5, 7],
    ];
    if (allowsMissing) await fit(gap);
    else await assert.rejects(fit(gap), /in row 1, column (1|"x1") is NaN; fill missing values/);
    await assert.rejects(
      fit([
        [Number.POSITIVE_INFINITY, 2],
        [3, 4],
      ]),
      /in row 0, column (0|"x0") is Infinity/,
    );
    if (targets === "numbers" || targets === "amounts")
      await assert.rejects(fit([[1], [2]], [1, Number.NaN]), /target 1 is NaN/);
    const weighted = (weights: number[]) =>
      make().fit(
        [
          [1, 2],
          [3, 4],
        ],
        targetsOf(targets, 2),
        { weights, device },
      );
    await assert.rejects(async () => weighted([1, Number.NaN]), /weight 1 is NaN|takes no weights/);
    await assert.rejects(async () => weighted([1, -1]), /a weight is -1|takes no weights/);
    await assert.rejects(async () => weighted([0, 0]), /all weights are 0|takes no weights/);
    await assert.rejects(async () => weighted([1]), /2 samples and 1 weights|takes no weights/);
  });

  test(`${kind}: empty and misshapen samples are refused by name`, async () => {
    await assert.rejects(fit([]), /there are no samples/);
    await assert.rejects(fit([[], []]), /no features|no samples/);
    await assert.rejects(fit(tensor([1, 2, 3], { device }), targetsOf(targets, 3)), /x\.reshape\(-1, 1\)/);
    await assert.rejects(fit("text", [1]), /samples are a tensor, an array of rows or a table/);
    if (targets !== "none") await assert.rejects(fit([[1], [2]], [1]), /2 samples and 1 (targets|labels)/);
  });

  test(`${kind}: another number of features than in the fit is refused`, {
    skip: isOfFit && "no new samples",
  }, async () => {
    const model = await fit([
      [1, 2],
      [3, 5],
      [4, 4],
    ]);
    assert.throws(() => apply(model, [[1, 2, 3]]), /have 3 features, and the model was fitted with 2/);
    assert.throws(() => apply(model, [[1]]), /have 1 features/);
  });

  test(`${kind}: columns of a table are found by name, whatever their order`, async () => {
    const [a, b] = [
      [1, 2, 4, 3],
      [9, 8, 5, 1],
    ];
    const model = await fit(table({ a, b }), targetsOf(targets, 4));
    const plain = await fit(
      a.map((v, i) => [v, b[i]!]),
      targetsOf(targets, 4),
    );
    assert.deepEqual(
      numbersOf(apply(model, table({ b, a }))),
      numbersOf(
        apply(
          plain,
          a.map((v, i) => [v, b[i]!]),
        ),
      ),
    );
    if (!isOfFit) assert.throws(() => apply(model, table({ a })), /lacks the column "b"/);
    const mixed = table({ a, c: ["x", "y", "x", "y"] });
    if (!takesCategories) await assert.rejects(fit(mixed, targetsOf(targets, 4)), /column "c" holds categories/);
    else {
      // The same texts under other codes, and one that the fit did not see.
      const known = await fit(mixed, targetsOf(targets, 4));
      const other = table({ c: ["y", "x", "y", "y", "w"], a: [2, 4, 3, 3, 1] });
      assert.deepEqual(
        numbersOf(apply(known, other.take([0, 1, 2]))),
        numbersOf(apply(known, table({ a: [2, 4, 3], c: ["y", "x", "y"] }))),
      );
    }
  });

  test(`${kind}: integers are samples, too, and complex numbers are not`, async () => {
    const whole = tensor(
      [
        [1, 2],
        [3, 5],
        [4, 4],
      ],
      { dtype: "i32", device },
    );
    assert.ok(numbersOf(apply(await fit(whole, targetsOf(targets, 3)), whole)).every(Number.isFinite));
    await assert.rejects(fit(whole.cast("c64"), targetsOf(targets, 3)), /samples are real numbers/);
  });

  test(`${kind}: a model is a tree: it goes through jit, and shows itself`, async () => {
    const x = normal([8, 2]);
    const model = await fit(x, targetsOf(targets, 8));
    const inside = jit((m: typeof model, a: Tensor) => apply(m, a))(model, x);
    numbersOf(inside).forEach((value, i) => {
      const plain = numbersOf(apply(model, x))[i]!;
      assert.ok(Math.abs(value - plain) <= 1e-5 * Math.max(1, Math.abs(plain)));
    });
    assert.match(String(model), new RegExp(kind));
  });

  test(`${kind}: a model comes back from a file with the same bits, and so does the estimator`, async () => {
    const path = join(folder(), "model.safetensors");
    const x = normal([9, 3]);
    const model = await fit(x, targetsOf(targets, 9));
    await save(path, model);
    const loaded = await load(path, { device });
    assert.deepEqual(numbersOf(apply(loaded, x)), numbersOf(apply(model, x)));
    assert.deepEqual([loaded.kind, loaded.features, loaded.classes], [model.kind, model.features, model.classes]);
    assert.equal(String(loaded), String(model));
    await save(path, make());
    const again = (await load(path)) as AnyEstimator;
    const twin = await again.fit(x, targetsOf(targets, 9), { device });
    assert.deepEqual(numbersOf(apply(twin, x)), numbersOf(apply(model, x)));
  });

  test(`${kind}: an aborted fit ends, and unknown options are named`, async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await assert.rejects(async () => make().fit([[1], [2]], targetsOf(targets, 2), { signal, device }), /enough/);
    await assert.rejects(
      async () => make().fit([[1], [2]], targetsOf(targets, 2), { wrong: 1 } as object),
      /no option "wrong"/,
    );
  });
}

/** The checks that make sense for a kind of one feature. */
function sweepOfOneFeature({ make, targets, method }: SweptEstimator): void {
  const { kind } = make();
  const x = [1, 2, 4, 8, 8, 9, 11].map((v) => [v]);
  const fit = async (given: unknown, y: unknown = targetsOf(targets, (given as { length: number }).length)) =>
    make().fit(given as number[][], y, { device });
  const apply = (model: Record<string, (x: unknown) => Tensor>, given: unknown) => model[method]!(given);

  test(`${kind}: a fit twice gives the same numbers, rows one by one too, and through jit`, async () => {
    const [a, b] = [await fit(x), await fit(x)];
    const found = numbersOf(apply(a, x));
    assert.ok(found.every(Number.isFinite));
    assert.deepEqual(found, numbersOf(apply(b, x)));
    assert.deepEqual(numbersOf(apply(a, x.slice(3, 4))), found.slice(3, 4));
    const inside = jit((m: typeof a, given: Tensor) => apply(m, given))(a, tensor(x, { device }));
    numbersOf(inside).forEach((value, i) => {
      assert.ok(Math.abs(value - found[i]!) <= 1e-5 * Math.max(1, Math.abs(found[i]!)));
    });
    assert.match(String(a), new RegExp(kind));
  });

  test(`${kind}: one sample, equal samples, and a column of a table`, async () => {
    for (const few of [[[3]], [[3], [3], [3]]]) assert.ok(numbersOf(apply(await fit(few), few)).every(Number.isFinite));
    const model = await fit(table({ a: [1, 2, 4] }), targetsOf(targets, 3));
    assert.deepEqual(numbersOf(apply(model, table({ a: [2] }))), numbersOf(apply(model, [[2]])));
  });

  test(`${kind}: NaN, wrong shapes and an aborted fit are refused by name`, async () => {
    await assert.rejects(fit([[1], [Number.NaN]]), /in row 1, column 0 is NaN/);
    await assert.rejects(fit([[1], [2]], [1, Number.NaN]), /target 1 is NaN/);
    await assert.rejects(fit([]), /there are no samples/);
    await assert.rejects(fit([[1], [2]], [1]), /2 samples and 1 targets/);
    const model = await fit(x);
    assert.throws(() => apply(model, [[1, 2]]), /have 2 features, and the model was fitted with 1/);
    const signal = AbortSignal.abort(new Error("enough"));
    await assert.rejects(async () => make().fit(x, targetsOf(targets, 7), { signal, device }), /enough/);
  });
}

/** The checks that make sense for a kind whose samples are texts. */
function sweepOfTexts({ make, method }: SweptEstimator): void {
  const { kind } = make();
  const texts = ["red fish", "blue fish", "one red red bird"];
  const fit = async (given: unknown, options: object = {}) =>
    make().fit(given as string[], undefined, { device, ...options });
  const apply = (model: Record<string, (x: unknown) => Tensor>, given: unknown) => model[method]!(given);

  test(`${kind}: a fit twice gives the same numbers, rows one by one too, and a column of a table`, async () => {
    const [a, b] = [await fit(texts), await fit(table({ text: texts }))];
    const found = numbersOf(apply(a, texts));
    assert.deepEqual(found, numbersOf(apply(b, table({ text: texts }))));
    assert.deepEqual(numbersOf(apply(a, texts.slice(0, 1))), found.slice(0, found.length / 3));
    assert.match(String(a), new RegExp(kind));
  });

  test(`${kind}: a model and an estimator come back from a file`, async () => {
    const path = join(folder(), "model.safetensors");
    const model = await fit(texts);
    await save(path, model);
    assert.deepEqual(numbersOf(apply(await load(path, { device }), texts)), numbersOf(apply(model, texts)));
    await save(path, make());
    const twin = await ((await load(path)) as AnyEstimator).fit(texts, undefined, { device });
    assert.deepEqual(numbersOf(apply(twin, texts)), numbersOf(apply(model, texts)));
  });

  test(`${kind}: numbers, no texts, and an aborted fit are refused by name`, async () => {
    await assert.rejects(fit([[1, 2]]), /takes a list of texts/);
    await assert.rejects(fit([]), /there are no samples/);
    await assert.rejects(fit(texts, { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
    await assert.rejects(fit(texts, { wrong: 1 }), /no option "wrong"/);
  });
}
