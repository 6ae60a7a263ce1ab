/** Capabilities against devices: guaranteed ones, those of features, of subgroups, and ones that Pumice does not enable. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { capabilityName, refuseCapability } from "../../../../src/engines/vulkan/pipelines/capability-features.js";
import type { DevicePlan, PhysicalDevice } from "../../../../src/engines/vulkan/plan.js";
import { Capability } from "../../../../src/spirv/enumerants.js";

const device = (operations: number, floatControls: Readonly<Record<string, boolean>> = {}) =>
  ({ name: "a card", subgroup: { operations }, floatControls }) as unknown as PhysicalDevice;
const plan = (...features: string[]) => ({ features }) as unknown as DevicePlan;
const refusal = (capability: number, features: string[] = [], own = device(0)) =>
  refuseCapability(capability, own, plan(...features));

test("Vulkan guarantees some, features allow others, any of several where there are several", () => {
  assert.equal(refusal(Capability.Shader), null);
  assert.match(refusal(Capability.Float64)!, /a card does not have \(shaderFloat64\)/);
  assert.equal(refusal(Capability.Float64, ["shaderFloat64"]), null);
  assert.equal(refusal(Capability.Int64Atomics, ["shaderSharedInt64Atomics"]), null);
  assert.match(refusal(Capability.Int64Atomics)!, / or /);
});

test("operations of subgroups are bits, float controls are properties", () => {
  assert.match(refusal(Capability.GroupNonUniformVote, [], device(0x01))!, /does not offer to subgroups/);
  assert.equal(refusal(Capability.GroupNonUniformVote, [], device(0x03)), null);
  const own = device(0, { shaderDenormPreserveFloat64: true });
  assert.equal(refusal(Capability.DenormPreserve, [], own), null);
  assert.notEqual(refusal(Capability.DenormPreserve), null);
});

test("a capability that no kernel of Pumice has is refused, and named as far as it has a name", () => {
  assert.match(refusal(99_999)!, /does not enable/);
  assert.equal(capabilityName(Capability.Float64), "Float64");
  assert.equal(capabilityName(99_999), "capability 99999");
});
