/** The disassembler against spirv-dis and spirv-as, on our own modules and on glslang's; and on garbage. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FormatError } from "../../../src/core/errors.js";
import { MAGIC } from "../../../src/spirv/enumerants.js";
import { disassemble, ModuleBuilder } from "../../../src/spirv/index.js";
import { assemble, compileGlsl, referenceText, without } from "../../support/spirv-val.js";
import { specimens } from "../specimens/index.js";

const ASSEMBLER_ENVIRONMENTS: { readonly [environment: string]: string } = {
  "vulkan1.1": "spv1.3",
  "vulkan1.1spv1.4": "spv1.4",
  "vulkan1.2": "spv1.5",
  "vulkan1.3": "spv1.6",
};

/** Words without the header fields an assembler signs with its own name. */
function signedBlank(words: Uint32Array): Uint32Array {
  const copy = words.slice();
  copy[2] = 0;
  return copy;
}

/** Text without the digits of constants: we print the shortest that read back, spirv-dis more, or hexadecimal. */
function withoutDigits(text: string): string {
  return text.replace(/(Op(?:Spec)?Constant %\S+) .*$/gm, "$1 …");
}

const GLSL_SHADERS: { readonly [name: string]: string } = {
  "a reduction in shared memory": `#version 450
    layout(local_size_x = 64) in;
    layout(set = 0, binding = 0) readonly buffer A { float a[]; };
    layout(set = 0, binding = 1) buffer B { float b[]; };
    layout(push_constant) uniform P { uint n; float eps; } p;
    layout(constant_id = 0) const int op = 3;
    shared float tile[64];
    float twist(float x, inout int k) { k++; return op == 2 ? sin(x) : op > 3 ? pow(x, 2.5) : mix(x, 1.0, 0.1); }
    void main() {
      uint i = gl_GlobalInvocationID.x;
      int k = 0;
      tile[gl_LocalInvocationIndex] = i < p.n ? twist(a[i], k) : 0.0;
      barrier();
      for (uint s = 32; s > 0; s >>= 1) {
        if (gl_LocalInvocationIndex < s) tile[gl_LocalInvocationIndex] += tile[gl_LocalInvocationIndex + s];
        barrier();
      }
      switch (k) { case 1: b[0] = -1e-30; break; case -2: b[1] = 1.5; default: b[2] += p.eps; }
      if (gl_LocalInvocationIndex == 0) b[gl_WorkGroupID.x] = tile[0];
    }`,
  "subgroups, 64-bit numbers, atomics": `#version 450
    #extension GL_KHR_shader_subgroup_arithmetic : require
    #extension GL_KHR_shader_subgroup_ballot : require
    #extension GL_KHR_shader_subgroup_shuffle : require
    #extension GL_EXT_shader_explicit_arithmetic_types : require
    #extension GL_EXT_shader_subgroup_extended_types_int64 : require
    #extension GL_EXT_shader_subgroup_extended_types_float16 : require
    #extension GL_EXT_shader_atomic_int64 : require
    layout(local_size_x_id = 1, local_size_y = 2) in;
    layout(binding = 0) buffer A { int64_t a[]; };
    layout(binding = 1) buffer B { f16vec4 h[]; };
    layout(binding = 2) buffer C { uint8_t c[]; };
    layout(binding = 3) uniform D { mat3 m; dvec2 d[3]; } d;
    void main() {
      int64_t x = subgroupAdd(a[0]) + 0x123456789abcdefL;
      atomicAdd(a[1], -x);
      h[0] = subgroupShuffleXor(h[1], 4u) * float16_t(0.1);
      c[0] = uint8_t(subgroupBallotBitCount(subgroupBallot(c[1] > uint8_t(3)))) << 2;
      d.m[1];
      if (d.d[2].x > 0.1lf) h[1].y = float16_t(d.m[1][2]);
    }`,
  "buffer references and images": `#version 450
    #extension GL_EXT_buffer_reference : require
    #extension GL_EXT_scalar_block_layout : require
    #extension GL_EXT_control_flow_attributes : require
    layout(local_size_x = 8, local_size_y = 8) in;
    layout(buffer_reference) buffer Node;
    layout(buffer_reference, scalar) buffer Node { vec3 p; Node next; };
    layout(push_constant, scalar) uniform P { Node head; } push;
    layout(binding = 0, rgba32f) uniform image2D img;
    layout(binding = 1) uniform sampler2D tex;
    layout(binding = 2, r32ui) uniform coherent uimage2D counters;
    void main() {
      Node n = push.head;
      [[unroll]] for (int i = 0; i < 4; i++) n = n.next;
      vec4 t = textureLod(tex, vec2(0.5), 2.0) + imageLoad(img, ivec2(gl_GlobalInvocationID.xy));
      imageAtomicAdd(counters, ivec2(0), 1u);
      imageStore(img, ivec2(gl_GlobalInvocationID.xy), t + vec4(n.p, 1.0));
      [[flatten]] if (t.x > 1.0) memoryBarrierImage();
    }`,
};

describe("our text is spirv-dis's text, ids as numbers", () => {
  const skip = without("spirv-dis");
  for (const { name, build, needsRecentTools } of specimens) {
    if (needsRecentTools) continue;
    test(name, { skip }, () => {
      const words = build();
      const text = disassemble(words, { names: false, header: false });
      assert.equal(withoutDigits(text), withoutDigits(referenceText(words, "--raw-id")));
    });
  }
});

describe("our text is spirv-dis's text, ids as names", () => {
  const skip = without("spirv-dis");
  for (const name of [
    "if",
    "for, while, loop",
    "push constants of every kind",
    "composites",
    "functions that call functions",
  ]) {
    test(name, { skip }, () => {
      const words = specimens.find((s) => s.name === name)?.build();
      assert(words);
      assert.equal(disassemble(words, { header: false }), referenceText(words));
    });
  }
});

describe("spirv-as turns our text back into the same words", () => {
  const skip = without("spirv-as");
  for (const { name, build, environment, needsRecentTools } of specimens) {
    if (needsRecentTools) continue;
    test(name, { skip }, () => {
      const words = build();
      const again = assemble(disassemble(words, { names: false }), ASSEMBLER_ENVIRONMENTS[environment]);
      assert.deepEqual(signedBlank(again), signedBlank(words));
    });
  }
});

describe("spirv-as turns our text back into the same words, where it knows the extension", () => {
  const skip = without("spirv-as");
  for (const { name, build, environment, needsRecentTools } of specimens) {
    if (!needsRecentTools) continue;
    test(name, { skip }, (t) => {
      const words = build();
      let again: Uint32Array;
      try {
        again = assemble(disassemble(words, { names: false }), ASSEMBLER_ENVIRONMENTS[environment]);
      } catch (error) {
        // An old spirv-as stops at the first capability it has not heard of.
        if (!/Invalid capability/.test(String(error))) throw error;
        t.skip("this spirv-as does not know the extension");
        return;
      }
      assert.deepEqual(signedBlank(again), signedBlank(words));
    });
  }
});

describe("glslang's modules disassemble and assemble to the same words", () => {
  const skip = without("glslangValidator") || without("spirv-as");
  for (const [name, source] of Object.entries(GLSL_SHADERS)) {
    test(name, { skip }, () => {
      const words = compileGlsl(source);
      const again = assemble(disassemble(words, { names: false }));
      // glslang leaves gaps in its ids and states a larger bound.
      again[3] = words[3];
      assert.deepEqual(signedBlank(again), signedBlank(words));
      assert.match(disassemble(words), /OpEntryPoint GLCompute %main "main"/);
    });
  }
});

describe("the text", () => {
  test("shows the header, names, aligned results, decoded constants", () => {
    const m = new ModuleBuilder({ version: [1, 3] });
    const out = m.storageBuffer(m.f32, { binding: 0, name: "out" });
    m.entry("main", { localSize: [4] }, (f) => out.store(0, f.mul(out.load(1), 0.1)));
    assert.equal(
      disassemble(m.build()),
      `; SPIR-V
; Version: 1.3
; Generator: 0; 0
; Bound: 20
; Schema: 0
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main"
               OpExecutionMode %main LocalSize 4 1 1
               OpMemberName %_struct_3 0 "elements"
               OpName %out "out"
               OpName %main "main"
               OpDecorate %_runtimearr_float ArrayStride 4
               OpDecorate %_struct_3 Block
               OpMemberDecorate %_struct_3 0 Offset 0
               OpDecorate %out DescriptorSet 0
               OpDecorate %out Binding 0
      %float = OpTypeFloat 32
%_runtimearr_float = OpTypeRuntimeArray %float
  %_struct_3 = OpTypeStruct %_runtimearr_float
%_ptr_StorageBuffer__struct_3 = OpTypePointer StorageBuffer %_struct_3
        %out = OpVariable %_ptr_StorageBuffer__struct_3 StorageBuffer
       %uint = OpTypeInt 32 0
     %uint_0 = OpConstant %uint 0
     %uint_4 = OpConstant %uint 4
     %uint_1 = OpConstant %uint 1
       %void = OpTypeVoid
         %11 = OpTypeFunction %void
%_ptr_StorageBuffer_float = OpTypePointer StorageBuffer %float
  %float_0_1 = OpConstant %float 0.1
       %main = OpFunction %void None %11
         %13 = OpLabel
         %15 = OpAccessChain %_ptr_StorageBuffer_float %out %uint_0 %uint_1
         %16 = OpLoad %float %15
         %18 = OpFMul %float %16 %float_0_1
         %19 = OpAccessChain %_ptr_StorageBuffer_float %out %uint_0 %uint_0
               OpStore %19 %18
               OpReturn
               OpFunctionEnd
`,
    );
  });

  test("shows cooperative matrices and bfloat16 by the names of their extensions", () => {
    const words = specimens.find((s) => s.name === "cooperative matrices, bf16 to f32")?.build();
    assert(words);
    const text = disassemble(words);
    for (const line of [
      "OpCapability BFloat16CooperativeMatrixKHR",
      "OpCapability CooperativeMatrixKHR",
      "OpCapability VulkanMemoryModel",
      'OpExtension "SPV_KHR_bfloat16"',
      'OpExtension "SPV_KHR_cooperative_matrix"',
      "OpMemoryModel PhysicalStorageBuffer64 Vulkan",
      "OpTypeFloat 16 BFloat16KHR",
      /OpTypeCooperativeMatrixKHR %float16_0 %uint_3 %uint_16 %uint_8 %uint_0$/m,
      /OpCooperativeMatrixLoadKHR %\d+ %\d+ %uint_0 %uint_8$/m,
      /OpCooperativeMatrixLoadKHR %\d+ %\d+ %uint_1 %uint_16 Aligned 2$/m,
      /OpCooperativeMatrixMulAddKHR %\d+ %\d+ %\d+ %\d+$/m,
      /OpCooperativeMatrixStoreKHR %\d+ %\d+ %uint_0 %uint_16 NonPrivatePointer$/m,
      /OpCooperativeMatrixLengthKHR %uint %\d+$/m,
    ]) {
      if (typeof line === "string") assert(text.includes(line), line);
      else assert.match(text, line);
    }
  });

  test("shows what it does not know by number", () => {
    const words = (...instructions: number[][]) =>
      Uint32Array.from([
        MAGIC,
        0x10500,
        0,
        100,
        0,
        ...instructions.flatMap(([op, ...rest]) => [((rest.length + 1) << 16) | op, ...rest]),
      ]);
    const text = disassemble(words([9999, 1, 2], [17, 77777], [71, 5, 4444, 6], [62, 1, 2, 0x80000002, 9]), {
      header: false,
    });
    assert.equal(
      text,
      [
        "; unknown opcode 9999 0x00000001 0x00000002",
        "               OpCapability !77777",
        "               OpDecorate %5 !4444 !6",
        "               OpStore %1 %2 !2147483650 !9",
        "",
      ].join("\n"),
    );
  });

  test("keeps names apart that would look alike", () => {
    const m = new ModuleBuilder();
    const buffers = ["a b", "a.b", "a_b", "12", ""].map((name, binding) => m.storageBuffer(m.u32, { binding, name }));
    m.entry("main", { localSize: [1] }, () => {
      for (const buffer of buffers) buffer.store(0, 1);
    });
    const names = [...disassemble(m.build()).matchAll(/^\s*(%\S+) = OpVariable/gm)].map((match) => match[1]);
    assert.deepEqual(names, ["%a_b", "%a_b_0", "%a_b_1", "%_12", names[4]]);
    assert.equal(new Set(names).size, 5);
  });
});

describe("words that are no module throw a FormatError that says where", () => {
  const header = [MAGIC, 0x10500, 0, 10, 0];
  const cases: [string, number[], RegExp][] = [
    ["no words", [], /0 words at word 0/],
    ["a header cut short", header.slice(0, 4), /4 words at word 0/],
    ["another magic number", [0x46464952, 0, 0, 0, 0], /word 0 is 0x46464952/],
    ["the other byte order", [0x03022307, 0, 0, 0, 0], /byte order/],
    ["an instruction of no words", [...header, 17], /0 words, at word 5/],
    ["an instruction past the end", [...header, (2 << 16) | 17], /2 words where 1 are left, at word 5/],
    ["an operand missing", [...header, (1 << 16) | 17], /missing from OpCapability, at word 5/],
    ["an operand too many", [...header, (3 << 16) | 17, 1, 2], /OpCapability has 1 words too many, at word 7/],
    ["id 0", [...header, (2 << 16) | 19, 0], /id 0, outside 1 to 9 as the header has it, at word 6/],
    ["an id past the bound", [...header, (2 << 16) | 19, 10], /id 10.*at word 6/],
    ["a string without an end", [...header, (2 << 16) | 10, 0x61616161], /string without an end, at word 6/],
    ["a constant of no number type", [...header, (4 << 16) | 43, 1, 2, 3], /literal of type %1.*at word 8/],
    ["a type of 7 bits", [...header, (4 << 16) | 21, 1, 7, 0], /number type of 7 bits, at word 7/],
  ];
  for (const [name, words, message] of cases) {
    for (const names of [true, false]) {
      test(`${name}${names ? "" : ", without names"}`, () => {
        assert.throws(
          () => disassemble(Uint32Array.from(words), { names }),
          (error) => error instanceof FormatError && message.test(error.message),
        );
      });
    }
  }

  test("any word of a good module changed: text or FormatError, never a crash", () => {
    const module = specimens.find((s) => s.name === "push constants of every kind")?.build();
    assert(module);
    const swaps = [0, 1, 0xffffffff, 0x00010000, 0x0003003d, 0x7fffffff];
    let refused = 0;
    for (let at = 0; at < module.length; at++) {
      for (const swap of swaps) {
        const broken = module.slice();
        broken[at] = swap;
        for (const names of [true, false]) {
          try {
            disassemble(broken, { names });
          } catch (error) {
            assert(error instanceof FormatError, `word ${at} = ${swap}: ${error}`);
            refused++;
          }
        }
      }
    }
    assert(refused > module.length, "most broken modules are noticed");
  });

  test("a good module cut anywhere inside an instruction", () => {
    const module = specimens.find((s) => s.name === "if")?.build();
    assert(module);
    for (let end = 0; end < module.length; end++) {
      try {
        disassemble(module.subarray(0, end));
      } catch (error) {
        assert(error instanceof FormatError, `cut at ${end}: ${error}`);
      }
    }
  });
});
