/** Vectors, arrays and structs as values: put together, taken apart, shuffled; which instruction and which indices. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FunctionBuilder, ModuleBuilder } from "../../../src/spirv/index.js";
import { kernel, run, textOf } from "../building.js";

const bodyOf = (body: (f: FunctionBuilder, m: ModuleBuilder) => void) => {
  const text = textOf(kernel(body));
  return text.slice(text.indexOf("OpLabel"));
};

test("parts are found by number or by name, through several levels", () => {
  const text = bodyOf((f, m) => {
    const pair = m.struct([
      ["a", m.f32],
      ["v", m.array(m.vec(m.u32, 3), 2)],
    ]);
    const value = f.variable(pair).load();
    assert.equal(f.extract(value, "v", 1, 2).type, m.u32);
    f.insert(value, 5, "v", 0, 1);
    assert.throws(() => f.extract(value, "w"), /w/);
    assert.throws(() => f.extract(value, 1, 2, 0));
  });
  assert.match(text, /OpCompositeExtract %uint %\d+ 1 1 2\n/);
  assert.match(text, /OpCompositeInsert %_struct_\d+ %uint_5 %\d+ 1 0 1\n/);
});

test("vectors of numbers and splats have their components in order", () => {
  const data = run([1, 2, 3, 0, 0, 0], (f, x, m) => {
    const v = f.vector(x.load(2), x.load(0), x.load(1));
    x.store(3, v.x);
    x.store(4, v.z);
    x.store(5, f.splat(m.vec(m.i32, 2), 9).y);
  });
  assert.deepEqual(data.slice(3), [3, 2, 9]);
});

test("a shuffle picks from two vectors end to end, and no further", () => {
  const text = bodyOf((f, m) => {
    const v = f.variable(m.vec(m.f32, 2)).load();
    assert.equal(f.shuffle(v, v, [3, 0, 0]).type, m.vec(m.f32, 3));
    assert.throws(() => f.shuffle(v, v, [4, 0]), /4/);
  });
  assert.match(text, /OpVectorShuffle %v3float (%\d+) \1 3 0 0\n/);
});

test("a component whose number is a value takes the dynamic instructions", () => {
  const text = bodyOf((f, m) => {
    const v = f.variable(m.vec(m.f32, 4)).load();
    const i = f.builtin("LocalInvocationIndex");
    f.extractDynamic(v, i);
    f.insertDynamic(v, 1, i);
  });
  assert.match(text, /OpVectorExtractDynamic %float/);
  assert.match(text, /OpVectorInsertDynamic %v4float/);
});

test("products: dot gives the scalar, scale the vector", () => {
  const text = bodyOf((f, m) => {
    const v = f.variable(m.vec(m.f32, 3)).load();
    assert.equal(f.dot(v, v).type, m.f32);
    assert.equal(f.scale(v, 2).type, v.type);
  });
  assert.match(text, /OpDot %float/);
  assert.match(text, /OpVectorTimesScalar %v3float/);
});
