/** What lanes combine: for any number of them, with and without subgroups, in the same order everywhere. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitSpirv } from "../../../../src/compiler/emit/spirv/emit-kernel.js";
import { mappingOf } from "../../../../src/compiler/emit/spirv/mapping.js";
import type { CombineOp, IRType, Kernel } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { REDUCE_OPS, reductionOf } from "../../../../src/graph/reduction.js";
import { disassemble } from "../../../../src/spirv/read/disassemble.js";
import { elementOracle } from "../../../support/element-oracle.js";
import { runKernel } from "../../../support/kernels.js";
import { assertValid, without } from "../../../support/spirv-val.js";
import { describeOnTensorDevices } from "../../../support/tensors.js";

/** Each lane's element combined with the others', given back to every lane, times over; or with those of its group. */
function combination(op: CombineOp, type: IRType, rows: number, lanes: number, times = 1, group = lanes): Kernel {
  const k = new KernelBuilder(`${op} of ${lanes}`, rows, lanes);
  const [source, target] = [k.buffer(type, false), k.buffer(type, true)];
  const at = k.binary("add", k.binary("mul", k.row, k.constant("i32", lanes)), k.lane);
  let value = k.load(source, at, type);
  for (let i = 0; i < times; i++) value = k.combineLanes(op, i === 0 ? value : k.binary("add", value, value), group);
  k.store(target, at, value, false);
  return k.finish();
}

/** Neighbours first, then pairs of them. */
function inPairs<T>(values: readonly T[], merge: (a: T, b: T) => T): T {
  let rest = values;
  while (rest.length > 1) rest = rest.flatMap((a, i) => (i % 2 === 0 ? merge(a, rest[i + 1]!) : []));
  return rest[0]!;
}

const lineOf = <T>(values: ArrayLike<T>, lanes: number, row: number): T[] =>
  Array.from({ length: lanes }, (_, lane) => values[row * lanes + lane]!);

describeOnTensorDevices("lanes", (device) => {
  const counts = device === "cpu" ? [4] : [2, 4, 8, 16, 32, 64, 128, 256];
  const rows = 37;

  test("sums are of neighbours first, whatever the number of lanes", () => {
    for (const lanes of counts) {
      const source = Float32Array.from({ length: rows * lanes }, (_, i) => Math.fround(1 / (i + 1)));
      const [, result] = runKernel(device, combination("add", "f32", rows, lanes), [source, source.slice()]);
      for (let row = 0; row < rows; row++) {
        const wanted = inPairs(lineOf(source, lanes, row), (a, b) => Math.fround(a + b));
        assert.deepEqual(lineOf(result, lanes, row), new Array(lanes).fill(wanted), `row ${row} of ${lanes} lanes`);
      }
    }
  });

  test("groups of neighbours have sums of their own, inside a subgroup or across several", {
    skip: device === "cpu" && "groups of four lanes are all lanes",
  }, () => {
    for (const lanes of counts) {
      const source = Float32Array.from({ length: rows * lanes }, (_, i) => Math.fround(1 / (i + 1)));
      for (let group = 2; group < lanes; group *= 2) {
        const kernel = combination("add", "f32", rows, lanes, 2, group);
        const [, result] = runKernel(device, kernel, [source, source.slice()]);
        const wanted = Array.from({ length: (rows * lanes) / group }, (_, at) => {
          const once = inPairs(lineOf(source, group, at), (a, b) => Math.fround(a + b));
          return new Array(group).fill(inPairs(new Array<number>(group).fill(2 * once), (a, b) => Math.fround(a + b)));
        }).flat();
        assert.deepEqual(Array.from(result as Float32Array), wanted, `groups of ${group} among ${lanes}`);
      }
    }
  });

  test("several combinations in a row do not get in each other's way", () => {
    for (const lanes of counts) {
      const source = Int32Array.from({ length: rows * lanes }, (_, i) => i % 5);
      const [, result] = runKernel(device, combination("add", "i32", rows, lanes, 4), [source, source.slice()]);
      for (let row = 0; row < rows; row++) {
        let wanted = 0;
        for (let i = 0; i < 4; i++) {
          const line = i === 0 ? lineOf(source, lanes, row) : new Array<number>(lanes).fill(2 * wanted);
          wanted = line.reduce((sum, x) => (sum + x) | 0, 0);
        }
        assert.deepEqual(lineOf(result, lanes, row), new Array(lanes).fill(wanted), `row ${row} of ${lanes} lanes`);
      }
    }
  });

  for (const op of ["min", "max"] as const) {
    test(`all lanes agree on the sign of a zero by ${op}, and NaN wins`, () => agreeOnZeros(op));
  }

  function agreeOnZeros(op: "min" | "max"): void {
    for (const lanes of counts) {
      const source = Float32Array.from({ length: rows * lanes }, (_, i) => {
        const row = Math.floor(i / lanes);
        if (row % 3 === 0 && i % lanes === row % lanes) return Number.NaN;
        return i % 2 === row % 2 ? 0 : -0;
      });
      const [, result] = runKernel(device, combination(op, "f32", rows, lanes), [source, source.slice()]);
      for (let row = 0; row < rows; row++) {
        const line = lineOf(result, lanes, row);
        assert.ok(
          line.every((x) => Object.is(x, line[0])),
          `row ${row} of ${lanes} lanes: ${line}`,
        );
        assert.equal(Number.isNaN(line[0]), row % 3 === 0);
      }
    }
  }

  test("whatever combines the partial results of some reduction combines lanes", () => {
    for (const op of REDUCE_OPS) {
      const { combine, kinds, elementwise } = reductionOf(op);
      const type = kinds.includes("int") ? "i32" : "bool";
      const oracle = elementOracle(elementwise, [type, type], type) as (a: number, b: number) => number;
      for (const lanes of counts) {
        const values = Array.from({ length: rows * lanes }, (_, i) =>
          type === "bool" ? (i % 3) % 2 : (i * 2654435761) | 0,
        );
        const source = type === "bool" ? Uint8Array.from(values) : Int32Array.from(values);
        const [, result] = runKernel(device, combination(combine, type, rows, lanes), [source, source.slice()]);
        for (let row = 0; row < rows; row++) {
          const wanted = lineOf(source, lanes, row).reduce((a, b) => oracle(a, b));
          assert.deepEqual(lineOf(result, lanes, row), new Array(lanes).fill(wanted), `${op}, ${lanes} lanes`);
        }
      }
    }
  });

  test("numbers of 64 bits and truth values are combined as well", {
    skip: device === "cpu" && "one lane only",
  }, () => {
    for (const lanes of counts) {
      const source = BigInt64Array.from({ length: rows * lanes }, (_, i) => BigInt(i) * 3_000_000_007n);
      const [, sums] = runKernel(device, combination("add", "i64", rows, lanes), [source, source.slice()]);
      const bits = Uint8Array.from({ length: rows * lanes }, (_, i) => (i % 7 === 3 ? 1 : 0));
      const [, any] = runKernel(device, combination("or", "bool", rows, lanes), [bits, bits.slice()]);
      for (let row = 0; row < rows; row++) {
        const total = lineOf(source, lanes, row).reduce((sum, x) => sum + x, 0n);
        assert.deepEqual(lineOf(sums, lanes, row), new Array(lanes).fill(total));
        const isSet = lineOf(bits, lanes, row).includes(1) ? 1 : 0;
        assert.deepEqual(lineOf(any, lanes, row), new Array(lanes).fill(isSet));
      }
    }
  });
});

describe("rows and workgroups", () => {
  test("the lanes of a row that fit into a subgroup share their workgroup with other rows", () => {
    assert.deepEqual(mappingOf(combination("add", "f32", 100000, 32), 32), { threads: 256, rowsPerGroup: 8 });
    assert.deepEqual(mappingOf(combination("add", "f32", 100000, 64), 32), { threads: 64, rowsPerGroup: 1 });
    assert.deepEqual(mappingOf(combination("add", "f32", 100000, 32), 0), { threads: 32, rowsPerGroup: 1 });
    assert.deepEqual(mappingOf(combination("add", "f32", 100000, 1), 32), { threads: 256, rowsPerGroup: 256 });
  });

  test("without subgroups, lanes wait between the rounds of halves and after the last", () => {
    const barriers = (lanes: number) =>
      disassemble(emitSpirv(combination("add", "f32", 10, lanes), { subgroupSize: 0 })).split("OpControlBarrier")
        .length - 1;
    for (const lanes of [2, 32, 64]) assert.equal(barriers(lanes), Math.log2(lanes) + 1, `${lanes} lanes`);
  });

  test("groups that fit into a subgroup need no barrier", () => {
    const barriers = (group: number, subgroupSize: number) =>
      disassemble(emitSpirv(combination("add", "f32", 10, 64, 1, group), { subgroupSize })).split("OpControlBarrier")
        .length - 1;
    assert.deepEqual([barriers(8, 32), barriers(32, 32), barriers(8, 0)], [0, 0, 4]);
  });

  test("the validator accepts them for subgroups of any size", { skip: without("spirv-val") }, () => {
    for (const subgroupSize of [0, 8, 32, 64, 128]) {
      for (const lanes of [32, 256]) {
        for (const type of ["f32", "i64", "f64"] as const) {
          assertValid(emitSpirv(combination("max", type, 10, lanes, 2), { subgroupSize }));
          assertValid(emitSpirv(combination("max", type, 10, lanes, 2, 16), { subgroupSize }));
        }
      }
    }
  });
});

describeOnTensorDevices("values of other lanes", (device) => {
  const counts = device === "cpu" ? [4] : [2, 8, 16, 64, 256];
  // The CPU's lanes exchange 32 bits.
  for (const type of device === "cpu" ? (["f32", "i32"] as const) : (["f32", "f64", "i32"] as const)) {
    test(`each lane gets the ${type} of the lane that it names, in its own row, round after round`, () => {
      const Type = { f32: Float32Array, f64: Float64Array, i32: Int32Array }[type];
      for (const lanes of counts) {
        const rows = 5;
        const k = new KernelBuilder("mirrored", rows, lanes);
        const [source, target] = [k.buffer(type, false), k.buffer(type, true)];
        const at = k.binary("add", k.binary("mul", k.row, k.constant("i32", lanes)), k.lane);
        const mirror = k.binary("sub", k.constant("i32", lanes - 1), k.lane);
        const [last] = k.loop(3, [k.load(source, at, type)], (_, [value]) => [k.fromLane(value!, mirror)]);
        k.store(target, at, last!, false);
        const given = new Type(Array.from({ length: rows * lanes }, (_, i) => i + 0.5));
        const [, got] = runKernel(device, k.finish(), [given, given.slice()]);
        got.forEach((value: number, i: number) => {
          const row = Math.floor(i / lanes);
          assert.equal(value, given[row * lanes + lanes - 1 - (i % lanes)], `element ${i} of ${lanes} lanes`);
        });
      }
    });
  }
});
