/** The same seed gives the same bits: on any number of threads, on Vulkan, and in a run that was saved and resumed. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import type { SampleOptions } from "../../../src/bayes/chains/options.js";
import { halfNormal, model, normal } from "../../../src/bayes/index.js";
import { setDefaultDevice } from "../../../src/tensor/index.js";
import { runNode } from "../../support/subprocess.js";
import { testDevices } from "../../support/tensors.js";
import { sampled } from "./support.js";

before(() => setDefaultDevice("cpu"));
const spread = model(() => ({ mu: normal(0, 1), tau: halfNormal(1) })).given({});
const options: SampleOptions = { chains: 6, draws: 40, warmup: 60, seed: 9, dtype: "f64", device: "cpu" };

test("draws do not depend on how many threads there are", async () => {
  const program = `
    import { createHash } from "node:crypto";
    import { halfNormal, model, normal } from "SRC/bayes/index.js";
    const posterior = model(() => ({ mu: normal(0, 1), tau: halfNormal(1) })).given({});
    const hash = createHash("sha256");
    for (const kernel of ["nuts", "chees"]) {
      const { draws } = await posterior.sample({ chains: 64, draws: 20, warmup: 60, seed: 9, kernel, device: "cpu" });
      for (const name of draws.names) hash.update(draws.scalar(name).values);
    }
    console.log(hash.digest("hex"));`;
  const of = (threads: number) => runNode(program, { env: { PUMICE_THREADS: `${threads}`, PUMICE_CACHE: "off" } });
  const [one, ...more] = [await of(1), await of(2), await of(3)];
  assert.match(one!.output, /^[0-9a-f]{64}\n$/);
  for (const { output } of more) assert.equal(output, one!.output);
});

const skip = testDevices().includes("vulkan") ? false : "missing: a Vulkan device";
test("the same seed gives the same draws on Vulkan, another seed others", { skip }, async () => {
  const onVulkan: SampleOptions = { ...options, device: "vulkan", dtype: "f32" };
  const [a, b, c] = [
    await sampled(spread, onVulkan),
    await sampled(spread, onVulkan),
    await sampled(spread, { ...onVulkan, seed: 10 }),
  ];
  for (const name of a.draws.names) {
    assert.deepEqual(a.draws.scalar(name), b.draws.scalar(name));
    assert.notDeepEqual(a.draws.scalar(name), c.draws.scalar(name));
  }
});

describe("a saved fit goes on as if it had not stopped", () => {
  for (const [title, more] of Object.entries({
    "with a dense metric": { metric: "dense" },
    "with a dense metric of all chains together": { metric: "dense", pooled: true },
  } as Readonly<Record<string, SampleOptions>>)) {
    test(title, async () => {
      const folder = await mkdtemp(join(tmpdir(), "pumice-resumed-"));
      try {
        const whole = await sampled(spread, { ...options, ...more });
        const part = await sampled(spread, { ...options, ...more, draws: 15 });
        await part.save(join(folder, "fit"));
        const resumed = await spread.resume(join(folder, "fit"));
        await resumed.extend(25);
        for (const name of ["mu", "tau"] as const) {
          assert.deepEqual(resumed.draws.values(name), whole.draws.values(name));
        }
        assert.deepEqual(resumed.draws.stat("energy"), whole.draws.stat("energy"));
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }
});
