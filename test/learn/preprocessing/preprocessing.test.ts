/** Normalised rows, bins, products, quantiles and powers against scikit-learn's, on samples of the fit and on others, and back again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  binarizer,
  kBinsDiscretizer,
  normalizer,
  polynomialFeatures,
  powerTransformer,
  quantileTransformer,
} from "../../../src/learn/index.js";
import { dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { filled, near, preprocessingCases } from "./cases.js";

const MAKERS = {
  binarizer,
  kBinsDiscretizer,
  normalizer,
  polynomialFeatures,
  powerTransformer,
  quantileTransformer,
} as const;

/** The exponent of a power is where a likelihood is largest, and so known to half the digits of it. */
const WITHIN = { powerTransformer: { f64: 1e-6, f32: 5e-3 } } as const;

describeOnTensorDevices("preprocessing", (device) => {
  const seen = new Set<string>();
  for (const each of preprocessingCases()) {
    const kind = each.kind as keyof typeof MAKERS;
    // Programs of Vulkan take long to compile: one case of each kind there.
    if (device !== "cpu" && seen.has(kind)) continue;
    seen.add(kind);
    for (const dtype of dtypesOf(device, true)) {
      test(`${kind}, ${each.name}, ${dtype}: scikit-learn's columns and names, and back`, async () => {
        const within =
          (WITHIN as Record<string, { f64: number; f32: number }>)[kind]?.[dtype] ?? { f64: 1e-9, f32: 2e-4 }[dtype];
        const x = of(filled(each.x), dtype);
        const model = await MAKERS[kind](each.options as never).fit(x);
        const changed = model.transform(x);
        near(changed, each.transformed, within, "transformed");
        near(model.transform(of(filled(each.new), dtype)), each.newTransformed, within, "new samples");
        assert.deepEqual(
          model.featureNames(),
          each.names.map((name) => name.replace(/\.0$/, "")),
        );
        if (each.back && "inverseTransform" in model) {
          near((model.inverseTransform as (y: Tensor) => Tensor)(changed), each.back, 10 * within, "back");
        } else assert.equal(each.back, null);
      });
    }
  }
});

test("settings that make no sense are refused by name", async () => {
  assert.throws(() => normalizer({ norm: "l3" as never }), /norm is "l3"; it is "l1" or "l2" or "max"/);
  assert.throws(() => polynomialFeatures({ degree: [3, 2] }), /degree is \[3, 2\]; .* the smaller first/);
  assert.throws(() => polynomialFeatures({ degree: 0, includeBias: false }), /leaves no column/);
  assert.throws(() => kBinsDiscretizer({ nBins: 1 }), /nBins is 1; there are two bins at least/);
  assert.throws(() => quantileTransformer({ nQuantiles: 0 }), /nQuantiles is a whole number from 1 on/);
  await assert.rejects(
    async () => kBinsDiscretizer({ nBins: [2, 3] }).fit([[1], [2]]),
    /nBins tells of 2 features, and samples have 1/,
  );
  await assert.rejects(
    async () => powerTransformer({ method: "boxCox" }).fit([[1], [0]]),
    /in row 1, column 0 is 0; the method "boxCox" takes numbers above zero/,
  );
});

test("bins of a column of tiny numbers are those of the same column in other units", async () => {
  const x = Array.from({ length: 40 }, (_, i) => [Math.sin(i * i)]);
  for (const strategy of ["kmeans", "quantile"] as const) {
    const bins = async (unit: number) => {
      const scaled = f64(x.map(([v]) => [v! * unit]));
      return numbersOf(
        (await kBinsDiscretizer({ nBins: 4, strategy, encode: "ordinal" }).fit(scaled)).transform(scaled),
      );
    };
    assert.deepEqual(await bins(2 ** -27), await bins(1));
  }
});
