/** Convolution by overlap and addition: what `fftConvolve` gives, in transforms that the short signal decides. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { complex, explain, random, signal } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

describeOnTensorDevices("overlap and addition", () => {
  test("a long signal and a short one, whichever comes first, in every mode", () => {
    const long = random.normal(random.key(1), [3000]);
    const short = random.normal(random.key(2), [11]);
    for (const mode of ["full", "same", "valid"] as const) {
      for (const [a, b] of [
        [long, short],
        [short, long],
      ] as const) {
        // biome-ignore format: a list
        const found = signal.oaConvolve(a, b, { mode });
        const wanted = signal.fftConvolve(a, b, { mode });
        assert.deepEqual(found.shape, wanted.shape);
        assert.ok((found.sub(wanted).abs().max().itemSync() as number) < 2e-5, mode);
      }
    }
  });

  test("complex signals in two axes, each longer along one of them", () => {
    const noise = (seed: number, shape: readonly number[]) => random.normal(random.key(seed), shape);
    const a = complex(noise(3, [70, 3]), noise(4, [70, 3]));
    const b = complex(noise(5, [2, 60]), noise(6, [2, 60]));
    const found = signal.oaConvolve(a, b);
    assert.ok((found.sub(signal.fftConvolve(a, b)).abs().max().itemSync() as number) < 1e-4);
  });

  test("transforms are short: none has the length of the long signal", () => {
    const found = signal.oaConvolve(
      random.normal(random.key(7), [3000]).realize(),
      random.normal(random.key(8), [11]).realize(),
    );
    const lengths = [...explain(found).matchAll(/dft[^[]*\[[^\]]*?(\d+)\]/g)].map(([, length]) => Number(length));
    assert.ok(lengths.length >= 3 && Math.max(...lengths) <= 256, String(lengths));
  });
});
