/** The elements of fragments that a real device's lanes hold: what its description promises. Needs matrix units. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { FragmentLanes, laneWords, sumFragment } from "../../../src/compiler/routines/attention/fragment-lanes.js";
import { describeGpu } from "../../../src/runtime/open.js";
import { backendFor } from "../../../src/tensor/index.js";
import { vulkanEngineOf } from "../../support/engines.js";
import { runKernel } from "../../support/kernels.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

describeOnTensorDevices("fragments of sums", (device) => {
  const gpu = device === "cpu" ? null : describeGpu(vulkanEngineOf(device));
  const fragment = gpu?.fragments.find(({ operand }) => operand === "f16");
  const skip = fragment ? false : "the device has no matrix units";

  test("each element is held by one lane; pairs are neighbours where the device is said to have them", { skip }, () => {
    const { rows, columns, pairs } = fragment!;
    const { subgroupSize } = backendFor(device).target.profile.tiles.matrices!;
    const k = new KernelBuilder("layout", 1, subgroupSize, subgroupSize);
    const out = k.buffer("f32", true);
    const array = k.array("u32", laneWords(fragment!));
    // Without the promise of pairs every element's own place is read.
    const lanes = new FragmentLanes(k, { ...fragment!, pairs: false }, array, k.constant("i32", 0));
    k.fillFragment(sumFragment(k, { ...fragment!, pairs: false }), 0);
    const i = (value: number) => k.constant("i32", value);
    lanes.rows.forEach((row, at) => {
      const place = k.binary("add", k.binary("mul", row, i(columns)), lanes.columns[at]!);
      k.store(
        out,
        k.binary("add", k.binary("mul", k.lane, i(lanes.rows.length)), i(at)),
        k.convert("f32", place),
        false,
      );
    });
    const [places] = runKernel(device, k.finish(), [new Float32Array(rows * columns)]);
    assert.deepEqual(
      [...places].sort((a, b) => a - b),
      Array.from({ length: rows * columns }, (_, at) => at),
    );
    if (!pairs) return;
    for (let at = 0; at < places.length; at += 2) {
      assert.equal(places[at]! % 2, 0);
      assert.equal(places[at + 1], places[at]! + 1);
    }
  });
});
