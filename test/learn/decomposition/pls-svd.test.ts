/** Partial least squares by one decomposition, against scikit-learn. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../src/index.js";
import { plsSvd } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

interface Case {
  readonly options: object;
  readonly x: number[][];
  readonly y: number[][];
  readonly left: number[][];
  readonly right: number[][];
}

const CASES: readonly Case[] = JSON.parse(
  readFileSync(resolve("test/learn/decomposition/decomposition-cases.json"), "utf8"),
).pls;

describeOnTensorDevices("partial least squares", (device) => {
  for (const [place, { options, x, y, left, right }] of CASES.entries()) {
    for (const dtype of dtypesOf(device, place === 0)) {
      test(`${JSON.stringify(options)}, ${dtype}: scikit-learn's components of both sides`, async () => {
        const [samples, targets] = [of(x, dtype), of(y, dtype)];
        const model = await plsSvd(options).fit(samples, targets);
        const found = (await model.transform(samples).array()) as number[][];
        const signs = tensor(
          left[0]!.map((value, j) => Math.sign(value * found[0]![j]!)),
          { dtype },
        );
        const within = dtype === "f64" ? 1e-9 : 1e-3;
        await closeTo(model.transform(samples).mul(signs) as Tensor, left, within, "samples");
        await closeTo(model.transformTargets(targets).mul(signs) as Tensor, right, within, "targets");
      });
    }
  }
});

test("more components than outputs are refused", async () => {
  const fit = async () => plsSvd({ nComponents: 2 }).fit([[1, 2], [3, 5], [4, 4]], [1, 2, 3]); // biome-ignore format: a matrix
  await assert.rejects(fit, /nComponents is 2; it is a whole number from 1 to 1/);
});
