/** Which instructions arithmetic becomes, by the types of its operands, and what they compute. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type FunctionBuilder, ModuleBuilder, type Value } from "../../../src/spirv/index.js";
import { interpret } from "../../support/spirv-interpreter.js";
import { type Call, count, instructions, kernel, run, type TypeName, textOf } from "../building.js";

/** An operation, then for each type class (f32, i32, u32, bool) its instruction without result type; "" is refused. */
const BINARY: readonly (readonly [name: keyof FunctionBuilder, f: string, i: string, u: string, b: string])[] = [
  ["add", "FAdd", "IAdd", "IAdd", ""],
  ["sub", "FSub", "ISub", "ISub", ""],
  ["mul", "FMul", "IMul", "IMul", ""],
  ["div", "FDiv", "SDiv", "UDiv", ""],
  ["rem", "FRem", "SRem", "UMod", ""],
  ["mod", "FMod", "SMod", "UMod", ""],
  ["min", "ExtInst FMin", "ExtInst SMin", "ExtInst UMin", ""],
  ["max", "ExtInst FMax", "ExtInst SMax", "ExtInst UMax", ""],
  ["minNumber", "ExtInst NMin", "", "", ""],
  ["maxNumber", "ExtInst NMax", "", "", ""],
  ["and", "", "BitwiseAnd", "BitwiseAnd", "LogicalAnd"],
  ["or", "", "BitwiseOr", "BitwiseOr", "LogicalOr"],
  ["xor", "", "BitwiseXor", "BitwiseXor", "LogicalNotEqual"],
  ["shiftLeft", "", "ShiftLeftLogical", "ShiftLeftLogical", ""],
  ["shiftRight", "", "ShiftRightArithmetic", "ShiftRightLogical", ""],
  ["shiftRightLogical", "", "ShiftRightLogical", "ShiftRightLogical", ""],
  ["equal", "FOrdEqual", "IEqual", "IEqual", "LogicalEqual"],
  ["notEqual", "FUnordNotEqual", "INotEqual", "INotEqual", "LogicalNotEqual"],
  ["less", "FOrdLessThan", "SLessThan", "ULessThan", ""],
  ["lessEqual", "FOrdLessThanEqual", "SLessThanEqual", "ULessThanEqual", ""],
  ["greater", "FOrdGreaterThan", "SGreaterThan", "UGreaterThan", ""],
  ["greaterEqual", "FOrdGreaterThanEqual", "SGreaterThanEqual", "UGreaterThanEqual", ""],
  ["equalUnordered", "FUnordEqual", "", "", ""],
  ["notEqualOrdered", "FOrdNotEqual", "", "", ""],
  ["lessUnordered", "FUnordLessThan", "", "", ""],
  ["lessEqualUnordered", "FUnordLessThanEqual", "", "", ""],
  ["greaterUnordered", "FUnordGreaterThan", "", "", ""],
  ["greaterEqualUnordered", "FUnordGreaterThanEqual", "", "", ""],
];

const UNARY: typeof BINARY = [
  ["neg", "FNegate", "SNegate", "SNegate", ""],
  ["not", "", "Not", "Not", "LogicalNot"],
  ["abs", "ExtInst FAbs", "ExtInst SAbs", "", ""],
  ["sign", "ExtInst FSign", "ExtInst SSign", "", ""],
  ["floor", "ExtInst Floor", "", "", ""],
  ["ceil", "ExtInst Ceil", "", "", ""],
  ["trunc", "ExtInst Trunc", "", "", ""],
  ["roundEven", "ExtInst RoundEven", "", "", ""],
  ["fract", "ExtInst Fract", "", "", ""],
  ["sqrt", "ExtInst Sqrt", "", "", ""],
  ["inverseSqrt", "ExtInst InverseSqrt", "", "", ""],
  ["isNan", "IsNan", "", "", ""],
  ["isInf", "IsInf", "", "", ""],
  ["bitCount", "", "BitCount", "BitCount", ""],
  ["bitReverse", "", "BitReverse", "BitReverse", ""],
  ["findLowBit", "", "ExtInst FindILsb", "ExtInst FindILsb", ""],
  ["findHighBit", "", "ExtInst FindSMsb", "ExtInst FindUMsb", ""],
];

describe("the operand type picks the instruction", () => {
  const types = ["f32", "i32", "u32", "bool"] as const;
  for (const [table, arity] of [[BINARY, 2] as const, [UNARY, 1] as const]) {
    for (const [name, ...expected] of table) {
      test(name, () => {
        types.forEach((type, k) => {
          const call: Call = (f, a, b) => (f[name] as (...args: Value[]) => Value).apply(f, [a, b].slice(0, arity));
          if (expected[k] === "") assert.throws(() => instructions(type, call), new RegExp(`^ArgumentError: ${name}`));
          else {
            const written = instructions(type, call).map((line) => line.replace(/ (float|u?int|bool)\b/, ""));
            assert.deepEqual(written, [expected[k]], type);
          }
        });
      });
    }
  }

  const CASES: [string, TypeName, Call, string[]][] = [
    ["clamp of floats", "f32", (f, a, b, c) => f.clamp(a, b, c), ["ExtInst float FClamp"]],
    ["clamp of unsigned", "u32", (f, a) => f.clamp(a, 1, 2), ["ExtInst uint UClamp"]],
    ["fma", "f64", (f, a, b, c) => f.fma(a, b, c), ["ExtInst double Fma"]],
    ["bitExtract signed", "i32", (f, a) => f.bitExtract(a, 1, 2), ["BitFieldSExtract int"]],
    ["bitExtract unsigned", "u32", (f, a) => f.bitExtract(a, 1, 2), ["BitFieldUExtract uint"]],
    ["bitInsert", "u32", (f, a, b) => f.bitInsert(a, b, 1, 2), ["BitFieldInsert uint"]],
    [
      "mulExtended signed",
      "i32",
      (f, a, b) => f.mulExtended(a, b),
      ["SMulExtended", "CompositeExtract int", "CompositeExtract int"],
    ],
    [
      "mulExtended unsigned",
      "u32",
      (f, a, b) => f.mulExtended(a, b),
      ["UMulExtended", "CompositeExtract uint", "CompositeExtract uint"],
    ],
    ["dotPacked of signed", "i32", (f, a, b) => f.dotPacked(a, b), ["SDot int"]],
    ["dotPacked of unsigned", "u32", (f, a, b) => f.dotPacked(a, b), ["UDot uint"]],
    [
      "dotPacked of both, whichever comes first",
      "u32",
      (f, a, b) => f.dotPacked(a, f.bitcast(b, f.module.i32)),
      ["Bitcast int", "SUDot int"],
    ],
    ["dotPacked with an accumulator", "i32", (f, a, b, c) => f.dotPacked(a, b, c), ["SDotAccSat int"]],
  ];
  for (const [name, type, call, expected] of CASES) {
    test(name, () =>
      assert.deepEqual(
        instructions(type, call).map((line) => line.replace(/^(\w+) _struct_\d+/, "$1")),
        expected,
      ),
    );
  }
});

describe("contraction", () => {
  const sum = (contract?: boolean) =>
    kernel((f, m) => {
      const x = f.variable(m.f32).load();
      f.add(f.mul(x, x, { contract }), f.sqrt(x));
      f.add(f.variable(m.u32).load(), 1);
    });
  const decorated = (fill: (m: ModuleBuilder) => void, noContraction: boolean) =>
    count(textOf(fill, { noContraction }), /NoContraction/);

  test("is allowed by default", () => assert.equal(decorated(sum(), false), 0));
  test("is forbidden for every float operation by the module", () => assert.equal(decorated(sum(), true), 2));
  test("is allowed for one by its option", () => assert.equal(decorated(sum(true), true), 1));
  test("is forbidden for one by its option", () => assert.equal(decorated(sum(false), false), 1));
});

test("comparisons and NaN: ordered ones are false, notEqual and unordered ones true", () => {
  const m = new ModuleBuilder();
  const out = m.storageBuffer(m.u32, { binding: 0 });
  m.entry("main", { localSize: [1] }, (f) => {
    const nan = m.constant(m.f32, NaN);
    const tests = [f.less(nan, 1), f.equal(nan, nan), f.notEqual(nan, nan), f.lessUnordered(nan, 1), f.isNan(nan)];
    for (const [i, test] of tests.entries()) out.store(i, f.convert(test, m.u32));
  });
  const data = [9, 9, 9, 9, 9];
  interpret(m.build(), { 0: data });
  assert.deepEqual(data, [0, 0, 1, 1, 1]);
});

test("rem takes the sign of its left operand, mod of its right", () => {
  const data = run([-7, 3, 0, 0], (f, x) => {
    x.store(2, f.rem(x.load(0), x.load(1)));
    x.store(3, f.mod(x.load(0), x.load(1)));
  });
  assert.deepEqual(data.slice(2), [-1, 2]);
});
