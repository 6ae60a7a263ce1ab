/** The loop-nest language itself: kernels written by hand, run on both engines, against what they plainly mean. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitSpirv } from "../../../src/compiler/emit/spirv/emit-kernel.js";
import { emitWasm } from "../../../src/compiler/emit/wasm/emit-kernel.js";
import type { IRType, Kernel, Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { printKernel } from "../../../src/compiler/print/print-kernel.js";
import { DeviceError } from "../../../src/core/errors.js";
import { WebAssembly } from "../../../src/core/webassembly.js";
import type { RunFunction } from "../../../src/engines/host/job-board.js";
import { backendFor } from "../../../src/tensor/index.js";
import { runKernel } from "../../support/kernels.js";
import { assertValid, without } from "../../support/spirv-val.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

/** Lanes that share a row: as many as there are on a GPU, as a vector has on the CPU. */
const lanesOn = (device: string): number => (device === "cpu" ? 4 : 64);

const numbers = (length: number, rule: (i: number) => number): Float32Array =>
  Float32Array.from({ length }, (_, i) => rule(i));

/** Kernels that every statement of the language occurs in, by what they do. */
const kernels = {
  /** Lane l takes what lane lanes - 1 - l has put into an array, several rounds over. */
  reversal(lanes: number, rows: number, extent: number, type: IRType = "f32"): Kernel {
    const k = new KernelBuilder("reversal", rows, lanes);
    const i = (value: number) => k.constant("i32", value);
    const [source, target] = [k.buffer(type as "f32", false), k.buffer(type as "f32", true)];
    const memory = k.array(type, extent);
    const base = k.binary("mul", k.row, i(extent));
    k.loop(
      extent,
      [],
      (at) => {
        k.set(memory, at, k.load(source, k.binary("add", base, at), type));
        return [];
      },
      { isLaneLoop: true },
    );
    k.barrier();
    k.loop(
      extent,
      [],
      (at) => {
        const value = k.get(memory, k.binary("sub", i(extent - 1), at));
        k.store(target, k.binary("add", base, at), value, false);
        return [];
      },
      { isLaneLoop: true },
    );
    return k.finish();
  },

  /** Sorts eight numbers per row in an array of the row's own, by inserting. */
  insertion(rows: number): Kernel {
    const k = new KernelBuilder("insertion", rows);
    const i = (value: number) => k.constant("i32", value);
    const [source, target] = [k.buffer("f32", false), k.buffer("f32", true)];
    const sorted = k.array("f32", 9);
    const base = k.binary("mul", k.row, i(8));
    k.loop(8, [], (n) => {
      const x = k.load(source, k.binary("add", base, n), "f32");
      const [hole] = k.loop(
        8,
        [n, k.constant("bool", false)],
        (_, [at]) => {
          const before = k.binary("max", k.binary("sub", at as Value, i(1)), i(0));
          const moves = k.binary("and", k.compare("gt", at as Value, i(0)), k.compare("gt", k.get(sorted, before), x));
          k.when(moves, () => {
            k.set(sorted, at as Value, k.get(sorted, before));
            return [];
          });
          return [k.select(moves, before, at as Value), k.unary("not", moves)];
        },
        { exitWhen: ([, isDone]) => isDone as Value },
      );
      k.set(sorted, hole as Value, x);
      return [];
    });
    k.loop(8, [], (n) => {
      k.store(target, k.binary("add", base, n), k.get(sorted, n));
      return [];
    });
    return k.finish();
  },

  /** Each row counts how often its lanes' neighbours through a buffer were larger: reads see what lanes wrote. */
  neighbours(lanes: number, rows: number): Kernel {
    const k = new KernelBuilder("neighbours", rows, lanes);
    const i = (value: number) => k.constant("i32", value);
    const [state, counts] = [k.buffer("f32", true), k.buffer("i32", true)];
    const base = k.binary("mul", k.row, i(lanes));
    const own = k.binary("add", base, k.lane);
    const next = k.binary("add", base, k.binary("irem", k.binary("add", k.lane, i(1)), i(lanes)));
    const [count] = k.loop(3, [i(0)], (_, [count]) => {
      const [mine, other] = [k.read(state, own, "f32"), k.read(state, next, "f32")];
      k.barrier();
      k.store(state, own, other, false);
      k.barrier();
      const isLarger = k.compare("gt", other, mine);
      return [k.binary("add", count as Value, k.select(isLarger, i(1), i(0)))];
    });
    k.store(counts, own, count as Value, false);
    return k.finish();
  },

  /** Neighbours of an array at once, and one by one. */
  quartets(lanes: number, rows: number, width: 2 | 4): Kernel {
    const k = new KernelBuilder("quartets", rows, lanes);
    const i = (value: number) => k.constant("i32", value);
    const [source, target] = [k.buffer("f32", false), k.buffer("f32", true)];
    const memory = k.array("f32", lanes * width);
    const base = k.binary("mul", k.row, i(lanes * width));
    const first = k.binary("mul", k.lane, i(width));
    const parts = Array.from({ length: width }, (_, part) => {
      const at = k.binary("add", base, k.binary("add", first, i(part)));
      return k.load(source, at, "f32");
    });
    k.setMany(memory, first, parts);
    k.barrier();
    // The first of the next lane's numbers is doubled by this lane, alone.
    const after = k.binary("irem", k.binary("add", first, i(width)), i(lanes * width));
    const doubled = k.binary("mul", k.get(memory, after), k.constant("f32", 2));
    k.barrier();
    k.set(memory, after, doubled);
    k.barrier();
    k.getMany(memory, first, width).forEach((value, part) => {
      k.store(target, k.binary("add", base, k.binary("add", first, i(part))), value, false);
    });
    return k.finish();
  },

  /** Steps of 3n + 1 until 1, or 0 for a row that is not to be counted; what follows from n if it is. */
  collatz(rows: number): Kernel {
    const k = new KernelBuilder("collatz", rows);
    const i = (value: number) => k.constant("i32", value);
    const [chosen, target] = [k.buffer("bool", false), k.buffer("i32", true)];
    const start = k.binary("add", k.row, i(1));
    const [steps, last] = k.when(
      k.load(chosen, k.row, "bool"),
      () => {
        const [n, count] = k.loop(
          1000,
          [start, i(0)],
          (_, [n, count]) => {
            const isOne = k.compare("eq", n as Value, i(1));
            const isEven = k.compare("eq", k.binary("irem", n as Value, i(2)), i(0));
            const half = k.binary("idiv", n as Value, i(2));
            const more = k.binary("add", k.binary("mul", n as Value, i(3)), i(1));
            const next = k.select(isEven, half, more);
            return [k.select(isOne, i(1), next), k.binary("add", count as Value, k.select(isOne, i(0), i(1)))];
          },
          { exitWhen: ([next]) => k.compare("eq", next as Value, i(1)) },
        );
        return [count as Value, n as Value];
      },
      () => [i(0), start],
    );
    const at = k.binary("mul", k.row, i(2));
    k.store(target, at, steps as Value);
    k.store(target, k.binary("add", at, i(1)), last as Value);
    return k.finish();
  },

  /** Halves an odd number of each lane's own until it is below 1; in f64 how often, and what is left. */
  halving(lanes: number, rows: number): Kernel {
    const k = new KernelBuilder("halving", rows, lanes);
    const i = (value: number) => k.constant("i32", value);
    const [counts, rests] = [k.buffer("i32", true), k.buffer("f64", true)];
    const own = k.binary("add", k.binary("mul", k.row, i(lanes)), k.lane);
    const start = k.convert("f64", k.binary("add", k.binary("mul", own, i(2)), i(1)));
    const [count, rest] = k.loop(
      100,
      [i(0), start],
      (_, [n, x]) => [k.binary("add", n as Value, i(1)), k.binary("mul", x as Value, k.constant("f64", 0.5))],
      { exitWhen: ([, x]) => k.compare("lt", x as Value, k.constant("f64", 1)) },
    );
    k.store(counts, own, count as Value, false);
    k.store(rests, own, rest as Value, false);
    return k.finish();
  },

  /** What all lanes do together, inside a branch that all of a row's lanes take or none. */
  branchOfLanes(lanes: number, rows: number): Kernel {
    const k = new KernelBuilder("branch of lanes", rows, lanes);
    const i = (value: number) => k.constant("i32", value);
    const target = k.buffer("i32", true);
    const memory = k.array("i32", lanes);
    const own = k.binary("add", k.binary("mul", k.row, i(lanes)), k.lane);
    const isOdd = k.compare("eq", k.binary("irem", k.row, i(2)), i(1));
    const mirror = k.binary("sub", i(lanes - 1), k.lane);
    const before = k.fromLane(k.lane, mirror);
    const [value] = k.when(
      isOdd,
      () => {
        k.set(memory, k.lane, own);
        k.barrier();
        const sum = k.combineLanes("add", k.get(memory, mirror));
        return [k.binary("add", sum, k.fromLane(own, mirror))];
      },
      () => [k.binary("sub", i(0), own)],
    );
    k.store(target, own, k.binary("add", k.fromLane(value as Value, mirror), before), false);
    return k.finish();
  },

  /** Powers of what each lane has, in 64 bits, through a loop and a branch. */
  powers(lanes: number, rows: number): Kernel {
    const k = new KernelBuilder("powers", rows, lanes);
    const i = (value: number) => k.constant("i32", value);
    const target = k.buffer("f64", true);
    const own = k.binary("add", k.binary("mul", k.row, i(lanes)), k.lane);
    const x = k.convert("f64", own);
    const [power] = k.loop(3, [k.constant("f64", 1)], (_, [state]) => [k.binary("mul", state as Value, x)]);
    const isSmall = k.compare("lt", power as Value, k.constant("f64", 1000));
    const chosen = k.select(isSmall, power as Value, k.unary("neg", power as Value));
    const [result] = k.when(
      k.compare("lt", k.row, i(2)),
      () => [k.binary("add", chosen, k.constant("f64", 0.5))],
      () => [chosen],
    );
    k.store(target, own, result as Value, false);
    return k.finish();
  },

  mulAdd(rows: number, type: "f32" | "f64" | "i32"): Kernel {
    const k = new KernelBuilder("mulAdd", rows);
    const [a, b, c, out] = [k.buffer(type, false), k.buffer(type, false), k.buffer(type, false), k.buffer(type, true)];
    const [x, y, z] = [a, b, c].map((buffer) => k.load(buffer, k.row, type)) as [Value, Value, Value];
    k.store(out, k.row, k.mulAdd(x, y, z));
    return k.finish();
  },
};

describeOnTensorDevices("kernels", (device) => {
  const lanes = lanesOn(device);
  const run = <const B extends Parameters<typeof runKernel>[2]>(kernel: Kernel, buffers: B) =>
    runKernel(device, kernel, buffers);
  const reversed = (rows: number, extent: number) => (i: number) => {
    const at = i % extent;
    return Math.min(rows * extent, i - at + extent - 1 - at);
  };

  for (const count of [1, lanes]) {
    test(`an array of a row of ${count} lanes holds what they put there`, () => {
      const [rows, extent] = [300, 3 * lanes];
      const [, result] = run(kernels.reversal(count, rows, extent), [
        numbers(rows * extent, (i) => i),
        new Float32Array(rows * extent),
      ]);
      assert.deepEqual(result, numbers(rows * extent, reversed(rows, extent)));
    });
  }

  const inReverse = <T extends { readonly [i: number]: unknown }>(source: T, rows: number, extent: number) =>
    Array.from({ length: rows * extent }, (_, i) => source[reversed(rows, extent)(i)]);

  for (const type of ["i32", "u32", "f64"] as const) {
    test(`arrays of ${type}`, () => {
      const Type = { i32: Int32Array, u32: Uint32Array, f64: Float64Array }[type];
      const source = new Type(numbers(640, (i) => i + 0.5));
      const [, result] = run(kernels.reversal(lanes, 5, 128, type), [source, new Type(640)]);
      assert.deepEqual([...result], inReverse(source, 5, 128));
    });
  }

  test("arrays of i64", () => {
    const source = BigInt64Array.from({ length: 64 }, (_, i) => BigInt(i) << 33n);
    const [, result] = run(kernels.reversal(1, 2, 32, "i64"), [source, new BigInt64Array(64)]);
    assert.deepEqual(
      result,
      BigInt64Array.from(source, (_, i) => source[reversed(2, 32)(i)]!),
    );
  });

  test("the lesser and the greater of two, by choice or as such, where they are equal or not numbers, too", () => {
    const special = [0, -0, 1, -1, Infinity, -Infinity, Number.NaN];
    const pairs = special.flatMap((a) => special.map((b) => [a, b] as const));
    const rules = {
      "a < b ? a : b": (a: number, b: number) => (a < b ? a : b),
      "a < b ? b : a": (a: number, b: number) => (a < b ? b : a),
      "a > b ? a : b": (a: number, b: number) => (a > b ? a : b),
      "a > b ? b : a": (a: number, b: number) => (a > b ? b : a),
      // NaN wins; of equals it is the second.
      min: (a: number, b: number) => (Number.isNaN(a) || a < b ? a : b),
      max: (a: number, b: number) => (Number.isNaN(a) || a > b ? a : b),
    };
    for (const [name, rule] of Object.entries(rules)) {
      const k = new KernelBuilder("extremes", pairs.length);
      const [first, second, target] = [k.buffer("f32", false), k.buffer("f32", false), k.buffer("f32", true)];
      const [a, b] = [k.load(first, k.row, "f32"), k.load(second, k.row, "f32")];
      const chosen = name.includes("?")
        ? k.select(
            k.compare(name.includes("<") ? "lt" : "gt", a, b),
            name.endsWith("b") ? a : b,
            name.endsWith("b") ? b : a,
          )
        : k.binary(name as "min" | "max", a, b);
      k.store(target, k.row, chosen);
      const [, , result] = run(k.finish(), [
        numbers(pairs.length, (i) => pairs[i]![0]),
        numbers(pairs.length, (i) => pairs[i]![1]),
        new Float32Array(pairs.length),
      ]);
      assert.deepEqual(
        [...result],
        pairs.map(([x, y]) => rule(x, y)),
        name,
      );
    }
  });

  test("arrays of bool", () => {
    const source = Uint8Array.from({ length: 256 }, (_, i) => Number(i % 3 === 0));
    const [, result] = run(kernels.reversal(lanes, 2, 128, "bool"), [source, new Uint8Array(256)]);
    assert.deepEqual(
      result,
      Uint8Array.from(source, (_, i) => source[reversed(2, 128)(i)]!),
    );
  });

  test("a row sorts in its own array, where reads and writes keep their order", () => {
    const rows = 4099;
    const source = numbers(8 * rows, (i) => ((i * 7919) % 101) - 50);
    const [, result] = run(kernels.insertion(rows), [source, new Float32Array(8 * rows)]);
    for (let row = 0; row < rows; row++) {
      const expected = source.slice(8 * row, 8 * row + 8).sort();
      assert.deepEqual(result.slice(8 * row, 8 * row + 8), expected, `row ${row}`);
    }
  });

  test("a read sees what the row's lanes have stored before a barrier", () => {
    const rows = 50;
    const start = numbers(rows * lanes, (i) => (i * 37) % 61);
    const [state, counts] = run(kernels.neighbours(lanes, rows), [start, new Int32Array(rows * lanes)]);
    const expected = Int32Array.from(start, (_, i) => {
      const base = i - (i % lanes);
      const at = (by: number) => start[base + ((i - base + by) % lanes)]!;
      return [0, 1, 2].filter((round) => at(round + 1) > at(round)).length;
    });
    assert.deepEqual(counts, expected);
    assert.deepEqual(
      state,
      start.map((_, i) => start[i - (i % lanes) + (((i % lanes) + 3) % lanes)]!),
    );
  });

  for (const width of [2, 4] as const) {
    test(`${width} neighbours of an array are accessed at once, and one of them alone`, () => {
      const rows = 33;
      const source = numbers(rows * lanes * width, (i) => i + 1);
      const [, result] = run(kernels.quartets(lanes, rows, width), [source, new Float32Array(source.length)]);
      assert.deepEqual(
        result,
        source.map((x, i) => (i % width === 0 ? 2 * x : x)),
      );
    });
  }

  test("a branch does one thing or the other, and gives what it computed", () => {
    const rows = 1000;
    const chosen = Uint8Array.from({ length: rows }, (_, i) => Number(i % 5 !== 2));
    const [, result] = run(kernels.collatz(rows), [chosen, new Int32Array(2 * rows)]);
    for (let row = 0; row < rows; row++) {
      let [n, steps] = [row + 1, 0];
      if (chosen[row]) for (; n !== 1; steps++) n = n % 2 === 0 ? n / 2 : 3 * n + 1;
      assert.deepEqual([...result.slice(2 * row, 2 * row + 2)], [steps, n], `row ${row}`);
    }
  });

  test("each lane leaves a loop when it is done, and keeps what it has", () => {
    const rows = 30;
    const size = rows * lanes;
    const [counts, rests] = run(kernels.halving(lanes, rows), [new Int32Array(size), new Float64Array(size)]);
    for (let at = 0; at < size; at++) {
      const steps = 1 + Math.floor(Math.log2(2 * at + 1));
      assert.deepEqual([counts[at], rests[at]], [steps, (2 * at + 1) / 2 ** steps], `lane ${at}`);
    }
  });

  test("lanes work together inside a branch that they all take", () => {
    const rows = 40;
    const [result] = run(kernels.branchOfLanes(lanes, rows), [new Int32Array(rows * lanes)]);
    const expected = Int32Array.from(result, (_, i) => {
      const [row, lane] = [Math.floor(i / lanes), i % lanes];
      const mirror = lanes - 1 - lane;
      const sum = (lanes * (2 * row * lanes + lanes - 1)) / 2;
      // The branch gives each lane a value, which is then exchanged with the mirror's.
      return (row % 2 === 1 ? sum + row * lanes + lane : -(row * lanes + mirror)) + mirror;
    });
    assert.deepEqual(result, expected);
  });

  test("lanes hold 64 bits through loops and branches, too", () => {
    const [result] = run(kernels.powers(lanes, 5), [new Float64Array(5 * lanes)]);
    const expected = Float64Array.from(result, (_, i) => {
      const power = i ** 3;
      return (power < 1000 ? power : -power) + (i < 2 * lanes ? 0.5 : 0);
    });
    assert.deepEqual(result, expected);
  });

  test("popCount counts the bits of a word", () => {
    const given = Uint32Array.of(0, 1, 0x80000000, 0xffffffff, 0x12345678, 0xfffffffe, 0x01010101);
    const k = new KernelBuilder("bits", given.length);
    const [source, target] = [k.buffer("u32", false), k.buffer("u32", true)];
    k.store(target, k.row, k.unary("popCount", k.load(source, k.row, "u32")));
    const [, found] = runKernel(device, k.finish(), [given, new Uint32Array(given.length)]);
    assert.deepEqual([...found], [0, 1, 1, 32, 13, 31, 4]);
  });

  test("lanes with the same low bits find one another; every row gets a ticket of its own", (t) => {
    const size = backendFor(device).target.profile.sort.subgroupSize ?? 0;
    if (size === 0 || size > 32) return t.skip("lanes cannot vote");
    const [lanes, rows] = [64, 40];
    const k = new KernelBuilder("matching", rows, lanes, size);
    const [tickets, source, target] = [k.buffer("u32", true), k.buffer("i32", false), k.buffer("u32", true)];
    const row = k.ticket(tickets, k.constant("i32", 1));
    const at = k.binary("add", k.binary("mul", row, k.constant("i32", lanes)), k.lane);
    k.store(target, at, k.matchLanes(k.load(source, at, "i32"), 2), false);
    const given = Int32Array.from({ length: rows * lanes }, (_, i) => (i * 7 + Math.floor(i / 5)) % 11);
    const [counters, , found] = runKernel(device, k.finish(), [
      new Uint32Array(2),
      given,
      new Uint32Array(rows * lanes),
    ]);
    assert.deepEqual([...counters], [0, rows]);
    const want = given.map((value, i) => {
      const first = i - (i % size);
      return [...Array(size).keys()].reduce(
        (word, bit) => word + (given[first + bit]! % 4 === value % 4 ? 2 ** bit : 0),
        0,
      );
    });
    assert.deepEqual([...found], [...Uint32Array.from(want)]);
  });

  test("mulAdd rounds once or twice", () => {
    const rows = 257;
    const [a, b, c] = [1, 2, 3].map((seed) => numbers(rows, (i) => Math.sin(seed * (i + 1)))) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    const [, , , result] = run(kernels.mulAdd(rows, "f32"), [a, b, c, new Float32Array(rows)]);
    result.forEach((value, i) => {
      const once = Math.fround(a[i]! * b[i]! + c[i]!);
      const twice = Math.fround(Math.fround(a[i]! * b[i]!) + c[i]!);
      assert.ok(value === once || value === twice, `${value} is neither ${once} nor ${twice}`);
    });
    const whole = Int32Array.from({ length: rows }, (_, i) => i * 65537);
    const [, , , wrapped] = run(kernels.mulAdd(rows, "i32"), [whole, whole, whole, new Int32Array(rows)]);
    assert.deepEqual(
      wrapped,
      whole.map((x) => (Math.imul(x, x) + x) | 0),
    );
  });
});

describe("kernels", () => {
  const every = (lanes: number): Kernel[] => [
    kernels.reversal(lanes, 3, 64),
    kernels.reversal(1, 3, 64, "f64"),
    kernels.reversal(lanes, 3, 64, "bool"),
    kernels.insertion(3),
    kernels.neighbours(lanes, 3),
    kernels.quartets(lanes, 3, 2),
    kernels.quartets(lanes, 3, 4),
    kernels.collatz(3),
    kernels.halving(lanes, 3),
    kernels.branchOfLanes(lanes, 3),
    kernels.powers(lanes, 3),
    kernels.mulAdd(3, "f64"),
  ];

  test("the validators of both targets accept them", { skip: without("spirv-val") }, () => {
    for (const kernel of every(64)) assertValid(emitSpirv(kernel));
    for (const kernel of every(4)) assert.ok(WebAssembly.validate(emitWasm(kernel)), kernel.name);
  });

  test("what is computed in a branch stays there, unless it was computed before", () => {
    const k = new KernelBuilder("sides", 4);
    const target = k.buffer("f32", true);
    const x = k.convert("f32", k.row);
    const root = k.unary("sqrt", x);
    const [y] = k.when(
      k.compare("gt", x, k.constant("f32", 1)),
      () => [k.binary("mul", k.unary("sqrt", x), k.unary("floor", x))],
      () => [k.unary("ceil", x)],
    );
    k.store(target, k.row, k.binary("add", y as Value, root));
    const text = printKernel(k.finish()).replaceAll(/%\d+/g, "%");
    assert.equal(
      text,
      [
        "kernel sides: 4 rows × 1 lanes",
        "  b0: f32, written",
        "  %: f32 = convert row",
        "  %: f32 = sqrt %",
        "  %: bool = gt %, 1",
        "  if %",
        "    %: f32 = floor %",
        "    %: f32 = mul %, %",
        "  else",
        "    %: f32 = ceil %",
        "  → % or % as %",
        "  %: f32 = add %, %",
        "  store b0[row] = %",
      ].join("\n"),
    );
  });

  test("two reads of one place are two reads", () => {
    const text = printKernel(kernels.quartets(64, 1, 4));
    assert.equal(text.match(/= read a0/g)?.length, 2);
    assert.match(text, /write a0\[%\d+\] = %\d+, %\d+, %\d+, %\d+\n {2}barrier/);
  });

  test("threads that share a kernel's rows each have arrays of their own, also after one has failed", () => {
    const k = new KernelBuilder("fails", 100000);
    const target = k.buffer("i32", true);
    const memory = k.array("i32", 4);
    const zero = k.constant("i32", 0);
    k.set(memory, zero, k.row);
    k.store(target, k.row, k.binary("idiv", k.get(memory, zero), k.binary("mul", k.row, zero)));
    const failing = k.finish();
    for (let i = 0; i < 3; i++) {
      assert.throws(() => runKernel("cpu", failing, [new Int32Array(100000)]), DeviceError);
    }
    const source = numbers(160000, (i) => i);
    const [, result] = runKernel("cpu", kernels.reversal(4, 10000, 16), [source, new Float32Array(160000)]);
    assert.deepEqual(
      result,
      source.map((x) => x + 15 - 2 * (x % 16)),
    );
  });

  test("vectors of rows divide once, and right, wherever a thread begins and ends", () => {
    for (const by of [1, 2, 3, 4, 6, 8, 14, 28]) {
      const rows = 90;
      const k = new KernelBuilder("divided", rows);
      const i = (value: number) => k.constant("i32", value);
      const [source, target] = [k.buffer("i32", false), k.buffer("i32", true)];
      // Neighbours, and neighbours of neighbours: what becomes of a quotient and a remainder later on counts, too.
      const [quotient, remainder] = (["idiv", "irem"] as const).map((op) => k.binary(op, k.row, i(by))) as [
        Value,
        Value,
      ];
      const half = k.binary("idiv", k.binary("mul", k.binary("add", remainder, i(4)), i(3)), i(2));
      const at = k.binary("add", k.binary("mul", quotient, i(5)), half);
      k.store(target, k.row, k.binary("add", k.load(source, at, "i32"), k.binary("irem", half, i(4))));
      const places = Array.from({ length: 5 * rows + 100 }, (_, place) => (place * 7919) % 1009);
      const expected = Array.from({ length: rows }, (_, row) => {
        const right = Math.floor((((row % by) + 4) * 3) / 2);
        return places[5 * Math.floor(row / by) + right]! + (right % 4);
      });
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
      const [given, made] = [1024, 16384];
      new Int32Array(memory.buffer, 256, 2).set([given, made]);
      new Int32Array(memory.buffer, given, places.length).set(places);
      const module = new WebAssembly.Module(emitWasm(k.finish()));
      const { run } = new WebAssembly.Instance(module, { env: { memory } }).exports as Record<string, RunFunction>;
      for (const ends of [[90], [3, 4, 27, 28, 90], [1, 2, 18, 61, 61, 90], [16, 33, 89, 90]]) {
        new Int32Array(memory.buffer, made, rows).fill(-1);
        for (const [part, end] of ends.entries()) run!(256, ends[part - 1] ?? 0, end);
        assert.deepEqual([...new Int32Array(memory.buffer, made, rows)], expected, `by ${by}, up to ${ends}`);
      }
    }
  });

  test("a kernel for more lanes than a vector has is refused on the CPU", () => {
    assert.throws(() => emitWasm(kernels.reversal(64, 1, 64)), /64 lanes share a row; on the CPU it is 1 or 4/);
  });
});
