/** Loops of more rounds than a software driver lets a thread go: counted, written so that they stay below, and run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitSpirv } from "../../../src/compiler/emit/spirv/emit-kernel.js";
import type { Kernel, Loop, Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import {
  planLoop,
  roundsOf,
  roundsWithin,
  SOFTWARE_ROUNDS,
  stepsWithin,
} from "../../../src/compiler/ir/loop-rounds.js";
import { UnsupportedError } from "../../../src/core/errors.js";
import { backendFor, ones, type Tensor, zeros } from "../../../src/tensor/index.js";
import { scan } from "../../../src/transforms/control.js";
import { runKernel } from "../../support/kernels.js";
import { assertValid, without } from "../../support/spirv-val.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

/** A kernel of one row that writes to one buffer of i32. */
function written(write: (k: KernelBuilder, out: number, i: (value: number) => Value) => void, lanes = 1): Kernel {
  const k = new KernelBuilder("rounds", 1, lanes);
  write(k, k.buffer("i32", true), (value) => k.constant("i32", value));
  return k.finish();
}

/** Σ of weight·(index + 1) over a loop, kept in 32 bits. */
const weighed = (k: KernelBuilder, extent: number, weight: number, from: Value, isLaneLoop = false): Value =>
  k.loop(
    extent,
    [from],
    (at, [sum]) => [
      k.binary("add", sum, k.binary("mul", k.binary("add", at, k.constant("i32", 1)), k.constant("i32", weight))),
    ],
    { isLaneLoop },
  )[0];
const triangular = (n: number): number => Number(BigInt.asIntN(32, (BigInt(n) * BigInt(n + 1)) / 2n));

test("rounds of all loops are counted together, and those inside others as often as they are begun", () => {
  const kernel = written((k, out, i) => {
    k.store(out, i(0), weighed(k, 100, 1, i(0)));
    k.loop(30, [], (at) => {
      k.store(out, at, weighed(k, 20, 3, at));
      return [];
    });
  });
  // A loop goes round once more to find that it is over, and the driver goes through the loops inside it then, too.
  assert.equal(roundsOf(kernel), 101 + 30 * (1 + 21) + 2);
  // Of the loops inside, 2 rounds of 8 steps and 4 of one are left.
  assert.equal(roundsOf(kernel, 8), 13 + 5 + 30 * (1 + 3 + 5) + 3);
  assert.equal(stepsWithin(kernel, 800), 1);
  assert.equal(stepsWithin(kernel, 300), 4);
  assert.equal(roundsWithin(kernel, 300), 26 + 30 * (1 + 6) + 2);
  assert.equal(stepsWithin(kernel, Infinity), 1);
});

test("loops of a few rounds are written out, loops that may end early stay as they are", () => {
  const kernel = written((k, out, i) => {
    k.loop(1000, [], (at) => {
      k.store(out, at, weighed(k, 3, 1, at));
      return [];
    });
    k.loop(500, [i(0)], (at) => [k.binary("add", at, i(1))], { exitWhen: ([next]) => k.compare("gt", next, i(7)) });
  });
  assert.equal(roundsOf(kernel), 1000 * (1 + 4) + 2 + 501);
  assert.equal(roundsOf(kernel, 4), 251 + 501);
  const loop = kernel.body.find(({ kind }) => kind === "loop") as Loop;
  assert.deepEqual(planLoop(loop, 1, 16), { steps: 16, whole: 62, single: 8 });
});

test("lanes share the rounds of a loop, and each has its own to go", () => {
  const kernel = written((k, out, i) => {
    k.store(out, i(0), k.combineLanes("add", weighed(k, 1000, 1, i(0), true)), true);
  }, 32);
  assert.equal(roundsOf(kernel), 33);
  assert.equal(roundsOf(kernel, 2), 16 + 3);
});

test("code with several steps to a round is valid", { skip: without("spirv-val") }, () => {
  const kernel = written((k, out, i) => {
    k.store(out, i(0), weighed(k, 1003, 1, i(0)));
    k.loop(50, [], (at) => {
      k.when(k.compare("lt", at, i(20)), () => {
        k.store(out, at, weighed(k, 3, 1, weighed(k, 19, 3, at)));
        return [];
      });
      return [];
    });
  });
  for (const maxLoopRounds of [800, 300, 100]) assertValid(emitSpirv(kernel, { maxLoopRounds }));
});

describeOnTensorDevices("long loops", (device) => {
  const ran = (kernel: Kernel, size = 4): number[] => Array.from(runKernel(device, kernel, [new Int32Array(size)])[0]);

  test("one of 70,000 rounds and one of 300,001 go to their end", () => {
    for (const n of [70_000, 300_001]) {
      const [sum] = ran(written((k, out, i) => k.store(out, i(0), weighed(k, n, 1, i(0)))));
      assert.equal(sum, triangular(n));
    }
  });

  test("three of 40,000 rounds do, one after the other", () => {
    const kernel = written((k, out, i) => {
      for (const n of [0, 1, 2]) k.store(out, i(n), weighed(k, 40_000, n + 1, i(0)));
    });
    const one = triangular(40_000);
    assert.deepEqual(ran(kernel), [one, (2 * one) | 0, (3 * one) | 0, 0]);
  });

  test("so do loops in loops, and short ones in long ones", () => {
    const kernel = written((k, out, i) => {
      const [nested] = k.loop(300, [i(0)], (_, [sum]) => [weighed(k, 307, 1, sum)]);
      k.store(out, i(0), nested);
      const [short] = k.loop(50_003, [i(0)], (_, [sum]) => [weighed(k, 3, 1, sum)]);
      k.store(out, i(1), short);
    });
    assert.deepEqual(ran(kernel), [300 * triangular(307), 6 * 50_003, 0, 0]);
  });

  test("what is written and read in memory on the way is in order", () => {
    const n = 100_003;
    const k = new KernelBuilder("totals", 1);
    const i = (value: number) => k.constant("i32", value);
    const [source, out] = [k.buffer("i32", false), k.buffer("i32", true)];
    k.loop(n, [], (at) => {
      const before = k.read(out, at, "i32");
      const next = k.binary("add", at, i(1));
      k.store(out, next, k.binary("add", before, k.load(source, at, "i32")));
      return [];
    });
    const steps = Int32Array.from({ length: n }, (_, at) => at % 7);
    const [, totals] = runKernel(device, k.finish(), [steps, new Int32Array(n + 1)]);
    let total = 0;
    for (let at = 0; at < n; at++) {
      assert.equal(totals[at], total, `${at}`);
      total += at % 7;
    }
  });

  test("neighbours that are loaded at once are those of each step", () => {
    const n = 70_001;
    const k = new KernelBuilder("pairs", 1);
    const i = (value: number) => k.constant("i32", value);
    const [source, out] = [k.buffer("i32", false), k.buffer("i32", true)];
    const [sum] = k.loop(n, [i(0)], (at, [total]) => {
      const first = k.binary("mul", at, i(4));
      const parts = [0, 1, 2, 3].map((part) => k.load(source, k.binary("add", first, i(part)), "i32"));
      const weights = parts.map((part, p) => k.binary("mul", part, i(p + 1)));
      return [weights.reduce((all, next) => k.binary("add", all, next), total)];
    });
    k.store(out, i(0), sum);
    const values = Int32Array.from({ length: 4 * n }, (_, at) => at % 11);
    const expected = values.reduce((all, value, at) => all + value * ((at % 4) + 1), 0);
    const [, found] = runKernel(device, k.finish(), [values, new Int32Array(1)]);
    assert.equal(found[0], expected);
  });

  test("a scan over 100,000 elements goes to its end", async () => {
    const [last] = scan(
      (before: Tensor, x: Tensor) => {
        const next = before.add(x);
        return [next, next];
      },
      zeros([], { device }),
      ones([100_000], { device }),
    );
    assert.equal(await last.item(), 100_000);
  });

  test("those that no number of steps brings below the limit are refused, where there is one", (t) => {
    const backend = backendFor(device);
    const n = SOFTWARE_ROUNDS * 16 + 1;
    const write = () => ({ kernel: written((k, out, i) => k.store(out, i(0), weighed(k, n, 1, i(0)))) });
    if (backend.maxLoopRounds === Infinity) {
      assert.equal(backend.handWritten("long", write).rounds, n + 1);
      return t.diagnostic("this device has no limit");
    }
    assert.throws(
      () => backend.handWritten("long", write),
      (error: Error) => {
        assert.ok(error instanceof UnsupportedError);
        assert.match(error.message, /rounds may take \d+ rounds of loops .* ends the loops of a thread after 65,535/);
        assert.match(error.message, /\{ device: "cpu" \}/);
        return true;
      },
    );
  });
});
