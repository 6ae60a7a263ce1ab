/** Hidden Markov models against sums over all paths of states, which few steps and states have few of. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  dirichlet,
  hmm,
  hmmDrawStates,
  hmmLikeliestStates,
  hmmLogDensity,
  hmmStateProbabilities,
  model,
  normal,
  ordered,
  poisson,
} from "../../../src/bayes/index.js";
import { key } from "../../../src/random/key.js";
import { type Tensor, tensor } from "../../../src/tensor/index.js";
import { grad } from "../../../src/transforms/grad.js";
import { expectFrequencies } from "../../support/goodness-of-fit.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

interface Plain {
  readonly initial: readonly number[];
  readonly transition: readonly (readonly number[])[];
  /** [T][K]. */
  readonly logs: readonly (readonly number[])[];
}

/** All paths of states with the log density of each together with what was seen. */
function pathsOf({ initial, transition, logs }: Plain): { readonly path: number[]; readonly log: number }[] {
  return logs.reduce<{ path: number[]; log: number }[]>(
    (paths, seen) =>
      paths.flatMap(({ path, log }) =>
        seen.map((own, state) => {
          const chance = path.length === 0 ? initial[state]! : transition[path.at(-1)!]![state]!;
          return { path: [...path, state], log: log + Math.log(chance) + own };
        }),
      ),
    [{ path: [], log: 0 }],
  );
}

const totalOf = (logs: readonly number[]): number => {
  const most = Math.max(...logs);
  return most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0));
};

const three: Plain = {
  initial: [0.2, 0.5, 0.3],
  transition: [
    [0.7, 0.2, 0.1],
    [0.05, 0.9, 0.05],
    [0.3, 0.3, 0.4],
  ],
  logs: [
    [-1, -2.5, -0.3],
    [-4, -0.1, -2],
    [-800, -801, -799.5],
    [-0.2, -3, -1.1],
    [0.5, -0.4, -2.2],
  ],
};
/** Moves and beginnings that cannot be, and a state that cannot show what was seen. */
const holes: Plain = {
  initial: [1, 0],
  transition: [
    [0.6, 0.4],
    [0, 1],
  ],
  logs: [
    [-1, -2],
    [-0.5, -1.5],
    [-Infinity, -1],
    [-2, -0.3],
  ],
};
const models = { "three states": three, "chances of 0": holes, "one step": { ...three, logs: three.logs.slice(0, 1) } };

describeOnTensorDevices("hidden states", (device) => {
  for (const dtype of ["f64", "f32"] as const) {
    const on = (values: unknown): Tensor => tensor(values as number[], { dtype, device });
    const near = dtype === "f64" ? 1e-12 : 3e-5;
    for (const [title, plain] of Object.entries(models)) {
      const args = () => [on(plain.initial), on(plain.transition), on(plain.logs)] as const;
      const paths = pathsOf(plain);
      const total = totalOf(paths.map(({ log }) => log));

      test(`${title}, ${dtype}: density, probabilities and the likeliest path`, () => {
        const found = hmmLogDensity(...args()).itemSync() as number;
        assert.ok(Math.abs(found - total) < near * Math.max(1, Math.abs(total)), `${found}, not ${total}`);
        const probabilities = hmmStateProbabilities(...args());
        assert.deepEqual([...probabilities.shape], [plain.logs.length, plain.initial.length]);
        numbersOf(probabilities).forEach((p, i) => {
          const [t, state] = [Math.floor(i / plain.initial.length), i % plain.initial.length];
          const expected = paths.reduce(
            (sum, { path, log }) => sum + (path[t] === state ? Math.exp(log - total) : 0),
            0,
          );
          // In f32, of a log density of 800 only the fourth digit after the point is left.
          assert.ok(
            Math.abs(p - expected) < (dtype === "f64" ? 1e-11 : 1e-3),
            `step ${t}, state ${state}: ${p}, not ${expected}`,
          );
        });
        const best = paths.reduce((a, b) => (b.log > a.log ? b : a));
        assert.deepEqual(numbersOf(hmmLikeliestStates(...args())), best.path);
      });
    }
  }

  test("draws of paths come as often as they are likely", () => {
    const many = 4000;
    for (const plain of [three, holes]) {
      const on = (values: unknown): Tensor => tensor(values as number[], { dtype: "f32", device });
      const logs = on(plain.logs).broadcastTo([many, plain.logs.length, plain.initial.length]);
      const drawn = hmmDrawStates(key(4, { device }), on(plain.initial), on(plain.transition), logs);
      assert.deepEqual([[...drawn.shape], drawn.dtype], [[many, plain.logs.length], "i32"]);
      const paths = pathsOf(plain);
      const total = totalOf(paths.map(({ log }) => log));
      const states = numbersOf(drawn);
      const counts = new Map<string, number>();
      for (let i = 0; i < many; i++) {
        const name = states.slice(i * plain.logs.length, (i + 1) * plain.logs.length).join();
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      expectFrequencies(
        paths.map(({ path }) => counts.get(path.join()) ?? 0),
        paths.map(({ log }) => Math.exp(log - total)),
        "paths",
      );
    }
  });
});

describe("the density", () => {
  test("has gradients that are slopes of the sum over paths, and numbers where chances are 0", () => {
    const of = (plain: Plain) => totalOf(pathsOf(plain).map(({ log }) => log));
    const [initial, transition, logs] = [
      f64([...three.initial]),
      f64(three.transition.map((row) => [...row])),
      f64(three.logs.map((row) => [...row])),
    ];
    const bySeen = numbersOf(grad((seen: Tensor) => hmmLogDensity(initial, transition, seen))(logs));
    const byMoves = numbersOf(grad((moves: Tensor) => hmmLogDensity(initial, moves, logs))(transition));
    const byFirst = numbersOf(grad((first: Tensor) => hmmLogDensity(first, transition, logs))(initial));
    const slope = (at: (by: number) => Plain) => (of(at(2 ** -18)) - of(at(-(2 ** -18)))) * 2 ** 17;
    const moved = (rows: Plain["logs"], i: number, by: number) =>
      rows.map((row, r) => row.map((value, c) => (r * 3 + c === i ? value + by : value)));
    const expectSlopes = (found: readonly number[], at: (i: number, by: number) => Plain) => {
      for (const [i, own] of found.entries()) {
        const expected = slope((by) => at(i, by));
        assert.ok(Math.abs(own - expected) < 1e-7, `${own}, not ${expected}`);
      }
    };
    expectSlopes(bySeen, (i, by) => ({ ...three, logs: moved(three.logs, i, by) }));
    expectSlopes(byMoves, (i, by) => ({ ...three, transition: moved(three.transition, i, by) }));
    expectSlopes(byFirst, (i, by) => ({ ...three, initial: three.initial.map((p, j) => (j === i ? p + by : p)) }));
    const [a, b, c] = [
      f64([...holes.initial]),
      f64(holes.transition.map((row) => [...row])),
      f64(holes.logs.map((row) => [...row])),
    ];
    for (const slopes of [
      grad((v: Tensor) => hmmLogDensity(v, b, c))(a),
      grad((v: Tensor) => hmmLogDensity(a, v, c))(b),
      grad((v: Tensor) => hmmLogDensity(a, b, v))(c),
    ]) {
      assert.ok(numbersOf(slopes).every(Number.isFinite));
    }
  });

  test("broadcasts over leading axes, and says which shapes do not fit", () => {
    const logs = f64([three.logs.map((row) => [...row]), three.logs.map((row) => row.map((v) => v - 1))]);
    const found = numbersOf(hmmLogDensity(f64([...three.initial]), f64(three.transition.map((r) => [...r])), logs));
    assert.ok(Math.abs(found[0]! - found[1]! - 5) < 1e-9);
    assert.throws(
      () => hmmLogDensity(f64([0.5, 0.5]), f64(three.transition.map((r) => [...r])), logs),
      /hmmLogDensity: initial is \[2\], transition \[3, 3\] and the log densities \[2, 5, 3\]; for K states/,
    );
  });
});

describeOnTensorDevices("the distribution hmm", (device) => {
  const y = [-1.1, -0.8, 2.3, 1.9, 2.2, -0.9, -1.3, 2.1];

  test("is sampled, predicted from and scored by series", async () => {
    const posterior = model(() => {
      const mu = normal(0, 3).shape(2).constrained(ordered);
      const moves = dirichlet([1, 1]).shape(2);
      return { mu, moves, y: hmm([0.5, 0.5], moves, normal(mu, 0.5), { steps: 8 }) };
    }).given({ y });
    for (const dtype of ["f32", "f64"] as const) {
      const fit = await posterior.sample({ chains: 4, draws: 200, warmup: 200, seed: 2, device, dtype });
      const [low, high] = fit.summary("mu").rows;
      // Four values each, around -1.025 and 2.125, with a standard error of 0.25.
      assert.ok(Math.abs(low!.mean + 1.025) < 0.1 && Math.abs(high!.mean - 2.125) < 0.1, `${low!.mean}, ${high!.mean}`);
      assert.deepEqual((await fit.predictive(key(1))).variables.get("y"), [8]);
      assert.deepEqual((await fit.logLikelihood()).variables.get("y"), []);
    }
  });

  test("takes arguments that change with the steps, lists, and counts", () => {
    const on = (values: unknown): Tensor => tensor(values as number[], { dtype: "f32", device });
    const [initial, moves] = [
      on([0.5, 0.5]),
      on([
        [0.9, 0.1],
        [0.2, 0.8],
      ]),
    ];
    const means = on(y.map((_, t) => [-1 + 0.1 * t, 2]));
    const series = on(y);
    const changing = hmm(initial, moves, normal(means, 0.5), { steps: 8 }).distribution;
    assert.deepEqual([changing.batchShape, changing.eventShape], [[], [8]]);
    const expected = hmmLogDensity(initial, moves, normal(means, 0.5).distribution.logDensity(series.expandDims(-1)));
    assert.ok(Math.abs((changing.logDensity(series).itemSync() as number) - (expected.itemSync() as number)) < 1e-4);
    const counts = hmm(initial, moves, [poisson(1), poisson(9)], { steps: 3 }).distribution;
    const drawn = counts.sample(key(3, { device }), [50]);
    assert.deepEqual([[...drawn.shape], drawn.dtype], [[50, 3], "i32"]);
    assert.equal(counts.logDensity(on([1, 2, 0.5])).itemSync(), -Infinity);
  });

  test("refuses rows that do not sum to 1, and states without an axis", () => {
    assert.throws(
      () =>
        hmm(
          [0.5, 0.5],
          [
            [0.9, 0.2],
            [0.5, 0.5],
          ],
          normal([0, 1], 1),
          { steps: 3 },
        ),
      /hmm: the elements of transition\[0\] sum to 1.1, not to 1/,
    );
    assert.throws(() => hmm([1], [[1]], normal(0, 1), { steps: 3 }), /normal\(…\) is the same in all states/);
    assert.throws(() => hmm([1], [[1]], normal([0], 1), { steps: 0 }), /hmm: 0 steps/);
  });
});
