/** Programs of one device share kernels: a group that was lowered and emitted for one program serves the next. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { kernelsOf } from "../../../src/compiler/program/program.js";
import { SharedKernels } from "../../../src/compiler/steps/shared-kernels.js";
import type { Node } from "../../../src/graph/node.js";
import { add, exp, neg } from "../../../src/graph/primitives/elementwise.js";
import { sum } from "../../../src/graph/primitives/reduce.js";
import { make, stored } from "../../support/nodes.js";
import { asKernel, codelessTarget } from "../../support/targets.js";

/** Compiles programs one after the other, and counts the kernels that are loaded for each. */
function compiler() {
  const shared = new SharedKernels<Kernel>();
  let loaded = 0;
  const load: typeof asKernel = (encoded, kernel) => {
    loaded++;
    return asKernel(encoded, kernel);
  };
  return (roots: readonly Node[], leaves: readonly Node[]) => {
    loaded = 0;
    const program = compile(roots, leaves, codelessTarget(), load, null, shared);
    return { kernels: kernelsOf(program.steps), loaded };
  };
}

test("a program that goes on from what another one computes takes its kernels", () => {
  const compiled = compiler();
  const column = (x: Node) => make(exp, [make(sum, [x], { axes: [0] })]);
  const [x, y] = [stored(64, 128), stored(64, 128)];
  const first = compiled([column(x)], [x]);
  assert.equal(first.loaded, first.kernels.length);
  const middle = column(y);
  const second = compiled([middle, make(sum, [middle], { axes: [0] })], [y]);
  assert.equal(second.loaded, second.kernels.length - first.kernels.length);
  assert.ok(second.loaded > 0);
  for (const { code } of first.kernels) assert.ok(second.kernels.some((step) => step.code === code));
});

test("kernels that differ in an operation or a shape are not shared", () => {
  const compiled = compiler();
  const [x, wide] = [stored(64, 128), stored(64, 129)];
  compiled([make(exp, [make(add, [x, x])])], [x]);
  assert.equal(compiled([make(neg, [make(add, [x, x])])], [x]).loaded, 1);
  assert.equal(compiled([make(exp, [make(add, [wide, wide])])], [wide]).loaded, 1);
});

test("the least recently used are forgotten between programs, and never within one", () => {
  const shared = new SharedKernels<Kernel>();
  const group = { kernel: {} as Kernel, formula: { text: "" }, buffers: [] };
  for (let i = 0; i < 300; i++) shared.lowered.set(`group ${i}`, group);
  assert.equal(shared.lowered.size, 300);
  assert.ok(shared.lowered.get("group 0"), "used again");
  shared.trim();
  assert.equal(shared.lowered.size, 64);
  assert.equal(shared.lowered.get("group 1"), undefined);
  assert.ok(shared.lowered.get("group 0"));
  assert.ok(shared.lowered.get("group 299"));
});
