/** Gaussian process regression against scikit-learn: predictions, uncertainty, likelihoods, the search; samples; misuse. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, random, type Tensor, tensor } from "../../../src/index.js";
import { gaussianProcessRegressor, kernels } from "../../../src/learn/index.js";
import { leaves } from "../../../src/transforms/tree.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { kernelOf, kernelsCases } from "./cases.js";

const { regressions } = kernelsCases();

describeOnTensorDevices("Gaussian process regression", (device) => {
  for (const [place, each] of regressions.entries()) {
    // Each compiles programs of its own: one with a search and one without are enough on Vulkan.
    if (device !== "cpu" && place % 3 !== 0) continue;
    for (const dtype of dtypesOf(device, false)) {
      const isWide = dtype === "f64";
      test(`${each.name}, ${dtype}: scikit-learn's predictions, deviations and likelihood`, async () => {
        const tol = { tol: isWide ? 1e-9 : 1e-3 };
        const model = await gaussianProcessRegressor({ kernel: kernelOf(each.kernel), ...tol, ...each.options }).fit(
          of(each.x, dtype),
          of(each.y, dtype),
        );
        const searches = each.options.optimizer !== "none";
        const within = isWide ? (searches ? 1e-6 : 1e-10) : searches ? 2e-2 : 1e-3;
        const { mean, std } = model.predictWithStd(of(each.new, dtype));
        await closeTo(mean, each.mean, within, "predictions");
        await closeTo(std, each.std, within, "deviations");
        await closeTo(model.predict(of(each.new, dtype)), each.mean, within, "the mean alone");
        await closeTo(
          model.predictWithCovariance(of(each.new, dtype)).covariance,
          each.covariance,
          within,
          "covariances",
        );
        await closeTo(model.logMarginalLikelihood(), each.likelihood, isWide ? 1e-9 : 1e-3, "likelihood");
        // In f32 the likelihood's top is flat: parameters on it differ more than what they predict.
        if (!isWide) return;
        const logs = (leaves(model.learned.parameters) as Tensor[]).flatMap((log) => numbersOf(log));
        const sorted = logs.sort((a, b) => a - b);
        await closeTo(f64(sorted), each.parameters, 1e-5, "parameters", 1);
      });
    }
  }

  test("functions that are drawn have the predicted mean and covariance, and are those of their key", async () => {
    const kernel = kernels.rbf(1.5);
    const model = await gaussianProcessRegressor({ kernel, alpha: 0.01, optimizer: "none" }).fit([[0], [2]], [1, -1]);
    const at = [[0], [1], [3]];
    const drawn = model.sampleY(at, random.key(4), { count: 4000 });
    const { mean, covariance } = model.predictWithCovariance(at);
    assert.deepEqual(drawn.shape, [3, 4000]);
    await closeTo(drawn.mean({ axis: 1 }) as Tensor, await mean.array(), 0.05, "means");
    const offset = drawn.sub(mean.expandDims(1)) as Tensor;
    await closeTo(offset.matmul(offset.T).div(4000) as Tensor, await covariance.array(), 0.06, "covariances");
    assert.deepEqual(numbersOf(model.sampleY(at, random.key(4), { count: 4000 })), numbersOf(drawn));
  });

  test("fits trace, and the likelihood has gradients that differences agree with", async () => {
    const [x, y] = [tensor([[0], [1], [3], [4]]), tensor([1, 2, 0, -1])];
    const estimator = gaussianProcessRegressor({ kernel: kernels.rbf(1.5), alpha: 0.1, optimizer: "none" });
    const model = await estimator.fit(x, y);
    const inside = jit((a: Tensor, b: Tensor) => estimator.fitTensors(a, b))(x, y);
    await closeTo(inside.predict(x), await model.predict(x).array(), 1e-4, "predictions");
    const at = (log: Tensor): Tensor => model.logMarginalLikelihood({ values: { lengthScale: log }, parts: [] });
    const slope = Number(await grad(at)(tensor(0.4)).item());
    const step = (Number(await at(tensor(0.41)).item()) - Number(await at(tensor(0.39)).item())) / 0.02;
    assert.ok(Math.abs(slope - step) < 1e-2 * Math.abs(step), `${slope} and ${step}`);
  });
});

test("a far start finds the better of two optima with restarts, the same for the same seed", async () => {
  const x = Array.from({ length: 20 }, (_, i) => [i / 2]);
  const y = f64(x.map(([v]) => Math.sin(2 * v!)));
  const kernel = kernels.sum(
    kernels.rbf(900, { lengthScaleBounds: [0.1, 1e3] }),
    kernels.white(0.1, { noiseBounds: [1e-4, 10] }),
  );
  const fit = async (nRestartsOptimizer: number) =>
    gaussianProcessRegressor({ kernel, nRestartsOptimizer, seed: 3 }).fit(f64(x), y);
  const [alone, more, again] = [await fit(0), await fit(4), await fit(4)];
  const likelihood = (model: typeof alone): number => numbersOf(model.learned.logMarginalLikelihood)[0]!;
  assert.ok(likelihood(more) > likelihood(alone) + 10, `${likelihood(more)} and ${likelihood(alone)}`);
  assert.equal(likelihood(more), likelihood(again));
});

test("a singular covariance says how to mend it, and misuse is refused by name", async () => {
  const twice = f64([[1], [1], [2]]);
  await assert.rejects(
    async () => gaussianProcessRegressor({ alpha: 0 }).fit(twice, f64([1, 2, 3])),
    /LinalgError: gaussianProcessRegressor.fit: .* not positive definite in f64; .*Raise alpha/,
  );
  await assert.rejects(
    async () => gaussianProcessRegressor({ alpha: [1, 2] }).fit(twice, f64([1, 2, 3])),
    /2 numbers in alpha and 3 samples/,
  );
  assert.throws(() => gaussianProcessRegressor({ alpha: -1 }), /alpha is -1; it is a variance/);
  assert.throws(() => gaussianProcessRegressor({ kernel: "rbf" as never }), /the kernel is "rbf"; make one/);
  assert.throws(() => gaussianProcessRegressor({ nRestartsOptimizer: -1 }), /nRestartsOptimizer/);
});
