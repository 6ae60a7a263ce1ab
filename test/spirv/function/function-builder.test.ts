/** Functions: arguments, variables, barriers and what is loaded once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import { interpret } from "../../support/spirv-interpreter.js";
import { count, kernel, run, textOf } from "../building.js";

test("arguments arrive in order, results return, pointers write back", () => {
  const m = new ModuleBuilder();
  const out = m.storageBuffer(m.f32, { binding: 0 });
  const weigh = m.function("weigh", [m.f32, m.f32], m.f32, (f, a, b) => f.sub(f.mul(a, 10), b));
  const swap = m.function("swap", [m.pointer("Function", m.f32), m.pointer("Function", m.f32)], m.void, (f, p, q) => {
    const [a, b] = [f.ref(p).load(), f.ref(q).load()];
    f.ref(p).store(b);
    f.ref(q).store(a);
  });
  m.entry("main", { localSize: [1] }, (f) => {
    const [p, q] = [f.variable(m.f32, 1), f.variable(m.f32, 2)];
    f.call(swap, p.pointer(), q.pointer());
    out.store(0, p.load());
    out.store(1, f.call(weigh, p.load(), q.load()));
  });
  const data = [0, 0];
  interpret(m.build(), { 0: data });
  assert.deepEqual(data, [2, 19]);
});

test("a variable in a loop body is set anew in every round", () => {
  const [sum] = run([0], (f, x, m) => {
    f.for(0, 3, 1, () => {
      const fresh = f.variable(m.i32, 5);
      fresh.store(f.add(fresh.load(), 1));
      x.store(0, f.add(x.load(0), fresh.load()));
    });
  });
  assert.equal(sum, 18);
});

test("a built-in or push constant is loaded once per function, wherever it is first used", () => {
  const text = textOf((m) => {
    const push = m.pushConstants([
      ["n", m.u32],
      ["p", m.bufferPointer(m.u32)],
    ]);
    m.entry("main", { localSize: [1] }, (f) => {
      f.if(true, () => push.p.store(0, f.add(f.builtin("LocalInvocationIndex"), push.n)));
      push.p.store(1, f.add(f.builtin("LocalInvocationIndex"), push.n));
    });
  });
  assert.equal(count(text, /OpLoad/), 3);
});

test("barriers: which memory they order", () => {
  const text = textOf(
    kernel((f) => {
      f.workgroupBarrier();
      f.workgroupBarrier({ buffers: true });
      f.workgroupBarrier({ shared: true, buffers: true });
      f.workgroupBarrier({});
      f.memoryBarrier("Device", { buffers: true });
      f.subgroupBarrier();
    }),
  );
  const barriers = [...text.matchAll(/Op(?:Control|Memory)Barrier (.*)/g)].map((match) =>
    match[1].replaceAll("%uint_", ""),
  );
  assert.deepEqual(barriers, ["2 2 264", "2 2 72", "2 2 328", "2 2 0", "1 72", "3 3 264"]);
});

describe("memory model", () => {
  const share = (m: ModuleBuilder) => {
    const tile = m.shared(m.array(m.f32, 4));
    kernel((f) => {
      tile.store(0, 1);
      f.workgroupBarrier();
      tile.load(1);
    })(m);
  };
  test("GLSL450: plain accesses, barriers acquire and release", () => {
    const text = textOf(share);
    assert.match(text, /OpStore %\d+ %float_1$/m);
    assert.match(text, /OpControlBarrier %uint_2 %uint_2 %uint_264/);
  });
  test("Vulkan: shared memory is not private, barriers make available and visible", () => {
    const text = textOf(share, { vulkanMemoryModel: true });
    assert.match(text, /OpStore %\d+ %float_1 NonPrivatePointer/);
    assert.match(text, /OpLoad %float %\d+ NonPrivatePointer/);
    assert.match(text, new RegExp(`OpControlBarrier %uint_2 %uint_2 %uint_${8 | 0x100 | 0x2000 | 0x4000}`));
  });
});
