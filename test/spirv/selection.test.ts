/** Which instructions a call becomes, by the types of its operands. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { disassemble, type FunctionBuilder, ModuleBuilder, type Value } from "../../src/spirv/index.js";

type TypeName = "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "f16" | "f32" | "f64" | "bf16" | "bool";
type Call = (f: FunctionBuilder, a: Value, b: Value, c: Value) => unknown;

/** The instructions a call adds to a kernel, operands left out: "FAdd float", "ExtInst float Sqrt". */
function instructions(type: TypeName, call: Call): string[] {
  const m = new ModuleBuilder();
  m.entry("main", { localSize: [1] }, (f) => {
    const place = f.variable(m[type]);
    const [a, b, c] = [place.load(), place.load(), place.load()];
    f.line(m.source("mark", ""), 1);
    call(f, a, b, c);
  });
  const lines = disassemble(m.build()).split("\n");
  const body = lines.slice(lines.findIndex((line) => line.includes("OpLine")) + 1);
  return body
    .slice(
      0,
      body.findIndex((line) => line.includes("OpReturn")),
    )
    .map((line) => (/Op(\w+)( %[a-z]\w*)?(?: %\d+ ([A-Z]\w+))?/.exec(line) ?? []).slice(1))
    .map(([name, result = "", glsl = ""]) => `${name}${result.replace("%", "")}${glsl && ` ${glsl}`}`);
}

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

describe("convert takes the path SPIR-V allows", () => {
  const PATHS: [TypeName, TypeName, string[]][] = [
    ["i32", "u32", ["Bitcast uint"]],
    ["i8", "i32", ["SConvert int"]],
    ["i8", "u32", ["SConvert uint"]],
    ["u8", "u32", ["UConvert uint"]],
    ["u8", "i32", ["UConvert uint", "Bitcast int"]],
    ["u32", "i8", ["Bitcast int", "SConvert char"]],
    ["u32", "u8", ["UConvert uchar"]],
    ["i32", "u8", ["SConvert uchar"]],
    ["u32", "i64", ["UConvert ulong", "Bitcast long"]],
    ["i32", "u64", ["SConvert ulong"]],
    ["i32", "f32", ["ConvertSToF float"]],
    ["u32", "f32", ["ConvertUToF float"]],
    ["f32", "i32", ["ConvertFToS int"]],
    ["f32", "u32", ["ConvertFToU uint"]],
    ["f64", "f16", ["FConvert half"]],
    ["bool", "f32", ["Select float"]],
    ["f32", "bool", ["FUnordNotEqual bool"]],
    ["u32", "bool", ["INotEqual bool"]],
    ["u32", "u32", []],
    ["bool", "u8", ["Select uint", "UConvert uchar"]],
    ["bool", "f16", ["Select float", "FConvert half"]],
    ["u8", "bool", ["UConvert uint", "INotEqual bool"]],
    ["i8", "u8", ["SConvert int", "SConvert uchar"]],
    ["u8", "i8", ["UConvert uint", "Bitcast int", "SConvert char"]],
    ["u8", "f32", ["UConvert uint", "ConvertUToF float"]],
    ["f32", "i16", ["ConvertFToS int", "SConvert short"]],
    ["i32", "f16", ["ConvertSToF float", "FConvert half"]],
    ["f16", "u32", ["FConvert float", "ConvertFToU uint"]],
    ["i16", "f16", ["SConvert int", "ConvertSToF float", "FConvert half"]],
    ["f16", "bf16", ["FConvert float16_0"]],
    ["bf16", "i32", ["FConvert float", "ConvertFToS int"]],
    ["u32", "bf16", ["ConvertUToF float", "FConvert float16_0"]],
    ["bf16", "f64", ["FConvert double"]],
  ];
  for (const [from, to, expected] of PATHS) {
    test(`${from} to ${to}`, () =>
      assert.deepEqual(
        instructions(from, (f, a) => f.convert(a, f.module[to])),
        expected,
      ));
  }
});

describe("operands of scope, order and group", () => {
  const textOf = (fill: (m: ModuleBuilder) => (f: FunctionBuilder) => void, vulkanMemoryModel = false) => {
    const m = new ModuleBuilder({ vulkanMemoryModel });
    m.entry("main", { localSize: [1] }, fill(m));
    return disassemble(m.build());
  };

  test("atomics: device scope and relaxed for buffers, workgroup scope for shared memory; orders name their memory", () => {
    const text = textOf((m) => {
      const buffer = m.storageBuffer(m.u32, { binding: 0 });
      const shared = m.shared(m.u32);
      return (f) => {
        f.atomic.add(buffer.at(0), 10);
        f.atomic.add(shared, 11);
        f.atomic.add(buffer.at(0), 12, { order: "acquireRelease" });
        f.atomic.add(shared, 13, { order: "release", scope: "Subgroup" });
        f.atomic.compareExchange(buffer.at(0), 14, 15, { order: "acquireRelease" });
        f.atomic.compareExchange(buffer.at(0), 16, 17, { order: "release" });
      };
    });
    const [Device, Workgroup, Subgroup] = [1, 2, 3];
    const [Acquire, Release, AcquireRelease, Buffers, Shared] = [2, 4, 8, 0x40, 0x100];
    for (const [value, scope, semantics] of [
      [10, Device, 0],
      [11, Workgroup, 0],
      [12, Device, AcquireRelease | Buffers],
      [13, Subgroup, Release | Shared],
    ]) {
      assert.match(text, new RegExp(`OpAtomicIAdd %uint %\\d+ %uint_${scope} %uint_${semantics} %uint_${value}$`, "m"));
    }
    const exchange = (equal: number, different: number, desired: number, expected: number) =>
      `OpAtomicCompareExchange %uint %\\d+ %uint_1 %uint_${equal} %uint_${different} %uint_${desired} %uint_${expected}$`;
    assert.match(text, new RegExp(exchange(AcquireRelease | Buffers, Acquire | Buffers, 15, 14), "m"));
    assert.match(text, new RegExp(exchange(Release | Buffers, 0, 17, 16), "m"));
  });

  test("barriers: which memory they order", () => {
    const text = textOf(() => (f) => {
      f.workgroupBarrier();
      f.workgroupBarrier({ buffers: true });
      f.workgroupBarrier({ shared: true, buffers: true });
      f.workgroupBarrier({});
      f.memoryBarrier("Device", { buffers: true });
      f.subgroupBarrier();
    });
    const barriers = [...text.matchAll(/Op(?:Control|Memory)Barrier (.*)/g)].map((match) =>
      match[1].replaceAll("%uint_", ""),
    );
    assert.deepEqual(barriers, ["2 2 264", "2 2 72", "2 2 328", "2 2 0", "1 72", "3 3 264"]);
  });

  test("subgroup reductions and ballot counts: which group operation", () => {
    const text = textOf((m) => (f) => {
      const x = f.variable(m.f32).load();
      f.subgroup.reduce("add", x);
      f.subgroup.inclusiveScan("mul", x);
      f.subgroup.exclusiveScan("max", x);
      f.subgroup.clusteredReduce("min", x, 4);
      const ballot = f.subgroup.ballot(true);
      for (const which of ["all", "inclusive", "exclusive"] as const) f.subgroup.ballotCount(ballot, which);
    });
    const operations = [...text.matchAll(/OpGroupNonUniform(\w+) %\w+ %uint_3 ([A-Z]\w+)(?: %\w+ (%uint_4))?/g)];
    assert.deepEqual(
      operations.map((match) => match.slice(1).filter(Boolean).join(" ")),
      [
        "FAdd Reduce",
        "FMul InclusiveScan",
        "FMax ExclusiveScan",
        "FMin ClusteredReduce %uint_4",
        "BallotBitCount Reduce",
        "BallotBitCount InclusiveScan",
        "BallotBitCount ExclusiveScan",
      ],
    );
  });

  test("products of integer matrices say which of them are signed", () => {
    const product = (element: "i8" | "u8", sum: "i32" | "u32", saturate: boolean) =>
      textOf((m) => {
        const A = m.matrix(m[element], 16, 32, "A");
        const B = m.matrix(m[element], 32, 16, "B");
        const C = m.matrix(m[sum], 16, 16, "accumulator");
        return (f) => f.matrix.mulAdd(f.splat(A, 1), f.splat(B, 1), f.splat(C, 1), { saturate });
      });
    const all = ["MatrixA", "MatrixB", "MatrixC", "MatrixResult"].map((name) => `${name}SignedComponentsKHR`);
    assert(product("i8", "i32", false).includes(` ${all.join("|")}\n`));
    assert(product("i8", "u32", true).includes(` ${all[0]}|${all[1]}|SaturatingAccumulationKHR\n`));
    assert.match(product("u8", "u32", false), /OpCooperativeMatrixMulAddKHR %\d+ %\d+ %\d+ %\d+\n/);
  });
});
