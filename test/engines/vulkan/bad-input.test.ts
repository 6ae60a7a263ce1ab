/** What a caller can get wrong: each mistake gives an error of its kind whose message names the limit or the remedy. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ArgumentError,
  FormatError,
  OutOfMemoryError,
  type PumiceError,
  SizeMismatchError,
  UnsupportedError,
} from "../../../src/core/errors.js";
import type { DeviceBuffer, RunOptions, VulkanDevice } from "../../../src/vulkan/index.js";
import { describeOnOpenDevices } from "../../support/devices.js";
import { assemble, glsl, temporaryFile, withoutGlslang, withoutSpirvAs } from "../../support/glsl.js";

type ErrorClass = new (message: string) => PumiceError;

function assertRefused(use: () => unknown, kind: ErrorClass, ...mentions: (string | number | RegExp)[]): void {
  assert.throws(use, (error: unknown) => {
    assert.ok(error instanceof kind, `${kind.name} expected, got ${error instanceof Error ? error.stack : error}`);
    for (const mention of mentions) {
      if (mention instanceof RegExp) assert.match(error.message, mention);
      else assert.ok(error.message.includes(String(mention)), `"${error.message}" does not mention ${mention}`);
    }
    return true;
  });
}

const store = (extra = "", local = "") =>
  glsl(`#version 460
    ${local}
    ${extra}
    layout(binding=0) buffer A { uint a[]; };
    layout(binding=1) buffer B { uint b[]; };
    void main() { a[0] = b[0] + 1; }`);

describeOnOpenDevices("modules", withoutGlslang, (device) => {
  const refused = (
    source: Parameters<VulkanDevice["kernel"]>[0],
    kind: ErrorClass,
    ...mentions: (string | number | RegExp)[]
  ) => assertRefused(() => device().kernel(source), kind, ...mentions);

  test("text is not SPIR-V, and GLSL is pointed to its compiler", () => {
    const text = new TextEncoder();
    refused(text.encode("#version 460\nvoid main() {}    "), FormatError, "Not SPIR-V", "glslangValidator");
    refused(text.encode("hello"), FormatError, "Not SPIR-V", 5);
    refused(new Uint8Array(0), FormatError, "Not SPIR-V");
    refused(new Uint8Array(4), FormatError, "Not SPIR-V");
    refused(new Uint8Array(1024), FormatError, "0x00000000");
    refused(new Uint32Array([0x07230203, 0x10000, 0, 0, 0]), FormatError, "id bound");
    refused(new Uint32Array([0x07230203, 0x10000, 0, 8, 0, 0]), FormatError, "word 5");
  });

  test("a path that leads nowhere, to a folder, or to GLSL is named", () => {
    refused("/no/such/file.spv", ArgumentError, "/no/such/file.spv");
    refused("/", ArgumentError, "cannot read", "/");
    const file = temporaryFile("shader.comp", "#version 460\nvoid main() {}\n   ");
    try {
      refused(file.path, FormatError, "Not SPIR-V", "glslangValidator");
    } finally {
      file.remove();
    }
  });

  test("what is neither bytes nor a path is refused", () => {
    for (const bad of [undefined, null, 7, {}, [1, 2, 3], () => {}]) {
      refused(bad as unknown as Uint8Array, ArgumentError, "bytes");
    }
  });

  test("a missing entry point is answered with those there are", () => {
    assertRefused(() => device().kernel(store(), { entry: "other" }), ArgumentError, '"other"', '"main"');
    const fragment = glsl("#version 460\nlayout(location=0) out vec4 c; void main() { c = vec4(1); }", {
      stage: "frag",
    });
    refused(fragment, ArgumentError, "no compute entry point", "none");
  });

  test("capabilities of other stages and of images are refused by name or number", () => {
    const geometry = glsl(
      `#version 460
       layout(points) in; layout(points, max_vertices=1) out;
       void main() { gl_Position = vec4(0); EmitVertex(); }`,
      { stage: "geom" },
    );
    refused(geometry, UnsupportedError, /needs (Geometry|capability 2)/, "compute");
    const tessellation = glsl("#version 460\nlayout(vertices=1) out; void main() { gl_TessLevelOuter[0] = 1.0; }", {
      stage: "tesc",
    });
    refused(tessellation, UnsupportedError, /needs (Tessellation|capability 3)/);
  });

  test("images, uniform blocks and arrays of buffers are refused with their place", () => {
    const with0 = (declaration: string, use: string) =>
      glsl(`#version 460\n${declaration}\nlayout(binding=1) buffer B { float b[]; };\nvoid main() { b[0] = ${use}; }`);
    for (const code of [
      with0("layout(binding=0, r32f) uniform image2D i;", "imageLoad(i, ivec2(0)).x"),
      with0("layout(binding=0) uniform U { float u; };", "u"),
      with0("layout(binding=0) uniform sampler2D s;", "textureLod(s, vec2(0), 0.0).x"),
      with0("layout(binding=0) buffer A { float a[]; } as[2];", "as[0].a[0]"),
    ]) {
      refused(code, UnsupportedError, "set 0, binding 0", "storage buffer");
    }
  });

  test("a buffer in another set is refused with the place it has", () => {
    const code = glsl("#version 460\nlayout(set=1, binding=0) buffer A { float a[]; }; void main() { a[0] = 1.0; }");
    refused(code, ArgumentError, "set 0", "(1, 0)");
  });

  test("a gap between bindings is filled with a buffer nobody looks at", () => {
    const code = glsl(`#version 460
      layout(binding=0) buffer A { uint a[]; }; layout(binding=2) buffer C { uint c[]; };
      void main() { c[0] = a[0] + 1; }`);
    const kernel = device().kernel(code);
    assert.equal(kernel.bindingCount, 3);
    const [a, unused, c] = [device().upload(new Uint32Array([4])), device().alloc(4), device().alloc(4)];
    kernel.run({ buffers: [a, unused, c], groups: [1] });
    assert.equal(c.readSync()[0], 5);
  });

  test("a binding beyond what the device binds is refused with the limit", () => {
    const limit = device().plan.limits.maxPerStageDescriptorStorageBuffers;
    if (limit > 2 ** 30) return;
    const code = glsl(`#version 460\nlayout(binding=${limit}) buffer A { uint a[]; }; void main() { a[0] = 1; }`);
    refused(code, ArgumentError, limit + 1, limit);
  });

  test("a workgroup, its shared memory or its push block beyond the device's limits is refused with both numbers", () => {
    const { limits } = device().plan;
    const [x, y, z] = limits.maxComputeWorkGroupSize;
    const sized = glsl(
      "#version 460\nlayout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in; void main() {}",
    );
    const tooLarge = (size: number[], ...mentions: (string | number)[]) =>
      assertRefused(() => device().kernel(sized, { specialization: { ...size } }), ArgumentError, ...mentions);
    tooLarge([x + 1, 1, 1], "along x", x + 1, x);
    tooLarge([1, y + 1, 1], "along y", y + 1, y);
    tooLarge([1, 1, z + 1], "along z", z + 1, z);
    const threads = limits.maxComputeWorkGroupInvocations;
    tooLarge([Math.min(x, threads), 2, 1], "threads", 2 * Math.min(x, threads), threads);
    const shared = limits.maxComputeSharedMemorySize;
    const sharing = (words: number | string, declarations = "") =>
      glsl(`#version 460
        ${declarations}
        shared uint t[${words}];
        layout(binding=0) buffer A { uint a[]; };
        void main() { t[0] = a[0]; barrier(); a[1] = t[0]; }`);
    device().kernel(sharing(shared / 4));
    refused(sharing(shared / 4 + 1), ArgumentError, "shared memory", shared + 4, shared);
    const byConstant = sharing("N", "layout(constant_id=0) const uint N = 4;");
    device().kernel(byConstant);
    assertRefused(
      () => device().kernel(byConstant, { specialization: { 0: shared } }),
      ArgumentError,
      "shared memory",
      4 * shared,
      shared,
    );
    const push = limits.maxPushConstantsSize;
    refused(
      glsl(`#version 460\nlayout(push_constant) uniform P { uint p[${push / 4 + 1}]; };
        layout(binding=0) buffer A { uint a[]; }; void main() { a[0] = p[0]; }`),
      ArgumentError,
      "push block",
      push + 4,
      push,
    );
  });

  test("a workgroup size of zero, by constant, is refused", () => {
    const code = glsl("#version 460\nlayout(local_size_x_id = 0) in; void main() {}");
    assertRefused(() => device().kernel(code, { specialization: { 0: 0 } }), ArgumentError, "0×1×1");
  });

  test("specialising what is not there is refused with the ids there are", () => {
    const code = store("layout(constant_id=3) const uint c = 1; layout(constant_id=7) const float d = 1.0;");
    const specialize = (specialization: Record<number, unknown>) =>
      device().kernel(code, { specialization: specialization as Record<number, number> });
    assertRefused(() => specialize({ 4: 1 }), ArgumentError, "4", "3, 7");
    assertRefused(() => device().kernel(store(), { specialization: { 0: 1 } }), ArgumentError, "none");
    assertRefused(() => specialize(JSON.parse('{ "x": 1 }')), ArgumentError, "3, 7");
  });

  test("a value that does not fit its specialisation constant is refused with id and value", () => {
    const code = store(`layout(constant_id=0) const uint u = 1; layout(constant_id=1) const int i = 1;
      layout(constant_id=2) const bool t = true; layout(constant_id=3) const float f = 1.0;`);
    const specialize = (id: number, value: unknown) =>
      device().kernel(code, { specialization: { [id]: value as number } });
    for (const [id, values] of [
      [0, [1.5, Number.NaN, Number.POSITIVE_INFINITY, -1, 2 ** 32, 2n ** 32n, "7", null, {}]],
      [1, [0.5, Number.NaN, 2 ** 31, -(2 ** 31) - 1, "x", Symbol.iterator]],
      [2, [2, -1, 0.5, "true"]],
      [3, ["1.0", {}, null]],
    ] as const) {
      for (const value of values) assertRefused(() => specialize(id, value), ArgumentError, `constant ${id}`);
    }
    specialize(0, 2 ** 32 - 1);
    specialize(1, -(2 ** 31));
    specialize(2, 1);
    specialize(3, Number.NaN);
    specialize(3, Number.NEGATIVE_INFINITY);
  });

  test("a subgroup size the device does not have is refused", () => {
    for (const subgroupSize of [0, 3, 1024, -8, 1.5]) {
      assertRefused(() => device().kernel(store(), { subgroupSize }), UnsupportedError, `Subgroups of ${subgroupSize}`);
    }
  });

  test("a module for a newer SPIR-V than the device takes is refused with both versions", () => {
    const code = store().slice();
    code[5] = 1;
    code[4] = 0;
    new DataView(code.buffer).setUint32(4, 0x00010700, true);
    refused(code, UnsupportedError, "SPIR-V 1.7", device().plan.spirv.join("."));
    new DataView(code.buffer).setUint32(4, 0x00020000, true);
    refused(code, UnsupportedError, "SPIR-V 2.0");
  });

  test("a module whose workgroup size cannot be computed is refused", { skip: withoutSpirvAs }, () => {
    const code = assemble(
      `OpCapability Shader
       OpMemoryModel Logical GLSL450
       OpEntryPoint GLCompute %main "main"
       OpExecutionModeId %main LocalSizeId %x %x %x
       %void = OpTypeVoid
       %fn = OpTypeFunction %void
       %u32 = OpTypeInt 32 0
       %x = OpUndef %u32
       %main = OpFunction %void None %fn
       %l = OpLabel
       OpReturn
       OpFunctionEnd`,
      "spv1.5",
    );
    refused(code, FormatError);
  });
});

describeOnOpenDevices("dispatches", withoutGlslang, (device) => {
  const prepared = () => ({
    kernel: device().kernel(store("layout(push_constant) uniform P { uint n; uint m; };"), { name: "store" }),
    buffers: [device().alloc(4), device().alloc(4)],
    push: new Uint32Array(2),
  });
  const refused = (options: Record<string, unknown>, kind: ErrorClass, ...mentions: (string | number | RegExp)[]) => {
    const { kernel, buffers, push } = prepared();
    const all = { buffers, push, groups: [1], ...options } as unknown as RunOptions;
    assertRefused(() => kernel.run(all), kind, "store", ...mentions);
  };

  test("the wrong number of buffers is refused with both numbers", () => {
    refused({ buffers: [device().alloc(4)] }, ArgumentError, "binds 2", "1 were given");
    refused({ buffers: undefined }, ArgumentError, "binds 2", "0 were given");
    refused({ buffers: [1, 2, 3].map(() => device().alloc(4)) }, ArgumentError, "3 were given");
  });

  test("things that are not buffers are refused with their place", () => {
    const good = device().alloc(4);
    for (const bad of [null, undefined, {}, new Uint8Array(4), { ...good }, "buffer", 7]) {
      refused({ buffers: [good, bad] }, ArgumentError, "buffers[1]");
      refused({ reads: [bad] }, ArgumentError, "reads[0]");
      refused({ writes: [good, bad] }, ArgumentError, "writes[1]");
    }
  });

  test("a push block of the wrong size, not of whole words, or beyond the limit is refused with the sizes", () => {
    const limit = device().plan.limits.maxPushConstantsSize;
    refused({ push: undefined }, SizeMismatchError, "8 bytes", "0 were given");
    refused({ push: new Uint8Array(4) }, SizeMismatchError, "8 bytes", "4 were given");
    refused({ push: new Uint8Array(20) }, SizeMismatchError, "8 bytes", "20 were given");
    refused({ push: new Uint8Array(7) }, ArgumentError, 7, "4-byte words");
    refused({ push: new Uint8Array(limit + 4) }, ArgumentError, limit + 4, limit);
    refused({ push: new Uint8Array(100_000) }, ArgumentError, 100_000, limit);
    const { kernel, buffers } = prepared();
    assertRefused(
      () => kernel.run({ buffers, push: "12345678" as unknown as Uint8Array, groups: [1] }),
      ArgumentError,
      "bytes",
    );
  });

  test("a push block for a kernel that has none is refused", () => {
    const kernel = device().kernel(store());
    assertRefused(
      () => kernel.run({ buffers: [device().alloc(4), device().alloc(4)], push: new Uint8Array(4), groups: [1] }),
      SizeMismatchError,
      "0 bytes",
      "4 were given",
    );
  });

  test("zero, negative, fractional and too many groups are refused with the limit of their axis", () => {
    const limits = device().plan.limits.maxComputeWorkGroupCount;
    for (const axis of [0, 1, 2]) {
      const limit = limits[axis]!;
      for (const bad of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, limit + 1, "2", null]) {
        const groups = [1, 1, 1].map((one, i) => (i === axis ? bad : one)).slice(0, axis + 1);
        refused({ groups }, ArgumentError, `along ${"xyz"[axis]}`, limit);
      }
    }
    for (const groups of [undefined, [], [1, 1, 1, 1], 7, "1", {}])
      refused({ groups }, ArgumentError, "groups must be");
  });

  test("a buffer larger than the device binds is refused with the limit and the way out", async () => {
    const limit = device().plan.limits.maxStorageBufferRange;
    if (limit > 2 ** 29) return;
    const kernel = device().kernel(store(), { name: "store" });
    const large = device().allocUninitialized(limit + 4);
    assertRefused(
      () => kernel.run({ buffers: [large, device().alloc(4)], groups: [1] }),
      ArgumentError,
      limit + 4,
      limit,
      "address",
    );
    large.dispose();
  });

  test("a refused dispatch records nothing and leaves the buffers as they were", () => {
    const { kernel, push } = prepared();
    const a = device().upload(new Uint32Array([41]));
    const before = device().stats().dispatches;
    assert.throws(() => kernel.run({ buffers: [a], push, groups: [1] }));
    assert.throws(() => kernel.run({ buffers: [a, a], push, groups: [0] }));
    assert.equal(device().stats().dispatches, before);
    assert.equal(a.readSync()[0], 41);
    kernel.run({ buffers: [a, a], push, groups: [1] });
    assert.equal(a.readSync()[0], 42);
  });
});

describeOnOpenDevices("buffers", false, (device) => {
  test("a size that is not a number of bytes is refused with the value", () => {
    for (const size of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, "8", null, undefined, {}]) {
      assertRefused(() => device().alloc(size as number), ArgumentError, "alloc", String(size));
    }
  });

  test("an allocation larger than the device is refused with what it has", () => {
    const heap = device().plan.deviceHeapBytes;
    assertRefused(() => device().alloc(heap + 1), OutOfMemoryError, heap);
    assertRefused(() => device().alloc(2 ** 52), OutOfMemoryError, heap);
    assert.equal(
      device()
        .upload(new Uint8Array([7]))
        .readSync()[0],
      7,
      "and the device goes on",
    );
  });

  test("what is not bytes cannot be uploaded or written", () => {
    const buffer = device().alloc(4);
    for (const bad of ["text", 7, null, undefined, {}, [1, 2, 3, 4]]) {
      assertRefused(() => device().upload(bad as unknown as Uint8Array), ArgumentError, "bytes");
      assertRefused(() => buffer.write(bad as unknown as Uint8Array), ArgumentError, "bytes");
    }
    assert.equal(device().stats().buffers >= 1, true);
  });

  test("what is not a buffer cannot be copied from", () => {
    const buffer = device().alloc(4);
    for (const bad of [null, undefined, {}, new Uint8Array(4), { ...buffer }]) {
      assertRefused(() => buffer.copyFrom(bad as unknown as DeviceBuffer), ArgumentError, "copyFrom");
    }
  });
});
