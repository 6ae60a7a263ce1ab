/** The disassembler: every instruction by its name, nesting by indentation, and bytes that are no module. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { disassemble } from "../../src/wasm/disassemble.js";
import { INSTRUCTIONS, type Instruction } from "../../src/wasm/instructions.js";
import type { Value } from "../../src/wasm/value.js";

describe("the disassembler", () => {
  /** A module that uses these instructions. */
  const using = (instructions: readonly Instruction[]): Uint8Array => {
    const m = new ModuleBuilder();
    m.function("run", [], [], (f) => {
      for (const { name, parameters, immediates, result } of instructions) {
        const method = name.split(".").reduce((at: object, step) => (at as never)[step], f) as never as (
          ...given: unknown[]
        ) => Value | undefined;
        const operands: unknown[] = parameters.map((type) =>
          type === "v128" ? f.i32x4.const(1) : f.constant(type, 1),
        );
        if (immediates.includes("lanes")) operands.push(Array(16).fill(3));
        else if (immediates.includes("lane")) operands.push(1);
        const value = method(...operands);
        if (result !== "none" && value) f.op(`${result}.store`, 0, value);
      }
    });
    return m.build();
  };

  test("knows every instruction by its name", () => {
    const text = disassemble(using([...INSTRUCTIONS.values()]));
    for (const name of INSTRUCTIONS.keys()) assert.ok(text.includes(`  ${name}`), name);
    // Engines have the relaxed ones or not; all have the others.
    const portable = [...INSTRUCTIONS.values()].filter(({ name }) => !name.includes(".relaxed_"));
    assert.equal(portable.length, INSTRUCTIONS.size - 2);
    assert.ok(WebAssembly.validate(using(portable)));
  });

  test("refuses what is no module, saying where", () => {
    const m = new ModuleBuilder();
    m.export(
      m.function("run", ["i32"], "i32", (f, x) =>
        f.if(
          x,
          () => f.i32.load(x),
          () => 5,
        ),
      ),
    );
    const good = m.build();
    assert.throws(() => disassemble(new Uint8Array([1, 2, 3])), /WebAssembly: byte 0: the header needs 8 bytes/);
    assert.throws(() => disassemble(new Uint8Array(8)), /do not begin with/);
    for (let length = 9; length < good.length; length++) {
      try {
        disassemble(good.subarray(0, length));
      } catch (error) {
        assert.match((error as Error).message, /^WebAssembly: byte \d+: /);
      }
    }
    for (let at = 8; at < good.length; at++) {
      for (const flip of [1, 0x80, 0xff]) {
        const bad = good.slice();
        bad[at] = (bad[at] as number) ^ flip;
        try {
          disassemble(bad);
        } catch (error) {
          assert.match((error as Error).message, /^WebAssembly: byte \d+: /, `byte ${at} ^ ${flip}`);
        }
      }
    }
  });

  test("shows nesting by indentation", () => {
    const m = new ModuleBuilder({ memory: { min: 1, max: 2 } });
    m.export(
      m.function("twice", ["i32"], "i32", (f, x) =>
        f.if(
          f.i32.gt_s(x, 0),
          () => f.i32.mul(x, 2),
          () => x,
        ),
      ),
    );
    assert.equal(
      disassemble(m.build()),
      `(module
  (type (;0;) (func (param i32) (result i32)))
  (import "env" "memory" (memory 1 2 shared))
  (export "twice" (func $twice))
  (func $twice (type 0) (param i32) (result i32)
    (local i32)
    local.get 0
    i32.const 0
    i32.gt_s
    if
      local.get 0
      i32.const 2
      i32.mul
      local.set 1
    else
      local.get 0
      local.set 1
    end
    local.get 1
  )
  ;; custom section "name"
)
`,
    );
  });
});
