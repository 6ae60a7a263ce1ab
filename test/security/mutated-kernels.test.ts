/**
 * SPIR-V changed by seeded chance and given to a driver, in a process of its own. Drivers crash on some of it: that is why a
 * module is the caller's responsibility. With `{ validate: true }`, spirv-val refuses what breaks the rules first, and what is
 * left is compiled or refused by name. PUMICE_FUZZ_COUNT and PUMICE_FUZZ_SEED are as in mutated-files.test.ts.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeOnDevices, underValidation } from "../support/devices.js";
import { without } from "../support/spirv-val.js";
import { runNode } from "../support/subprocess.js";

const COUNT = Number(process.env.PUMICE_FUZZ_COUNT ?? 25);
const SEED = Number(process.env.PUMICE_FUZZ_SEED ?? 1);
const support = new URL("../support/", import.meta.url).href;

const program = (index: number) => `
  import { openDevice } from "SRC/vulkan/index.js";
  import { PumiceError } from "SRC/core/errors.js";
  import { copyKernel } from "SRC/spirv/copy-kernel.js";
  import { mutated } from "${support}mutations.js";
  import { randomFrom } from "${support}random.js";
  const device = await openDevice({ index: ${index}, cacheFolder: null });
  const good = new Uint8Array(copyKernel().buffer);
  const ends = {};
  for (let seed = ${SEED}; seed < ${SEED + COUNT}; seed++) {
    let end = "compiled";
    try {
      device.kernel(mutated(good, randomFrom(seed)), { validate: true });
    } catch (error) {
      if (!(error instanceof PumiceError)) throw new Error("seed " + seed, { cause: error });
      end = error.name;
    }
    ends[end] = (ends[end] ?? 0) + 1;
  }
  await device.close();
  console.log(JSON.stringify(ends));
`;

describeOnDevices("changed modules", without("spirv-val") || underValidation("it judges too"), ({ index }) => {
  test("are compiled or refused by name, when they are judged first", async () => {
    const { code, output } = await runNode(program(index), { timeoutMs: 60_000 + 1000 * COUNT });
    assert.equal(code, 0, output);
    const ends = JSON.parse(output);
    assert.ok(ends.FormatError > 0, output);
    for (const name of Object.keys(ends))
      assert.ok(["compiled", "FormatError", "ArgumentError", "UnsupportedError", "DeviceError"].includes(name), output);
  });
});
