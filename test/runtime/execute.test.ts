/** Running a program step by step, on an engine that only takes notes: memory is made late, freed early, and never lost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Program, type Step, withSteps } from "../../src/compiler/program/program.js";
import { execute } from "../../src/runtime/execute.js";
import { type NamedKernel, NotedMemory, notingEngine } from "../support/noting-engine.js";
import { kernelStep, leaf, made, value } from "../support/steps.js";

const named = (steps: readonly Step<string>[]): Step<NamedKernel>[] =>
  steps.map((step) => ({ ...step, code: { name: (step as { code: string }).code, numbers: [] } }) as Step<NamedKernel>);

/** a: leaf 0 → 0; b: 0 → 1; c: 1 and leaf 0 → 2, the root. */
const chain = (): Program<NamedKernel> =>
  withSteps(
    { made: [value(16), value(32), value(64, 0)], leaves: [] },
    named([
      kernelStep("a", [leaf(0)], [made(0)]),
      kernelStep("b", [made(0)], [made(1)]),
      kernelStep("c", [made(1), leaf(0)], [made(2)]),
    ]),
  );

test("values are freed after their last use, results are not", () => {
  const { engine, allocated, dispatched } = notingEngine();
  const counters = { kernels: 0 };
  const results = execute({ engine, program: chain(), leaves: [new NotedMemory("x", 4)], starts: null, counters });
  assert.deepEqual(dispatched, ["a(x+0,m0+0)", "b(m0+0,m1+0)", "c(m1+0,x+0,m2+0)"]);
  assert.deepEqual(
    allocated.map(({ byteLength, isDisposed }) => [byteLength, isDisposed]),
    [
      [16, true],
      [32, true],
      [64, false],
    ],
  );
  assert.deepEqual(results, [allocated[2]]);
  assert.equal(counters.kernels, 3);
});

test("a leaf that is a part of memory is read from where it begins", () => {
  const { engine, dispatched } = notingEngine();
  execute({ engine, program: chain(), leaves: [new NotedMemory("x", 400)], starts: [128], counters: { kernels: 0 } });
  assert.equal(dispatched[0], "a(x+128,m0+0)");
  // The offset of a slot is added; leaves that come after those with a beginning are whole.
  const step = kernelStep("b", [{ ...leaf(0), offset: 4 }, leaf(1)], [made(0)]);
  const program = withSteps({ made: [value(16, 0)], leaves: [] }, named([step]));
  const leaves = [new NotedMemory("x", 400), new NotedMemory("y", 16)];
  execute({ engine, program, leaves, starts: [128], counters: { kernels: 0 } });
  assert.match(dispatched[3] as string, /^b\(x\+132,y\+0,/);
});

test("a dispatch that fails leaves no memory behind", () => {
  for (const failAt of [0, 1, 2]) {
    const { engine, allocated } = notingEngine(failAt);
    assert.throws(
      () =>
        execute({
          engine,
          program: chain(),
          leaves: [new NotedMemory("x", 4)],
          starts: null,
          counters: { kernels: 0 },
        }),
      /out of memory/,
    );
    assert.ok(allocated.length > 0 && allocated.every(({ isDisposed }) => isDisposed));
  }
});

test("a result whose kernel has no rows gets memory all the same", () => {
  const { engine, dispatched } = notingEngine();
  const program = withSteps({ made: [value(0, 0)], leaves: [] }, named([kernelStep("empty", [leaf(0)], [made(0)], 0)]));
  const results = execute({
    engine,
    program,
    leaves: [new NotedMemory("x", 0)],
    starts: null,
    counters: { kernels: 0 },
  });
  assert.equal(results.length, 1);
  assert.deepEqual(dispatched, []);
});
