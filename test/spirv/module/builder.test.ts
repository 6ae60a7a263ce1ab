/** Modules: entry points, names, and what console.log shows. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import { count, kernel, textOf } from "../building.js";

describe("entry points", () => {
  const two = (m: ModuleBuilder) => {
    const a = m.storageBuffer(m.u32, { binding: 0, name: "a" });
    const b = m.storageBuffer(m.u32, { binding: 1, name: "b" });
    m.storageBuffer(m.u32, { binding: 2, name: "unused" });
    const viaFunction = m.function("f", [], m.void, () => b.store(0, 1));
    m.entry("first", { localSize: [2] }, (f) => a.store(0, f.builtin("LocalInvocationIndex")));
    m.entry("second", { localSize: [3, 4, 5] }, (f) => void f.call(viaFunction));
  };

  test("list the variables they use, directly or through calls", () => {
    const text = textOf(two);
    assert.match(text, /OpEntryPoint GLCompute %first "first" %a %gl_LocalInvocationIndex$/m);
    assert.match(text, /OpEntryPoint GLCompute %second "second" %b$/m);
  });

  test("list only inputs before SPIR-V 1.4", () => {
    const text = textOf(two, { version: [1, 3] });
    assert.match(text, /"first" %gl_LocalInvocationIndex$/m);
    assert.match(text, /"second"$/m);
  });

  test("have their own workgroup sizes", () => {
    const text = textOf(two);
    assert.match(text, /OpExecutionMode %first LocalSize 2 1 1/);
    assert.match(text, /OpExecutionMode %second LocalSize 3 4 5/);
  });

  test("take a size by specialisation constants: WorkgroupSize before 1.6, LocalSizeId after", () => {
    const specialized = (m: ModuleBuilder) => {
      const size = m.specConstant(m.u32, 7, 64, "size");
      m.entry("main", { localSize: [size, 2] }, () => {});
    };
    const old = textOf(specialized);
    assert.match(old, /%gl_WorkGroupSize = OpSpecConstantComposite %v3uint %size %uint_2 %uint_1/);
    assert.match(old, /OpDecorate %gl_WorkGroupSize BuiltIn WorkgroupSize/);
    assert.match(textOf(specialized, { version: [1, 6] }), /OpExecutionModeId %main LocalSizeId %size %uint_2 %uint_1/);
  });

  test("carry the float controls of the module, per width", () => {
    const text = textOf(
      kernel(() => {}),
      {
        floatControls: { 32: { denormals: "preserve", signedZeroInfNanPreserve: true }, 64: { rounding: "RTE" } },
      },
    );
    for (const mode of ["DenormPreserve 32", "SignedZeroInfNanPreserve 32", "RoundingModeRTE 64"]) {
      assert.match(text, new RegExp(`OpExecutionMode %main ${mode}`));
    }
  });
});

describe("names", () => {
  const named = (m: ModuleBuilder) => {
    m.storageBuffer(m.f32, { binding: 0, name: "weights" });
    kernel((f) => void f.variable(m.f32, 0, "sum"))(m);
  };
  test("are kept", () => assert.match(textOf(named), /OpName %sum "sum"/));
  test("are dropped when asked", () => assert.equal(count(textOf(named, { names: false }), /Op(Member)?Name/), 0));
});

test("what console.log shows of values, places, functions and modules fits a line", () => {
  const m = new ModuleBuilder();
  const a = m.storageBuffer(m.f32, { binding: 0 });
  const shown = [inspect(m.constant(m.vec(m.u32, 2), 3)), inspect(a), inspect(a.at(1))];
  m.entry("main", { localSize: [1] }, (f) => shown.push(inspect(f), inspect(f.builtin("WorkgroupId").x)));
  shown.push(inspect(m));
  assert.deepEqual(shown, [
    "%10: vec2<u32>",
    "StorageBuffer place of array<f32>",
    "StorageBuffer place of f32",
    'function "main"',
    "%20: u32",
    'SPIR-V 1.5 module with entry points "main"',
  ]);
});
