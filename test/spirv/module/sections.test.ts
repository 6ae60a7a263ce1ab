/** Modules section by section: the order that SPIR-V prescribes, the header, capabilities in order and once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Capability, Op } from "../../../src/spirv/enumerants.js";
import { Sections } from "../../../src/spirv/module/sections.js";
import { WordStream } from "../../../src/spirv/word-stream.js";

const newSections = (version: [1, number] = [1, 5], keepsNames = true) =>
  new Sections(version as never, keepsNames, false);

/** The opcodes of a module in their order. */
function opcodesOf(words: Uint32Array): number[] {
  const found: number[] = [];
  for (let at = 5; at < words.length; at += words[at]! >>> 16) found.push(words[at]! & 0xffff);
  return found;
}

test("the header holds the magic number, the version and a bound above every id", () => {
  const sections = newSections([1, 3]);
  const ids = [sections.newId(), sections.newId()];
  assert.deepEqual(ids, [1, 2]);
  assert.deepEqual([...sections.assemble(new WordStream()).subarray(0, 5)], [0x07230203, 0x00010300, 0, 3, 0]);
});

test("sections come in SPIR-V's order, whatever was written first", () => {
  const sections = newSections();
  sections.functions.op0(Op.FunctionEnd);
  sections.globals.op1(Op.TypeVoid, 1);
  sections.decorate(1, 2);
  sections.name(1, "x");
  sections.source("kernel", "text");
  sections.executionModes.op2(Op.ExecutionMode, 1, 17);
  sections.glsl();
  sections.requireExtension("SPV_KHR_x");
  const entries = new WordStream();
  entries.op1(Op.EntryPoint, 1);
  assert.deepEqual(opcodesOf(sections.assemble(entries)), [
    Op.Capability,
    Op.Extension,
    Op.ExtInstImport,
    Op.MemoryModel,
    Op.EntryPoint,
    Op.ExecutionMode,
    Op.String,
    Op.Source,
    Op.Name,
    Op.Decorate,
    Op.TypeVoid,
    Op.FunctionEnd,
  ]);
});

test("capabilities are declared once and rising; GLSL is imported once and only when asked for", () => {
  const sections = newSections();
  for (const each of [Capability.Int64, Capability.Float64, Capability.Int64]) sections.require(each);
  const words = sections.assemble(new WordStream());
  assert.deepEqual(opcodesOf(words).filter((op) => op === Op.Capability).length, 3);
  const declared = [...words.subarray(5, 11)].filter((_, i) => i % 2 === 1);
  assert.deepEqual(declared, [Capability.Shader, Capability.Float64, Capability.Int64]);
  assert.ok(!opcodesOf(words).includes(Op.ExtInstImport));
  assert.equal(sections.glsl(), sections.glsl());
});

test("names are left out where they are not kept, or empty", () => {
  const [kept, dropped] = [newSections(), newSections([1, 5], false)];
  for (const sections of [kept, dropped]) {
    sections.name(1, "x");
    sections.name(2, "");
    sections.memberName(1, 0, "y");
  }
  assert.equal(
    opcodesOf(kept.assemble(new WordStream())).filter((op) => op === Op.Name || op === Op.MemberName).length,
    2,
  );
  assert.equal(dropped.names.length, 0);
});

test("addresses make the memory model physical", () => {
  const sections = newSections();
  sections.require(Capability.PhysicalStorageBufferAddresses);
  const words = sections.assemble(new WordStream());
  const at = words.indexOf((3 << 16) | Op.MemoryModel);
  assert.equal(words[at + 1], 5348);
});

test("long sources are cut into pieces that fit an instruction", () => {
  const sections = newSections();
  sections.source("kernel", "x".repeat(120_000));
  const opcodes = opcodesOf(sections.assemble(new WordStream()));
  assert.equal(opcodes.filter((op) => op === Op.Source).length, 1);
  assert.equal(opcodes.filter((op) => op === Op.SourceContinued).length, 2);
});
