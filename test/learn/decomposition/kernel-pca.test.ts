/** Principal components of kernels against scikit-learn, signs and the way back too; misuse. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor } from "../../../src/index.js";
import { kernelPca, pca } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64 } from "../../support/tensors.js";
import { kernelsCases } from "../kernels/cases.js";

const { pcas } = kernelsCases();

describeOnTensorDevices("principal components of kernels", (device) => {
  for (const [place, each] of pcas.entries()) {
    // Each compiles programs of its own: some are enough on Vulkan.
    if (device !== "cpu" && place !== 1 && place !== 6) continue;
    for (const dtype of dtypesOf(device, false)) {
      test(`${each.name}, ${dtype}: scikit-learn's components`, async () => {
        const within = dtype === "f64" ? 1e-8 : 2e-3;
        const count = each.options.nComponents ?? each.eigenvalues.length;
        const options = dtype === "f64" ? each.options : { ...each.options, nComponents: count };
        const model = await kernelPca(options).fit(of(each.x, dtype));
        await closeTo(model.learned.eigenvalues, each.eigenvalues, within, "eigenvalues");
        await closeTo(model.learned.eigenvectors, each.vectors, 5 * within, "eigenvectors");
        const moved = model.transform(of(each.new, dtype));
        await closeTo(moved, each.transformed, 5 * within, "transformed samples");
        if (each.back) await closeTo(model.inverseTransform(moved), each.back, within, "the way back");
      });
    }
  }
});

test("the linear kernel gives the components of pca, and fits of a known number trace", async () => {
  const x = f64(pcas[0]!.x);
  const [a, b] = [await kernelPca({ nComponents: 2 }).fit(x), await pca({ nComponents: 2 }).fit(x)];
  await closeTo(a.transform(x).abs() as Tensor, await b.transform(x).abs().array(), 1e-9, "transformed samples");
  const inside = jit((samples: Tensor) => kernelPca({ nComponents: 2 }).fitTensors(samples))(x);
  await closeTo(inside.transform(x), await a.transform(x).array(), 1e-9, "transformed samples");
});

test("misuse is refused by name", async () => {
  assert.throws(() => kernelPca({ kernel: "precomputed", fitInverseTransform: true }), /there is no way back/);
  assert.throws(() => kernelPca({ alpha: -1 }), /alpha is -1/);
  const model = await kernelPca({ nComponents: 1 }).fit(f64([[1, 2], [2, 1]])); // biome-ignore format: a matrix
  assert.throws(() => model.inverseTransform(f64([[1]])), /fit with kernelPca\(\{ fitInverseTransform: true \}\)/);
  await assert.rejects(async () => kernelPca({ nComponents: 3 }).fit([[1], [2]]), /nComponents is 3; .* from 1 to 2/);
  await assert.rejects(async () => kernelPca().fit([[1], [1]]), /all samples are the same/);
});
