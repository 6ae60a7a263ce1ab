/** Float controls: kept zeros, infinities and NaNs are asked for where the device offers them, by width. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { floatControlsOf } from "../../src/spirv/float-controls.js";

test("each width by its own property, and nothing that is not offered", () => {
  const kept = (offered: Record<string, boolean>) => {
    const controls = floatControlsOf(offered);
    return [controls[32]?.signedZeroInfNanPreserve, controls[64]?.signedZeroInfNanPreserve];
  };
  assert.deepEqual(kept({}), [false, false]);
  assert.deepEqual(kept({ shaderSignedZeroInfNanPreserveFloat64: true }), [false, true]);
  assert.deepEqual(kept({ shaderSignedZeroInfNanPreserveFloat32: true }), [true, false]);
  assert.deepEqual(kept({ shaderDenormPreserveFloat32: true, shaderSignedZeroInfNanPreserveFloat16: true }), [
    false,
    false,
  ]);
});
