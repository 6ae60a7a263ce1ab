/** Covariances against scikit-learn; fits through transforms; misuse. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor, vmap } from "../../../src/index.js";
import { empiricalCovariance, ledoitWolf, oas, shrunkCovariance } from "../../../src/learn/index.js";
import { discriminantCases } from "../../support/discriminant-cases.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../../support/tensors.js";

const MAKERS = { empiricalCovariance, shrunkCovariance, ledoitWolf, oas };

describeOnTensorDevices("covariances", (device) => {
  for (const each of discriminantCases().covariances) {
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${each.kind}, ${each.name}, ${dtype}: scikit-learn's matrices, distances and score`, async () => {
        const x = of(each.x, dtype);
        const model = await MAKERS[each.kind as keyof typeof MAKERS](each.options).fit(x);
        const within = dtype === "f64" ? 1e-10 : 2e-3;
        await closeTo(model.learned.location, each.location, within, "location");
        await closeTo(model.learned.covariance, each.covariance, within, "covariance");
        await closeTo(model.learned.precision, each.precision, within, "precision");
        await closeTo(model.learned.shrinkage, each.shrinkage, within, "shrinkage");
        await closeTo(model.mahalanobis(x), each.mahalanobis, within, "distances");
        await closeTo(model.score(x), each.score, within, "score");
      });
    }
  }

  test("whole weights count samples so often", async () => {
    const x = random.normal(random.key(0), [9, 3]) as Tensor;
    const weights = [2, 1, 1, 3, 1, 1, 1, 1, 1];
    const rows = weights.flatMap((count, i) => new Array<number>(count).fill(i));
    const repeated = x.take(tensor(rows, { dtype: "i32" }), { axis: 0 }) as Tensor;
    const [a, b] = [
      await empiricalCovariance().fit(x, undefined, { weights }),
      await empiricalCovariance().fit(repeated),
    ];
    await closeTo(a.learned.covariance, await b.learned.covariance.array(), 1e-5, "covariance");
  });

  test("shrinkage can be mapped over", async () => {
    const x = random.normal(random.key(1), [9, 3]) as Tensor;
    const all = vmap((shrinkage: Tensor) => shrunkCovariance({ shrinkage }).fitTensors(x))(tensor([0, 0.5, 1]));
    const half = await shrunkCovariance({ shrinkage: 0.5 }).fit(x);
    await closeTo(all.learned.covariance.at(1) as Tensor, await half.learned.covariance.array(), 1e-5, "covariance");
    const whole = (await all.learned.covariance.at(2).array()) as number[][];
    assert.ok(Math.abs(whole[0]![1]!) < 1e-7 && Math.abs(whole[0]![0]! - whole[2]![2]!) < 1e-6);
  });
});

test("wrong settings are refused by name", () => {
  assert.throws(() => shrunkCovariance({ shrinkage: 1.5 }), /shrinkage is 1.5; it is a number, from 0 to 1/);
  assert.throws(() => ledoitWolf({ centered: true } as object), /no option "centered"/);
});
