/** Every instruction without memory access, run on many operands and compared with what JavaScript says it means. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { INSTRUCTIONS, type Instruction, laneCount } from "../../src/wasm/instructions.js";
import type { ValueType } from "../../src/wasm/types.js";
import { LANES, type LaneShape } from "../../src/wasm/types.js";
import type { Operand, Value } from "../../src/wasm/value.js";
import { type Random, randomFrom } from "../support/random.js";
import { type Running, start } from "./running.js";
import { type Lane, REINTERPRETS, scalarOracles } from "./scalar-oracle.js";
import { fromLanes, lanesOf, vectorOracles } from "./vector-oracle.js";

type Datum = Lane | Uint8Array;

const RECORD = 64;
const RESULT = 48;

/** Reads operands at 0, 16 and 32 of a record and leaves the result at 48. */
function runnerFor({ name, parameters, result }: Instruction, lanes: readonly number[] = []): Running {
  const m = new ModuleBuilder();
  const run = m.function("run", ["i32", "i32"], [], (f, from, to) => {
    f.for(from, to, RECORD, (record) => {
      const operands = parameters.map((type, i) => f.op(`${type}.load`, f.i32.add(record, 16 * i)));
      const method = lanes.length === 0 ? undefined : methodOf(f, name);
      const value = method ? method(...operands, lanes.length === 1 ? lanes[0] : lanes) : f.op(name, ...operands);
      f.op(`${result}.store`, f.i32.add(record, RESULT), value);
    });
  });
  m.export(run);
  return start(m);
}

function methodOf(f: object, name: string): (...given: unknown[]) => Operand {
  return name.split(".").reduce((at: object, step) => (at as Record<string, object>)[step] as object, f) as never;
}

const specials: Readonly<Record<Exclude<ValueType, "v128">, readonly Lane[]>> = {
  i32: [0, 1, -1, 2, 5, 7, 31, 32, 33, 127, 128, -128, 255, 32767, -32768, 65535, 2 ** 31 - 1, -(2 ** 31), 0x12345678],
  i64: [0n, 1n, -1n, 2n, 7n, 63n, 64n, 65n, -128n, 0xffffn, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n + 1n].concat([
    2n ** 62n + 2n ** 38n + 1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    0x123456789abcdef0n,
  ]),
  f32: [
    0,
    -0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.999,
    2 ** 31,
    -(2 ** 31),
    2 ** 32,
    2 ** 63,
    2 ** 64,
    1e-45,
    1e38,
    8388609,
  ]
    .concat([2 ** -149, 2 ** -126, Number.NaN, Infinity, -Infinity, 4294967040, -0.99])
    .map(Math.fround),
  f64: [
    0,
    -0,
    1,
    -1,
    0.5,
    1.5,
    2.5,
    -2.5,
    3.999999,
    2 ** 31 - 0.5,
    -(2 ** 31) - 0.5,
    2 ** 32 - 0.5,
    2 ** 53 + 1,
    2 ** 63,
  ].concat([
    2 ** 64,
    5e-324,
    1e308,
    1.1754943508222875e-38,
    3.4028235677973366e38,
    1e-320,
    Number.NaN,
    Infinity,
    -Infinity,
    -0.99,
  ]),
};

function vector(random: Random): Uint8Array {
  const shape = random.pick(["i8x16", "i16x8", "i32x4", "i64x2", "f32x4", "f64x2"] as const);
  const { count, scalar } = LANES[shape];
  if (random.below(4) === 0) return random.bytes(16);
  if (random.below(8) === 0) return fromLanes(shape, new Array<Lane>(count).fill(random.pick(specials[scalar])));
  return fromLanes(
    shape,
    Array.from({ length: count }, () => random.pick(specials[scalar])),
  );
}

/** All combinations of special scalars; for vectors, random mixtures of special lanes and of bytes. */
function operandSets(parameters: readonly ValueType[], random: Random): Datum[][] {
  if (!parameters.includes("v128")) {
    return parameters.reduce<Datum[][]>(
      (sets, type) => sets.flatMap((set) => specials[type as "i32"].map((value) => [...set, value])),
      [[]],
    );
  }
  return Array.from({ length: 600 }, () =>
    parameters.map((type) => (type === "v128" ? vector(random) : random.pick(specials[type]))),
  );
}

function write(view: DataView, at: number, type: ValueType, datum: Datum): void {
  if (type === "v128") new Uint8Array(view.buffer).set(datum as Uint8Array, at);
  else if (type === "i32") view.setInt32(at, datum as number, true);
  else if (type === "i64") view.setBigInt64(at, datum as bigint, true);
  else if (type === "f32") view.setFloat32(at, datum as number, true);
  else view.setFloat64(at, datum as number, true);
}

function read(view: DataView, at: number, type: ValueType): Datum {
  if (type === "v128") return new Uint8Array(view.buffer).slice(at, at + 16);
  if (type === "i32") return view.getInt32(at, true);
  if (type === "i64") return view.getBigInt64(at, true);
  return type === "f32" ? view.getFloat32(at, true) : view.getFloat64(at, true);
}

/** Equal, where any NaN equals any NaN: WebAssembly leaves the bits of a computed one open. */
function assertSame(actual: Datum, expected: Datum, name: string, operands: readonly Datum[]): void {
  const label = () => `${name}(${operands.map(String).join(" | ")})`;
  if (typeof actual !== "object") {
    assert.ok(Object.is(actual, expected), `${label()}: got ${actual}, expected ${expected}`);
    return;
  }
  const shape = (name.split(".")[0] === "v128" ? "i8x16" : name.split(".")[0]) as LaneShape;
  const [got, wanted] = [lanesOf(shape, actual), lanesOf(shape, expected as Uint8Array)];
  const isComparison = LANES[shape].isFloat && /\.(eq|ne|lt|gt|le|ge)$/.test(name);
  const same = isComparison
    ? Buffer.compare(actual, expected as Uint8Array) === 0
    : got.every((lane, i) => Object.is(lane, wanted[i]));
  assert.ok(same, `${label()}: got ${got}, expected ${wanted}`);
}

const plain = [...INSTRUCTIONS.values()].filter(({ effect, immediates }) => effect === "pure" && immediates === "none");

describe("every instruction computes what JavaScript says it should", () => {
  for (const instruction of plain) {
    const { name, parameters, result } = instruction;
    if (REINTERPRETS.includes(name)) continue;
    test(name, () => {
      const oracle = (scalarOracles.get(name) ?? vectorOracles.get(name)) as ((...x: Datum[]) => Datum) | undefined;
      assert.ok(oracle, `no oracle for ${name}`);
      const { view, exports } = runnerFor(instruction);
      const sets = operandSets(parameters, randomFrom(instruction.opcode));
      for (let from = 0; from < sets.length; from += 1024) {
        const batch: { operands: Datum[]; expected: Datum }[] = [];
        for (const operands of sets.slice(from, from + 1024)) {
          for (const [i, datum] of operands.entries()) {
            write(view, batch.length * RECORD + 16 * i, parameters[i] as ValueType, datum);
          }
          try {
            batch.push({ operands, expected: oracle(...operands) });
          } catch (error) {
            assert.ok(error instanceof RangeError);
            const at = batch.length * RECORD;
            assert.throws(() => exports.run?.(at, at + RECORD), WebAssembly.RuntimeError, `${name}(${operands})`);
          }
        }
        exports.run?.(0, batch.length * RECORD);
        batch.forEach(({ operands, expected }, i) => {
          assertSame(read(view, i * RECORD + RESULT, result as ValueType), expected, name, operands);
        });
      }
    });
  }
});

describe("reinterpreting keeps the bits", () => {
  for (const name of REINTERPRETS) {
    test(name, () => {
      const { bytes, exports } = runnerFor(INSTRUCTIONS.get(name) as Instruction);
      const random = randomFrom(1);
      const size = name.includes("64") ? 8 : 4;
      for (let i = 0; i < 200; i++) {
        const pattern = random.bytes(size);
        // Keep clear of signalling NaNs, which loading as a float may quiet on some machines.
        if (i % 4 === 0) pattern.set(size === 8 ? [0xf8, 0x7f] : [0xc0, 0x7f], size - 2);
        bytes.set(pattern, 0);
        exports.run?.(0, RECORD);
        assert.deepEqual(bytes.slice(RESULT, RESULT + size), pattern);
      }
    });
  }
});

describe("lanes", () => {
  const random = randomFrom(3);
  for (const instruction of [...INSTRUCTIONS.values()].filter(({ immediates }) => immediates === "lane")) {
    const { name, parameters, result } = instruction;
    test(name, () => {
      const shape = name.split(".")[0] as LaneShape;
      for (let lane = 0; lane < laneCount(instruction); lane++) {
        const { view, exports } = runnerFor(instruction, [lane]);
        for (let round = 0; round < 8; round++) {
          const source = vector(random);
          write(view, 0, "v128", source);
          const lanes = lanesOf(shape, source, !name.endsWith("_u"));
          if (parameters.length === 1) {
            exports.run?.(0, RECORD);
            const expected = result === "i32" ? Number(lanes[lane]) | 0 : (lanes[lane] as Lane);
            assertSame(read(view, RESULT, result as ValueType), expected, name, [source, lane]);
          } else {
            const type = parameters[1] as "i32";
            const replacement = random.pick(specials[type]);
            write(view, 16, type, replacement);
            exports.run?.(0, RECORD);
            lanes[lane] = typeof lanes[lane] === "bigint" ? BigInt(replacement) : replacement;
            const expected = fromLanes(shape, lanes);
            assertSame(read(view, RESULT, "v128"), expected, name, [source, replacement, lane]);
          }
        }
      }
    });
  }

  test("i8x16.shuffle takes any sixteen of two vectors' bytes", () => {
    for (let round = 0; round < 20; round++) {
      const lanes = Array.from({ length: 16 }, () => random.below(32));
      const { view, bytes, exports } = runnerFor(INSTRUCTIONS.get("i8x16.shuffle") as Instruction, lanes);
      const both = random.bytes(32);
      write(view, 0, "v128", both.subarray(0, 16));
      write(view, 16, "v128", both.subarray(16));
      exports.run?.(0, RECORD);
      assert.deepEqual(
        [...bytes.slice(RESULT, RESULT + 16)],
        lanes.map((lane) => both[lane]),
      );
    }
  });
});

describe("select", () => {
  const choices: [ValueType, Datum, Datum][] = [
    ["i32", 1, 2],
    ["i64", 1n, 2n],
    ["f32", 1.5, 2.5],
    ["f64", 1.25, 2.25],
    ["v128", new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)],
  ];
  for (const [type, a, b] of choices) {
    test(`between two ${type}`, () => {
      const m = new ModuleBuilder();
      const run = m.function("run", ["i32"], [], (f, condition) => {
        const chosen = f.select(condition, f.op(`${type}.load`, 0) as Value, f.op(`${type}.load`, 16) as Value);
        f.op(`${type}.store`, 32, chosen);
      });
      m.export(run);
      const { view, exports } = start(m);
      write(view, 0, type, a);
      write(view, 16, type, b);
      for (const condition of [0, 1, -5]) {
        exports.run?.(condition);
        assert.deepEqual(read(view, 32, type), condition === 0 ? b : a);
      }
    });
  }
});

describe("constants", () => {
  test("come out as they went in, signed or unsigned", () => {
    const m = new ModuleBuilder();
    const integers = [0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, -8193, 2 ** 31 - 1, -(2 ** 31), 2 ** 32 - 1];
    const wide = [0n, -1n, 63n, 64n, 2n ** 35n, -(2n ** 35n) - 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n];
    const floats = [0, -0, 1.1, -1e-45, Infinity, -Infinity, Number.NaN, 5e-324, 2 ** 53 + 2];
    const run = m.function("run", [], [], (f) => {
      for (const [i, x] of integers.entries()) f.i32.store(8 * i, x);
      for (const [i, x] of wide.entries()) f.i64.store(1000 + 8 * i, x);
      for (const [i, x] of floats.entries()) f.f32.store(2000 + 8 * i, x);
      for (const [i, x] of floats.entries()) f.f64.store(3000 + 8 * i, x);
    });
    m.export(run);
    const { view, exports } = start(m);
    exports.run?.();
    for (const [i, x] of integers.entries()) assert.equal(view.getInt32(8 * i, true), x | 0);
    for (const [i, x] of wide.entries()) assert.equal(view.getBigInt64(1000 + 8 * i, true), BigInt.asIntN(64, x));
    for (const [i, x] of floats.entries()) assert.ok(Object.is(view.getFloat32(2000 + 8 * i, true), Math.fround(x)));
    for (const [i, x] of floats.entries()) assert.ok(Object.is(view.getFloat64(3000 + 8 * i, true), x));
  });

  test("vectors are given by lane, or as one literal for all lanes", () => {
    const m = new ModuleBuilder();
    const run = m.function("run", [], [], (f) => {
      f.v128.store(0, f.i8x16.const([...Array(16).keys()]));
      f.v128.store(16, f.i16x8.const(-2));
      f.v128.store(32, f.i32x4.const([1, -1, 2 ** 32 - 1, 7]));
      f.v128.store(48, f.i64x2.const([2n ** 63n, -1]));
      f.v128.store(64, f.f32x4.const(1.5));
      f.v128.store(80, f.f64x2.const([-0, Infinity]));
      f.v128.store(96, f.f32x4.mul(f.f32x4.const([1, 2, 3, 4]), 0.5));
      f.v128.store(112, f.vector(new Uint8Array(16).fill(9)));
    });
    m.export(run);
    const { bytes, exports } = start(m);
    exports.run?.();
    const at = (shape: LaneShape, offset: number) => lanesOf(shape, bytes.slice(offset, offset + 16));
    assert.deepEqual(at("i8x16", 0).map(Number), [...Array(16).keys()]);
    assert.deepEqual(at("i16x8", 16), Array(8).fill(-2n));
    assert.deepEqual(at("i32x4", 32), [1n, -1n, -1n, 7n]);
    assert.deepEqual(at("i64x2", 48), [-(2n ** 63n), -1n]);
    assert.deepEqual(at("f32x4", 64), Array(4).fill(1.5));
    assert.deepEqual(at("f64x2", 80), [-0, Infinity]);
    assert.deepEqual(at("f32x4", 96), [0.5, 1, 1.5, 2]);
    assert.deepEqual(at("i8x16", 112), Array(16).fill(9n));
  });

  test("a literal among a conversion's operands has the lanes it converts from", () => {
    const m = new ModuleBuilder();
    m.export(
      m.function("run", [], [], (f) => {
        f.v128.store(0, f.f32x4.convert_i32x4_s(-3));
      }),
    );
    const { bytes, exports } = start(m);
    exports.run?.();
    assert.deepEqual(lanesOf("f32x4", bytes.slice(0, 16)), Array(4).fill(-3));
  });
});
