/** Least squares against scikit-learn's coefficients, scores and predictions, and through transforms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, type Tensor, tensor, vmap } from "../../../src/index.js";
import { linearRegression, ridge } from "../../../src/learn/index.js";
import { closeTo, learnCases, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../../support/tensors.js";

const MAKERS = { linearRegression, ridge };

describeOnTensorDevices("linear regressions", (device) => {
  for (const each of learnCases().linears) {
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${each.kind}, ${each.name}, ${dtype}: scikit-learn's coefficients, predictions and score`, async () => {
        const estimator = MAKERS[each.kind as keyof typeof MAKERS](each.options);
        const [x, y] = [of(each.x, dtype), of(each.y, dtype)];
        const model = await estimator.fit(x, y, each.weights ? { weights: each.weights } : {});
        // Columns of the data are of the size of 100 and hardly independent: f32 loses three digits.
        const within = dtype === "f64" ? 1e-9 : 5e-3;
        await closeTo(model.learned.coefficients, each.coefficients, within, "coefficients");
        await closeTo(model.predict(x), each.predicted, dtype === "f64" ? 1e-10 : 2e-4, "predictions");
        await closeTo(model.score(x, y), each.score, dtype === "f64" ? 1e-10 : 1e-3, "score");
        assert.equal(model.learned.coefficients.dtype, dtype);
      });
    }
  }

  test("coefficients of zero or more have derivatives, of those that are above zero", async () => {
    const { x, y } = learnCases().linears[0]!;
    const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
    const [samples, targets] = [of(x, dtype), of(y, dtype)];
    const first = (to: Tensor) =>
      ridge({ positive: true }).fitTensors(samples, to).learned.coefficients.sum() as Tensor;
    const slopes = grad(first)(targets);
    // The fit is linear in the targets while the same coefficients are zero.
    const step = targets.mul(1e-3);
    const moved = first(targets.add(step) as Tensor).sub(first(targets));
    await closeTo(slopes.mul(step).sum(), Number(await moved.item()), dtype === "f64" ? 1e-8 : 1e-2, "slope");
  });

  test("arrays of numbers and tensors give the same model", async () => {
    const { x, y } = learnCases().linears[0]!;
    const [a, b] = [await ridge().fit(x, y as number[]), await ridge().fit(of(x, "f32"), of(y, "f32"))];
    assert.deepEqual(await a.learned.coefficients.data(), await b.learned.coefficients.data());
  });

  test("a hundred penalties are one vmap, and each fit is that of its penalty", async () => {
    const { x, y } = learnCases().linears[0]!;
    const [samples, targets] = [of(x, "f32"), of(y, "f32")];
    const penalties = tensor(Array.from({ length: 100 }, (_, i) => 0.5 + i));
    const all = vmap((alpha: Tensor) => ridge({ alpha }).fitTensors(samples, targets))(penalties);
    assert.deepEqual(all.learned.coefficients.shape, [100, 5]);
    const one = await ridge({ alpha: 40.5 }).fit(samples, targets);
    await closeTo(
      all.learned.coefficients.at(40) as Tensor,
      await one.learned.coefficients.array(),
      1e-4,
      "coefficients",
    );
  });

  test("models go into and out of jit, and scores have gradients with respect to the penalty", async () => {
    const { x, y } = learnCases().linears[0]!;
    const [samples, targets] = [of(x, "f32"), of(y, "f32")];
    const model = jit((a: Tensor, b: Tensor) => ridge({ alpha: 2 }).fitTensors(a, b))(samples, targets);
    const predict = jit((m: typeof model, a: Tensor) => m.predict(a));
    const plain = await ridge({ alpha: 2 }).fit(samples, targets);
    await closeTo(predict(model, samples), await plain.predict(samples).array(), 1e-5, "predictions");
    const loss = (alpha: Tensor) => ridge({ alpha }).fitTensors(samples, targets).score(samples, targets);
    const [up, down] = [loss(tensor(1010)), loss(tensor(990))].map((score) => Number(score.itemSync()));
    const slope = Number(grad(loss)(tensor(1000)).itemSync());
    assert.ok(slope < 0 && Math.abs(slope / ((up! - down!) / 20) - 1) < 0.05, `${slope} and ${(up! - down!) / 20}`);
  });
});

test("wrong penalties are refused by name", () => {
  for (const alpha of [-1, Number.NaN, "1", tensor([1, 2], { device: "cpu" })]) {
    assert.throws(() => ridge({ alpha: alpha as number }), /^ArgumentError: ridge: alpha is/);
  }
  assert.throws(() => ridge({ beta: 1 } as object), /ridge: there is no option "beta"/);
});

test("ridge with a penalty below the rounding of f32: columns that depend on one another share their coefficient", async () => {
  const x = Array.from({ length: 40 }, (_, i) => [Math.sin(3 * i), Math.cos(5 * i), Math.sin(3 * i) + Math.cos(5 * i)]);
  const y = x.map(([a, b]) => 2 * a! - b!);
  const model = await ridge({ alpha: 1e-9 }).fit(of(x, "f32"), of(y, "f32"));
  await closeTo(model.predict(of(x, "f32")), y, 1e-3, "predictions");
  await closeTo(model.learned.coefficients, [5 / 3, -4 / 3, 1 / 3], 0.1, "the smallest coefficients");
  const wide = await ridge({ alpha: 1e-12, fitIntercept: false }).fit(
    of(
      [...x, ...x].map((row) => [...row, ...row]),
      "f32",
    ),
    of([...y, ...y], "f32"),
  );
  await closeTo(
    wide.predict(
      of(
        x.map((row) => [...row, ...row]),
        "f32",
      ),
    ),
    y,
    1e-3,
    "predictions",
  );
});

test("R² of one sample alone is NaN, as that of metrics", async () => {
  const model = await ridge().fit([[1], [2], [4]], [1, 2, 3]);
  assert.ok(Number.isNaN(await model.score([[1]], [1]).item()));
  assert.ok((await model.score([[1], [4]], [1, 3]).item()) > 0.5);
});
