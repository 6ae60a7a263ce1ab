/** The checks that every instruction passes, and where it is written: literals, regions, blocks that have ended. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Op } from "../../../src/spirv/enumerants.js";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import { kernel, textOf } from "../building.js";

test("a literal takes the type it meets; a value of another type is refused by name", () => {
  const text = textOf(
    kernel((f, m) => {
      assert.equal(f.as(3, m.f32, "test").type, m.f32);
      assert.equal(f.as(3, m.f32, "test"), m.constant(m.f32, 3));
      const x = f.variable(m.u32).load();
      assert.throws(() => f.as(x, m.f32, "my operation"), /my operation/);
      assert.throws(() => f.value(3, "my operation"), /my operation/);
    }),
  );
  assert.match(text, /OpConstant %float 3/);
});

test("instructions are written with their type, result and operands in order", () => {
  const text = textOf(
    kernel((f, m) => {
      const [a, b] = [f.variable(m.u32).load(), f.variable(m.u32).load()];
      f.emit2(Op.ISub, m.u32, a, b);
      f.emitMany(Op.CompositeConstruct, m.vec(m.u32, 2), [b, a]);
    }),
  );
  const loads = [...text.matchAll(/(%\d+) = OpLoad %uint/g)].map((match) => match[1]);
  assert.match(text, new RegExp(`OpISub %uint ${loads[0]} ${loads[1]}\\n`));
  assert.match(text, new RegExp(`OpCompositeConstruct %v2uint ${loads[1]} ${loads[0]}\\n`));
});

test("variables come first and built-in values next, wherever they are asked for", () => {
  const text = textOf(
    kernel((f, m) => {
      f.for(0, 3, 1, () => {
        const x = f.variable(m.u32, 5);
        x.store(f.builtin("LocalInvocationIndex"));
      });
    }),
  );
  const body = text.slice(text.indexOf("OpLabel"));
  assert.ok(body.indexOf("OpVariable") < body.indexOf("OpLoad %uint %gl_LocalInvocationIndex"));
  assert.ok(body.indexOf("OpLoad %uint %gl_LocalInvocationIndex") < body.indexOf("OpLoopMerge"));
});

test("nothing is written after a return, and a value of another module is refused", () => {
  const m = new ModuleBuilder();
  const other = new ModuleBuilder();
  m.entry("main", { localSize: [1] }, (f) => {
    const x = f.variable(m.u32).load();
    assert.throws(() => f.add(x, other.constant(other.u32, 1)));
    f.return();
    assert.throws(() => f.add(x, 1));
  });
});
