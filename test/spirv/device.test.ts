/** Modules run on every Vulkan device there is: what drivers make of our words, where a validator only reads them. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { UnsupportedError } from "../../src/core/errors.js";
import { encodeF16 } from "../../src/core/half.js";
import { type FunctionBuilder, ModuleBuilder, type ModuleOptions } from "../../src/spirv/index.js";
import type { Kernel, VulkanDevice } from "../../src/vulkan/index.js";
import { describeOnOpenDevices, type TestDevice } from "../support/devices.js";

type Fill = (m: ModuleBuilder) => void;

describeOnOpenDevices("the assembler's modules", false, (device, which) => {
  test("a branch, a switch and a loop that carries state, in every lane its own way", async (t) => {
    const n = 1000;
    const kernel = compile(t, device(), (m) => {
      const x = m.storageBuffer(m.i32, { binding: 0, writable: false });
      const y = m.storageBuffer(m.i32, { binding: 1 });
      const push = m.pushConstants([["n", m.u32]]);
      const collatz = m.function("collatz", [m.i32], m.i32, (f, start) => {
        const [, steps] = f.iterate(
          [start, m.constant(m.i32, 0)],
          ([v]) => f.notEqual(v, 1),
          ([v, k]) => {
            const half = f.div(v, 2);
            const next = f.if(
              f.equal(f.rem(v, 2), 0),
              () => half,
              () => f.add(f.mul(v, 3), 1),
            );
            f.if(f.greater(k, 99), () => f.break(next, -1));
            return [next, f.add(k, 1)];
          },
        );
        return steps;
      });
      m.entry("main", { localSize: [64] }, (f) => {
        const i = f.builtin("GlobalInvocationId").x;
        f.if(f.greaterEqual(i, push.n), () => f.return());
        const v = x.load(i);
        const result = f.switch(
          f.rem(v, 5),
          [
            [0, () => f.neg(v)],
            [[1, 2], () => f.call(collatz, v)],
          ],
          () => 7,
        );
        y.store(i, result);
      });
    });
    if (!kernel) return;
    const input = Int32Array.from({ length: n }, (_, i) => i + 1);
    const expected = input.map((v) => {
      if (v % 5 === 0) return -v;
      if (v % 5 > 2) return 7;
      let steps = 0;
      for (let u = v; u !== 1; steps++) {
        if (steps > 99) return -1;
        u = u % 2 === 0 ? u / 2 : 3 * u + 1;
      }
      return steps;
    });
    const [x, y] = [device().upload(input), device().alloc(n * 4)];
    kernel.run({ buffers: [x, y], push: Uint32Array.of(n), groups: [Math.ceil(n / 64)] });
    assert.deepEqual(new Int32Array((await y.read()).buffer), expected);
  });

  for (const vulkanMemoryModel of [false, true]) {
    const model = vulkanMemoryModel ? "Vulkan" : "GLSL450";
    test(`a sum in shared memory, its size a specialisation constant, ${model} memory model`, async (t) => {
      const kernel = compile(t, device(), sharedSum, { vulkanMemoryModel }, { 0: 128 });
      if (!kernel) return;
      const input = Float32Array.from({ length: 512 }, (_, i) => (i * 37) % 101);
      const [x, y] = [device().upload(input), device().alloc(4 * 4)];
      kernel.run({ buffers: [x, y], groups: [4] });
      const expected = [0, 1, 2, 3].map((g) => input.subarray(g * 128, (g + 1) * 128).reduce((a, b) => a + b, 0));
      assert.deepEqual([...new Float32Array((await y.read()).buffer)], expected);
    });
  }

  for (const [name, address] of [
    ["pointers in push constants", "pointer"],
    ["64-bit addresses", "u64"],
    ["addresses as pairs of words", "uvec2"],
  ] as const) {
    test(`buffers reached by ${name}`, async (t) => {
      const kernel = compile(t, device(), (m) => scaleByAddress(m, address));
      if (!kernel) return;
      const [x, y] = [device().upload(Float32Array.from({ length: 100 }, (_, i) => i)), device().alloc(400)];
      kernel.run({ reads: [x], writes: [y], push: BigUint64Array.of(x.address, y.address), groups: [2] });
      const expected = Float32Array.from({ length: 100 }, (_, i) => (i === 0 ? 0 : i * 2 + (i - 1)));
      assert.deepEqual(new Float32Array((await y.read()).buffer), expected);
    });
  }

  test("elements beyond 4 GiB, and before the address a kernel was given", { skip: skipLarge(which) }, async (t) => {
    const kernel = compile(t, device(), (m) => {
      const push = m.pushConstants([
        ["near", m.bufferPointer(m.u32, { large: true })],
        ["far", m.bufferPointer(m.u32)],
        ["distance", m.u64],
        ["out", m.bufferPointer(m.u32)],
      ]);
      m.entry("main", { localSize: [1] }, (f) => {
        push.near.store(push.distance, 42);
        push.out.store(0, push.far.load(0));
        push.far.store(0, 43);
        push.out.store(1, push.near.load(push.distance));
        push.out.store(2, f.ref(f.step(f.pointer(f.address(push.far.at(1)), m.elementPointer(m.u32)), -1)).load());
      });
    });
    if (!kernel) return;
    const distance = 2 ** 30 + 5;
    const [large, out] = [device().alloc(4 * (distance + 3)), device().alloc(12)];
    const push = BigUint64Array.of(large.address, large.address + BigInt(4 * distance), BigInt(distance), out.address);
    kernel.run({ writes: [large, out], push, groups: [1] });
    assert.deepEqual([...new Uint32Array((await out.read()).buffer)], [42, 43, 43]);
    large.dispose();
  });

  test("atomics count, compare and exchange", async (t) => {
    const kernel = compile(t, device(), (m) => {
      const cells = m.storageBuffer(m.u32, { binding: 0 });
      m.entry("main", { localSize: [64] }, (f) => {
        const i = f.builtin("GlobalInvocationId").x;
        f.atomic.add(cells.at(f.rem(i, 3)), 1);
        f.atomic.max(cells.at(3), i);
        f.atomic.or(cells.at(4), f.shiftLeft(m.constant(m.u32, 1), f.rem(i, 32)));
        // A counter made of nothing but compareExchange: wrong operand order would spin or miscount.
        const seen = f.variable(m.u32, f.atomic.load(cells.at(5)));
        f.loop(() => {
          const before = f.atomic.compareExchange(cells.at(5), seen.load(), f.add(seen.load(), 2));
          f.breakIf(f.equal(before, seen.load()));
          seen.store(before);
        });
      });
    });
    if (!kernel) return;
    const cells = device().alloc(24);
    kernel.run({ buffers: [cells], groups: [4] });
    assert.deepEqual([...new Uint32Array((await cells.read()).buffer)], [86, 85, 85, 255, 0xffffffff, 512]);
  });

  test("subgroup sums, scans and shuffles agree with the lanes they name", async (t) => {
    const kernel = compile(t, device(), (m) => {
      const out = m.storageBuffer(m.vec(m.u32, 4), { binding: 0 });
      m.entry("main", { localSize: [32] }, (f) => {
        const lane = f.builtin("SubgroupLocalInvocationId");
        const x = f.add(lane, 1);
        const before = f.subgroup.exclusiveScan("add", x);
        const total = f.subgroup.reduce("add", x);
        const other = f.subgroup.shuffleXor(x, 1);
        const ballot = f.subgroup.ballotCount(f.subgroup.ballot(f.equal(f.rem(lane, 2), 0)), "inclusive");
        out.store(f.builtin("LocalInvocationIndex"), f.vector(before, f.sub(total, x), other, ballot));
        out.store(f.add(f.builtin("LocalInvocationIndex"), 32), f.vector(lane, f.builtin("SubgroupSize"), 0, 0));
      });
    });
    if (!kernel) return;
    const out = device().alloc(64 * 16);
    kernel.run({ buffers: [out], groups: [1] });
    const words = new Uint32Array((await out.read()).buffer);
    for (let i = 0; i < 32; i++) {
      const [lane, size] = words.subarray((32 + i) * 4);
      // A workgroup smaller than a subgroup leaves its upper lanes idle.
      const active = Math.min(size, 32);
      const sum = (count: number) => (count * (count + 1)) / 2;
      assert.deepEqual(
        [...words.subarray(i * 4, i * 4 + 4)],
        [sum(lane), sum(active) - lane - 1, (lane ^ 1) + 1, Math.floor(lane / 2) + 1],
        `lane ${lane} of ${size}`,
      );
    }
  });

  test("narrow numbers, only stored, keep their sign and their rounding", async (t) => {
    const kernel = compile(t, device(), (m) => {
      const bytes = m.storageBuffer(m.i8, { binding: 0, writable: false });
      const ints = m.storageBuffer(m.i32, { binding: 1 });
      const floats = m.storageBuffer(m.f32, { binding: 2, writable: false });
      const halves = m.storageBuffer(m.f16, { binding: 3 });
      m.entry("main", { localSize: [4] }, (f) => {
        const i = f.builtin("GlobalInvocationId").x;
        ints.store(i, f.convert(bytes.load(i), m.i32));
        halves.store(i, f.convert(floats.load(i), m.f16));
      });
    });
    if (!kernel) return;
    const floats = Float32Array.of(0.25, -2.5, 1024, 65504);
    const buffers = [Int8Array.of(-128, -1, 0, 127), new Int32Array(4), floats, new Uint16Array(4)].map((data) => {
      return device().upload(data);
    });
    kernel.run({ buffers, groups: [1] });
    assert.deepEqual([...new Int32Array((await buffers[1].read()).buffer)], [-128, -1, 0, 127]);
    const bits = [...new Uint16Array((await buffers[3].read()).buffer)];
    assert.deepEqual(
      bits,
      [...floats].map((x) => encodeF16(x)),
    );
  });

  test("64-bit integers and doubles, and their words", async (t) => {
    const kernel = compile(t, device(), (m) => {
      const out = m.storageBuffer(m.u32, { binding: 0 });
      m.entry("main", { localSize: [1] }, (f) => {
        const place = f.variable(m.f64, 0.1);
        const words = f.bitcast(f.add(place.load(), 0.2), m.vec(m.u32, 2));
        out.store(0, words.x);
        out.store(1, words.y);
        const wide = f.mul(f.variable(m.i64, -3n).load(), 2n ** 33n + 1n);
        const parts = f.bitcast(wide, m.vec(m.u32, 2));
        out.store(2, parts.x);
        out.store(3, parts.y);
      });
    });
    if (!kernel) return;
    const out = device().alloc(16);
    kernel.run({ buffers: [out], groups: [1] });
    const bytes = await out.read();
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    assert.equal(view.getFloat64(0, true), 0.1 + 0.2);
    assert.equal(view.getBigInt64(8, true), -3n * (2n ** 33n + 1n));
  });

  for (const input of ["f16", "bf16"] as const) {
    test(`a product of cooperative matrices of ${input}`, async (t) => {
      const kernel = compile(t, device(), (m) => matrixProduct(m, input), { version: [1, 6] });
      if (!kernel) return;
      // Small whole numbers are exact in either format: their bits are the top of an f32, or come from our rounding.
      const values = (seed: number) => Float32Array.from({ length: 256 }, (_, i) => ((i * seed) % 7) - 3);
      const encode = (xs: Float32Array) => {
        const words = new Uint32Array(xs.buffer);
        return Uint16Array.from(xs, (x, i) => (input === "f16" ? encodeF16(x) : words[i] >>> 16));
      };
      const [a, b] = [values(3), values(5)];
      const buffers = [device().upload(encode(a)), device().upload(encode(b)), device().alloc(1024)];
      kernel.run({ buffers, groups: [1] });
      const expected = new Float32Array(256);
      for (let i = 0; i < 16; i++) {
        for (let j = 0; j < 16; j++) {
          let sum = 1;
          for (let k = 0; k < 16; k++) sum += a[i * 16 + k] * b[k * 16 + j];
          expected[i * 16 + j] = sum * 2;
        }
      }
      assert.deepEqual(new Float32Array((await buffers[2].read()).buffer), expected);
    });
  }
});

/** Software devices would take the memory from the machine. */
function skipLarge(which: TestDevice): string | false {
  return which.isSoftware && "needs 4 GiB of device memory";
}

/** The kernel, or undefined with the test skipped where the device lacks what the module declares. */
function compile(
  t: TestContext,
  device: VulkanDevice,
  fill: Fill,
  options: ModuleOptions = {},
  specialization: Record<number, number> = {},
): Kernel | undefined {
  const m = new ModuleBuilder(options);
  fill(m);
  try {
    return device.kernel(m.build(), { specialization });
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
    t.skip(error.message);
    return undefined;
  }
}

function sharedSum(m: ModuleBuilder): void {
  const x = m.storageBuffer(m.f32, { binding: 0, writable: false });
  const y = m.storageBuffer(m.f32, { binding: 1 });
  const size = m.specConstant(m.u32, 0, 32);
  const tile = m.shared(m.array(m.f32, size));
  m.entry("main", { localSize: [size] }, (f) => {
    const lane = f.builtin("LocalInvocationIndex");
    tile.store(lane, x.load(f.builtin("GlobalInvocationId").x));
    f.workgroupBarrier();
    f.iterate(
      f.shiftRight(size, 1),
      (half) => f.greater(half, 0),
      (half) => {
        f.if(f.less(lane, half), () => tile.store(lane, f.add(tile.load(lane), tile.load(f.add(lane, half)))));
        f.workgroupBarrier();
        return f.shiftRight(half, 1);
      },
    );
    f.if(f.equal(lane, 0), () => y.store(f.builtin("WorkgroupId").x, tile.load(0)));
  });
}

/** y[i] = 2 x[i] + x[i - 1], the addresses given in one of three ways. */
function scaleByAddress(m: ModuleBuilder, as: "pointer" | "u64" | "uvec2"): void {
  const [input, output] = [m.bufferPointer(m.f32, { writable: false }), m.bufferPointer(m.f32)];
  const places = (f: FunctionBuilder) => {
    if (as === "pointer") return { x: pointers.x, y: pointers.y };
    return { x: f.ref(f.pointer(numbers.x, input)), y: f.ref(f.pointer(numbers.y, output)) };
  };
  const number = as === "uvec2" ? m.vec(m.u32, 2) : as === "u64" ? m.u64 : m.vec(m.u32, 2);
  const pointers =
    as === "pointer"
      ? m.pushConstants([
          ["x", input],
          ["y", output],
        ])
      : ({} as never);
  const numbers =
    as === "pointer"
      ? ({} as never)
      : m.pushConstants([
          ["x", number],
          ["y", number],
        ]);
  m.entry("main", { localSize: [64] }, (f) => {
    const i = f.builtin("GlobalInvocationId").x;
    f.if(f.less(i, 100), () => {
      const { x, y } = places(f);
      y.store(i, f.mul(x.load(i), 2));
      f.if(f.greater(i, 0), () => {
        // One element back, by pointer arithmetic from an address computed on the device.
        const here = f.address(x.at(i), m.vec(m.u32, 2));
        const previous = f.ref(f.step(f.pointer(here, m.elementPointer(m.f32)), m.constant(m.i32, -1)));
        y.store(i, f.add(y.load(i), previous.load()));
      });
    });
  });
}

/** 2·(A·B + 1) of 16 by 16 matrices. */
function matrixProduct(m: ModuleBuilder, input: "f16" | "bf16"): void {
  const A = m.matrix(m[input], 16, 16, "A");
  const B = m.matrix(m[input], 16, 16, "B");
  const C = m.matrix(m.f32, 16, 16, "accumulator");
  const [a, b] = [0, 1].map((binding) => m.storageBuffer(m[input], { binding, writable: false }));
  const c = m.storageBuffer(m.f32, { binding: 2 });
  m.entry("main", { localSize: [32] }, (f) => {
    const product = f.matrix.mulAdd(
      f.matrix.load(A, a.at(0), { stride: 16 }),
      f.matrix.load(B, b.at(0), { stride: 16 }),
      f.splat(C, 1),
    );
    f.matrix.store(c.at(0), f.scale(product, 2), { stride: 16 });
  });
}
