/** Conversions: the path that SPIR-V allows from each type to each other. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { instructions, type TypeName } from "../building.js";

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
