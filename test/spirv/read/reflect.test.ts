/**
 * Reading SPIR-V modules: those glslang makes from GLSL, assembly for what GLSL cannot say, and broken ones, which must
 * give FormatError and never hang or crash.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FormatError } from "../../../src/core/errors.js";
import { Capability } from "../../../src/spirv/enumerants.js";
import { toWords } from "../../../src/spirv/read/parse-module.js";
import { type EntryInterface, reflect } from "../../../src/spirv/read/reflect.js";
import { assemble, type GlslOptions, glsl, withoutGlslang, withoutSpirvAs } from "../../support/glsl.js";
import { randomFrom } from "../../support/random.js";

type Values = Readonly<Record<number, number | bigint | boolean>>;

const asMap = (values: Values) => new Map(Object.entries(values).map(([id, value]) => [Number(id), value]));
const interfaceOf = (bytes: Uint8Array, entry = "main", values: Values = {}): EntryInterface => {
  const found = reflect(toWords(bytes)).entry(entry, asMap(values));
  assert.ok(found, `entry point ${entry}`);
  return found;
};
const shader = (declarations: string, body = "", options?: GlslOptions, extensions = "") =>
  glsl(`#version 460\n${extensions}\n${declarations}\nvoid main() { ${body} }`, options);
const places = ({ bindings }: EntryInterface) => bindings.map(({ set, binding }) => [set, binding]);

describe("modules from glslang", { skip: withoutGlslang }, () => {
  test("storage buffers are listed by set and binding, however they are declared", () => {
    const code = shader(
      `layout(set=1, binding=0) buffer D { float d[]; };
       layout(binding=2) buffer C { float c[]; };
       layout(binding=0) buffer A { float a[]; };
       layout(binding=1) buffer B { float b[]; };`,
      "a[0] = b[0] + c[0] + d[0];",
    );
    assert.deepEqual(places(interfaceOf(code)), [
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
    ]);
  });

  for (const target of ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"] as const) {
    test(`the same interface is read from a module for ${target}`, () => {
      const code = shader(
        `layout(local_size_x = 8, local_size_y = 4) in;
         layout(push_constant) uniform P { uint n; float scale; };
         layout(binding=0) readonly buffer A { float a[]; };
         layout(binding=1) buffer B { float b[]; };
         shared float tile[32];`,
        "tile[gl_LocalInvocationIndex] = a[n]; barrier(); b[0] = scale * tile[0];",
        { target },
      );
      assert.deepEqual(interfaceOf(code), {
        localSize: [8, 4, 1],
        bindings: [
          { set: 0, binding: 0, kind: "storage buffer", isReadOnly: true },
          { set: 0, binding: 1, kind: "storage buffer", isReadOnly: false },
        ],
        pushBytes: 8,
        sharedBytes: 128,
      });
    });
  }

  test("a buffer is read-only when the block, or each of its members, is declared so", () => {
    const code = shader(
      `layout(binding=0) readonly buffer A { float a[]; };
       layout(binding=1) buffer B { readonly float b; readonly float b2[]; };
       layout(binding=2) buffer C { readonly float c; float c2[]; };
       layout(binding=3) writeonly buffer D { float d[]; };
       layout(binding=4) buffer E { float e[]; };`,
      "d[0] = a[0] + b + b2[0] + c + e[0]; c2[0] = 1.0;",
    );
    assert.deepEqual(
      interfaceOf(code).bindings.map(({ isReadOnly }) => isReadOnly),
      [true, true, false, false, false],
    );
  });

  test("two views of one binding are one buffer, read-only when both are", () => {
    const views = (first: string, second: string) =>
      interfaceOf(
        shader(
          `layout(binding=0) ${first} buffer A { float a[]; };
           layout(binding=0) ${second} buffer A4 { vec4 a4[]; };
           layout(binding=1) buffer B { float b[]; };`,
          "b[0] = a[0] + a4[1].x;",
        ),
      ).bindings;
    assert.equal(views("readonly", "readonly").length, 2);
    assert.equal(views("readonly", "readonly")[0]?.isReadOnly, true);
    assert.equal(views("readonly", "")[0]?.isReadOnly, false);
  });

  test("images, uniform blocks and arrays of buffers are something else than a storage buffer", () => {
    const kinds = (declaration: string, use: string) =>
      interfaceOf(shader(`${declaration} layout(binding=1) buffer B { float b[]; };`, `b[0] = ${use};`)).bindings.map(
        ({ kind }) => kind,
      );
    const other = ["other", "storage buffer"];
    assert.deepEqual(kinds("layout(binding=0, r32f) uniform image2D i;", "imageLoad(i, ivec2(0)).x"), other);
    assert.deepEqual(kinds("layout(binding=0) uniform U { float u; };", "u"), other);
    assert.deepEqual(kinds("layout(binding=0) uniform sampler2D s;", "textureLod(s, vec2(0), 0.0).x"), other);
    assert.deepEqual(kinds("layout(binding=0) buffer A { float a[]; } as[2];", "as[0].a[0]"), other);
  });

  test("the push block's size is its last byte, whole words, whatever it holds", () => {
    const cases: [string, number][] = [
      ["float a;", 4],
      ["vec3 a;", 12],
      ["vec3 a; float b;", 16],
      ["float a; vec2 b;", 16],
      ["uint n; double d;", 16],
      ["double d; uint n;", 12],
      ["mat4 m;", 64],
      ["mat3 m;", 48],
      ["layout(row_major) mat2x3 m;", 24],
      ["layout(row_major) mat3x2 m[2];", 64],
      ["float a[4];", 16],
      ["layout(offset = 64) uint tail;", 68],
      ["uvec2 address; uint n; float x[5];", 32],
    ];
    for (const [members, expected] of cases) {
      const code = shader(
        `layout(push_constant, std430) uniform P { ${members} } p; layout(binding=0) buffer B { float b[]; };`,
        "b[0] = 1.0;",
      );
      assert.equal(interfaceOf(code).pushBytes, expected, members);
    }
  });

  test("a push block with addresses counts 8 bytes for each", () => {
    const code = shader(
      `layout(buffer_reference, std430) buffer R { float r[]; };
       layout(push_constant) uniform P { R from; R to; uint n; };`,
      "to.r[0] = from.r[n];",
      {},
      "#extension GL_EXT_buffer_reference : require",
    );
    const { pushBytes, bindings } = interfaceOf(code);
    assert.equal(pushBytes, 20);
    assert.deepEqual(bindings, []);
    assert.ok(reflect(toWords(code)).capabilities.includes(Capability.PhysicalStorageBufferAddresses));
  });

  test("specialisation constants come with id, kind and width", () => {
    const code = shader(
      `layout(constant_id=0) const uint a = 1;
       layout(constant_id=7) const int b = -1;
       layout(constant_id=3) const float c = 0.5;
       layout(constant_id=2) const bool d = true;
       layout(constant_id=9) const double e = 0.25;
       layout(constant_id=11) const int64_t f = 1;
       layout(constant_id=12) const uint16_t g = 1us;
       layout(binding=0) buffer B { double o[]; };`,
      "o[0] = d ? double(a) + double(b) + double(c) + e + double(f) + double(uint(g)) : 0.0;",
      {},
      "#extension GL_EXT_shader_explicit_arithmetic_types : require",
    );
    const found = [...reflect(toWords(code)).specConstants].sort((a, b) => a.constantId - b.constantId);
    assert.deepEqual(found, [
      { constantId: 0, kind: "int", bytes: 4, isSigned: false },
      { constantId: 2, kind: "bool", bytes: 4, isSigned: false },
      { constantId: 3, kind: "float", bytes: 4, isSigned: true },
      { constantId: 7, kind: "int", bytes: 4, isSigned: true },
      { constantId: 9, kind: "float", bytes: 8, isSigned: true },
      { constantId: 11, kind: "int", bytes: 8, isSigned: true },
      { constantId: 12, kind: "int", bytes: 2, isSigned: false },
    ]);
  });

  for (const target of ["vulkan1.1", "vulkan1.3"] as const) {
    test(`a workgroup size given by constants follows the specialisation (${target})`, () => {
      const code = shader(
        `layout(local_size_x_id = 4, local_size_y_id = 5, local_size_z = 2) in;
         layout(binding=0) buffer B { float b[]; };`,
        "b[gl_LocalInvocationIndex] = float(gl_WorkGroupSize.x);",
        { target },
      );
      assert.deepEqual(interfaceOf(code).localSize, [1, 1, 2]);
      assert.deepEqual(interfaceOf(code, "main", { 4: 64, 5: 3n }).localSize, [64, 3, 2]);
    });
  }

  test("shared memory is added up, also where constants give its size", () => {
    const shared = (declarations: string, values: Values = {}) => {
      const names = [...declarations.matchAll(/shared \w+ (\w+)/g)].map(([, name]) => name);
      const uses = names.map((name) => `b[0] += float(${name}[gl_LocalInvocationIndex]);`).join(" ");
      return interfaceOf(shader(`${declarations} layout(binding=0) buffer B { float b[]; };`, uses), "main", values)
        .sharedBytes;
    };
    assert.equal(shared("shared float t[100];"), 400);
    assert.equal(shared("shared float t[100]; shared double u[3];"), 424);
    assert.equal(shared("shared uint t[4][5];".replace("[4][5]", "[20]")), 80);
    const sized = (length: string) => `layout(constant_id=0) const uint N = 16; shared float t[${length}];`;
    assert.equal(shared(sized("N")), 64);
    assert.equal(shared(sized("N"), { 0: 1000 }), 4000);
    assert.equal(shared(sized("N + 1"), { 0: 31 }), 128);
    assert.equal(shared(sized("N * N"), { 0: 32 }), 4096);
    assert.equal(shared(sized("N / 4 + 2 * N"), { 0: 32 }), 288);
    assert.equal(shared(sized("N - 1"), { 0: 32 }), 124);
    assert.equal(shared(sized("N << 2"), { 0: 32 }), 512);
    assert.equal(shared(sized("N >> 1"), { 0: 32 }), 64);
    assert.equal(shared(sized("N % 5 + 1"), { 0: 32 }), 12);
    assert.equal(shared(sized("(N & 24) | 3"), { 0: 63 }), 108);
    assert.equal(shared(sized("N > 8 ? 2 * N : 8"), { 0: 32 }), 256);
    assert.equal(shared(sized("N > 8 ? 2 * N : 8"), { 0: 4 }), 32);
    const group =
      "layout(local_size_x_id = 0, local_size_y = 4) in; shared float t[gl_WorkGroupSize.x * gl_WorkGroupSize.y];";
    assert.equal(shared(group, { 0: 16 }), 256);
    const signed = "layout(constant_id=0) const int N = 16; shared float t[N + (-1)];";
    assert.equal(shared(signed, { 0: 32 }), 124);
  });

  test("the version of the module is read", () => {
    const version = (target: GlslOptions["target"]) => reflect(toWords(shader("", "", { target }))).version;
    assert.deepEqual(version("vulkan1.0"), [1, 0]);
    assert.deepEqual(version("vulkan1.1"), [1, 3]);
    assert.deepEqual(version("vulkan1.2"), [1, 5]);
    assert.deepEqual(version("vulkan1.3"), [1, 6]);
  });

  test("an entry point of another stage is not a compute entry point", () => {
    const code = glsl("#version 460\nlayout(location=0) out vec4 c; void main() { c = vec4(1); }", { stage: "frag" });
    assert.deepEqual(reflect(toWords(code)).entryPoints, []);
    assert.equal(reflect(toWords(code)).entry("main", new Map()), undefined);
  });

  test("a module in the other byte order is read the same", () => {
    const code = shader("layout(binding=0) buffer B { float b[]; };", "b[0] = 1.0;");
    const swapped = code.slice();
    for (let i = 0; i < swapped.length; i += 4) swapped.subarray(i, i + 4).reverse();
    assert.deepEqual(toWords(swapped), toWords(code));
  });

  test("bytes that do not start at a multiple of four are read", () => {
    const code = shader("layout(binding=0) buffer B { float b[]; };", "b[0] = 1.0;");
    const shifted = new Uint8Array(code.length + 3);
    shifted.set(code, 3);
    assert.deepEqual(toWords(shifted.subarray(3)), toWords(code));
  });

  test("a damaged module gives FormatError or an answer, and at once", () => {
    const originals = [
      shader(
        `layout(local_size_x_id = 1) in; layout(constant_id=0) const uint N = 4;
         layout(push_constant) uniform P { mat4 m; uint n; } p;
         struct S { vec3 v; float w[3]; };
         layout(binding=0) readonly buffer A { S s[]; }; layout(binding=1) buffer B { float b[]; };
         shared float t[N * 2 + 1];`,
        "t[0] = s[p.n].v.x; barrier(); b[0] = t[0] * p.m[0][0];",
      ),
      shader(
        `layout(local_size_x_id = 1) in; layout(constant_id=0) const uint N = 4; shared double t[N];
         layout(binding=0) buffer B { double b[]; };`,
        "b[0] = t[N - 1];",
        { target: "vulkan1.0" },
      ),
    ];
    let refused = 0;
    const attempt = (bytes: Uint8Array, label: string) => {
      const start = performance.now();
      try {
        const module = reflect(toWords(bytes));
        for (const name of module.entryPoints) {
          const found = module.entry(name, new Map<number, number>([[0, 7]]));
          assert.ok(found);
          for (const n of [...found.localSize, found.pushBytes, found.sharedBytes]) {
            assert.ok(Number.isSafeInteger(n) && n >= 0, `${label}: ${n} is not a size`);
          }
          assert.equal(found.localSize.length, 3, label);
        }
      } catch (error) {
        assert.ok(error instanceof FormatError, `${label}: ${error instanceof Error ? error.stack : error}`);
        refused++;
      }
      assert.ok(performance.now() - start < 1000, `${label}: slow`);
    };
    originals.forEach((original, which) => {
      for (let length = 0; length <= original.length; length++)
        attempt(original.subarray(0, length), `cut at ${length}`);
      const random = randomFrom(which + 1);
      for (let i = 0; i < 6000; i++) {
        const bytes = original.slice();
        const flips = 1 + random.below(4);
        const where = Array.from({ length: flips }, () => {
          const at = random.below(bytes.length);
          bytes[at] = random.below(2) ? random.below(256) : (bytes[at] as number) ^ (1 << random.below(8));
          return at;
        });
        attempt(bytes, `module ${which}, case ${i}, bytes ${where} changed`);
      }
      // Whole words, small values: these hit ids and counts rather than noise.
      for (let i = 0; i < 6000; i++) {
        const bytes = original.slice();
        const words = new DataView(bytes.buffer);
        for (let j = 0; j <= random.below(3); j++)
          words.setUint32(4 * (5 + random.below(bytes.length / 4 - 5)), random.below(80), true);
        attempt(bytes, `module ${which}, words, case ${i}`);
      }
    });
    for (let seed = 1; seed <= 500; seed++) {
      const noise = randomFrom(seed).bytes(4 * (seed % 60));
      attempt(noise, `noise ${seed}`);
      if (noise.length >= 20) {
        noise.set([3, 2, 0x23, 7], 0);
        noise.set([0, 1, 0, 0], 12);
        attempt(noise, `noise with a header ${seed}`);
      }
    }
    assert.ok(refused > 500);
  });
});

describe("modules in assembly", { skip: withoutSpirvAs }, () => {
  const head = `OpCapability Shader
    OpMemoryModel Logical GLSL450`;
  const types = `%void = OpTypeVoid
    %fn = OpTypeFunction %void
    %u32 = OpTypeInt 32 0
    %f32 = OpTypeFloat 32
    %zero = OpConstant %u32 0
    %one = OpConstant %f32 1`;
  const body = (name: string, inside = "") => `%${name} = OpFunction %void None %fn
    %${name}_l = OpLabel
    ${inside}
    OpReturn
    OpFunctionEnd`;

  const twoEntries = (version: "spv1.3" | "spv1.4") => {
    const globals = (list: string) => (version === "spv1.4" ? list : "");
    return assemble(
      `${head}
       OpEntryPoint GLCompute %first "first" ${globals("%a %t")}
       OpEntryPoint GLCompute %second "second" ${globals("%b %c")}
       OpExecutionMode %first LocalSize 1 2 3
       OpExecutionMode %second LocalSize 32 1 1
       OpDecorate %S Block
       OpMemberDecorate %S 0 Offset 0
       OpDecorate %arr ArrayStride 4
       ${["a", "b", "c"].map((name, i) => `OpDecorate %${name} DescriptorSet 0\nOpDecorate %${name} Binding ${i === 2 ? 1 : 0}`).join("\n")}
       ${types}
       %arr = OpTypeRuntimeArray %f32
       %S = OpTypeStruct %arr
       %pS = OpTypePointer StorageBuffer %S
       %pf = OpTypePointer StorageBuffer %f32
       %wf = OpTypePointer Workgroup %f32
       %a = OpVariable %pS StorageBuffer
       %b = OpVariable %pS StorageBuffer
       %c = OpVariable %pS StorageBuffer
       %t = OpVariable %wf Workgroup
       ${body("helper", "%hp = OpAccessChain %pf %c %zero %zero\nOpStore %hp %one")}
       ${body("first", "OpStore %t %one\n%p1 = OpAccessChain %pf %a %zero %zero\nOpStore %p1 %one")}
       ${body("second", "%p2 = OpAccessChain %pf %b %zero %zero\nOpStore %p2 %one\n%r = OpFunctionCall %void %helper")}`,
      version,
    );
  };

  for (const version of ["spv1.3", "spv1.4"] as const) {
    test(`each of several entry points has the interface of what it uses (${version})`, () => {
      const code = twoEntries(version);
      assert.deepEqual(reflect(toWords(code)).entryPoints, ["first", "second"]);
      const first = interfaceOf(code, "first");
      const second = interfaceOf(code, "second");
      assert.deepEqual(first.localSize, [1, 2, 3]);
      assert.deepEqual(places(first), [[0, 0]]);
      assert.equal(first.sharedBytes, 4);
      assert.deepEqual(second.localSize, [32, 1, 1]);
      assert.deepEqual(places(second), [
        [0, 0],
        [0, 1],
      ]);
      assert.equal(second.sharedBytes, 0);
    });
  }

  test("LocalSizeId takes constants and specialisation constants", () => {
    const code = assemble(
      `${head}
       OpEntryPoint GLCompute %main "main"
       OpExecutionModeId %main LocalSizeId %x %y %z
       OpDecorate %x SpecId 4
       ${types}
       %x = OpSpecConstant %u32 8
       %y = OpConstant %u32 2
       %z = OpConstant %u32 1
       ${body("main")}`,
      "spv1.4",
    );
    assert.deepEqual(interfaceOf(code).localSize, [8, 2, 1]);
    assert.deepEqual(interfaceOf(code, "main", { 4: 128 }).localSize, [128, 2, 1]);
  });

  test("a workgroup size that this reader cannot compute is refused, not guessed", () => {
    const code = assemble(
      `${head}
       OpEntryPoint GLCompute %main "main"
       OpExecutionModeId %main LocalSizeId %x %y %y
       ${types}
       %y = OpConstant %u32 2
       %x = OpUndef %u32
       ${body("main")}`,
      "spv1.4",
    );
    assert.throws(() => interfaceOf(code), FormatError);
  });

  test("types nested a hundred deep, each twice in the next, are measured at once", () => {
    const levels = 60;
    const structs = Array.from({ length: levels }, (_, i) => `%s${i + 1} = OpTypeStruct %s${i} %s${i}`).join("\n");
    const code = assemble(
      `${head}
       OpEntryPoint GLCompute %main "main" %t
       OpExecutionMode %main LocalSize 1 1 1
       ${types}
       %s0 = OpTypeStruct %f32
       ${structs}
       %p = OpTypePointer Workgroup %s${levels}
       %t = OpVariable %p Workgroup
       ${body("main")}`,
    );
    const start = performance.now();
    try {
      assert.ok(interfaceOf(code).sharedBytes > 2 ** 32);
    } catch (error) {
      assert.ok(error instanceof FormatError);
    }
    assert.ok(performance.now() - start < 1000);
  });

  test("constants that double sixty times are computed at once", () => {
    const steps = Array.from({ length: 60 }, (_, i) => `%c${i + 1} = OpSpecConstantOp %u32 IAdd %c${i} %c${i}`).join(
      "\n",
    );
    const code = assemble(
      `${head}
       OpEntryPoint GLCompute %main "main" %t
       OpExecutionMode %main LocalSize 1 1 1
       OpDecorate %c0 SpecId 0
       ${types}
       %c0 = OpSpecConstant %u32 1
       ${steps}
       %n = OpSpecConstantOp %u32 IAdd %c60 %c3
       %a = OpTypeArray %f32 %n
       %p = OpTypePointer Workgroup %a
       %t = OpVariable %p Workgroup
       ${body("main")}`,
    );
    const start = performance.now();
    assert.equal(interfaceOf(code).sharedBytes, 4 * 8, "2^60 is 0 in 32 bits");
    assert.ok(performance.now() - start < 1000);
  });

  test("a constant or type that refers to itself gives FormatError", () => {
    const code = assemble(
      `${head}
       OpEntryPoint GLCompute %main "main" %t
       OpExecutionMode %main LocalSize 1 1 1
       ${types}
       %k = OpConstant %u32 77
       %n = OpSpecConstantOp %u32 IAdd %k %k
       %a = OpTypeArray %f32 %n
       %b = OpTypeArray %a %k
       %p = OpTypePointer Workgroup %b
       %t = OpVariable %p Workgroup
       ${body("main")}`,
    );
    const words = toWords(code);
    const find = (op: number, nth = 0) => {
      for (let at = 5; at < words.length; at += words[at]! >>> 16)
        if ((words[at]! & 0xffff) === op && nth-- === 0) return at;
      throw new Error("no such instruction");
    };
    const circularConstant = words.slice();
    const constant = find(52); // SpecConstantOp: type, result, opcode, operands
    circularConstant[constant + 4] = circularConstant[constant + 2]!;
    assert.throws(() => reflect(circularConstant).entry("main", new Map()), FormatError);
    const circularType = words.slice();
    const array = find(28); // TypeArray: result, element, length; make the element the array of it
    circularType[array + 2] = circularType[find(28, 1) + 1]!;
    assert.throws(() => reflect(circularType).entry("main", new Map()), FormatError);
  });
});

test("a module cut off after any instruction is refused: drivers crash on what is missing", {
  skip: withoutGlslang,
}, () => {
  const words = toWords(
    glsl(`#version 460
    layout(local_size_x=64) in;
    layout(set=0,binding=0) buffer A { float a[]; };
    layout(push_constant) uniform P { uint n; };
    float twice(float x) { return x + x; }
    void main() {
      uint i = gl_GlobalInvocationID.x;
      for (uint k = 0; k < 3; k++) if (i < n) a[i] = twice(a[i]);
    }`),
  );
  assert.ok(reflect(words).entryPoints.includes("main"));
  const cuts: number[] = [];
  for (let at = 5; at < words.length; at += (words[at] as number) >>> 16) cuts.push(at);
  const entryAt = cuts.find((at) => ((words[at] as number) & 0xffff) === 15) as number;
  for (const cut of cuts) {
    // Before the entry point there is nothing to run, which the kernel compiler says by itself.
    if (cut <= entryAt) assert.deepEqual(reflect(words.slice(0, cut)).entryPoints, []);
    else assert.throws(() => reflect(words.slice(0, cut)), FormatError, `cut at word ${cut} of ${words.length}`);
  }
});
