/** Float controls: kept zeros, infinities, NaNs and denormals are asked for where the device offers them, by width. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { floatControlsOf } from "../../../src/spirv/module/float-controls.js";

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

test("denormals are kept where a width may have that by itself", () => {
  const both = { shaderDenormPreserveFloat32: true, shaderDenormPreserveFloat64: true };
  const kept = (offered: Record<string, boolean>) => {
    const controls = floatControlsOf(offered);
    return [controls[32]?.denormals, controls[64]?.denormals];
  };
  assert.deepEqual(kept(both), [undefined, undefined]);
  assert.deepEqual(kept({ ...both, ownDenormsFloat32: true, ownDenormsFloat64: false }), ["preserve", undefined]);
  assert.deepEqual(kept({ ...both, ownDenormsFloat32: true, ownDenormsFloat64: true }), ["preserve", "preserve"]);
  assert.deepEqual(kept({ ownDenormsFloat32: true, ownDenormsFloat64: true }), [undefined, undefined]);
});
