/** The foreign function interface is loaded when a driver is looked for, and not before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runNode } from "../../../support/subprocess.js";

/** Prints whether koffi is among the modules that were loaded. */
const HAS_KOFFI = `
  import { createRequire } from "node:module";
  const { cache } = createRequire("SRC/index.js");
  const say = (when) => console.log(when, Object.keys(cache).some((path) => path.includes("koffi")));
`;

test("importing the package and computing on the CPU does without koffi; listing devices loads it", async () => {
  const { output } = await runNode(
    `${HAS_KOFFI}
    const { devices, tensor } = await import("SRC/index.js");
    await tensor([1, 2], { device: "cpu" }).add(1).data();
    say("cpu");
    devices();
    say("devices");`,
  );
  assert.equal(output, "cpu false\ndevices true\n");
});

test("where koffi does not load, the CPU is the only device, and the Vulkan layer says why", async () => {
  const { output } = await runNode(
    `import Module from "node:module";
    const load = Module._load;
    Module._load = (name, ...rest) => {
      if (name === "koffi") throw new Error("no such binary\\nRequire stack: …");
      return load(name, ...rest);
    };
    const { devices, tensor } = await import("SRC/index.js");
    const { openDevice } = await import("SRC/vulkan/index.js");
    console.log(devices().join(), (await tensor([1, 2]).add(1).data()).join());
    await openDevice().catch(({ name, message }) => console.log(name, message));`,
    { env: { PUMICE_DEVICE: "" } },
  );
  assert.equal(
    output,
    "cpu 2,3\nDeviceError koffi, which calls the driver, does not load (no such binary); " +
      "`npx pumice doctor` looks further.\n",
  );
});
