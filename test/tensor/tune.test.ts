/** `tune`: its arguments, its report, and that products use what it found. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ArgumentError, DeviceError } from "../../src/core/errors.js";
import { explain, ones, tune } from "../../src/index.js";
import { temporaryFolders } from "../support/temporary-folder.js";

const newFolder = temporaryFolders();
before(() => {
  process.env.PUMICE_CACHE = newFolder();
});

test("a product is measured, and the next one of its class uses what was found", async () => {
  const told: string[] = [];
  const onProgress = (...given: readonly unknown[]) => told.push(given.join());
  const found = await tune(["72x64x80", "4x4x4"], { device: "cpu", onProgress });
  assert.deepEqual(told, ["72x64x80,0,2", "4x4x4,1,2"]);
  const [product, none] = found as [(typeof found)[0], (typeof found)[0]];
  assert.equal(product.product, "72x64x80");
  assert.ok(product.tried > 2 && product.milliseconds > 0 && product.milliseconds <= product.millisecondsBefore);
  const [a, b] = [ones([72, 64], { device: "cpu" }).realize(), ones([64, 80], { device: "cpu" }).realize()];
  assert.ok(explain(a.matmul(b)).includes(`tiles: ${product.tiling}, measured on this device`), explain(a.matmul(b)));
  assert.deepEqual(none, {
    product: "4x4x4",
    tiling: "",
    before: "",
    milliseconds: 0,
    millisecondsBefore: 0,
    tried: 0,
  });
});

test("wrong arguments are refused before anything is measured", async () => {
  await assert.rejects(tune("4x4x4" as unknown as string[]), ArgumentError);
  await assert.rejects(tune([4] as unknown as string[]), ArgumentError);
  await assert.rejects(tune(["4x4"]), /names no product/);
  await assert.rejects(tune(["4x4x4"], { devices: "cpu" } as never), /no option "devices"/);
  await assert.rejects(tune(["4x4x4"], { device: "gpu" }), DeviceError);
});
