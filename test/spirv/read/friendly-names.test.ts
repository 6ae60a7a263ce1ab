/** Names for ids in a disassembly: from the module, derived from the instruction, never two alike. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BuiltIn, Decoration, Op, StorageClass } from "../../../src/spirv/enumerants.js";
import { FriendlyNames } from "../../../src/spirv/read/friendly-names.js";

/** Learns instructions given as opcodes and operands; texts are given beside. */
function namesOf(...instructions: readonly (readonly [op: number, operands: readonly number[], text?: string])[]) {
  const names = new FriendlyNames();
  for (const [opcode, operands, text = ""] of instructions) {
    names.learn({
      opcode,
      count: operands.length,
      operand: (i) => operands[i - 1] ?? 0,
      text: () => text,
      literal: (i) => String(operands[i - 1]! | 0),
    });
  }
  return names;
}

test("types are named for what they are", () => {
  const names = namesOf(
    [Op.TypeVoid, [1]],
    [Op.TypeInt, [2, 32, 0]],
    [Op.TypeInt, [3, 16, 1]],
    [Op.TypeFloat, [4, 64]],
    [Op.TypeFloat, [5, 16, 0]],
    [Op.TypeVector, [6, 2, 4]],
    [Op.TypePointer, [7, StorageClass.Workgroup, 6]],
    [Op.TypeRuntimeArray, [8, 4]],
    [Op.TypeStruct, [9, 8]],
    [Op.TypeBool, [10]],
  );
  const all = Array.from({ length: 10 }, (_, i) => names.of(i + 1));
  assert.deepEqual(all, [
    "void",
    "uint",
    "short",
    "double",
    "float16_0",
    "v4uint",
    "_ptr_Workgroup_v4uint",
    "_runtimearr_double",
    "_struct_9",
    "bool",
  ]);
});

test("constants carry their value, a minus as n", () => {
  const names = namesOf(
    [Op.TypeInt, [1, 32, 1]],
    [Op.Constant, [1, 2, 7]],
    [Op.Constant, [1, 3, -7]],
    [Op.ConstantTrue, [1, 4]],
    [Op.ConstantFalse, [1, 5]],
    [Op.TypeArray, [6, 1, 2]],
  );
  assert.deepEqual(
    [2, 3, 4, 5, 6].map((id) => names.of(id)),
    ["int_7", "int_n7", "true", "false", "_arr_int_int_7"],
  );
});

test("a name that the module gives wins, and letters that no name has become underlines", () => {
  const names = namesOf([Op.Name, [1], "a b-c"], [Op.TypeVoid, [1]], [Op.Name, [2], "42"], [Op.Name, [3], ""]);
  assert.deepEqual([names.of(1), names.of(2), names.of(3), names.of(9)], ["a_b_c", "_42", "_", "9"]);
});

test("equal names are numbered, and built-in values have GLSL's", () => {
  const names = namesOf(
    [Op.Name, [1], "x"],
    [Op.Name, [2], "x"],
    [Op.Name, [3], "x"],
    [Op.Decorate, [4, Decoration.BuiltIn, BuiltIn.GlobalInvocationId]],
    [Op.Decorate, [5, Decoration.BuiltIn, BuiltIn.SubgroupSize]],
    [Op.Decorate, [6, Decoration.Binding, 0]],
  );
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map((id) => names.of(id)),
    ["x", "x_0", "x_1", "gl_GlobalInvocationID", "SubgroupSize", "6"],
  );
});
