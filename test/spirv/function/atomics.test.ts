/** Atomic operations: their scope, their order, and which memory they order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kernel, textOf } from "../building.js";

test("atomics: device scope and relaxed for buffers, workgroup scope for shared memory; orders name their memory", () => {
  const text = textOf((m) => {
    const buffer = m.storageBuffer(m.u32, { binding: 0 });
    const shared = m.shared(m.u32);
    kernel((f) => {
      f.atomic.add(buffer.at(0), 10);
      f.atomic.add(shared, 11);
      f.atomic.add(buffer.at(0), 12, { order: "acquireRelease" });
      f.atomic.add(shared, 13, { order: "release", scope: "Subgroup" });
      f.atomic.compareExchange(buffer.at(0), 14, 15, { order: "acquireRelease" });
      f.atomic.compareExchange(buffer.at(0), 16, 17, { order: "release" });
    })(m);
  });
  const [Device, Workgroup, Subgroup] = [1, 2, 3];
  const [Acquire, Release, AcquireRelease, Buffers, Shared] = [2, 4, 8, 0x40, 0x100];
  for (const [value, scope, semantics] of [
    [10, Device, 0],
    [11, Workgroup, 0],
    [12, Device, AcquireRelease | Buffers],
    [13, Subgroup, Release | Shared],
  ]) {
    assert.match(text, new RegExp(`OpAtomicIAdd %uint %\\d+ %uint_${scope} %uint_${semantics} %uint_${value}$`, "m"));
  }
  const exchange = (equal: number, different: number, desired: number, expected: number) =>
    `OpAtomicCompareExchange %uint %\\d+ %uint_1 %uint_${equal} %uint_${different} %uint_${desired} %uint_${expected}$`;
  assert.match(text, new RegExp(exchange(AcquireRelease | Buffers, Acquire | Buffers, 15, 14), "m"));
  assert.match(text, new RegExp(exchange(Release | Buffers, 0, 17, 16), "m"));
});

test("compareExchange passes the value before the comparator, as SPIR-V has them", () => {
  const text = textOf((m) => {
    const a = m.storageBuffer(m.u32, { binding: 0 });
    kernel((f) => void f.atomic.compareExchange(a.at(0), 11, 22))(m);
  });
  assert.match(text, /OpAtomicCompareExchange %uint %\d+ %uint_1 %uint_0 %uint_0 %uint_22 %uint_11/);
});
