/** Every instruction that touches memory, against a DataView or a plain model of it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { INSTRUCTIONS, type Instruction } from "../../src/wasm/instructions.js";
import type { Value } from "../../src/wasm/value.js";
import { randomFrom } from "../support/random.js";
import { start } from "./running.js";

const all = [...INSTRUCTIONS.values()];
const named = (effect: string, immediates: string, isAtomic = false) =>
  all.filter((row) => row.effect === effect && row.immediates === immediates && row.isAtomic === isAtomic);
const random = randomFrom(11);

const unsigned = (bytes: Uint8Array) => [...bytes].reverse().reduce((value, byte) => value * 256n + BigInt(byte), 0n);
const littleEndian = (value: bigint, size: number) =>
  Uint8Array.from({ length: size }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));

/** The sixteen (or fewer) bytes a load makes of what it reads. */
function loaded({ name, result, extent }: Instruction, bytes: Uint8Array): Uint8Array {
  const isSigned = name.endsWith("_s");
  const extend = (part: Uint8Array, size: number) => {
    const value = unsigned(part);
    return littleEndian(isSigned ? BigInt.asIntN(8 * part.length, value) : value, size);
  };
  if (result !== "v128") return extend(bytes, result === "i32" || result === "f32" ? 4 : 8);
  const pairs = /load(\d+)x(\d+)/.exec(name);
  if (pairs) {
    const size = Number(pairs[1]) / 8;
    const parts = Array.from({ length: Number(pairs[2]) }, (_, i) =>
      extend(bytes.slice(i * size, (i + 1) * size), 2 * size),
    );
    return Uint8Array.from(parts.flatMap((part) => [...part]));
  }
  if (name.endsWith("splat")) return Uint8Array.from({ length: 16 }, (_, i) => bytes[i % extent] as number);
  return Uint8Array.from({ length: 16 }, (_, i) => (i < extent ? (bytes[i] as number) : 0));
}

describe("loads", () => {
  for (const instruction of named("load", "access")) {
    const { name, extent, result } = instruction;
    test(name, () => {
      for (const access of [undefined, { offset: 5, align: 1 }, { offset: 1024, align: extent }]) {
        const m = new ModuleBuilder();
        const run = m.function("run", ["i32"], [], (f, address) => {
          const method = name.split(".").reduce((at: object, step) => (at as never)[step], f) as never as (
            ...given: unknown[]
          ) => Value;
          f.op(`${result}.store`, 16, method(address, access));
        });
        m.export(run);
        const { bytes, exports } = start(m);
        for (let round = 0; round < 20; round++) {
          const [source, address] = [random.bytes(extent), 100 + random.below(100)];
          bytes.set(source, address + (access?.offset ?? 0));
          exports.run?.(address);
          const expected = loaded(instruction, source);
          assert.deepEqual(bytes.slice(16, 16 + expected.length), expected);
        }
      }
    });
  }

  test("an offset does not wrap around: beyond 4 GiB it traps", () => {
    const m = new ModuleBuilder();
    m.export(m.function("run", ["i32"], "i32", (f, address) => f.i32.load(address, { offset: 2 ** 32 - 4 })));
    assert.throws(() => start(m).exports.run?.(8), WebAssembly.RuntimeError);
  });
});

describe("stores", () => {
  for (const { name, extent, parameters } of named("effect", "access")) {
    test(name, () => {
      const type = parameters[1];
      const m = new ModuleBuilder();
      const run = m.function("run", ["i32"], [], (f, address) => {
        f.op(name, address, f.op(`${type}.load`, 16));
      });
      m.export(run);
      const { bytes, exports } = start(m);
      for (let round = 0; round < 20; round++) {
        const [source, address] = [random.bytes(16), 100 + random.below(100)];
        bytes.set(source, 16);
        bytes.fill(0xaa, 90, 300);
        exports.run?.(address);
        assert.deepEqual(bytes.slice(address, address + extent), source.slice(0, extent));
        assert.deepEqual([bytes[address - 1], bytes[address + extent]], [0xaa, 0xaa], "nothing beside it");
      }
    });
  }
});

describe("lanes from and to memory", () => {
  for (const size of [1, 2, 4, 8] as const) {
    test(`v128.load${size * 8}_lane and v128.store${size * 8}_lane`, () => {
      for (let lane = 0; lane < 16 / size; lane++) {
        const m = new ModuleBuilder();
        const run = m.function("run", ["i32"], [], (f, address) => {
          const load = f.v128[`load${(size * 8) as 8}_lane`];
          const store = f.v128[`store${(size * 8) as 8}_lane`];
          f.v128.store(32, load(address, f.v128.load(16), lane, { offset: 3, align: 1 }));
          store(address, f.v128.load(16), lane, { offset: 64 });
        });
        m.export(run);
        const { bytes, exports } = start(m);
        const [vector, single] = [random.bytes(16), random.bytes(size)];
        bytes.set(vector, 16);
        bytes.set(single, 103);
        exports.run?.(100);
        const expected = vector.slice();
        expected.set(single, lane * size);
        assert.deepEqual(bytes.slice(32, 48), expected);
        assert.deepEqual(bytes.slice(164, 164 + size), vector.slice(lane * size, (lane + 1) * size));
      }
    });
  }
});

describe("atomics", () => {
  const operations: Record<string, (old: bigint, value: bigint) => bigint> = {
    add: (old, value) => old + value,
    sub: (old, value) => old - value,
    and: (old, value) => old & value,
    or: (old, value) => old | value,
    xor: (old, value) => old ^ value,
    xchg: (_old, value) => value,
  };
  for (const { name, extent, parameters, result } of named("effect", "access", true)) {
    if (name.startsWith("memory.")) continue;
    const bits = 8 * extent;
    const type = name.slice(0, 3) as "i32" | "i64";
    test(name, () => {
      const m = new ModuleBuilder();
      const run = m.function("run", ["i32"], [], (f, address) => {
        const operands = parameters.slice(1).map((parameter, i) => f.op(`${parameter}.load`, 16 + 16 * i));
        const value = f.op(name, address, ...operands);
        if (result !== "none") f.op(`${result}.store`, 64, value);
      });
      m.export(run);
      const { bytes, view, exports } = start(m);
      for (let round = 0; round < 20; round++) {
        const address = 128 + 8 * random.below(8);
        const [old, first, second] = [random.bytes(extent), random.bytes(8), random.bytes(8)];
        // Half of the time the comparison of a cmpxchg succeeds.
        if (name.includes("cmpxchg") && round % 2) first.fill(0).set(old);
        bytes.set(old, address);
        bytes.set(first, 16);
        bytes.set(second, 32);
        exports.run?.(address);
        const width = type === "i32" ? 32 : 64;
        const before = unsigned(old);
        if (result !== "none") {
          const returned = type === "i32" ? BigInt(view.getUint32(64, true)) : view.getBigUint64(64, true);
          assert.equal(returned, before, "it returns what was there");
        }
        const operand = BigInt.asUintN(width, unsigned(first));
        let expected = before;
        if (name.includes(".store")) expected = operand;
        else if (name.includes("cmpxchg")) expected = operand === before ? unsigned(second) : before;
        else if (name.includes("rmw")) {
          const operation = /\.(add|sub|and|or|xor|xchg)/.exec(name)?.[1] as string;
          expected = operations[operation]?.(before, operand) as bigint;
        }
        assert.equal(unsigned(bytes.slice(address, address + extent)), BigInt.asUintN(bits, expected));
      }
    });
  }

  test("a misaligned atomic traps", () => {
    const m = new ModuleBuilder();
    m.export(m.function("run", ["i32"], "i32", (f, address) => f.i32.atomic.rmw.add(address, 1)));
    const { exports } = start(m);
    assert.equal(exports.run?.(8), 0);
    assert.equal(exports.run?.(8), 1);
    assert.throws(() => exports.run?.(9), WebAssembly.RuntimeError);
  });

  test("wait and notify: not equal, timed out, nobody to wake; and a fence", () => {
    const m = new ModuleBuilder();
    const wait32 = m.function("wait32", ["i32", "i64"], "i32", (f, expected, timeout) => {
      f.atomic.fence();
      return f.memory.atomic.wait32(64, expected, timeout);
    });
    const wait64 = m.function("wait64", ["i64", "i64"], "i32", (f, expected, timeout) =>
      f.memory.atomic.wait64(0, expected, timeout, { offset: 64 }),
    );
    const notify = m.function("notify", [], "i32", (f) => f.memory.atomic.notify(64, 1));
    for (const handle of [wait32, wait64, notify]) m.export(handle);
    const { exports } = start(m);
    assert.equal(exports.wait32?.(1, -1n), 1);
    assert.equal(exports.wait32?.(0, 1000n), 2);
    assert.equal(exports.wait64?.(1n, -1n), 1);
    assert.equal(exports.wait64?.(0n, 1000n), 2);
    assert.equal(exports.notify?.(), 0);
  });
});

test("waits in a loop whose results nobody wants all end", () => {
  const m = new ModuleBuilder();
  m.export(
    m.function("run", ["i32"], [], (f, rounds) => f.for(0, rounds, 1, () => void f.memory.atomic.wait32(64, 0, 1000n))),
  );
  start(m).exports.run?.(20);
});

describe("stretches of memory", () => {
  test("memory.fill and memory.copy, overlapping either way", () => {
    const m = new ModuleBuilder();
    const fill = m.function("fill", ["i32", "i32", "i32"], [], (f, to, byte, count) => f.memory.fill(to, byte, count));
    const copy = m.function("copy", ["i32", "i32", "i32"], [], (f, to, from, count) => f.memory.copy(to, from, count));
    m.export(fill);
    m.export(copy);
    const { bytes, exports } = start(m);
    exports.fill?.(10, 0x1ff, 5);
    assert.deepEqual([...bytes.slice(9, 16)], [0, 255, 255, 255, 255, 255, 0]);
    bytes.set([1, 2, 3, 4, 5], 100);
    exports.copy?.(102, 100, 5);
    assert.deepEqual([...bytes.slice(100, 107)], [1, 2, 1, 2, 3, 4, 5]);
    exports.copy?.(99, 100, 7);
    assert.deepEqual([...bytes.slice(99, 107)], [1, 2, 1, 2, 3, 4, 5, 5]);
    assert.throws(() => exports.fill?.(2 ** 17 - 2, 0, 5), WebAssembly.RuntimeError);
  });

  test("memory.size and memory.grow count pages", () => {
    const m = new ModuleBuilder();
    m.export(m.function("size", [], "i32", (f) => f.memory.size()));
    m.export(m.function("grow", ["i32"], "i32", (f, pages) => f.memory.grow(pages)));
    const { memory, exports } = start(m);
    assert.equal(exports.size?.(), 2);
    assert.equal(exports.grow?.(3), 2);
    assert.equal(exports.size?.(), 5);
    assert.equal(memory.buffer.byteLength, 5 * 65536);
    assert.equal(exports.grow?.(100), -1, "past the limit it refuses");
  });

  test("addresses past 2 GiB are unsigned", () => {
    const m = new ModuleBuilder();
    m.export(m.function("run", ["i32"], "i32", (f, address) => f.i32.load(address)));
    assert.throws(() => start(m).exports.run?.(0x80000000 | 0), WebAssembly.RuntimeError);
  });
});

test("a vector kernel over shared memory: four lanes at a time, and the rest", () => {
  const m = new ModuleBuilder();
  const run = m.function("run", ["i32", "i32", "i32"], [], (f, x, y, n) => {
    const whole = f.i32.and(n, -4);
    f.for(0, whole, 4, (i) => {
      const offset = f.i32.shl(i, 2);
      const doubled = f.f32x4.add(f.f32x4.mul(f.v128.load(f.i32.add(x, offset)), 2), 1);
      f.v128.store(f.i32.add(y, offset), doubled);
    });
    f.for(whole, n, 1, (i) => {
      const offset = f.i32.shl(i, 2);
      f.f32.store(f.i32.add(y, offset), f.f32.add(f.f32.mul(f.f32.load(f.i32.add(x, offset)), 2), 1));
    });
  });
  m.export(run);
  const { memory, bytes, exports } = start(m);
  for (const n of [0, 1, 3, 4, 5, 11]) {
    bytes.fill(0, 0, 256);
    new Float32Array(memory.buffer, 64, n).set(Array.from({ length: n }, (_, i) => i));
    exports.run?.(64, 160, n);
    const expected = Array.from({ length: n + 1 }, (_, i) => (i < n ? 2 * i + 1 : 0));
    assert.deepEqual([...new Float32Array(memory.buffer, 160, n + 1)], expected);
  }
});
