/**
 * Tuning on real engines, with a stopwatch of the test's own: the products of a program are measured before it is compiled, what
 * is found is used and kept, and results stay right.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostDevice } from "../../../src/engines/host/device.js";
import { VulkanDevice } from "../../../src/engines/vulkan/device.js";
import type { Backend } from "../../../src/runtime/backend.js";
import { hostBackend, vulkanBackend } from "../../../src/runtime/open.js";
import { parseProduct, plainProduct } from "../../../src/runtime/tuning/plain-product.js";
import type { TunerOptions } from "../../../src/runtime/tuning/tuner.js";
import { backendFor, type Tensor } from "../../../src/tensor/index.js";
import { forLoop } from "../../../src/transforms/control.js";
import { tensorOn } from "../../support/forced-tiles.js";
import { describeOnTensorDevices, expectTensor, type Plain, plainOf, read } from "../../support/tensors.js";

const SIZE = 64;
const PLAIN = `f32 nn 1×${SIZE}×${SIZE}×${SIZE}`;

/** Measured tilings in this process, and a stopwatch by which each measurement takes 0.8 of the one before. */
function newTuning(kept: Record<string, string> = {}, isAsked = true) {
  const counts = { samples: 0 };
  const store = {
    read: () => kept,
    add: (tilings: Readonly<Record<string, string>>) => {
      Object.assign(kept, tilings);
      return true;
    },
  };
  const stopwatch = {
    warmMs: 0,
    time: (work: () => void) => {
      work();
      counts.samples++;
      return 1e30 * 0.8 ** counts.samples;
    },
  };
  return { kept, counts, tuning: { store, isAsked, stopwatch } satisfies TunerOptions };
}

function tuned(device: string, tuning: TunerOptions): Backend {
  const { engine } = backendFor(device);
  const backend: unknown =
    engine instanceof VulkanDevice
      ? vulkanBackend("vulkan", engine, { tuning, files: null })
      : hostBackend(engine as HostDevice, { tuning, files: null });
  return backend as Backend;
}

/** Quarters, so that sums are exact in any order. */
const quarters = (rows: number, columns: number, seed: number): Plain =>
  plainOf([rows, columns], ([i, j]) => (((i! * 7 + j! * 3 + seed) % 9) - 4) / 4);
const multiplied = (x: Plain, y: Plain): Plain =>
  plainOf([x.shape[0]!, y.shape[1]!], ([i, j]) => {
    let sum = 0;
    for (let k = 0; k < x.shape[1]!; k++) sum += read(x, [i!, k]) * read(y, [k, j!]);
    return sum;
  });
const [x, y] = [quarters(SIZE, SIZE, 1), quarters(SIZE, SIZE, 2)];

const expected = multiplied(x, y);
const isProduct = (actual: Tensor, wanted = expected) => expectTensor(actual, wanted, "f32", { absolute: 0 });

const explained = (backend: Backend, product: Tensor): string => backend.explain([product.node]).text;

describeOnTensorDevices("tuning", (device) => {
  test("a product is measured once, before its program is compiled; the program uses what was found", () => {
    const { kept, counts, tuning } = newTuning();
    const backend = tuned(device, tuning);
    const [a, b] = [tensorOn(backend, x, "f32"), tensorOn(backend, y, "f32")];
    isProduct(a.matmul(b));
    assert.deepEqual(Object.keys(kept), [PLAIN]);
    const { samples } = counts;
    assert.ok(samples > 10, String(samples));
    const rule = explained(tuned(device, newTuning({}, false).tuning), a.matmul(b));
    assert.match(explained(backend, a.matmul(b)), /^ {3}tiles: .*, measured on this device$/m);
    assert.match(rule, /^ {3}tiles: .*, chosen by rule$/m);
    assert.ok(!rule.includes(`tiles: ${kept[PLAIN]},`), "the stopwatch favours another tiling than the rule");
    a.matmul(b).add(1).dataSync();
    assert.equal(counts.samples, samples);
  });

  test("transposed operands, windows and the bodies of loops are classes of their own", () => {
    const { kept, tuning } = newTuning();
    const backend = tuned(device, tuning);
    const [a, b] = [tensorOn(backend, x, "f32"), tensorOn(backend, y, "f32")];
    const turned = plainOf([SIZE, SIZE], ([i, j]) => read(y, [j!, i!]));
    isProduct(a.matmul(b.T), multiplied(x, turned));
    forLoop(0, 2, (_, state: Tensor) => state.matmul(b).mul(0.25), a as Tensor).dataSync();
    a.reshape([1, 4, 32, 32])
      .conv(b.reshape([64, 4, 4, 4]), { padding: "same" })
      .dataSync();
    const classes = Object.keys(kept);
    assert.ok(classes.includes(PLAIN.replace("nn", "nt")), classes.join());
    assert.ok(classes.includes(PLAIN), classes.join());
    assert.ok(
      classes.some((each) => /^f32 [nt]?w[0-9a-f]+/.test(each)),
      classes.join(),
    );
  });

  test("nothing is measured unless the user asks; what was measured earlier is used, and is part of the profile", () => {
    const first = newTuning();
    tuned(device, first.tuning).tune(plainProduct(parseProduct("test", "64x64x64"), backendFor(device)));
    const later = newTuning(first.kept, false);
    const backend = tuned(device, later.tuning);
    const [a, b] = [tensorOn(backend, x, "f32"), tensorOn(backend, y, "f32")];
    isProduct(a.matmul(b));
    assert.equal(later.counts.samples, 0);
    assert.match(explained(backend, a.matmul(b)), /measured on this device/);
    // The key of a program on disk has the profile in it.
    assert.ok(JSON.stringify(backend.target.profile).includes(first.kept[PLAIN]!));
  });

  test("words that name no candidate are passed over", () => {
    for (const words of ["", "nonsense", "128×128×16 of 8×8 in 999999 parts", "registers 1000×1000", "in 2 parts"]) {
      const backend = tuned(device, newTuning({ [PLAIN]: words }, false).tuning);
      const [a, b] = [tensorOn(backend, x, "f32"), tensorOn(backend, y, "f32")];
      assert.match(explained(backend, a.matmul(b)), /chosen by rule/);
      isProduct(a.matmul(b));
    }
  });

  test("a finding says what was used before and how many tilings were timed; a small product has none", () => {
    const backend = tuned(device, newTuning().tuning);
    const finding = backend.tune(plainProduct(parseProduct("test", "2x64x64x64:f64:tn"), backend))!;
    assert.equal(finding.products, "f64 tn 2×64×64×64");
    assert.ok(finding.tried > 2 && finding.milliseconds < finding.millisecondsBefore);
    assert.equal(backend.tune(plainProduct(parseProduct("test", "4x4x4"), backend)), null);
  });
});
