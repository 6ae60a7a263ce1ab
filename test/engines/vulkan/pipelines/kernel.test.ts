/** Kernels from any SPIR-V: specialisation, push blocks, both ways of binding, addresses, and the order of commands. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import type { DeviceBuffer, VulkanDevice } from "../../../../src/vulkan/index.js";
import {
  describeOnDevices,
  describeOnOpenDevices,
  validation,
  withEnvironment,
  withoutAddresses,
} from "../../../support/devices.js";
import { FaultyDriver } from "../../../support/fault-injection.js";
import { assemble, glsl, temporaryFile, withoutGlslang, withoutSpirvAs } from "../../../support/glsl.js";
import { randomFrom } from "../../../support/random.js";

const u32 = (buffer: DeviceBuffer) => new Uint32Array(buffer.readSync().buffer);
const f32 = (buffer: DeviceBuffer) => new Float32Array(buffer.readSync().buffer);
const f64 = (buffer: DeviceBuffer) => new Float64Array(buffer.readSync().buffer);

const scale = () =>
  glsl(`#version 460
    layout(local_size_x = 64) in;
    layout(push_constant) uniform P { uint n; float factor; };
    layout(binding=0) readonly buffer A { float a[]; };
    layout(binding=1) writeonly buffer B { float b[]; };
    void main() { uint i = gl_GlobalInvocationID.x; if (i < n) b[i] = factor * a[i]; }`);

function pushBlock(n: number, factor: number): ArrayBuffer {
  const block = new DataView(new ArrayBuffer(8));
  block.setUint32(0, n, true);
  block.setFloat32(4, factor, true);
  return block.buffer;
}

describeOnOpenDevices("kernels", withoutGlslang, (device) => {
  test("a kernel reads its buffers and push block and writes the result", () => {
    const kernel = device().kernel(scale(), { name: "scale" });
    const n = 1000;
    const from = device().upload(Float32Array.from({ length: n }, (_, i) => i));
    const to = device().alloc(4 * n);
    kernel.run({ buffers: [from, to], push: pushBlock(n, 0.5), groups: [Math.ceil(n / 64)] });
    assert.deepEqual(
      f32(to),
      Float32Array.from({ length: n }, (_, i) => i / 2),
    );
    assert.equal(kernel.name, "scale");
    assert.deepEqual(kernel.localSize, [64, 1, 1]);
    assert.equal(kernel.bindingCount, 2);
    assert.equal(kernel.pushBytes, 8);
    assert.match(inspect(kernel), /Kernel \{ scale, 64×1×1 threads, 2 buffers, 8 push bytes \}/);
  });

  test("kernels made ahead by other threads are there when they are used, under every name", () => {
    const kernels = Array.from({ length: 24 }, (_, i) =>
      device().kernel(
        glsl(`#version 460
          layout(local_size_x = 1) in;
          layout(binding=0) buffer A { float a[]; };
          void main() { a[0] = a[0] * ${i + 2}.0 + ${i}.0; }`),
        { name: `ahead ${i}`, ahead: true },
      ),
    );
    const buffer = device().upload(new Float32Array([1]));
    let want = 1;
    kernels.forEach((kernel, i) => {
      kernel.run({ buffers: [buffer], groups: [1] });
      want = Math.fround(Math.fround(want * (i + 2)) + i);
    });
    assert.equal(f32(buffer)[0], want);
    const again = device().kernel(scale(), { name: "another", ahead: true });
    const [from, to] = [device().upload(new Float32Array([3])), device().alloc(4)];
    again.run({ buffers: [from, to], push: pushBlock(1, 2), groups: [1] });
    assert.equal(f32(to)[0], 6);
    // One that nobody uses is there too, and goes with the device.
    device().kernel(scale(), { specialization: {}, entry: "main", name: "unused", ahead: true });
  });

  test("SPIR-V is taken as words, bytes, a buffer, or the path of a file", () => {
    const code = scale();
    const words = new Uint32Array(code.buffer, code.byteOffset, code.byteLength / 4);
    const file = temporaryFile("scale.spv", code);
    try {
      const [from, to] = [device().upload(new Float32Array([3])), device().alloc(4)];
      for (const source of [words, code, code.slice().buffer, new DataView(code.slice().buffer), file.path]) {
        device()
          .kernel(source)
          .run({ buffers: [from, to], push: pushBlock(1, 2), groups: [1] });
        assert.equal(f32(to)[0], 6);
        to.write(new Uint8Array(4));
      }
      assert.equal(device().stats().pipelines, device().stats().pipelines);
    } finally {
      file.remove();
    }
  });

  test("groups count along x, y and z", () => {
    const kernel = device().kernel(
      glsl(`#version 460
        layout(binding=0) buffer B { uint count; uvec3 most; };
        void main() { atomicAdd(count, 1); atomicMax(most.x, gl_WorkGroupID.x); atomicMax(most.y, gl_WorkGroupID.y);
                      atomicMax(most.z, gl_WorkGroupID.z); }`),
    );
    for (const groups of [[7], [3, 5], [2, 3, 4]] as const) {
      const buffer = device().alloc(32);
      kernel.run({ buffers: [buffer], groups });
      const [count, , , , x, y, z] = u32(buffer);
      assert.equal(
        count,
        groups.reduce((product: number, n) => product * n, 1),
      );
      assert.deepEqual(
        [x, y, z],
        [0, 1, 2].map((axis) => (groups[axis] ?? 1) - 1),
      );
    }
  });

  test("specialisation constants of every type reach the kernel, and defaults where none is given", () => {
    const code = glsl(`#version 460
      #extension GL_EXT_shader_explicit_arithmetic_types : require
      layout(constant_id=0) const uint a = 1;
      layout(constant_id=1) const int b = -2;
      layout(constant_id=2) const float c = 0.5;
      layout(constant_id=3) const bool d = false;
      layout(constant_id=4) const double e = 0.25;
      layout(constant_id=5) const int64_t f = -5l;
      layout(constant_id=6) const uint64_t g = 6ul;
      layout(binding=0) buffer B { double o[]; };
      void main() { o[0] = double(a); o[1] = double(b); o[2] = double(c); o[3] = d ? 1.0 : 0.0; o[4] = e;
                    o[5] = double(f); o[6] = double(g); }`);
    const run = (specialization: Record<number, number | bigint | boolean>) => {
      const buffer = device().alloc(56);
      device()
        .kernel(code, { specialization })
        .run({ buffers: [buffer], groups: [1] });
      return [...f64(buffer)];
    };
    assert.deepEqual(run({}), [1, -2, 0.5, 0, 0.25, -5, 6]);
    assert.deepEqual(
      run({ 0: 4294967295, 1: -2147483648, 2: -1.5, 3: true, 4: Math.PI, 5: -(2n ** 40n), 6: 2n ** 60n }),
      [4294967295, -2147483648, -1.5, 1, Math.PI, -(2 ** 40), 2 ** 60],
    );
    assert.deepEqual(run({ 0: 7n, 3: 1, 2: 3n }), [7, -2, 3, 1, 0.25, -5, 6]);
    assert.deepEqual(run({ 3: false, 5: 12 }), [1, -2, 0.5, 0, 0.25, 12, 6]);
  });

  test("small integers specialise too", () => {
    const code = glsl(`#version 460
      #extension GL_EXT_shader_explicit_arithmetic_types : require
      layout(constant_id=0) const uint16_t a = 1us;
      layout(constant_id=1) const int16_t b = -1s;
      layout(binding=0) buffer B { int o[]; };
      void main() { o[0] = int(a); o[1] = int(b); }`);
    const buffer = device().alloc(8);
    device()
      .kernel(code, { specialization: { 0: 65535, 1: -300 } })
      .run({ buffers: [buffer], groups: [1] });
    assert.deepEqual([...new Int32Array(buffer.readSync().buffer)], [65535, -300]);
  });

  const slowly = validation === "gpu" && "GPU-assisted validation takes minutes to instrument it";
  test("a thousand specialisation constants are a thousand values", { skip: slowly }, () => {
    const ids = Array.from({ length: 1000 }, (_, i) => i);
    const code = glsl(`#version 460
      ${ids.map((i) => `layout(constant_id=${i}) const uint c${i} = 0;`).join("\n")}
      layout(binding=0) buffer B { uint o[]; };
      void main() { ${ids.map((i) => `o[${i}] = c${i};`).join(" ")} }`);
    const buffer = device().alloc(4000);
    const specialization = Object.fromEntries(ids.map((i) => [i, 3 * i + 1]));
    device()
      .kernel(code, { specialization })
      .run({ buffers: [buffer], groups: [1] });
    assert.deepEqual(
      [...u32(buffer)],
      ids.map((i) => 3 * i + 1),
    );
  });

  test("zero and minus zero are different specialisations", () => {
    const code = glsl(`#version 460
      layout(constant_id=0) const float c = 1.0;
      layout(binding=0) buffer B { uint o[]; };
      void main() { o[0] = floatBitsToUint(c); }`);
    const buffer = device().alloc(4);
    for (const [value, bits] of [
      [0, 0],
      [-0, 0x80000000],
    ] as const) {
      device()
        .kernel(code, { specialization: { 0: value } })
        .run({ buffers: [buffer], groups: [1] });
      assert.equal(u32(buffer)[0], bits);
    }
  });

  test("a workgroup size given by a constant is what runs", () => {
    const code = glsl(`#version 460
      layout(local_size_x_id = 0) in;
      layout(binding=0) buffer B { uint o[]; };
      void main() { atomicAdd(o[0], 1); o[1] = gl_WorkGroupSize.x; }`);
    const kernel = device().kernel(code, { specialization: { 0: 48 } });
    assert.deepEqual(kernel.localSize, [48, 1, 1]);
    const buffer = device().alloc(8);
    kernel.run({ buffers: [buffer], groups: [2] });
    assert.deepEqual([...u32(buffer)], [96, 48]);
  });

  test("shared memory sized by a constant works at the size that was asked", () => {
    const code = glsl(`#version 460
      layout(local_size_x_id = 0) in;
      shared uint t[gl_WorkGroupSize.x];
      layout(binding=0) buffer B { uint o[]; };
      void main() { uint i = gl_LocalInvocationID.x; t[i] = i; barrier(); o[i] = t[gl_WorkGroupSize.x - 1 - i]; }`);
    const buffer = device().alloc(4 * 32);
    device()
      .kernel(code, { specialization: { 0: 32 } })
      .run({ buffers: [buffer], groups: [1] });
    assert.deepEqual(
      [...u32(buffer)],
      Array.from({ length: 32 }, (_, i) => 31 - i),
    );
  });

  test("a push block that ends in 8 bytes may come padded, as C pads it; the padding is not looked at", () => {
    const code = glsl(`#version 460
      layout(push_constant) uniform P { double x; uint n; };
      layout(binding=0) buffer B { double o[]; };
      void main() { o[0] = x * n; }`);
    const block = new DataView(new ArrayBuffer(16));
    block.setFloat64(0, 1.5, true);
    block.setUint32(8, 3, true);
    const kernel = device().kernel(code);
    assert.equal(kernel.pushBytes, 12);
    for (const push of [block.buffer, block.buffer.slice(0, 12)]) {
      const buffer = device().alloc(8);
      kernel.run({ buffers: [buffer], push, groups: [1] });
      assert.equal(f64(buffer)[0], 4.5);
    }
  });

  test("a push block of the device's largest size arrives whole", () => {
    const words = device().plan.limits.maxPushConstantsSize / 4;
    const code = glsl(`#version 460
      layout(push_constant) uniform P { uint p[${words}]; };
      layout(binding=0) buffer B { uint o[]; };
      void main() { for (uint i = 0; i < ${words}; i++) o[i] = p[i]; }`);
    const push = Uint32Array.from({ length: words }, (_, i) => 0x01010101 * (i + 1));
    const buffer = device().alloc(4 * words);
    device()
      .kernel(code)
      .run({ buffers: [buffer], push, groups: [1] });
    assert.deepEqual(u32(buffer), push);
  });

  test("each dispatch keeps its own push block", () => {
    const code = glsl(`#version 460
      layout(push_constant) uniform P { uint at; uint value; };
      layout(binding=0) buffer B { uint o[]; };
      void main() { o[at] = value; }`);
    const kernel = device().kernel(code);
    const buffer = device().alloc(4 * 300);
    const push = new Uint32Array(2);
    for (let i = 0; i < 300; i++) {
      push.set([i, i * i]);
      kernel.run({ buffers: [buffer], push, groups: [1] });
    }
    assert.deepEqual(
      [...u32(buffer)],
      Array.from({ length: 300 }, (_, i) => i * i),
    );
  });

  test("one buffer may be bound several times", () => {
    const kernel = device().kernel(scale());
    const buffer = device().upload(new Float32Array([1, 2, 3]));
    kernel.run({ buffers: [buffer, buffer], push: pushBlock(3, 10), groups: [1] });
    assert.deepEqual([...f32(buffer)], [10, 20, 30]);
  });

  test("a buffer of no bytes, or not of whole words, can be bound", () => {
    const kernel = device().kernel(
      glsl(`#version 460
        layout(binding=0) readonly buffer A { uint a[]; };
        layout(binding=1) buffer B { uint o[]; };
        void main() { o[0] = a.length(); o[1] = a[0]; }`),
    );
    for (const [size, words] of [
      [0, 1],
      [1, 1],
      [5, 2],
      [8, 2],
    ] as const) {
      const out = device().alloc(8);
      kernel.run({ buffers: [device().alloc(size), out], groups: [1] });
      assert.deepEqual([...u32(out)], [words, 0], `${size} bytes`);
    }
  });

  test("one binding seen as two types is one buffer", () => {
    const kernel = device().kernel(
      glsl(`#version 460
        layout(binding=0) readonly buffer A { float a[]; };
        layout(binding=0) readonly buffer A4 { vec4 a4[]; };
        layout(binding=1) buffer B { float o[]; };
        void main() { o[0] = a[5] + a4[1].z; }`),
    );
    assert.equal(kernel.bindingCount, 2);
    const out = device().alloc(4);
    kernel.run({ buffers: [device().upload(Float32Array.from({ length: 8 }, (_, i) => i)), out], groups: [1] });
    assert.equal(f32(out)[0], 11);
  });

  test("an entry point is chosen by name", { skip: withoutSpirvAs }, () => {
    const entry = (name: string, value: string) => `%${name} = OpFunction %void None %fn
      %${name}_l = OpLabel
      %${name}_p = OpAccessChain %pu %b %zero %zero
      OpStore %${name}_p ${value}
      OpReturn
      OpFunctionEnd`;
    const code = assemble(`OpCapability Shader
      OpMemoryModel Logical GLSL450
      OpEntryPoint GLCompute %one "one" %b
      OpEntryPoint GLCompute %two "two" %b
      OpExecutionMode %one LocalSize 1 1 1
      OpExecutionMode %two LocalSize 1 1 1
      OpDecorate %arr ArrayStride 4
      OpMemberDecorate %S 0 Offset 0
      OpDecorate %S Block
      OpDecorate %b DescriptorSet 0
      OpDecorate %b Binding 0
      %void = OpTypeVoid
      %fn = OpTypeFunction %void
      %u32 = OpTypeInt 32 0
      %zero = OpConstant %u32 0
      %c1 = OpConstant %u32 11
      %c2 = OpConstant %u32 22
      %arr = OpTypeRuntimeArray %u32
      %S = OpTypeStruct %arr
      %pS = OpTypePointer StorageBuffer %S
      %pu = OpTypePointer StorageBuffer %u32
      %b = OpVariable %pS StorageBuffer
      ${entry("one", "%c1")}
      ${entry("two", "%c2")}`);
    const buffer = device().alloc(4);
    for (const [name, value] of [
      ["one", 11],
      ["two", 22],
      ["one", 11],
    ] as const) {
      device()
        .kernel(code, { entry: name })
        .run({ buffers: [buffer], groups: [1] });
      assert.equal(u32(buffer)[0], value);
    }
  });

  test("a module in f64 and 64-bit integers runs where the device has them", (t) => {
    const { features } = device().properties;
    if (!features.shaderFloat64 || !features.shaderInt64) return t.skip("the device has no 64-bit arithmetic");
    const code = glsl(`#version 460
      #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
      layout(binding=0) buffer B { double x; uint64_t n; };
      void main() { x = sqrt(x); n = n * n; }`);
    const block = new DataView(new ArrayBuffer(16));
    block.setFloat64(0, 2, true);
    block.setBigUint64(8, 4294967295n, true);
    const buffer = device().upload(block.buffer);
    device()
      .kernel(code)
      .run({ buffers: [buffer], groups: [1] });
    const out = new DataView(buffer.readSync().buffer);
    assert.equal(out.getFloat64(0, true), Math.sqrt(2));
    assert.equal(out.getBigUint64(8, true), 4294967295n ** 2n);
  });

  test("kernels are named for errors and profiles: by the caller, else by entry point and module", () => {
    assert.match(device().kernel(glsl("#version 460\nvoid main() {}")).name, /^main@[0-9a-f]{8}$/);
  });

  test("the same module under another name is known by that name", () => {
    const code = glsl("#version 460\nlayout(binding=0) buffer B { float named[]; }; void main() { named[0] = 1.0; }");
    assert.equal(device().kernel(code, { name: "first" }).name, "first");
    assert.equal(device().kernel(code, { name: "second" }).name, "second");
  });
});

const accumulate = () =>
  glsl(`#version 460
    layout(push_constant) uniform P { uint step; };
    layout(binding=0) readonly buffer A { uint a[]; };
    layout(binding=1) buffer B { uint b[]; };
    void main() { b[0] = b[0] * 3 + a[0] + step; }`);
const accumulateByAddress = () =>
  glsl(`#version 460
    #extension GL_EXT_buffer_reference : require
    layout(buffer_reference, std430) buffer R { uint v[]; };
    layout(push_constant) uniform P { R a; R b; uint step; };
    void main() { b.v[0] = b.v[0] * 3 + a.v[0] + step; }`);

/** The three ways a kernel reaches its buffers, as one function each: b = 3b + a + step. */
const ways: { name: string; maxPushDescriptors?: number; make: (device: VulkanDevice) => Accumulate }[] = [
  { name: "pushed descriptors", make: bound },
  { name: "descriptors from a pool", maxPushDescriptors: 0, make: bound },
  {
    name: "addresses",
    make: (device) => {
      const kernel = device.kernel(accumulateByAddress(), { name: "accumulate by address" });
      const push = new DataView(new ArrayBuffer(20));
      return (a, b, step) => {
        push.setBigUint64(0, a.address, true);
        push.setBigUint64(8, b.address, true);
        push.setUint32(16, step, true);
        kernel.run({ push, groups: [1], reads: [a], writes: [b] });
      };
    },
  },
];
type Accumulate = (a: DeviceBuffer, b: DeviceBuffer, step: number) => void;

function bound(device: VulkanDevice): Accumulate {
  const kernel = device.kernel(accumulate(), { name: "accumulate" });
  return (a, b, step) => kernel.run({ buffers: [a, b], push: new Uint32Array([step]), groups: [1] });
}

for (const { name, maxPushDescriptors, make } of ways) {
  const skip = withoutGlslang || (name === "addresses" && withoutAddresses);
  describeOnDevices(`the order of commands, by ${name}`, skip, (which) => {
    const opened = async () => {
      const driver = new FaultyDriver(maxPushDescriptors === undefined ? {} : { maxPushDescriptors });
      return { driver, device: await which.open({ interpose: driver.interpose }) };
    };

    test("a thousand dispatches, each on the result of the one before, give the exact result", async () => {
      const { device, driver } = await opened();
      const accumulateWith = make(device);
      const a = device.upload(new Uint32Array([5]));
      const b = device.alloc(4);
      let expected = 0;
      for (let i = 0; i < 1000; i++) {
        accumulateWith(a, b, i);
        expected = (Math.imul(expected, 3) + 5 + i) >>> 0;
      }
      assert.equal(u32(b)[0], expected);
      if (name.includes("pool")) assert.ok(driver.count("vkAllocateDescriptorSets") >= 1000);
      if (name.includes("pushed") && !validation) assert.equal(driver.count("vkAllocateDescriptorSets"), 0);
      await device.close();
      assert.deepEqual(driver.liveObjects, {});
    });

    test("random programs of kernels, copies, fills and writes give what running them in order gives", async () => {
      const { device } = await opened();
      const accumulateWith = make(device);
      for (let seed = 1; seed <= (validation ? 3 : 12); seed++) {
        const random = randomFrom(seed);
        const count = 5;
        const model = Array.from({ length: count }, () => random.below(2 ** 31));
        const buffers = model.map((value) => device.upload(new Uint32Array([value])));
        const pick = () => random.below(count);
        for (let i = 0; i < 300; i++) {
          const [from, to] = [pick(), pick()];
          const choice = random.below(20);
          if (choice < 12) {
            accumulateWith(buffers[from]!, buffers[to]!, i);
            model[to] = (Math.imul(model[to]!, 3) + model[from]! + i) >>> 0;
          } else if (choice < 15) {
            buffers[to]!.copyFrom(buffers[from]!);
            model[to] = model[from]!;
          } else if (choice < 17) {
            buffers[to]!.write(new Uint32Array([i]));
            model[to] = i;
          } else if (choice < 19) {
            buffers[to]!.dispose();
            buffers[to] = device.alloc(4);
            model[to] = 0;
          } else assert.equal(u32(buffers[from]!)[0], model[from], `seed ${seed}, step ${i}`);
        }
        assert.deepEqual(
          buffers.map((buffer) => u32(buffer)[0]),
          model,
          `seed ${seed}`,
        );
        for (const buffer of buffers) buffer.dispose();
      }
      await device.close();
    });

    test("commands that do not depend on one another need no barrier; those that do, one each", async () => {
      const { device } = await opened();
      const accumulateWith = make(device);
      const a = device.upload(new Uint32Array([1]));
      const others = Array.from({ length: 10 }, () => device.upload(new Uint32Array([0])));
      device.finishSync();
      const { barriers, submissions } = device.stats();
      for (const other of others) accumulateWith(a, other, 0);
      device.finishSync();
      const independent = device.stats();
      assert.equal(
        independent.barriers - barriers,
        independent.submissions - submissions,
        "one at the start of a batch",
      );
      for (let i = 0; i < 10; i++) accumulateWith(a, others[0]!, 0);
      device.finishSync();
      const dependent = device.stats();
      assert.ok(dependent.barriers - independent.barriers >= 10);
      await device.close();
    });
  });
}

describeOnDevices("descriptors", withoutGlslang, (which) => {
  test("PUMICE_PUSH_DESCRIPTORS=0 binds from pools", async () => {
    const driver = new FaultyDriver();
    const device = await withEnvironment({ PUMICE_PUSH_DESCRIPTORS: "0" }, () =>
      which.open({ interpose: driver.interpose }),
    );
    const [a, b] = [device.upload(new Uint32Array([2])), device.upload(new Uint32Array([3]))];
    bound(device)(a, b, 4);
    assert.equal(u32(b)[0], 15);
    assert.equal(driver.count("vkCmdPushDescriptorSetKHR"), 0);
    assert.equal(driver.count("vkAllocateDescriptorSets"), 1);
    await device.close();
  });
});

describeOnDevices("many bindings", withoutGlslang, (which) => {
  for (const maxPushDescriptors of [undefined, 0]) {
    test(`as many buffers as the device binds, ${maxPushDescriptors === 0 ? "from a pool" : "pushed where possible"}`, async () => {
      const driver = new FaultyDriver(maxPushDescriptors === undefined ? {} : { maxPushDescriptors });
      const device = await which.open({ interpose: driver.interpose });
      // GPU-assisted validation binds buffers of its own, and lavapipe crashes beyond its limit.
      const most = device.plan.limits.maxPerStageDescriptorStorageBuffers - (validation === "gpu" ? 8 : 0);
      const count = Math.min(700, most);
      const numbers = Array.from({ length: count }, (_, i) => i);
      const kernel = device.kernel(
        glsl(`#version 460
          ${numbers.map((i) => `layout(binding=${i}) buffer B${i} { uint b${i}[]; };`).join("\n")}
          void main() { ${numbers.map((i) => `b${i}[0] += ${i};`).join(" ")} }`),
        { name: "many" },
      );
      const few = device.kernel(
        glsl("#version 460\nlayout(binding=0) buffer B { uint b[]; }; void main() { b[0] += 1000; }"),
        { name: "few" },
      );
      const buffers = numbers.map(() => device.alloc(4));
      for (let round = 0; round < 20; round++) {
        few.run({ buffers: [buffers[round]!], groups: [1] });
        kernel.run({ buffers, groups: [1] });
      }
      device.finishSync();
      kernel.run({ buffers, groups: [1] });
      assert.deepEqual(
        buffers.map((buffer) => u32(buffer)[0]),
        numbers.map((i) => 21 * i + (i < 20 ? 1000 : 0)),
      );
      await device.close();
      assert.deepEqual(driver.liveObjects, {});
    });
  }
});
