/** The operand shapes of instructions against the machine-readable grammar that Khronos publishes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Op } from "../../../src/spirv/enumerants.js";
import { ENUMERATIONS, INSTRUCTIONS } from "../../../src/spirv/read/operands.js";
import { grammar, type Operand, withoutGrammar as skip } from "../grammar.js";

test("every opcode has a shape, and every shape an opcode", () => {
  const withShape = [...INSTRUCTIONS.values()].map((i) => i.name);
  assert.deepEqual(withShape.toSorted(), Object.keys(Op).toSorted());
  assert(!INSTRUCTIONS.has(undefined as unknown as number), "a name in the shapes is misspelt");
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
