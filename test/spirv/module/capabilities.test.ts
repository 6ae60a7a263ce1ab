/** Capabilities and extensions follow from use: exactly these, no fewer and no more. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { disassemble, type FunctionBuilder, ModuleBuilder, type ModuleOptions } from "../../../src/spirv/index.js";

function declared(fill: (m: ModuleBuilder) => void, options?: ModuleOptions): string[] {
  const m = new ModuleBuilder(options);
  fill(m);
  const text = disassemble(m.build());
  return [...text.matchAll(/Op(?:Capability (\w+)|Extension "(\w+)")/g)].map(([, capability, extension]) => {
    return capability ?? extension;
  });
}

function inKernel(body: (f: FunctionBuilder, m: ModuleBuilder) => void): (m: ModuleBuilder) => void {
  return (m) => m.entry("main", { localSize: [1] }, (f) => body(f, m));
}

/** What a module of version 1.5 declares beyond Shader. */
const CASES: [string, (m: ModuleBuilder) => void, string[]][] = [
  ["nothing", inKernel(() => {}), []],
  ["f32 arithmetic", inKernel((f, m) => void f.add(f.variable(m.f32).load(), 1)), []],
  ["f64", inKernel((f, m) => void f.variable(m.f64)), ["Float64"]],
  ["i64", inKernel((f, m) => void f.variable(m.i64)), ["Int64"]],
  ["u8 variables", inKernel((f, m) => void f.variable(m.u8)), ["Int8"]],
  ["i16 constants", inKernel((_f, m) => void m.constant(m.i16, 1)), ["Int16"]],
  [
    "f16 only passing through",
    inKernel((f, m) => void f.convert(f.convert(f.variable(m.f32).load(), m.f16), m.f32)),
    ["Float16"],
  ],
  [
    "u8 only stored",
    (m) => {
      const a = m.storageBuffer(m.u8, { binding: 0 });
      inKernel((f) => a.store(0, f.convert(f.convert(a.load(1), m.u32), m.u8)))(m);
    },
    ["StorageBuffer8BitAccess"],
  ],
  [
    "conversions of all kinds between what is stored narrow and what is computed wide",
    (m) => {
      const bytes = m.storageBuffer(m.i8, { binding: 0 });
      const halves = m.storageBuffer(m.f16, { binding: 1 });
      inKernel((f) => {
        const isSet = f.and(f.convert(bytes.load(0), m.bool), f.convert(halves.load(0), m.bool));
        bytes.store(1, f.convert(isSet, m.i8));
        bytes.store(2, f.convert(halves.load(1), m.i8));
        bytes.store(3, f.convert(f.convert(bytes.load(1), m.u8), m.i8));
        halves.store(2, f.convert(bytes.load(2), m.f16));
        halves.store(3, f.convert(f.convert(isSet, m.u32), m.f16));
      })(m);
    },
    ["StorageBuffer16BitAccess", "StorageBuffer8BitAccess"],
  ],
  [
    "u8 stored and added",
    (m) => {
      const a = m.storageBuffer(m.u8, { binding: 0 });
      inKernel((f) => a.store(0, f.add(a.load(1), a.load(2))))(m);
    },
    ["Int8", "StorageBuffer8BitAccess"],
  ],
  [
    "f16 compared, though the result is a bool",
    (m) => {
      const a = m.storageBuffer(m.f16, { binding: 0 });
      inKernel((f) => void f.less(a.load(0), a.load(1)))(m);
    },
    ["Float16", "StorageBuffer16BitAccess"],
  ],
  [
    "i16 stored and switched on",
    (m) => {
      const a = m.storageBuffer(m.i16, { binding: 0 });
      inKernel((f) => void f.switch(a.load(0), [[1, () => {}]]))(m);
    },
    ["Int16", "StorageBuffer16BitAccess"],
  ],
  [
    "f16 behind an address",
    (m) => {
      const push = m.pushConstants([["p", m.bufferPointer(m.f16)]]);
      inKernel((f) => push.p.store(0, f.convert(f.convert(push.p.load(1), m.f32), m.f16)))(m);
    },
    ["StorageBuffer16BitAccess", "PhysicalStorageBufferAddresses"],
  ],
  [
    "narrow uniforms",
    (m) => {
      m.uniformBlock(
        [
          ["a", m.u8],
          ["b", m.f16],
        ],
        { binding: 0 },
      );
      inKernel(() => {})(m);
    },
    ["UniformAndStorageBuffer16BitAccess", "UniformAndStorageBuffer8BitAccess"],
  ],
  [
    "narrow push constants",
    (m) => {
      m.pushConstants([
        ["a", m.u8],
        ["b", m.i16],
      ]);
      inKernel(() => {})(m);
    },
    ["StoragePushConstant16", "StoragePushConstant8"],
  ],
  [
    "i16 in shared memory",
    (m) => {
      m.shared(m.array(m.i16, 4));
      inKernel(() => {})(m);
    },
    ["Int16"],
  ],
  ["subgroup size", inKernel((f) => void f.builtin("SubgroupSize")), ["GroupNonUniform"]],
  [
    "subgroup sum",
    inKernel((f, m) => void f.subgroup.reduce("add", m.constant(m.f32, 1))),
    ["GroupNonUniformArithmetic"],
  ],
  [
    "clustered sum",
    inKernel((f, m) => void f.subgroup.clusteredReduce("add", m.constant(m.f32, 1), 4)),
    ["GroupNonUniformClustered"],
  ],
  ["vote", inKernel((f) => void f.subgroup.any(true)), ["GroupNonUniformVote"]],
  ["ballot", inKernel((f) => void f.subgroup.ballot(true)), ["GroupNonUniformBallot"]],
  ["shuffle", inKernel((f, m) => void f.subgroup.shuffleXor(m.constant(m.f32, 1), 1)), ["GroupNonUniformShuffle"]],
  [
    "shuffle down",
    inKernel((f, m) => void f.subgroup.shuffleDown(m.constant(m.f32, 1), 1)),
    ["GroupNonUniformShuffleRelative"],
  ],
  [
    "quad swap",
    inKernel((f, m) => void f.subgroup.quadSwap(m.constant(m.f32, 1), "diagonal")),
    ["GroupNonUniformQuad"],
  ],
  [
    "rotate",
    inKernel((f, m) => void f.subgroup.rotate(m.constant(m.f32, 1), 1)),
    ["GroupNonUniformRotateKHR", "SPV_KHR_subgroup_rotate"],
  ],
  [
    "64-bit atomics",
    (m) => {
      const a = m.storageBuffer(m.u64, { binding: 0 });
      inKernel((f) => void f.atomic.add(a.at(0), 1))(m);
    },
    ["Int64", "Int64Atomics"],
  ],
  [
    "float atomics",
    (m) => {
      const a = m.storageBuffer(m.f32, { binding: 0 });
      inKernel((f) => {
        f.atomic.add(a.at(0), 1);
        f.atomic.max(a.at(0), 1);
      })(m);
    },
    [
      "AtomicFloat32MinMaxEXT",
      "AtomicFloat32AddEXT",
      "SPV_EXT_shader_atomic_float_add",
      "SPV_EXT_shader_atomic_float_min_max",
    ],
  ],
  [
    "cooperative matrices of f16",
    (m) => {
      m.matrix(m.f16, 16, 16, "A");
      inKernel(() => {})(m);
    },
    ["Float16", "VulkanMemoryModel", "CooperativeMatrixKHR", "SPV_KHR_cooperative_matrix"],
  ],
  [
    "cooperative matrices of bf16",
    (m) => {
      m.matrix(m.bf16, 16, 16, "B");
      inKernel(() => {})(m);
    },
    [
      "BFloat16TypeKHR",
      "BFloat16CooperativeMatrixKHR",
      "VulkanMemoryModel",
      "CooperativeMatrixKHR",
      "SPV_KHR_bfloat16",
      "SPV_KHR_cooperative_matrix",
    ],
  ],
];

describe("a module declares what it uses", () => {
  for (const [name, fill, expected] of CASES) {
    test(name, () => assert.deepEqual(declared(fill), ["Shader", ...expected]));
  }
});

describe("an extension is named until the version includes it", () => {
  const address = (m: ModuleBuilder) => {
    const push = m.pushConstants([["p", m.bufferPointer(m.u8)]]);
    inKernel((f) => push.p.store(0, f.convert(f.convert(push.p.load(1), m.u32), m.u8)))(m);
  };
  const dot = inKernel((f, m) => void f.dotPacked(m.constant(m.i32, 1), m.constant(m.i32, 1)));
  const cases: [string, (m: ModuleBuilder) => void, ModuleOptions, string[]][] = [
    [
      "addresses and bytes in 1.4",
      address,
      { version: [1, 4] },
      ["SPV_KHR_8bit_storage", "SPV_KHR_physical_storage_buffer"],
    ],
    ["addresses and bytes in 1.5", address, { version: [1, 5] }, []],
    ["packed dot products in 1.5", dot, { version: [1, 5] }, ["SPV_KHR_integer_dot_product"]],
    ["packed dot products in 1.6", dot, { version: [1, 6] }, []],
    [
      "float controls in 1.3",
      inKernel(() => {}),
      { version: [1, 3], floatControls: { 32: { rounding: "RTE" } } },
      ["SPV_KHR_float_controls"],
    ],
    ["float controls in 1.4", inKernel(() => {}), { version: [1, 4], floatControls: { 32: { rounding: "RTE" } } }, []],
    [
      "the Vulkan memory model in 1.4",
      inKernel(() => {}),
      { version: [1, 4], vulkanMemoryModel: true },
      ["SPV_KHR_vulkan_memory_model"],
    ],
  ];
  for (const [name, fill, options, expected] of cases) {
    test(name, () =>
      assert.deepEqual(
        declared(fill, options).filter((d) => d.startsWith("SPV_")),
        expected,
      ),
    );
  }
});
