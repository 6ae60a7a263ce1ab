/** The table of all instructions: every row of every table is there, with its types, and found by its name or its parts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  INSTRUCTIONS,
  instructionOfParts,
  laneCount,
  opcodeOf,
  opcodeParts,
  SELECT,
} from "../../src/wasm/instructions.js";
import { ATOMIC, BULK, LANE_LOAD, LANE_STORE, LOAD, STORE } from "../../src/wasm/memory-table.js";
import { SCALAR } from "../../src/wasm/scalar-table.js";
import { LANE, RELAXED, SHUFFLE, VECTOR } from "../../src/wasm/vector-table.js";

const TABLES = [SCALAR, VECTOR, RELAXED, LANE, SHUFFLE, LOAD, STORE, LANE_LOAD, LANE_STORE, ATOMIC, BULK];
const LETTERS: Readonly<Record<string, string>> = { i: "i32", l: "i64", f: "f32", d: "f64", v: "v128" };

test("every row is an instruction with the types of its signature, and its opcode is its own", () => {
  const opcodes = new Set<number>();
  for (const table of TABLES) {
    for (const [signature, row] of Object.entries(table)) {
      const [parameters, result] = signature.split(">") as [string, string];
      for (const [name, code] of Object.entries(row as Record<string, number | readonly number[]>)) {
        const instruction = INSTRUCTIONS.get(name);
        assert.deepEqual(
          instruction?.parameters,
          [...parameters].map((letter) => LETTERS[letter]),
          name,
        );
        assert.equal(instruction?.result, result === "" ? "none" : LETTERS[result], name);
        const opcode = typeof code === "number" ? code : code[0]!;
        assert.equal(instruction?.opcode, opcode, name);
        assert.ok(!opcodes.has(opcode), `${name} has the opcode of another`);
        opcodes.add(opcode);
      }
    }
  }
  assert.equal(INSTRUCTIONS.size, opcodes.size);
});

test("an opcode of more than a byte after its prefix is told from others by its place in the number", () => {
  assert.deepEqual(opcodeParts(0x6a), [null, 0x6a]);
  assert.deepEqual(opcodeParts(0xfd05), [0xfd, 0x05]);
  assert.deepEqual(opcodeParts(0xfd105), [0xfd, 0x105]);
  for (const opcode of [0xfc00, 0xfdff, 0xfd105, 0xfe05]) {
    const [prefix, rest] = opcodeParts(opcode);
    assert.equal(opcodeOf(prefix!, rest), opcode);
  }
});

test("an instruction is found by the parts of its name", () => {
  assert.equal(instructionOfParts("i32", "lt", "_u"), INSTRUCTIONS.get("i32.lt_u"));
  assert.equal(instructionOfParts("f32x4", "add", ""), INSTRUCTIONS.get("f32x4.add"));
  assert.equal(instructionOfParts("f32", "lt", "_u"), undefined);
});

test("lanes are counted by the shape, or by the bytes that are accessed", () => {
  const count = (name: string) => laneCount(INSTRUCTIONS.get(name)!);
  assert.deepEqual(
    ["i8x16.extract_lane_s", "i64x2.replace_lane", "f32x4.extract_lane", "v128.load16_lane"].map(count),
    [16, 2, 4, 8],
  );
});

test("a choice takes two values of a type and a condition", () => {
  for (const type of ["i32", "i64", "f32", "f64", "v128"] as const) {
    assert.deepEqual(SELECT[type].parameters, [type, type, "i32"]);
    assert.equal(SELECT[type].result, type);
  }
});

test("effects: loads read, stores and atomics write, arithmetic does neither", () => {
  const effect = (name: string) => INSTRUCTIONS.get(name)?.effect;
  assert.deepEqual(
    [
      "i32.add",
      "f64x2.sqrt",
      "i32.load8_s",
      "v128.load32_lane",
      "i64.store16",
      "i32.atomic.rmw.add",
      "memory.fill",
    ].map(effect),
    ["pure", "pure", "load", "load", "effect", "effect", "effect"],
  );
});
