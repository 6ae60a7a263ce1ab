/** Types and constants as a module gives them out: lists and splats, specialisation, scopes and memory semantics. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemorySemantics } from "../../../src/spirv/enumerants.js";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import { kernel, textOf } from "../building.js";

test("a constant is a scalar, one number for all components, or a list of its parts", () => {
  const m = new ModuleBuilder();
  const vector = m.vec(m.i32, 3);
  assert.equal(m.constant(vector, 7), m.constant(vector, [7, 7, 7]));
  const pair = m.struct([
    ["a", m.f32],
    ["b", m.array(m.u32, 2)],
  ]);
  assert.equal(m.constant(pair, [1, [2, 3]]), m.constant(pair, [1, [2, 3]]));
  assert.throws(() => m.constant(vector, [1, 2]), /a list of 2 does not make/);
  assert.throws(() => m.constant(pair, 3), /give a list, or use m\.zero/);
});

test("operations on specialisation constants take constants alone", () => {
  const text = textOf((m) => {
    const size = m.specConstant(m.u32, 3, 16, "size");
    m.specOp("IMul", m.u32, size, 4);
    kernel(() => {})(m);
  });
  assert.match(text, /OpDecorate %size SpecId 3/);
  assert.match(text, /OpSpecConstantOp %uint IMul %size %uint_4/);
  const m = new ModuleBuilder();
  m.entry("main", { localSize: [1] }, (f) => {
    const value = f.builtin("LocalInvocationIndex");
    assert.equal(m.isConstant(value), false);
    assert.equal(m.isConstant(m.constant(m.u32, 1)), true);
    assert.throws(() => m.specOp("IMul", m.u32, value, 4), /is not a constant/);
  });
  m.specConstant(m.u32, 5, 1);
  assert.throws(() => m.specConstant(m.u32, 5, 2), /declared twice/);
});

test("the Vulkan memory model has another scope for the device, and availability and visibility", () => {
  const { Acquire, Release, AcquireRelease, MakeAvailable, MakeVisible } = MemorySemantics;
  const [plain, vulkan] = [new ModuleBuilder(), new ModuleBuilder({ vulkanMemoryModel: true })];
  assert.equal(plain.scope("Device"), plain.constant(plain.u32, 1));
  assert.equal(vulkan.scope("Device"), vulkan.constant(vulkan.u32, 5));
  assert.equal(vulkan.scope("Workgroup"), vulkan.constant(vulkan.u32, 2));
  assert.equal(plain.ordered(AcquireRelease), AcquireRelease);
  assert.equal(vulkan.ordered(Release), Release | MakeAvailable);
  assert.equal(vulkan.ordered(Acquire), Acquire | MakeVisible);
  assert.equal(vulkan.ordered(AcquireRelease), AcquireRelease | MakeAvailable | MakeVisible);
});

test("cooperative matrices bring the Vulkan memory model, if no function was written before", () => {
  const early = new ModuleBuilder();
  early.matrix(early.f16, 16, 16, "A");
  assert.equal(early.scope("Device"), early.constant(early.u32, 5));
  const late = new ModuleBuilder();
  late.entry("main", { localSize: [1] }, () => {});
  assert.throws(() => late.matrix(late.f16, 16, 16, "A"), /vulkanMemoryModel: true/);
});

test("an alignment that not all elements have is refused", () => {
  const m = new ModuleBuilder();
  assert.throws(() => m.bufferPointer(m.f32, { align: 16 }), /4 bytes apart and cannot all be aligned to 16/);
  assert.throws(() => m.bufferPointer(m.vec(m.f32, 4), { align: 2 }), /cannot all be aligned to 2/);
  assert.throws(() => m.bufferPointer(m.vec(m.f32, 4), { align: 12 }), /aligned to 12/);
  assert.doesNotThrow(() => m.bufferPointer(m.vec(m.f32, 4), { align: 8 }));
});
