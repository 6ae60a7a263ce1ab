/** Support vector machines against scikit-learn (LIBSVM): support vectors, their weights, decisions; optimality; misuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, type Tensor, tensor } from "../../../src/index.js";
import { oneClassSvm, svc, svr } from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, f64, numbersOf } from "../../support/tensors.js";

interface MachineCase {
  readonly kind: "svc" | "svr" | "oneClassSvm";
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

const { sets, cases }: { sets: Record<string, { x: number[][]; y: number[] }>; cases: MachineCase[] } = JSON.parse(
  readFileSync(resolve("test/learn/kernels/machines-cases.json"), "utf8"),
);

async function fitted(each: MachineCase, dtype: "f32" | "f64") {
  const { y } = sets[each.data]!;
  const x = of(each.gram ?? sets[each.data]!.x, dtype);
  // In f32 differences of similarities are noise below 1e-5.
  const options = { ...each.options, tol: dtype === "f64" ? 1e-10 : 1e-4 };
  const given = each.weights ? { weights: each.weights } : {};
  const model =
    each.kind === "svc"
      ? await svc(options).fit(x, y, given)
      : each.kind === "svr"
        ? await svr(options).fit(x, of(y, dtype), given)
        : await oneClassSvm(options).fit(x, undefined, given);
  return { model, x, some: x.at("::5") as Tensor };
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
          if (each.kind === "svc") assert.deepEqual(numbersOf(called(model, "predict", some)), each.predicted);
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
