/** The tables of numbers and operand shapes against the machine-readable grammar that Khronos publishes. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as spirv from "../../src/spirv/enumerants.js";
import { ENUMERATIONS, INSTRUCTIONS } from "../../src/spirv/operands.js";

interface Operand {
  readonly kind: string;
  readonly quantifier?: "?" | "*";
}

interface Grammar {
  readonly instructions: readonly { opname: string; opcode: number; operands?: Operand[]; aliases?: string[] }[];
  readonly operand_kinds?: readonly {
    kind: string;
    category: string;
    enumerants?: { enumerant: string; value: number | string; aliases?: string[]; parameters?: Operand[] }[];
  }[];
}

const FOLDER = process.env.SPIRV_HEADERS ?? "/usr/include/spirv/unified1";
const skip = existsSync(join(FOLDER, "spirv.core.grammar.json"))
  ? false
  : "the SPIR-V grammar is not installed; it is in the package spirv-headers";

function grammar(file: string): Grammar {
  return JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
}

/** Extensions that grammars before 2025 do not have yet. */
const RECENT =
  /CooperativeMatrix|Replicate|BFloat16|Float8|FloatControls2|FPFastMathDefault|MaximallyReconverges|AllowContract|AllowReassoc|AllowTransform|WGSL|Slang|Zig/;

test("every opcode has a shape, and every shape an opcode", () => {
  const withShape = [...INSTRUCTIONS.values()].map((i) => i.name);
  assert.deepEqual(withShape.toSorted(), Object.keys(spirv.Op).toSorted());
  assert(!INSTRUCTIONS.has(undefined as unknown as number), "a name in the shapes is misspelt");
});

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

/** The grammar's operand list in our letters. */
function shapeOf(operands: readonly Operand[]): string {
  const letters: { [kind: string]: string } = {
    IdResultType: "T",
    IdResult: "R",
    IdRef: "I",
    IdScope: "I",
    IdMemorySemantics: "I",
    LiteralInteger: "L",
    LiteralFloat: "L",
    LiteralString: "S",
    LiteralContextDependentNumber: "N",
    LiteralExtInstInteger: "X",
    LiteralSpecConstantOpInteger: "O",
    PairIdRefIdRef: "(II)",
    PairLiteralIntegerIdRef: "(W)",
    PairIdRefLiteralInteger: "(IL)",
  };
  for (const [letter, { kind }] of Object.entries(ENUMERATIONS)) letters[kind] = letter;
  return operands.map(({ kind, quantifier = "" }) => (letters[kind] ?? `<${kind}>`) + quantifier).join("");
}

test("shapes of instructions are the grammar's", { skip }, () => {
  for (const { opcode, opname, operands = [] } of grammar("spirv.core.grammar.json").instructions) {
    const ours = INSTRUCTIONS.get(opcode);
    if (!ours) continue;
    let shape = shapeOf(operands);
    // The operands of the instruction inside come after its opcode; an old grammar has no encoding of floats.
    if (opname === "OpSpecConstantOp") shape += "*";
    if (opname === "OpTypeFloat" && shape === "RL") shape += "n?";
    // Newer grammars allow for more addressing operands of a memory copy, and a kind where older ones had a number.
    assert.equal(ours.shape, shape, opname);
  }
});

test("operands that enumerants bring are the grammar's", { skip }, () => {
  const kinds = grammar("spirv.core.grammar.json").operand_kinds ?? [];
  for (const { kind, parameters, names } of Object.values(ENUMERATIONS)) {
    const theirs = kinds.find((k) => k.kind === kind)?.enumerants ?? [];
    for (const { enumerant, value, parameters: operands = [] } of theirs) {
      if (names.get(Number(value)) !== enumerant) continue;
      assert.equal(parameters[enumerant] ?? "", shapeOf(operands), `${kind} ${enumerant}`);
    }
  }
});
