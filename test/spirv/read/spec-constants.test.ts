/** The arithmetic of specialisation constants, against whole numbers cut to their width. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Op } from "../../../src/spirv/enumerants.js";
import { integerOperation } from "../../../src/spirv/read/spec-constants.js";

const u32 = (n: bigint) => BigInt.asUintN(32, n);
const of = (op: keyof typeof Op, ...operands: bigint[]) => {
  const result = integerOperation(Op[op], 32n, operands);
  return result === undefined ? undefined : u32(result);
};
const M1 = -1n;

test("sums, products and bits wrap", () => {
  assert.equal(of("IAdd", 0xffffffffn, 2n), 1n);
  assert.equal(of("ISub", 1n, 2n), 0xffffffffn);
  assert.equal(of("IMul", 0x10000n, 0x10001n), 0x10000n);
  assert.equal(of("SNegate", 1n), 0xffffffffn);
  assert.equal(of("Not", 0n), 0xffffffffn);
  assert.deepEqual([of("BitwiseOr", 5n, 3n), of("BitwiseAnd", 5n, 3n), of("BitwiseXor", 5n, 3n)], [7n, 1n, 6n]);
});

test("divisions by their sign, and by zero not at all", () => {
  assert.equal(of("UDiv", M1, 2n), 0x7fffffffn);
  assert.equal(of("SDiv", M1 * 7n, 2n), u32(-3n));
  assert.equal(of("UMod", M1, 10n), 5n);
  assert.deepEqual([of("SRem", -7n, 3n), of("SMod", -7n, 3n), of("SMod", 7n, -3n)], [u32(-1n), 2n, u32(-2n)]);
  for (const op of ["UDiv", "SDiv", "UMod", "SRem", "SMod"] as const) assert.equal(of(op, 5n, 0n), undefined);
});

test("shifts, with distances of the width and more", () => {
  assert.equal(of("ShiftLeftLogical", 3n, 31n), 0x80000000n);
  assert.equal(of("ShiftLeftLogical", 3n, 32n), 0n);
  assert.equal(of("ShiftRightLogical", M1, 28n), 15n);
  assert.equal(of("ShiftRightArithmetic", M1 * 16n, 2n), u32(-4n));
  assert.equal(of("ShiftRightArithmetic", M1, 1000n), 0xffffffffn);
});

test("comparisons read their operands signed or unsigned", () => {
  assert.deepEqual([of("ULessThan", M1, 1n), of("SLessThan", M1, 1n)], [0n, 1n]);
  assert.deepEqual([of("UGreaterThan", M1, 1n), of("SGreaterThan", M1, 1n)], [1n, 0n]);
  // The same bits, as the value of an operand whose type is unsigned.
  assert.deepEqual([of("SLessThan", 0xffffffffn, 1n), of("SGreaterThanEqual", 0xffffffffn, 1n)], [1n, 0n]);
  assert.deepEqual([of("ULessThanEqual", 1n, 1n), of("SGreaterThanEqual", 1n, 1n)], [1n, 1n]);
  assert.deepEqual([of("SLessThanEqual", 2n, 1n), of("UGreaterThanEqual", 0n, 1n)], [0n, 0n]);
  assert.deepEqual([of("IEqual", M1, 0xffffffffn), of("INotEqual", M1, 0xffffffffn)], [1n, 0n]);
});

test("truth: and, or, not, equal, and a choice", () => {
  assert.deepEqual([of("LogicalAnd", 1n, 0n), of("LogicalOr", 1n, 0n), of("LogicalNot", 0n)], [0n, 1n, 1n]);
  assert.deepEqual([of("LogicalEqual", 1n, 1n), of("LogicalNotEqual", 1n, 1n)], [1n, 0n]);
  assert.deepEqual([of("Select", 1n, 5n, 6n), of("Select", 0n, 5n, 6n)], [5n, 6n]);
});

test("a conversion extends by its own sign, whatever the operand's type says", () => {
  // 16 bits of ones: the operand's value is 65535 or -1, as its type is unsigned or signed.
  for (const ones of [0xffffn, -1n]) {
    assert.equal(u32(integerOperation(Op.SConvert, 16n, [ones])!), 0xffffffffn);
    assert.equal(u32(integerOperation(Op.UConvert, 16n, [ones])!), 0xffffn);
  }
});

test("what is no operation on whole numbers is not known", () => {
  assert.equal(of("FAdd", 1n, 1n), undefined);
});
