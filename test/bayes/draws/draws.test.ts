/** The container for draws: names, blocks, views, and refusals that say what was wrong. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { Draws, scalarNames } from "../../../src/bayes/draws/draws.js";
import { ArgumentError, ShapeError } from "../../../src/core/errors.js";

const matrix = (chains: number, draws: number, elements: number) =>
  Float64Array.from({ length: chains * draws * elements }, (_, i) => i);

describe("names", () => {
  test("of scalars count from 0, in row-major order", () => {
    assert.deepEqual(scalarNames("mu", []), ["mu"]);
    assert.deepEqual(scalarNames("theta", [2]), ["theta[0]", "theta[1]"]);
    assert.deepEqual(scalarNames("L", [2, 2]), ["L[0,0]", "L[0,1]", "L[1,0]", "L[1,1]"]);
    assert.deepEqual(scalarNames("none", [0, 3]), []);
  });

  test("are found by variable, by scalar and by pattern, in the order of the draws", () => {
    const draws = new Draws({ chains: 1, variables: { mu: [], theta: [2], tau: [] } });
    assert.deepEqual(draws.match(), ["mu", "theta[0]", "theta[1]", "tau"]);
    assert.deepEqual(draws.match("theta"), ["theta[0]", "theta[1]"]);
    assert.deepEqual(draws.match(["tau", "theta[1]"]), ["theta[1]", "tau"]);
    assert.deepEqual(draws.match(/^t/g), ["theta[0]", "theta[1]", "tau"]);
    assert.throws(() => draws.match("thata"), /no scalar is named "thata"; there are mu, theta\[2\], tau/);
  });

  test("that two variables would share are refused", () => {
    assert.throws(
      () => new Draws({ chains: 1, variables: { "a[0]": [], a: [2] } }),
      /two variables have a scalar named "a\[0\]"/,
    );
  });
});

describe("blocks", () => {
  test("of chains × draws × elements come apart into scalars, chain after chain", () => {
    const draws = new Draws({ chains: 2, variables: { mu: [], x: [2, 2] } });
    draws.append({ values: { mu: [1, 2, 3, 4, 5, 6], x: matrix(2, 3, 4) } });
    assert.equal(draws.length, 3);
    assert.deepEqual([...draws.scalar("mu").values], [1, 2, 3, 4, 5, 6]);
    assert.deepEqual([...draws.scalar("x[1,0]").values], [2, 6, 10, 14, 18, 22]);
    assert.deepEqual(draws.values("x"), matrix(2, 3, 4));
  });

  test("appended one by one are the draws appended at once, read in between or not", () => {
    for (const isRead of [false, true]) {
      const draws = new Draws({ chains: 2, variables: { x: [3] } });
      const whole = matrix(2, 7, 3);
      for (const [from, to] of [
        [0, 1],
        [1, 1],
        [1, 5],
        [5, 7],
      ] as const) {
        const block = [0, 1].flatMap((c) => [...whole.subarray((c * 7 + from) * 3, (c * 7 + to) * 3)]);
        const energy = [0, 1].flatMap((c) => [...Array(to - from).keys()].map((i) => 100 * c + from + i));
        draws.append({ values: { x: block }, stats: { energy } });
        if (isRead) assert.equal(draws.scalar("x[1]").values.length, 2 * to);
      }
      assert.deepEqual(draws.values("x"), whole);
      assert.deepEqual([...draws.stat("energy")!.values], [0, 1, 2, 3, 4, 5, 6, 100, 101, 102, 103, 104, 105, 106]);
      assert.deepEqual(draws.stats, ["energy"]);
      assert.equal(draws.stat("lp"), undefined);
    }
  });

  test("sorted by scalar are kept as they are, f32 becomes f64 when it is read, and both kinds follow one another", () => {
    const draws = new Draws({ chains: 2, variables: { mu: [], x: [2] } });
    const x = Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    const lp = Float32Array.of(0.5, 1.5, 2.5, 3.5);
    draws.appendByScalar({ values: { mu: Float32Array.of(1, 2, 3, 4), x }, stats: { lp } });
    assert.equal(draws.scalar("x[1]").values.buffer, x.buffer);
    assert.deepEqual(draws.scalar("x[1]").values, Float64Array.of(5, 6, 7, 8));
    assert.deepEqual(draws.scalar("mu"), { values: Float64Array.of(1, 2, 3, 4), chains: 2, draws: 2 });
    assert.equal(draws.scalar("mu").values, draws.scalar("mu").values);
    draws.append({ values: { mu: [10, 20], x: [11, 12, 21, 22] }, stats: { lp: [9, 8] } });
    assert.deepEqual(draws.scalar("mu").values, Float64Array.of(1, 2, 10, 3, 4, 20));
    assert.deepEqual(draws.values("x"), Float64Array.of(1, 5, 2, 6, 11, 12, 3, 7, 4, 8, 21, 22));
    assert.deepEqual(draws.stat("lp")?.values, Float64Array.of(0.5, 1.5, 9, 2.5, 3.5, 8));
    assert.throws(
      () => draws.appendByScalar({ values: { mu: new Float32Array(2), x: new Float32Array(6) } }),
      /"x" has 6 numbers; 2 chains × 1 draws × 2 elements/,
    );
  });

  test("that do not fit are refused, and nothing is added", () => {
    const draws = new Draws({ chains: 2, variables: { mu: [], x: [3] } });
    const stats = { lp: [0, 0] };
    draws.append({ values: { mu: [1, 2], x: matrix(2, 1, 3) }, stats });
    const cases: [Parameters<Draws["append"]>[0], RegExp][] = [
      [{ values: { mu: [1, 2] }, stats }, /the block has no "x"/],
      [{ values: { mu: [1, 2], x: matrix(2, 2, 3) }, stats }, /"x" has 12 numbers; 2 chains × 1 draws × 3 elements/],
      [{ values: { mu: [1, 2, 3], x: matrix(2, 1, 3) }, stats }, /"mu" has 3 numbers; 2 chains × n draws/],
      [{ values: { mu: [1, 2], x: matrix(2, 1, 3), z: [1] }, stats }, /no place for "z"; there are mu, x, lp/],
      [{ values: { mu: [1, 2], x: matrix(2, 1, 3) } }, /the block has no "lp"/],
      [{ values: { mu: [1, 2], x: matrix(2, 1, 3) }, stats: { ...stats, energy: [1, 2] } }, /no place for "energy"/],
    ];
    for (const [block, message] of cases) assert.throws(() => draws.append(block), message);
    assert.equal(draws.length, 1);
    assert.deepEqual([...draws.scalar("mu").values], [1, 2]);
  });
});

test("a variable's draws are a tensor of chains × draws × its shape", () => {
  const draws = new Draws({ chains: 2, variables: { mu: [], x: [2, 2] } });
  draws.append({ values: { mu: [1, 2, 3, 4, 5, 6], x: matrix(2, 3, 4) } });
  const [mu, x] = [draws.tensor("mu", { device: "cpu" }), draws.tensor("x", { dtype: "f32", device: "cpu" })];
  assert.deepEqual([mu.shape, mu.dtype, x.shape, x.dtype], [[2, 3], "f64", [2, 3, 2, 2], "f32"]);
  assert.deepEqual(mu.arraySync(), [
    [1, 2, 3],
    [4, 5, 6],
  ]);
  assert.deepEqual(x.at(1, 2).arraySync(), [
    [20, 21],
    [22, 23],
  ]);
  assert.throws(() => draws.tensor("M"), /^ArgumentError: tensor: no variable is named "M"; there are mu, x\.$/);
});

describe("nested arrays", () => {
  test("become draws with the shape they have", () => {
    const draws = Draws.from(
      { mu: [[1, 2]], m: [[[[1, 2, 3]], [[4, 5, 6]]]] },
      { stats: { divergent: [[0, 1]] }, maxTreeDepth: 9 },
    );
    assert.deepEqual([draws.chains, draws.length, draws.variables.get("m")], [1, 2, [1, 3]]);
    assert.deepEqual([...draws.scalar("m[0,2]").values], [3, 6]);
    assert.deepEqual([...draws.stat("divergent")!.values], [0, 1]);
    assert.equal(draws.maxTreeDepth, 9);
  });

  test("that are ragged or lack an axis are refused", () => {
    assert.throws(() => Draws.from({ mu: [[1, 2], [3]] }), ShapeError);
    assert.throws(() => Draws.from({ mu: [[[1], [2, 3]]] }), ShapeError);
    assert.throws(() => Draws.from({ mu: [1, 2] as unknown as number[][] }), /chains × draws/);
    assert.throws(() => Draws.from({}), ArgumentError);
  });
});

test("numbers of chains that make no sense are refused", () => {
  assert.throws(() => new Draws({ chains: 0, variables: {} }), /at least one/);
  assert.throws(() => new Draws({ chains: 6, superchains: 4, variables: {} }), /6 chains cannot be 4 superchains/);
});

test("asking for a whole variable where a scalar is meant shows how to name one", () => {
  const draws = new Draws({ chains: 1, variables: { L: [2, 2] } });
  assert.throws(() => draws.scalar("L"), /name one element, "L\[0,0\]"/);
  assert.throws(() => draws.values("M"), /no variable is named "M"; there are L/);
});

test("draws print as what they hold", () => {
  const draws = new Draws({ chains: 4, variables: { mu: [], theta: [8] } });
  assert.equal(inspect(draws), "Draws(4 chains × 0 draws of mu, theta[8])");
});
