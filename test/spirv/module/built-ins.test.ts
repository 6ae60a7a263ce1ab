/** Built-in values: each has its number in SPIR-V, and the type and capability the specification gives it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BuiltIn } from "../../../src/spirv/enumerants.js";
import { BUILT_INS, type BuiltInName } from "../../../src/spirv/module/built-ins.js";
import { kernel, textOf } from "../building.js";

const names = Object.keys(BUILT_INS) as BuiltInName[];

test("every one is a built-in of SPIR-V", () => {
  for (const name of names) assert.ok(name in BuiltIn, name);
});

test("ids have three components, masks four, and the rest are numbers", () => {
  for (const name of names) {
    const want = /Mask$/.test(name) ? 4 : /^(NumWorkgroups|WorkgroupId|(Local|Global)InvocationId)$/.test(name) ? 3 : 1;
    assert.equal(BUILT_INS[name].components, want, name);
  }
});

test("using one declares its variable, its type and what it needs", () => {
  for (const name of names) {
    const text = textOf(kernel((f) => void f.builtin(name)));
    const { components } = BUILT_INS[name];
    assert.match(text, new RegExp(`BuiltIn ${name}\\n`));
    assert.match(text, components === 1 ? /OpLoad %uint / : new RegExp(`OpLoad %v${components}uint `), name);
    const capability = /Mask$/.test(name) ? /Capability GroupNonUniformBallot/ : /Capability GroupNonUniform\n/;
    if (/Subgroup/.test(name)) assert.match(text, capability, name);
    else assert.doesNotMatch(text, /GroupNonUniform/, name);
  }
});
