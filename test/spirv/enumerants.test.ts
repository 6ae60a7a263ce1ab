/** The tables of numbers against the machine-readable grammar that Khronos publishes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as spirv from "../../src/spirv/enumerants.js";
import { grammar, RECENT, withoutGrammar as skip } from "./grammar.js";

test("opcodes are the grammar's", { skip }, () => {
  const known = new Map<string, number>();
  for (const { opname, opcode, aliases = [] } of grammar("spirv.core.grammar.json").instructions) {
    for (const name of [opname, ...aliases]) known.set(name, opcode);
  }
  for (const [name, code] of Object.entries(spirv.Op)) {
    if (RECENT.test(name) && !known.has(`Op${name}`)) continue;
    assert.equal(code, known.get(`Op${name}`), name);
  }
});

test("GLSL.std.450 instructions are the grammar's, all of them", { skip }, () => {
  const { instructions } = grammar("extinst.glsl.std.450.grammar.json");
  const known = Object.fromEntries(instructions.map(({ opname, opcode }) => [opname, opcode]));
  assert.deepEqual({ ...spirv.GlslStd450 }, known);
});

describe("enumerants are the grammar's", { skip }, () => {
  const kinds = skip ? [] : (grammar("spirv.core.grammar.json").operand_kinds ?? []);
  for (const [table, entries] of Object.entries(spirv)) {
    const kind = kinds.find((k) => k.kind === table || k.kind === `${table}KHR`);
    if (typeof entries !== "object" || !kind?.enumerants) continue;
    test(table, () => {
      const known = new Map<string, number>();
      for (const { enumerant, value, aliases = [] } of kind.enumerants ?? []) {
        for (const name of [enumerant, ...aliases]) known.set(name, Number(value));
      }
      for (const [name, code] of Object.entries(entries)) {
        if (RECENT.test(name) && !known.has(name)) continue;
        assert.equal(code, known.get(name), name);
      }
    });
  }
});
