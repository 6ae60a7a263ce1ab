/** Support vector machines against scikit-learn (LIBSVM): support vectors, their weights, decisions; optimality; misuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, type Tensor, tensor } from "../../../src/index.js";
import {
  metrics,
  nuSvc,
  nuSvr,
  oneClassSvm,
  pipeline,
  type SvcOptions,
  standardScaler,
  svc,
  svr,
} from "../../../src/learn/index.js";
import { heldOutFolds, probabilitiesOf } from "../../../src/learn/kernels/pair-probabilities.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, f64, numbersOf } from "../../support/tensors.js";

interface MachineCase {
  readonly kind: "svc" | "svr" | "nuSvc" | "nuSvr" | "oneClassSvm";
  readonly name: string;
  readonly data: string;
  readonly options: object;
  readonly weights: number[] | null;
  readonly gram: number[][] | null;
  readonly support: number[];
  readonly dual: number[][];
  readonly decisions?: number[] | number[][];
  readonly predicted: number[];
}

/** Means of scikit-learn's probabilities over random folds, the mean loss and its deviation, and the furthest that any was from the means. */
interface LikelyCase {
  readonly data: string;
  readonly options: SvcOptions;
  readonly mean: number[][];
  readonly loss: number;
  readonly deviation: number;
  readonly furthest: number;
}

interface MachineCases {
  readonly sets: Record<string, { x: number[][]; y: number[] }>;
  readonly cases: MachineCase[];
  readonly probabilities: LikelyCase[];
}

const { sets, cases, probabilities }: MachineCases = JSON.parse(
  readFileSync(resolve("test/learn/kernels/machines-cases.json"), "utf8"),
);

async function fitted(each: MachineCase, dtype: "f32" | "f64") {
  const { y } = sets[each.data]!;
  const x = of(each.gram ?? sets[each.data]!.x, dtype);
  // In f32 differences of similarities are noise below 1e-5.
  const options = { ...each.options, tol: dtype === "f64" ? 1e-10 : 1e-4 };
  const given = each.weights ? { weights: each.weights } : {};
  const fits = {
    svc: () => svc(options).fit(x, y, given),
    nuSvc: () => nuSvc(options).fit(x, y, given),
    svr: () => svr(options).fit(x, of(y, dtype), given),
    nuSvr: () => nuSvr(options).fit(x, of(y, dtype), given),
    oneClassSvm: () => oneClassSvm(options).fit(x, undefined, given),
  };
  return { model: await fits[each.kind](), x, some: x.at("::5") as Tensor };
}

const called = (model: object, method: string, x: Tensor): Tensor =>
  (model as Record<string, (x: Tensor) => Tensor>)[method]!(x);

describeOnTensorDevices("support vector machines", (device) => {
  for (const [place, each] of cases.entries()) {
    // Each compiles programs of its own: some are enough on Vulkan.
    if (device !== "cpu" && place % 4 !== 0) continue;
    for (const dtype of devicesWithDoubles().includes(device) && device === "cpu"
      ? (["f64", "f32"] as const)
      : (["f32"] as const)) {
      test(`${each.kind}, ${each.data}, ${each.name}, ${dtype}: LIBSVM's support vectors and decisions`, async () => {
        const { model, some } = await fitted(each, dtype);
        const { learned } = model;
        const within = dtype === "f64" ? 1e-5 : 5e-3;
        if (each.decisions) {
          await closeTo(called(model, "decisionFunction", some), each.decisions, within, "decisions");
          // Support vectors lie on the border of a region: on which side is a rounding.
          if (each.kind !== "oneClassSvm") assert.deepEqual(numbersOf(called(model, "predict", some)), each.predicted);
        } else await closeTo(called(model, "predict", some), each.predicted, within, "predictions");
        if (dtype === "f32") return;
        assert.deepEqual(numbersOf(learned.supportIndices), each.support);
        // LIBSVM lays the weights of pairs out by class; their sums of absolute values do not depend on that.
        const total = each.dual.flat().reduce((sum, value) => sum + Math.abs(value), 0);
        await closeTo(learned.dualCoefficients.abs().sum() as Tensor, total, within, "weights");
        const isSinglePair = each.dual.length === 1;
        if (isSinglePair) await closeTo(learned.dualCoefficients, each.dual, within, "weights one by one");
      });
    }
  }
});

test("at the minimum weights are within their limits, have the sum zero, and margins are met (Karush, Kuhn & Tucker)", async () => {
  const { x: rows, y } = sets.cancer!;
  const c = 0.7;
  const model = await svc({ c, tol: 1e-9 }).fit(f64(rows), y);
  const weights = new Float64Array(rows.length);
  const places = numbersOf(model.learned.supportIndices);
  numbersOf(model.learned.dualCoefficients).forEach((value, i) => {
    weights[places[i]!] = value;
  });
  assert.ok(Math.abs(weights.reduce((sum, value) => sum + value, 0)) < 1e-9);
  numbersOf(model.decisionFunction(f64(rows))).forEach((decision, i) => {
    const sign = y[i] === 1 ? 1 : -1;
    const [alpha, margin] = [weights[i]! * sign, decision * sign];
    assert.ok(alpha >= 0 && alpha <= c);
    if (alpha === 0) assert.ok(margin >= 1 - 1e-8, `${margin}`);
    else if (alpha === c) assert.ok(margin <= 1 + 1e-8, `${margin}`);
    else assert.ok(Math.abs(margin - 1) < 1e-8, `${margin}`);
  });
});

test("a function as kernel gives what its name gives, texts are labels, and decisions go through jit", async () => {
  const { x: rows, y } = sets.iris!;
  const x = f64(rows);
  const labels = y.map((label) => ["a", "b", "c"][label]!);
  const named = await svc({ kernel: "linear", tol: 1e-8 }).fit(x, labels);
  const byHand = await svc({ kernel: (a, b) => a.matmul(b.T) as Tensor, tol: 1e-8 }).fit(x, labels);
  await closeTo(byHand.decisionFunction(x), await named.decisionFunction(x).array(), 1e-9, "decisions");
  assert.equal((await named.predictLabels(x.at(":1") as Tensor))[0], "a");
  const inside = jit((model: typeof named, a: Tensor) => model.decisionFunction(a))(named, x);
  await closeTo(inside, await named.decisionFunction(x).array(), 1e-9, "decisions");
});

test("nu bounds the shares of errors and of support vectors; the width of the tube is learned", async () => {
  const { x: rows, y } = sets.diabetes!;
  const x = f64(rows);
  for (const nu of [0.2, 0.6]) {
    const model = await nuSvr({ nu, c: 2, tol: 1e-8 }).fit(x, f64(y));
    const width = Number(await model.learned.epsilon.item());
    const outside = numbersOf(model.predict(x)).filter((value, i) => Math.abs(value - y[i]!) > width + 1e-6).length;
    assert.ok(width > 0 && outside <= nu * y.length, `${outside} outside ${width}`);
    assert.ok(model.learned.supportIndices.size >= nu * y.length);
  }
});

test("nu of classes of different sizes has a largest value; beyond it a fit is refused", async () => {
  const x = Array.from({ length: 20 }, (_, i) => [Math.sin(i), Math.cos(i)]);
  const y = x.map((_, i) => Number(i < 4));
  await assert.rejects(
    async () => nuSvc({ nu: 0.5 }).fit(x, y),
    /nu is 0\.5; two of the classes .* it is 0\.400 at most/,
  );
  const model = await nuSvc({ nu: 0.4, probability: true }).fit(x, y);
  const shares = numbersOf(model.predictProbability(x));
  assert.ok(shares.every((share, i) => i % 2 === 1 || Math.abs(share + shares[i + 1]! - 1) < 1e-6));
  assert.throws(() => nuSvc({ nu: 0 }), /nu is 0; it is a share above zero/);
  assert.throws(() => nuSvr({ nu: 1.2 }), /nu is 1\.2/);
});

describeOnTensorDevices("probabilities of support vector classification", (device) => {
  for (const [place, { data, options, mean, loss, deviation, furthest }] of probabilities.entries()) {
    if (device !== "cpu" && place > 0) continue;
    test(`${data}: within the spread of scikit-learn's, whose folds are random, too`, async () => {
      const { x: rows, y } = sets[data]!;
      const [dtype, tol] = device === "cpu" ? (["f64", 1e-10] as const) : (["f32", 1e-4] as const);
      const model = await svc({ ...options, tol, probability: true }).fit(of(rows, dtype), y);
      const found = model.predictProbability(of(rows, dtype));
      const own = Number(await metrics.logLoss(found, y).item());
      assert.ok(Math.abs(own - loss) < 4 * deviation, `${own}, and ${loss} ± ${deviation}`);
      await closeTo(found.at("::5") as Tensor, mean, 2 * furthest, "probabilities");
      await closeTo(
        found.sum({ axis: 1 }) as Tensor,
        rows.map(() => 1),
        1e-6,
        "sums",
      );
    });
  }
});

test("sigmoids are the likeliest for decisions about samples held out, with Platt's targets", async () => {
  const { x: rows, y } = sets.cancer!;
  const options = { c: 2, gamma: 0.05, tol: 1e-10 } as const;
  const model = await svc({ ...options, probability: true, seed: 3 }).fit(f64(rows), y);
  const said = new Float64Array(rows.length);
  for (const fold of heldOutFolds(rows.length, 3, 0)) {
    const others = [...rows.keys()].filter((i) => !fold.includes(i));
    const without = await svc(options).fit(
      f64(others.map((i) => rows[i]!)),
      others.map((i) => y[i]!),
    );
    const found = numbersOf(without.decisionFunction(f64(Array.from(fold, (i) => rows[i]!))));
    fold.forEach((i, k) => {
      said[i] = found[k]!;
    });
  }
  const [slope, offset] = numbersOf(model.learned.sigmoids!) as [number, number];
  const inside = y.filter((label) => label === 1).length;
  const [high, low] = [(inside + 1) / (inside + 2), 1 / (y.length - inside + 2)];
  let [bySlope, byOffset] = [0, 0];
  said.forEach((decision, i) => {
    const rest = (y[i] === 1 ? high : low) - 1 / (1 + Math.exp(-(slope * decision + offset)));
    bySlope += rest * decision;
    byOffset += rest;
  });
  assert.ok(slope > 0 && Math.abs(bySlope) < 1e-6 && Math.abs(byOffset) < 1e-6, `${slope}: ${bySlope}, ${byOffset}`);
  const some = f64(rows.slice(0, 9));
  const want = numbersOf(model.decisionFunction(some)).map((each) => 1 / (1 + Math.exp(-(slope * each + offset))));
  await closeTo(model.predictProbability(some).at(":", 1) as Tensor, want, 1e-12, "probabilities");
  const again = await svc({ ...options, probability: true, seed: 4 }).fit(f64(rows), y);
  assert.notDeepEqual(numbersOf(again.learned.sigmoids!), [slope, offset]);
});

test("pairs couple to the probabilities that they come from, and else to the minimum of Wu, Lin & Weng", async () => {
  const pairs: readonly (readonly number[])[] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]; // biome-ignore format: a list
  const sigmoids = f64(pairs.map(() => [1, 0]));
  const decision = (chance: number): number => Math.log(chance / (1 - chance));
  const known = [0.1, 0.2, 0.3, 0.4];
  const agreeing = pairs.map(([i, j]) => decision(known[i]! / (known[i]! + known[j]!)));
  await closeTo(probabilitiesOf(f64([agreeing]), sigmoids, pairs), [known], 1e-12, "pairs that agree");
  const chances = [0.9, 0.2, 0.55, 0.3, 0.99, 0.5];
  const [found] = (await probabilitiesOf(f64([chances.map(decision)]), sigmoids, pairs).array()) as number[][];
  const r = (i: number, j: number): number => {
    const place = pairs.findIndex((pair) => pair.includes(i) && pair.includes(j));
    return pairs[place]![0] === i ? chances[place]! : 1 - chances[place]!;
  };
  // Their rounds: each class in turn, then scaled to the sum 1.
  const p = [0.25, 0.25, 0.25, 0.25];
  const form = (i: number, j: number): number =>
    i === j ? [0, 1, 2, 3].reduce((sum, k) => sum + (k === i ? 0 : r(k, i) ** 2), 0) : -r(i, j) * r(j, i);
  for (let round = 0; round < 2000; round++) {
    const t = round % 4;
    const own = [0, 1, 2, 3].map((i) => [0, 1, 2, 3].reduce((sum, j) => sum + form(i, j) * p[j]!, 0));
    const whole = own.reduce((sum, each, i) => sum + each * p[i]!, 0);
    p[t]! += (whole - own[t]!) / form(t, t);
    const sum = p.reduce((a, b) => a + b);
    p.forEach((each, i) => {
      p[i] = each / sum;
    });
  }
  p.forEach((each, i) => {
    assert.ok(Math.abs(found![i]! - each) < 1e-10, `${found} and ${p}`);
  });
});

test("models have probabilities where the option says so, and pipelines with them; the sure ones go through jit", async () => {
  const { x: rows, y } = sets.iris!;
  const x = f64(rows);
  const plain = await pipeline(standardScaler(), svc()).fit(x, y);
  assert.equal((plain as { predictProbability?: unknown }).predictProbability, undefined);
  assert.equal(((await svc().fit(x, y)) as { predictProbability?: unknown }).predictProbability, undefined);
  const model = await pipeline(standardScaler(), svc({ probability: true })).fit(x, y);
  assert.deepEqual(model.predictProbability(x).shape, [rows.length, 3]);
  const alone = await svc({ probability: true }).fit(x, y, { weights: y.map((_, i) => i % 3) });
  const inside = jit((given: typeof alone, a: Tensor) => given.predictLogProbability(a))(alone, x);
  await closeTo(inside.exp() as Tensor, await alone.predictProbability(x).array(), 1e-12, "probabilities");
});

test("misuse is refused by name", async () => {
  assert.throws(() => svc({ c: 0 }), /svc: c is 0/);
  assert.throws(() => svc({ gamma: "big" as "scale" }), /gamma is "big"; it is "scale", "auto" or a number/);
  assert.throws(() => svc({ kernel: "gauss" as "rbf" }), /svc: kernel is "gauss"/);
  assert.throws(() => svc({ tol: 0 }), /tol is 0; it is a number above zero/);
  assert.throws(() => svr({ epsilon: -1 }), /svr: epsilon is -1/);
  assert.throws(() => oneClassSvm({ nu: 2 }), /nu is 2; it is a share/);
  await assert.rejects(async () => svc().fit([[1], [2]], [1, 1]), /all labels are 1/);
  const { x, y } = sets.cancer!;
  await assert.rejects(
    async () => svc({ maxIter: 3 }).fit(f64(x), y),
    /no solution within 3 rounds; scale the samples/,
  );
  const flat = tensor([[1, 2]], { device: "cpu" });
  await assert.rejects(async () => svr({ kernel: "precomputed" }).fit(flat, [1]), /a precomputed kernel is/);
  await assert.rejects(async () => svr().fit(f64([[1], [2]]), f64([[1, 2], [2, 3]])), /2 columns/); // biome-ignore format: a matrix
});
