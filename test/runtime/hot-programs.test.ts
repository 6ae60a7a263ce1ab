/** Programs that run often are recorded: they give what they gave before, and hold no more memory than is said. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor, zeros } from "../../src/index.js";
import { backendFor, setDefaultDevice, type Tensor } from "../../src/tensor/index.js";
import { numbersOf } from "../support/tensors.js";

setDefaultDevice("cpu");
const { counters, engine } = backendFor("cpu");

/** Runs after which a program is recorded; see hot-programs.ts. */
const MANY = 32;

/** Counts recordings while `work` runs. */
function recordingsIn(work: () => void): number {
  const { record } = engine;
  let count = 0;
  engine.record = (program) => {
    count++;
    return record.call(engine, program);
  };
  try {
    work();
    return count;
  } finally {
    engine.record = record;
  }
}

const step = (x: Tensor, y: Tensor): Tensor => x.matmul(y).tanh().sum({ axis: 0 }).exp();
const plainStep = (x: number[][], y: number[][]): number[] => {
  const out = x.map((row) => y[0]!.map((_, j) => Math.tanh(row.reduce((sum, each, k) => sum + each * y[k]![j]!, 0))));
  return y[0]!.map((_, j) => Math.exp(out.reduce((sum, row) => sum + row[j]!, 0)));
};

test("a program gives the same before and after it is recorded, for other memory each time, and is recorded once", () => {
  const recordings = recordingsIn(() => {
    for (let i = 0; i < 2 * MANY; i++) {
      const [x, y] = [0, 1].map((k) => [0, 1, 2].map((r) => [0, 1, 2].map((c) => Math.sin(i + 7 * k + 3 * r + c))));
      const got = numbersOf(step(tensor(x!), tensor(y!)));
      plainStep(x!, y!).forEach((want, j) => {
        assert.ok(Math.abs(got[j]! - want) < 1e-5 * Math.abs(want) + 1e-6, `${got} in run ${i}`);
      });
    }
  });
  assert.equal(recordings, 1);
});

test("earlier results stay as they are while the program runs again", () => {
  const results = Array.from({ length: 2 * MANY }, (_, i) =>
    tensor([i, i + 1])
      .mul(3)
      .sin()
      .realize(),
  );
  results.forEach((result, i) => {
    const want = [3 * i, 3 * i + 3].map((x) => Math.fround(Math.sin(x)));
    numbersOf(result).forEach((got, j) => {
      assert.ok(Math.abs(got - want[j]!) < 1e-6);
    });
  });
});

test("kernels are counted alike", () => {
  const kernelsOf = (i: number) => {
    const before = counters.kernels;
    step(tensor([[i, 1]]), tensor([[1], [2]])).realize();
    return counters.kernels - before;
  };
  const counts = Array.from({ length: 2 * MANY }, (_, i) => kernelsOf(i));
  assert.deepEqual(new Set(counts).size, 1, `${counts}`);
  assert.ok(counts[0]! > 0);
});

test("numbers that change from run to run are data of the recorded program too", () => {
  for (let i = 0; i < 3 * MANY; i++) {
    const [got] = numbersOf(
      tensor([2])
        .add(i / 7)
        .mul(i),
    );
    assert.ok(Math.abs(got! - (2 + i / 7) * i) < 1e-3, `${got} in run ${i}`);
  }
});

test("programs with much memory between their kernels, with loops, and with slices run step by step", () => {
  const large = zeros([200, 200]).add(0.01).realize();
  const recordings = recordingsIn(() => {
    for (let i = 0; i < 2 * MANY; i++) large.matmul(large).tanh().matmul(large).sum().realize();
    const long = zeros([64, 8]).add(1).realize();
    for (let i = 0; i < 2 * MANY; i++)
      long
        .at(`${i % 60}:${(i % 60) + 4}`)
        .exp()
        .sum()
        .realize();
  });
  assert.equal(recordings, 0);
});
