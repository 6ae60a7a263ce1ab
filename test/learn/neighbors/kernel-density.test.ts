/** Density estimates against scikit-learn; drawn samples; densities through transforms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, type Tensor } from "../../../src/index.js";
import { kernelDensity } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { neighborsCases, partsOf } from "./cases.js";

const cases = neighborsCases();

describeOnTensorDevices("density estimates", (device) => {
  for (const [place, each] of cases.densities.entries()) {
    if (device !== "cpu" && place > 0) continue;
    for (const dtype of dtypesOf(device, false)) {
      const { kernel, bandwidth, metric, columns, weighted } = each;
      test(`${kernel}, ${bandwidth}, ${columns} features, ${metric}, ${dtype}: scikit-learn's logarithms`, async () => {
        const cut = partsOf(cases, each.set);
        const [x, queries] = [cut.x, cut.queries].map((rows) => rows.map((row) => row.slice(0, columns)));
        const weights = weighted ? { weights: x!.map((_, i) => (i % 4) / 2) } : {};
        const model = await kernelDensity({ kernel, bandwidth, metric }).fit(of(x!, dtype), undefined, weights);
        const found = model.scoreSamples(of(queries!, dtype));
        const numbers = numbersOf(found);
        each.scores.forEach((score, i) => {
          const within = (dtype === "f64" ? 1e-9 : 2e-4) * Math.max(1, Math.abs(score ?? 0));
          if (score === null) assert.equal(numbers[i], Number.NEGATIVE_INFINITY);
          else assert.ok(Math.abs(numbers[i]! - score) <= within, `${numbers[i]}, not ${score}`);
        });
        if (each.scores.includes(null)) return;
        const sum = (each.scores as number[]).reduce((a, b) => a + b, 0);
        await closeTo(model.score(of(queries!, dtype)), sum, dtype === "f64" ? 1e-9 : 1e-4, "score");
      });
    }
  }
});

test("drawn samples have the mean and the variance of the density, and stay in the hills", async () => {
  const rows = [
    [0, 0],
    [10, 0],
  ];
  const wide = await kernelDensity({ bandwidth: 0.5 }).fit(f64(rows), undefined, { weights: [1, 3] });
  const drawn = wide.sample({ count: 4000, seed: 3 });
  const [mean] = numbersOf(drawn.mean({ axis: 0 }) as Tensor);
  // 7.5 with a deviation of √(18.75 + 0.25): four standard errors of the mean of 4000.
  assert.ok(Math.abs(mean! - 7.5) < (4 * Math.sqrt(19)) / Math.sqrt(4000), `${mean}`);
  const [, variance] = numbersOf(drawn.variance({ axis: 0 }) as Tensor);
  assert.ok(Math.abs(variance! - 0.25) < 4 * 0.25 * Math.sqrt(2 / 4000), `${variance}`);
  const ball = await kernelDensity({ kernel: "tophat", bandwidth: 2 }).fit(f64([[1, 1]]));
  const radii = numbersOf(
    ball
      .sample({ count: 2000 })
      .sub(f64([1, 1]))
      .square()
      .sum({ axis: 1 }) as Tensor,
  );
  assert.ok(radii.every((square) => square <= 4));
  // Half of a disc lies within 1/√2 of its radius.
  const inner = radii.filter((square) => square < 2).length / 2000;
  assert.ok(Math.abs(inner - 0.5) < 4 * Math.sqrt(0.25 / 2000), `${inner}`);
});

test("densities sum to one, with the cosine kernel of two features, too", async () => {
  const side = Array.from({ length: 60 }, (_, i) => -1.2 + (2.4 * (i + 0.5)) / 60);
  const grid = f64(side.flatMap((a) => side.map((b) => [a, b])));
  for (const kernel of ["cosine", "epanechnikov", "linear"] as const) {
    const model = await kernelDensity({ kernel }).fit(f64([[0, 0], [0.1, 0]])); // biome-ignore format: a matrix
    const [mass] = numbersOf(
      model
        .scoreSamples(grid)
        .exp()
        .sum()
        .mul((2.4 / 60) ** 2) as Tensor,
    );
    assert.ok(Math.abs(mass! - 1) < 2e-3, `${kernel}: ${mass}`);
  }
});

test("densities go through jit and grad, and misuse is refused by name", async () => {
  const model = await kernelDensity({ bandwidth: 0.8 }).fit(f64([[0], [2]]));
  const at = (x: Tensor) => model.scoreSamples(x).sum() as Tensor;
  const [slope] = numbersOf(jit(grad(at))(f64([[0.5]])));
  const [up, down] = [0.5 + 1e-6, 0.5 - 1e-6].map((x) => numbersOf(at(f64([[x]])))[0]!);
  assert.ok(Math.abs(slope! - (up! - down!) / 2e-6) < 1e-6);
  assert.throws(
    () => kernelDensity({ bandwidth: 0 }),
    /bandwidth is 0; it is a number above zero, "scott" or "silverman"/,
  );
  assert.throws(() => kernelDensity({ kernel: "box" as "tophat" }), /kernel is "box"/);
  assert.throws(() => kernelDensity({ metric: "precomputed" }), /densities are those of places/);
  const cosine = await kernelDensity({ kernel: "cosine" }).fit([[0], [2]]);
  assert.throws(() => cosine.sample(), /the kernel "cosine" with the metric "euclidean" is not drawn from/);
});
