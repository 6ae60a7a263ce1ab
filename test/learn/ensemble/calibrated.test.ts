/** Calibration against scikit-learn's probabilities and Brier scores. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import {
  type AnyEstimator,
  calibratedClassifier,
  gaussianNaiveBayes,
  logisticRegression,
  metrics,
  ridge,
} from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../../support/tensors.js";

type Numbers = readonly number[];

interface Calibration {
  readonly probabilities: readonly Numbers[];
  readonly brier?: number;
  readonly plainBrier?: number;
}

interface CalibrationCases {
  readonly wine: { readonly x: readonly Numbers[]; readonly y: Numbers };
  readonly cancer: Readonly<Record<"x" | "laterX", readonly Numbers[]>> & Readonly<Record<"y" | "laterY", Numbers>>;
  readonly calibrations: Readonly<Record<string, Calibration>>;
}

const cases: CalibrationCases = JSON.parse(readFileSync(resolve("test/learn/ensemble/ensemble-cases.json"), "utf8"));
const { cancer, wine } = cases;
const bayes = gaussianNaiveBayes();

const MAKERS: Readonly<Record<string, AnyEstimator>> = {
  sigmoid: calibratedClassifier({ estimator: bayes, splits: 4 }),
  isotonic: calibratedClassifier({ estimator: bayes, splits: 4, method: "isotonic" }),
  one: calibratedClassifier({ estimator: bayes, splits: 4, ensemble: false }),
  decisions: calibratedClassifier({ estimator: logisticRegression({ tol: 1e-8 }), splits: 3 }),
  several: calibratedClassifier({ estimator: bayes, splits: 3 }),
  severalIsotonic: calibratedClassifier({ estimator: bayes, splits: 3, method: "isotonic" }),
};

describeOnTensorDevices("calibration", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  // scikit-learn's sigmoids end at a gradient of 1e-5.
  const within = 1e-4;

  for (const [name, estimator] of Object.entries(MAKERS)) {
    // Other devices run one: its parts are tested on them by their own families.
    if (device !== "cpu" && name !== "one") continue;
    test(`${name}: scikit-learn's probabilities and Brier score`, async () => {
      const isSeveral = name.startsWith("several");
      const { x, y } = isSeveral ? wine : cancer;
      const model = await estimator.fit(of(x, dtype), [...y]);
      const later = of(isSeveral ? wine.x : cancer.laterX, dtype);
      const want = cases.calibrations[name]!;
      await closeTo(model.predictProbability(later), want.probabilities, within, "probabilities");
      if (want.brier === undefined) return;
      const brier = metrics.brierScore(model.predictProbability(later).at(":", 1), [...cancer.laterY]);
      assert.ok(Math.abs(Number(await brier.item()) - want.brier) < within);
      if (name === "isotonic") assert.ok(Number(await brier.item()) < want.plainBrier!, "better than uncalibrated");
    });
  }
});

test("a model that is fitted already is calibrated by new samples", async () => {
  const prefit = await bayes.fit(of(cancer.x.slice(0, 80), "f64"), cancer.y.slice(0, 80));
  const model = await calibratedClassifier({ model: prefit }).fit(of(cancer.x.slice(80), "f64"), cancer.y.slice(80));
  const want = cases.calibrations.prefit!.probabilities;
  await closeTo(model.predictProbability(of(cancer.laterX, "f64")), want, 1e-4, "probabilities");
  await assert.rejects(
    async () => calibratedClassifier({ model: prefit }).fit([[1, 2, 3, 4], [2, 3, 4, 5]], ["a", "b"]), // biome-ignore format: rows
    /knows the classes \[0, 1\]/,
  );
});

test("wrong calibrations say what is missing", () => {
  assert.throws(() => calibratedClassifier(), /takes an estimator, or a model/);
  assert.throws(() => calibratedClassifier({ estimator: bayes, model: {} }), /one of them/);
  assert.throws(() => calibratedClassifier({ model: {} }), /a fitted classifier/);
  assert.throws(() => calibratedClassifier({ estimator: ridge() }), /must predict labels/);
});
