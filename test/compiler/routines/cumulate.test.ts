/** Running totals: how the axis is cut, and what the steps compute together. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { planCumulate } from "../../../src/compiler/routines/cumulate.js";
import type { Cumulation } from "../../../src/compiler/routines/cumulate-kernel.js";
import { cpuProfile, gpuProfile } from "../../../src/compiler/target/profile.js";
import { viewBytes } from "../../../src/core/storage.js";
import { arange } from "../../../src/index.js";
import { runRoutine } from "../../support/routine-runs.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const settings = { division: "native" } as const;
const task = (shape: number[], changes: Partial<Cumulation> = {}): Cumulation => ({
  op: "sum",
  dtype: "i32",
  shape,
  axis: 0,
  isReverse: false,
  isExclusive: false,
  hasSegments: false,
  ...changes,
});

describe("the plan", () => {
  test("a short axis is one kernel without memory in between", () => {
    const plan = planCumulate(task([100]), cpuProfile, settings);
    assert.deepEqual([plan.steps.length, plan.temporaries.length], [1, 0]);
  });

  test("a long axis takes three: totals of chunks, totals before each, and the elements", () => {
    const plan = planCumulate(task([200_000]), cpuProfile, settings);
    assert.equal(plan.steps.length, 3);
    const [totals, before] = plan.temporaries;
    assert.deepEqual(totals, before);
    assert.ok(totals!.shape[0]! > 1);
  });

  test("with segments each total goes with the number of its segment", () => {
    const plan = planCumulate(task([200_000], { hasSegments: true }), cpuProfile, settings);
    assert.deepEqual(
      plan.temporaries.map(({ dtype }) => dtype),
      ["i32", "i32", "i32", "i32"],
    );
  });

  test("on a GPU the lanes of a workgroup share rows along memory, and only those", () => {
    const lanes = (shape: number[], axis: number) =>
      planCumulate(task(shape, { axis }), gpuProfile, settings).steps[0]!.kernel.lanes;
    assert.ok(lanes([3, 5000], 1) > 1);
    assert.equal(lanes([5000, 3], 0), 1);
    assert.equal(lanes([3, 20], 1), 1);
  });
});

test("lanes that share a chunk combine the totals before it by themselves, unless their order matters", () => {
  const stepsOf = (changes: Partial<Cumulation>, profile = gpuProfile) =>
    planCumulate(task([1_000_000], changes), profile, settings).steps.length;
  assert.equal(stepsOf({}), 2);
  assert.equal(stepsOf({ op: "max" }), 2);
  assert.equal(stepsOf({ op: "logsumexp", dtype: "f32" }), 3);
  assert.equal(stepsOf({ hasSegments: true }), 3);
  assert.equal(stepsOf({}, cpuProfile), 3);
});

describeOnTensorDevices("rows along memory, of one chunk and of several", (device) => {
  for (const extent of [1024, 1020, 1021, 40_000]) {
    for (const isReverse of [false, true]) {
      test(`${extent} elements ${isReverse ? "from the end" : "from the start"}`, async () => {
        const rows = Math.floor(2_000_000 / extent);
        const x = arange(0, rows * extent, 1, { dtype: "i32", device })
          .mul(7919)
          .remainder(1000)
          .reshape(rows, extent);
        const turned = isReverse ? x.flip(1) : x;
        const sums = turned.cumsum({ axis: 1 });
        const got = await (isReverse ? sums.flip(1) : sums).data();
        for (let row = 0; row < rows; row++) {
          let total = 0;
          for (let p = 0; p < extent; p++) {
            const i = row * extent + (isReverse ? extent - 1 - p : p);
            total += Math.imul(i, 7919) >= 0 ? Math.imul(i, 7919) % 1000 : ((Math.imul(i, 7919) % 1000) + 1000) % 1000;
            if (got[i] !== total) assert.fail(`element ${i} is ${got[i]}, not ${total}`);
          }
        }
      });
    }
  }
});

/** The first place where the totals differ: printing two long arrays would take minutes. */
function assertSame(got: Int32Array, want: Int32Array): void {
  const at = want.findIndex((value, i) => value !== got[i]);
  assert.equal(at, -1, `element ${at} is ${got[at]}, not ${want[at]}`);
}

describe("the result over many chunks", () => {
  const length = 100_000;
  const values = Int32Array.from({ length }, (_, i) => ((i * 7919) % 1000) - 500);
  const totals = (changes: Partial<Cumulation>, inputs: Int32Array[] = []) => {
    const plan = planCumulate(task([length], changes), cpuProfile, settings);
    assert.ok(plan.steps.length > 1);
    const bytes = runRoutine(plan, [values, ...inputs].map(viewBytes), 4 * length);
    return new Int32Array(bytes.buffer);
  };
  const expected = ({ isReverse = false, isExclusive = false }, starts: (i: number) => boolean = () => false) => {
    const want = new Int32Array(length);
    let total = 0;
    for (let n = 0; n < length; n++) {
      const i = isReverse ? length - 1 - n : n;
      if (starts(i)) total = 0;
      if (isExclusive) want[i] = total;
      total = (total + values[i]!) | 0;
      if (!isExclusive) want[i] = total;
    }
    return want;
  };

  for (const isReverse of [false, true]) {
    for (const isExclusive of [false, true]) {
      test(`${isReverse ? "from the end" : "from the start"}, ${isExclusive ? "without" : "with"} the element`, () => {
        assertSame(totals({ isReverse, isExclusive }), expected({ isReverse, isExclusive }));
      });
    }
  }

  for (const isExclusive of [false, true]) {
    test(`totals begin again where a segment does, ${isExclusive ? "without" : "with"} the element`, () => {
      const segments = Int32Array.from({ length }, (_, i) => Math.floor(i / 777));
      const want = expected({ isExclusive }, (i) => i % 777 === 0);
      assertSame(totals({ hasSegments: true, isExclusive }, [segments]), want);
    });
  }
});
