/** Loops that are read after different numbers of steps: few programs, and the numbers that each step would give. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../src/graph/node.js";
import { add, exp, mul, neg, sin, sub, tanh } from "../../src/graph/primitives/elementwise.js";
import { expand, reshape } from "../../src/graph/primitives/movement.js";
import { sum } from "../../src/graph/primitives/reduce.js";
import { graphOf } from "../../src/runtime/program-table.js";
import { RepeatedRounds } from "../../src/runtime/repeated-rounds.js";
import { arange, backendFor, ones, type Tensor, tensor, zeros } from "../../src/tensor/index.js";
import { valueAndGrad } from "../../src/transforms/grad.js";
import { make, stored } from "../support/nodes.js";
import { describeOnTensorDevices } from "../support/tensors.js";

/** Numbers of steps between two reads. */
const gaps = [3, 7, 4, 9, 5, 12, 1, 20, 2, 15, 6, 8, 11, 30, 10, 3, 18];

describeOnTensorDevices("rounds of loops", (device) => {
  const { counters } = backendFor(device);

  async function compiledBy(work: () => Promise<void>): Promise<number> {
    const before = counters.compiled;
    await work();
    return counters.compiled - before;
  }

  test("a power iteration that is read at irregular gaps", async () => {
    const F = tensor([
      [0.5, 0.25],
      [0.25, 0.5],
    ]);
    let x: Tensor = tensor([
      [1, 0],
      [0, 1],
    ]);
    let steps = 0;
    const compiled = await compiledBy(async () => {
      for (const gap of gaps) {
        for (let i = 0; i < gap; i++) x = F.matmul(x);
        steps += gap;
        const want = (0.75 ** steps + 0.25 ** steps) / 2;
        assert.ok(Math.abs(Number(await x.at(0, 0).item()) / want - 1) < 1e-4, `after ${steps} steps`);
      }
    });
    assert.ok(compiled <= 8, `${compiled} programs`);
  });

  test("a stencil that is read at every step: what it does for each neighbour is no round", async () => {
    let u = zeros([64, 64]).set("24:40", "24:40", 1) as Tensor;
    const compiled = await compiledBy(async () => {
      for (let step = 0; step < 40; step++) {
        const around = [[1, 0], [-1, 0], [0, 1], [0, -1]].map(([by, across]) =>
          (by === 0 ? u.roll(across!, { axis: 1 }) : u.roll(by!, { axis: 0 })),
        ); // biome-ignore format: pairs
        u = u.add(
          around
            .reduce((sum, each) => sum.add(each))
            .sub(u.mul(4))
            .mul(0.2),
        ) as Tensor;
        assert.ok(Number(await u.max().item()) <= 1 + 1e-6, `step ${step}`);
      }
    });
    assert.ok(compiled <= 4, `${compiled} programs`);
  });

  test("two states that depend on each other, numbers that change, and a value that the user holds", async () => {
    let [u, v]: [Tensor, Tensor] = [arange(32).div(32), zeros([32])];
    const [wantU, wantV] = [Array.from({ length: 32 }, (_, i) => i / 32), new Array<number>(32).fill(0)];
    const held: Tensor[] = [];
    let steps = 0;
    const compiled = await compiledBy(async () => {
      for (const gap of gaps) {
        for (let i = 0; i < gap; i++, steps++) {
          const rate = 0.1 / (1 + steps);
          [u, v] = [u.add(v.mul(rate)), v.sub(u.tanh().mul(rate))];
          for (let j = 0; j < 32; j++) {
            const [a, b] = [wantU[j]!, wantV[j]!];
            [wantU[j], wantV[j]] = [a + b * rate, b - Math.tanh(a) * rate];
          }
          if (steps === 40) held.push(u, v, tensor([wantU[5]!, wantV[5]!]));
        }
        assert.ok(Math.abs((await u.at(5).item()) - wantU[5]!) < 1e-5);
        assert.ok(Math.abs((await v.sum().item()) - wantV.reduce((a, b) => a + b)) < 1e-4);
      }
      const [heldU, heldV, want] = held as [Tensor, Tensor, Tensor];
      const [a, b] = await want.array({ rank: 1 });
      assert.ok(Math.abs((await heldU.at(5).item()) - a!) < 1e-5);
      assert.ok(Math.abs((await heldV.at(5).item()) - b!) < 1e-5);
    });
    assert.ok(compiled <= 18, `${compiled} programs`);
    const again = await compiledBy(async () => {
      for (const gap of [...gaps, 13, 16, 22]) {
        for (let i = 0; i < gap; i++, steps++) {
          const rate = 0.1 / (1 + steps);
          [u, v] = [u.add(v.mul(rate)), v.sub(u.tanh().mul(rate))];
        }
        await u.at(5).item();
        await v.sum().item();
      }
    });
    assert.ok(again <= 4, `${again} more for other lengths`);
  });

  test("a diffusion by slices, whose neighbours are padded", async () => {
    let u: Tensor = ones([1, 40]).pad([
      [0, 0],
      [12, 12],
    ]);
    const compiled = await compiledBy(async () => {
      for (const gap of gaps) {
        for (let i = 0; i < gap; i++) {
          const wide = u.pad([
            [0, 0],
            [1, 1],
          ]);
          u = u.add(wide.at(":", "2:").sub(u.mul(2)).add(wide.at(":", ":-2")).mul(0.1));
        }
        const total = await u.sum().item();
        assert.ok(total <= 40.001 && total > 30, `${total}`);
      }
    });
    assert.ok(compiled <= 8, `${compiled} programs`);
  });

  test("two hundred steps that nobody reads compile one of them", async () => {
    const F = ones([8, 8]).div(8);
    await F.realize();
    let x: Tensor = arange(8).reshape(8, 1).cast("f32");
    const before = counters.kernels;
    const compiled = await compiledBy(async () => {
      for (let i = 0; i < 190; i++) x = F.matmul(x);
      for (const value of await x.data()) assert.ok(Math.abs(Number(value) - 3.5) < 1e-4);
    });
    assert.ok(compiled <= 3, `${compiled} programs`);
    assert.ok(counters.kernels - before <= 200);
  });

  test("a step of training stays one program, also with many layers that are alike", async () => {
    let w: Tensor = ones([6, 6]).div(6);
    await w.realize();
    const lossOf = valueAndGrad((each: Tensor) => {
      let y: Tensor = ones([6, 1]);
      for (let i = 0; i < 20; i++) y = each.matmul(y).tanh();
      return y.sum();
    });
    const compiled = await compiledBy(async () => {
      for (let i = 0; i < 4; i++) {
        const [loss, slope] = lossOf(w);
        w = w.sub(slope.mul(0.01));
        await loss.item();
      }
    });
    assert.ok(compiled <= 3, `${compiled} programs`);
  });
});

// ------------------------------------------------------------------------------------------------ which graphs are cut

/** A loop of so many steps, and its sum. */
function looped(steps: number, step: (x: Node) => Node, start = stored(32)): Node {
  let x = start;
  for (let i = 0; i < steps; i++) x = step(x);
  return make(sum, [x], { axes: [0] });
}

const w = stored(32);
const gated = (x: Node): Node => make(add, [make(tanh, [make(mul, [x, w])]), make(sin, [x])]);

/** The cuts of a graph as its backend would ask for them. */
function cutsOf(rounds: RepeatedRounds, root: Node, hash: number): readonly (readonly Node[])[] {
  return rounds.cutsOf({ roots: [root], order: graphOf([root]), hash });
}

test("every length is cut between the rounds, where one value is alive; the first that comes a second time is whole", () => {
  const rounds = new RepeatedRounds(1e9);
  for (const [steps, expected] of [
    [7, 7],
    [5, 5],
    [7, 0],
    [5, 5],
    [7, 0],
  ] as const) {
    const cuts = cutsOf(rounds, looped(steps, gated), steps);
    assert.equal(cuts.length, expected, `${steps} rounds`);
    for (const cut of cuts) assert.ok(cut.length === 1 && cut[0]?.primitive === add);
  }
});

test("where rounds add numbers up, the first length is whole every time: the same work gives the same bits", () => {
  const rounds = new RepeatedRounds(1e9);
  const centred = (x: Node): Node => {
    const total = make(reshape, [make(sum, [x], { axes: [0] })], { shape: [1] });
    return make(tanh, [make(sub, [x, make(expand, [total], { shape: [32] })])]);
  };
  const counts = [7, 5, 7].map((steps) => cutsOf(rounds, looped(steps, centred), steps).length);
  assert.deepEqual(counts, [0, 5, 0]);
});

test("cuts leave nothing of a round over, also where a round begins with a view of what is in memory", () => {
  const viewed = (x: Node): Node => {
    const column = make(tanh, [make(reshape, [x], { shape: [32, 1] })]);
    return make(add, [make(reshape, [column], { shape: [32] }), make(mul, [x, w])]);
  };
  const root = looped(6, viewed);
  const cuts = cutsOf(new RepeatedRounds(1e9), root, 1);
  assert.equal(cuts.length, 6);
  for (const cut of cuts) assert.ok(cut.length === 1 && cut[0]?.primitive === add);
  assert.equal(cuts.at(-1)?.[0], root.inputs[0]);
});

test("a long one is cut the second time, too; what a differentiation made, a few operations, and too many bytes never", () => {
  const long = new RepeatedRounds(1e9);
  for (let time = 0; time < 3; time++) assert.equal(cutsOf(long, looped(16, gated), 1).length, 16);
  const traced = looped(16, gated);
  traced.trace = { isOpen: false, outer: null, level: 1 };
  assert.equal(cutsOf(new RepeatedRounds(1e9), traced, 1).length, 0);
  assert.equal(cutsOf(new RepeatedRounds(16 * 32 * 4 - 1), looped(16, gated), 1).length, 0);
  const rounds = new RepeatedRounds(1e9);
  for (const steps of [3, 4, 5, 6]) {
    const short = make(exp, [looped(steps, (x) => make(neg, [x]))]);
    assert.equal(cutsOf(rounds, short, steps).length, 0);
  }
});

test("large values that elementwise operations make are not stored, those of a product or sum are", () => {
  const size = 64 * 1024;
  const large = stored(size);
  const drifted = (x: Node) => make(add, [make(tanh, [make(mul, [x, large])]), make(sin, [x])]);
  const centred = (x: Node) =>
    make(mul, [x, make(expand, [make(reshape, [make(sum, [x], { axes: [0] })], { shape: [1] })], { shape: [size] })]);
  assert.equal(cutsOf(new RepeatedRounds(1e9), looped(20, drifted, stored(size)), 1).length, 0);
  assert.ok(cutsOf(new RepeatedRounds(1e9), looped(20, centred, stored(size)), 1).length > 0);
  // Of 80 MiB in all, a loop of another length is cut, but not the first.
  const rounds = new RepeatedRounds(1e9);
  const [first, second] = [looped(320, centred, stored(size)), looped(300, centred, stored(size))];
  assert.deepEqual([cutsOf(rounds, first, 1).length, cutsOf(rounds, second, 2).length], [0, 300]);
});

test("what comes before the loop is stored by itself, so the first round is like the others", () => {
  const start = make(exp, [make(neg, [make(mul, [stored(32), stored(32)])])]);
  const cuts = cutsOf(new RepeatedRounds(1e9), looped(20, gated, start), 1);
  assert.ok(
    cuts.some((cut) => cut.includes(start)),
    "the start is a cut",
  );
});

test("rounds that do not read each other are computed together", () => {
  const parts = Array.from({ length: 20 }, () => make(tanh, [make(mul, [stored(32), w])]));
  const order = graphOf(parts);
  const cuts = new RepeatedRounds(1e9).cutsOf({ roots: parts, order, hash: 1 });
  assert.deepEqual(cuts, []);
});

test("a graph that comes back often is compiled as a whole", () => {
  const rounds = new RepeatedRounds(1e9);
  cutsOf(rounds, looped(4, gated), 4);
  const cut = Array.from({ length: 300 }, () => cutsOf(rounds, looped(9, gated), 9).length > 0);
  const last = cut.lastIndexOf(true);
  assert.equal(cut.indexOf(false), last + 1);
  assert.ok(last > 100 && last < 299, `${last}`);
});
