/** Where the intermediate values of a program lie: never two at one place at one time, and in little more than they need. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { planMemory } from "../../../src/compiler/program/memory-plan.js";
import {
  type KernelStep,
  type Made,
  type Program,
  type Slot,
  type Step,
  withSteps,
} from "../../../src/compiler/program/program.js";
import { resolveSlot, runKernels, runSteps } from "../../../src/compiler/program/run-steps.js";
import { jit, setDefaultDevice, type Tensor, zeros } from "../../../src/index.js";
import { type Random, randomFrom } from "../../support/random.js";

/** A kernel that touches values. */
const touching = (...slots: Slot[]): KernelStep<null> => ({
  kind: "kernel",
  kernel: { rows: 1, buffers: [] } as unknown as Kernel,
  code: null,
  slots,
  formula: { text: "" },
});
const value = (bytes: number, root = -1): Made => ({ shape: [bytes], dtype: "u8", byteLength: bytes, root });
const made = (index: number): Slot => ({ from: "made", index });

/** The stretch of steps in which each value is needed, by walking all of them. */
function livesOf(steps: readonly Step<null>[], count: number): { readonly first: number; readonly last: number }[] {
  const all = steps.map((step) => {
    assert.ok(step.kind === "kernel");
    return step.slots.filter(({ from }) => from === "made").map(({ index }) => index);
  });
  return Array.from({ length: count }, (_, index) => {
    const positions = all.flatMap((touched, position) => (touched.includes(index) ? [position] : []));
    return { first: positions[0] ?? -1, last: positions.at(-1) ?? -1 };
  });
}

function programOf(steps: readonly Step<null>[], values: readonly Made[]): Program<null> {
  return withSteps({ made: values, leaves: [] }, steps);
}

function checkPlan(program: Program<null>): void {
  const { offsets, arenaBytes, sumOfBytes } = planMemory(program);
  const lives = livesOf(program.steps, program.made.length);
  const isPlaced = program.made.map(({ root }, i) => root < 0 && lives[i]!.first >= 0);
  for (const [i, { byteLength }] of program.made.entries()) {
    if (!isPlaced[i]) {
      assert.equal(offsets[i], -1, "roots, and what nobody touches, are not in the arena");
      continue;
    }
    assert.ok(offsets[i]! >= 0 && offsets[i]! % 256 === 0 && offsets[i]! + byteLength <= arenaBytes);
    for (let j = 0; j < i; j++) {
      if (!isPlaced[j]) continue;
      const together = lives[i]!.first <= lives[j]!.last && lives[j]!.first <= lives[i]!.last;
      const isApart =
        offsets[i]! + byteLength <= offsets[j]! || offsets[j]! + program.made[j]!.byteLength <= offsets[i]!;
      assert.ok(!together || isApart, `values ${j} and ${i} meet at ${offsets[j]} and ${offsets[i]}`);
    }
  }
  const padded = (bytes: number) => Math.max(256, Math.ceil(bytes / 256) * 256);
  const needed = program.steps.map((_, position) =>
    program.made.reduce(
      (sum, { byteLength }, i) =>
        isPlaced[i] && lives[i]!.first <= position && position <= lives[i]!.last ? sum + padded(byteLength) : sum,
      0,
    ),
  );
  assert.ok(arenaBytes >= Math.max(0, ...needed), "no less than what is alive at once");
  assert.equal(
    sumOfBytes,
    program.made.reduce((sum, { byteLength }, i) => (isPlaced[i] ? sum + byteLength : sum), 0),
  );
}

function randomProgram(random: Random): Program<null> {
  const count = 1 + random.below(24);
  const values = Array.from({ length: count }, (_, i) =>
    value(random.below(5) === 0 ? 0 : random.below(5000), random.below(8) === 0 ? i : -1),
  );
  const someSlot = (): Slot =>
    random.below(6) === 0 ? { from: "leaf", index: random.below(3) } : made(random.below(count));
  const steps = Array.from({ length: 1 + random.below(30) }, () =>
    touching(...Array.from({ length: 1 + random.below(4) }, someSlot)),
  );
  return programOf(steps, values);
}

const GRAIN = 256;

/** A kernel that reads slots and writes one. */
const writing = (result: Slot, ...read: Slot[]): KernelStep<null> => ({
  ...touching(...read, result),
  kernel: { rows: 1, buffers: [...read, result].map((slot) => ({ isWritten: slot === result })) } as unknown as Kernel,
});

/**
 * A program with loops in loops. Values carried from round to round take turns between two places, or are updated where
 * they are; values of a round are made in it; and rounds leave a piece each of a longer value.
 */
function loopProgram(random: Random): Program<null> {
  const values: Made[] = [];
  let loops = 0;
  const make = (grains = 1 + random.below(6)): Slot => made(values.push(value(GRAIN * grains)) - 1);
  const grainsOf = ({ index }: Slot) => values[index]!.byteLength / GRAIN;
  const someOf = (known: readonly Slot[]): Slot[] =>
    Array.from({ length: random.below(4) }, () => known[random.below(known.length)]!).filter(Boolean);
  const body = (depth: number, outer: readonly Slot[]): { steps: Step<null>[]; known: Slot[] } => {
    const steps: Step<null>[] = [];
    const known = [...outer];
    for (let n = 1 + random.below(5); n > 0; n--) {
      if (depth < 2 && random.below(3) === 0) {
        const { before, loop, after } = someLoop(depth, known);
        steps.push(...before, loop);
        known.push(...after);
        continue;
      }
      const result = make();
      steps.push(writing(result, ...someOf(known)));
      known.push(result);
    }
    return { steps, known };
  };
  const someLoop = (depth: number, known: readonly Slot[]) => {
    const loop = loops++;
    const count = 1 + random.below(3);
    const [even, kept, pieces] = [make(), make(), make(count)];
    const odd = make(grainsOf(even));
    const before = [writing(even, ...someOf(known)), writing(kept, ...someOf(known))];
    const now: Slot = { ...even, swap: { loop, index: odd.index } };
    const next: Slot = { ...odd, swap: { loop, index: even.index } };
    const inner = body(depth + 1, [...known, now, kept]);
    const steps = [
      ...inner.steps,
      writing({ ...pieces, moves: [{ loop, bytes: GRAIN }] }, ...someOf(inner.known)),
      writing(next, ...someOf(inner.known)),
      writing(kept, kept, ...someOf(inner.known)),
    ];
    const last = count % 2 === 0 ? even : odd;
    return { before, loop: { kind: "loop", loop, count, steps } as const, after: [last, kept, pieces] };
  };
  const { steps, known } = body(0, []);
  return withSteps({ made: values, leaves: [] }, [...steps, touching(...known)]);
}

/** Runs a program in its arena, where every write leaves a mark, and finds at every read the mark that belongs there. */
function checkMarks(program: Program<null>): void {
  const { offsets, arenaBytes } = planMemory(program);
  const arena = new Int32Array(arenaBytes / GRAIN).fill(-1);
  const truth = program.made.map(({ byteLength }) => new Int32Array(byteLength / GRAIN).fill(-1));
  let marks = 0;
  const runner = runKernels<null>(({ slots, kernel }, rounds) => {
    marks++;
    slots.forEach((slot, i) => {
      const { index, offset } = resolveSlot(slot, rounds);
      const from = offset / GRAIN;
      const to = slot.moves ? from + 1 : truth[index]!.length;
      for (let at = from; at < to; at++) {
        const place = offsets[index]! / GRAIN + at;
        if (kernel.buffers[i]?.isWritten) {
          arena[place] = marks;
          truth[index]![at] = marks;
        } else {
          assert.ok(truth[index]![at]! > 0, "the program itself reads what nobody wrote");
          assert.equal(arena[place], truth[index]![at], `value ${index} was written over`);
        }
      }
    });
  });
  runSteps(program.steps, runner);
}

/** What first fit takes, the largest first, by looking at every value placed before. */
function firstFitBytes({ steps, made: values }: Program<null>): number {
  const lives = livesOf(steps, values.length);
  const placed: { readonly index: number; readonly from: number; readonly to: number }[] = [];
  const order = values.flatMap(({ root }, i) => (root < 0 && lives[i]!.first >= 0 ? [i] : []));
  const size = (i: number) => Math.max(256, Math.ceil(values[i]!.byteLength / 256) * 256);
  for (const index of order.sort((a, b) => size(b) - size(a) || a - b)) {
    const { first, last } = lives[index]!;
    const met = placed.filter((each) => lives[each.index]!.first <= last && first <= lives[each.index]!.last);
    const isFree = (at: number) => met.every(({ from, to }) => to <= at || at + size(index) <= from);
    const from = Math.min(...[0, ...met.map(({ to }) => to)].filter(isFree));
    placed.push({ index, from, to: from + size(index) });
  }
  return Math.max(0, ...placed.map(({ to }) => to));
}

/** 10,000 values, each touched by the step that makes it and by a later one. */
function longProgram(random: Random, lastUse: (index: number) => number): Program<null> {
  const values = Array.from({ length: 10_000 }, () => value(random.below(1 << 20)));
  const touched = Array.from({ length: 20_000 }, (): Slot[] => []);
  values.forEach((_, i) => {
    touched[i]!.push(made(i));
    touched[lastUse(i)]!.push(made(i));
  });
  return withSteps(
    { made: values, leaves: [] },
    touched.map((slots) => touching(...slots)),
  );
}

/** Of the processor, which others may be using, too. */
function secondsOf<T>(work: () => T): { readonly result: T; readonly seconds: number } {
  const began = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(began);
  return { result, seconds: (user + system) / 1e6 };
}

describe("the plan of the arena", () => {
  test("2,000 random programs: what is alive at once never overlaps", () => {
    const random = randomFrom(5);
    for (let i = 0; i < 2000; i++) checkPlan(randomProgram(random));
  });

  test("random programs take what first fit takes, the largest first", () => {
    const random = randomFrom(6);
    for (let i = 0; i < 1000; i++) {
      const program = randomProgram(random);
      assert.equal(planMemory(program).arenaBytes, firstFitBytes(program));
    }
  });

  test("10,000 values alive together are planned in less than two seconds, side by side", () => {
    const program = longProgram(randomFrom(7), () => 19_999);
    const { result, seconds } = secondsOf(() => planMemory(program));
    assert.ok(seconds < 2, `${seconds} s`);
    const order = program.made.map((_, i) => i).sort((a, b) => result.offsets[a]! - result.offsets[b]!);
    let end = 0;
    for (const i of order) {
      assert.equal(result.offsets[i], end);
      end += Math.max(256, Math.ceil(program.made[i]!.byteLength / 256) * 256);
    }
    assert.equal(result.arenaBytes, end);
  });

  test("10,000 values that come and go are planned in less than two seconds, and never meet", () => {
    const random = randomFrom(8);
    const lasts = Array.from({ length: 10_000 }, (_, i) => i + 1 + random.below(random.below(4) === 0 ? 10_000 : 300));
    const program = longProgram(random, (i) => lasts[i]!);
    const { result, seconds } = secondsOf(() => planMemory(program));
    assert.ok(seconds < 2, `${seconds} s`);
    // Made at step i, so that those before it are alive at i while their last step is not before.
    for (let i = 0; i < 10_000; i++) {
      const [from, to] = [result.offsets[i]!, result.offsets[i]! + program.made[i]!.byteLength];
      for (let j = 0; j < i; j++) {
        const meets = from < result.offsets[j]! + program.made[j]!.byteLength && result.offsets[j]! < to;
        if (lasts[j]! >= i && meets) assert.fail(`values ${j} and ${i} meet`);
      }
    }
  });

  test("a chain of any length takes turns between two places", () => {
    const values = Array.from({ length: 40 }, (_, i) => value(1100 + i));
    const steps = values.map((_, i) => (i === 0 ? touching(made(0)) : touching(made(i - 1), made(i))));
    const plan = planMemory(programOf(steps, values));
    assert.equal(plan.arenaBytes, 2 * 1280);
    checkPlan(programOf(steps, values));
  });

  test("small values go where there is a gap", () => {
    // 0 and 1 side by side; when 0 is done, 2 and 3 share its place.
    const values = [value(2048), value(2048), value(1024), value(1024)];
    const steps = [touching(made(0), made(1)), touching(made(1), made(2)), touching(made(1), made(2), made(3))];
    assert.equal(planMemory(programOf(steps, values)).arenaBytes, 4096);
    checkPlan(programOf(steps, values));
  });

  test("300 random programs with loops in loops: what is read is what was written", () => {
    const random = randomFrom(9);
    for (let i = 0; i < 300; i++) checkMarks(loopProgram(random));
  });

  test("values of a round take turns, values that go from round to round stay", () => {
    const values = Array.from({ length: 12 }, () => value(512));
    const chain = Array.from({ length: 9 }, (_, i) => touching(made(i + 1), made(i + 2)));
    const round = [touching({ ...made(0), swap: { loop: 0, index: 11 } }, made(1)), ...chain];
    const loop: Step<null> = { kind: "loop", loop: 0, count: 4, steps: round };
    // Two that the loop swaps, and two for the chain.
    assert.equal(planMemory(programOf([loop], values)).arenaBytes, 4 * 512);
    const flag = made(11);
    const ending: Step<null> = { ...loop, kind: "while", maxRounds: 9, ahead: null, flag, test: [], finish: [] };
    assert.equal(planMemory(programOf([ending], values)).arenaBytes, 4 * 512);
    // What the test makes for the round, or the round for the end, stays as long as the loop.
    const shared: Step<null> = { ...ending, test: [touching(made(1))], steps: chain, finish: [touching(made(10))] };
    assert.equal(planMemory(programOf([shared], values)).arenaBytes, 5 * 512);
  });

  test("a value that moves with the rounds sent off together stays as long as they do", () => {
    // Both are touched in the test alone, one after the other; but the first is elsewhere in the next round.
    const moving = { ...made(0), moves: [{ loop: 1, bytes: 4 }] };
    const loop = (slot: Slot): Step<null> => ({
      kind: "while",
      loop: 0,
      ahead: 1,
      maxRounds: 9,
      flag: made(2),
      test: [touching(slot), touching(made(1))],
      steps: [],
      finish: [],
    });
    const values = [value(512), value(512), value(512)];
    assert.equal(planMemory(programOf([loop(made(0))], values)).arenaBytes, 2 * 512);
    assert.equal(planMemory(programOf([loop(moving)], values)).arenaBytes, 3 * 512);
  });

  test("a program without intermediate values has no arena", () => {
    assert.deepEqual(planMemory(programOf([touching(made(0))], [value(100, 0)])), {
      offsets: [-1],
      arenaBytes: 0,
      sumOfBytes: 0,
    });
    assert.deepEqual(planMemory(programOf([], [])), { offsets: [], arenaBytes: 0, sumOfBytes: 0 });
  });
});

describe("the memory that lower() tells of", () => {
  const bytes = (f: (x: Tensor) => Tensor | readonly Tensor[], x: Tensor) =>
    jit(f as (x: Tensor) => Tensor).lower(x).memory;

  test("one kernel needs none; each result counts", () => {
    setDefaultDevice("cpu");
    assert.deepEqual(
      bytes((x) => x.mul(2).tanh(), zeros([100])),
      { arenaBytes: 0, withoutSharingBytes: 0, resultBytes: 400 },
    );
    const several = bytes((x) => [x.neg(), x.cast("f64").sum({ axis: 0 }), x.cast("u8")], zeros([10, 3]));
    assert.equal(several.resultBytes, 120 + 24 + 30);
  });

  test("a deep chain of kernels shares two places, however deep", () => {
    setDefaultDevice("cpu");
    const chain = (depth: number) => (x: Tensor) => {
      let y = x;
      for (let i = 0; i < depth; i++) y = y.cumsum({ axis: 0 }).mul(0.5);
      return y;
    };
    const [short, long] = [bytes(chain(6), zeros([1000])), bytes(chain(24), zeros([1000]))];
    assert.equal(long.arenaBytes, short.arenaBytes);
    assert.ok(long.withoutSharingBytes >= 20 * 4000);
    assert.ok(long.arenaBytes <= 4 * 4096);
  });
});
