/** The validation layer as an instrument: it must be on when asked for, and its complaints must not be missed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DeviceError } from "../../../../src/core/errors.js";
import { validationMode } from "../../../../src/engines/vulkan/driver/validation.js";
import { inspectLoader } from "../../../../src/engines/vulkan/instance.js";
import { describeOnDevices } from "../../../support/devices.js";
import { runNode } from "../../../support/subprocess.js";

test("PUMICE_VALIDATE is off, core, sync or gpu, and nothing else", () => {
  assert.equal(validationMode({}), undefined);
  assert.equal(validationMode({ PUMICE_VALIDATE: "" }), undefined);
  assert.equal(validationMode({ PUMICE_VALIDATE: "0" }), undefined);
  assert.equal(validationMode({ PUMICE_VALIDATE: "1" }), "core");
  for (const mode of ["core", "sync", "gpu"]) assert.equal(validationMode({ PUMICE_VALIDATE: mode }), mode);
  assert.throws(() => validationMode({ PUMICE_VALIDATE: "yes" }), DeviceError);
});

const hasLayer = () => {
  try {
    return inspectLoader().hasValidationLayer;
  } catch {
    return false;
  }
};

describeOnDevices("the layer", hasLayer() ? false : "missing: vulkan-validationlayers", (which) => {
  const program = (mode: string, mistake: string) => `
    import { openDevice } from "SRC/vulkan/index.js";
    const interpose = (name, call) => { ${mistake} return call; };
    const device = await openDevice({ index: ${which.index}, cacheFolder: null, validate: "${mode}", interpose });
    const [a, b] = [device.alloc(256), device.alloc(256)];
    for (let i = 0; i < 3; i++) {
      try { b.copyFrom(a); a.copyFrom(b); device.finishSync(); }
      catch (error) { console.log("threw", error.name, error.message.slice(0, 60)); }
    }
    await device.close();`;

  test("a mistake is printed, thrown at the next batch, and turns the exit code to 1", async () => {
    const mistake = `if (name === "vkCmdFillBuffer") return (c, b, at, size, word) => call(c, b, at, size + 1, word);`;
    const { code, output } = await runNode(program("core", mistake), { env: { PUMICE_VALIDATE: "" } });
    assert.equal(code, 1, output);
    assert.match(output, /pumice validation: .*vkCmdFillBuffer/);
    assert.match(output, /threw DeviceError The validation layer reported/);
  });

  test("a missing barrier is found by synchronisation validation", async () => {
    const mistake = `if (name === "vkCmdPipelineBarrier") return () => undefined;`;
    const { code, output } = await runNode(program("sync", mistake), { env: { PUMICE_VALIDATE: "" } });
    assert.equal(code, 1, output);
    assert.match(output, /SYNC-HAZARD/);
  });

  test("a correct program is clean in every mode", async () => {
    for (const mode of ["core", "sync", "gpu"]) {
      const { code, output } = await runNode(program(mode, ""), { env: { PUMICE_VALIDATE: "" } });
      assert.equal(code, 0, `${mode}: ${output}`);
    }
  });
});
