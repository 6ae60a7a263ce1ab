/**
 * Numbers that change from step to step, outside jit: a form of graph takes a few programs, whatever numbers come, and each
 * of them computes what plain loops compute.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { castScalar } from "../../src/core/cast.js";
import { DTYPES, type DType, type Scalar } from "../../src/core/dtype.js";
import {
  arange,
  eye,
  full,
  geomspace,
  linalg,
  linspace,
  logspace,
  random,
  type Tensor,
  tensor,
  valueAndGrad,
  where,
  zeros,
} from "../../src/index.js";
import { explain, profile } from "../../src/tensor/index.js";
import { castValue, elementOracle, entries, type Value } from "../support/element-oracle.js";
import { engineOf } from "../support/engines.js";
import { workOf } from "../support/jit-check.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../support/tensors.js";

/** How many programs work compiles. */
function compiledBy(device: string, work: () => void): number {
  const before = workOf(device).compiled;
  work();
  return workOf(device).compiled - before;
}

const f32 = Math.fround;

/** Values that fold, values that do not, and those that fold again; each is to follow each. */
const NUMBERS = [2, 0, 1, -0, 3.5, Number.NaN, -1, Number.POSITIVE_INFINITY, 0, 2, 1, 0.1, Number.NEGATIVE_INFINITY, 2];

describeOnTensorDevices("numbers that change", (device) => {
  test("50 learning rates take two programs, and each is rounded as the number it is", () => {
    const start = [1, -2, 0.3, 4e-3, 7];
    const slope = [0.5, 0.25, -3, 1 / 3, 1e-7];
    let w: Tensor = tensor(start).realize();
    const g = tensor(slope);
    let expected = start.map(f32);
    const compiled = compiledBy(device, () => {
      for (let step = 0; step < 50; step++) {
        const rate = 0.1 / (1 + step);
        w = w.sub(g.mul(rate)).realize();
        expected = expected.map((x, i) => f32(x - f32(f32(slope[i]!) * f32(rate))));
      }
    });
    assert.deepEqual(numbersOf(w), expected);
    assert.ok(compiled <= 2, `${compiled} programs`);
  });

  test("a training loop with a schedule and momentum compiles a few programs, and goes where plain loops go", () => {
    const xs = Array.from({ length: 20 }, (_, i) => i / 10 - 1);
    const ys = xs.map((x) => 3 * x - 0.5);
    const [x, y] = [tensor(xs), tensor(ys)];
    const loss = (p: { a: Tensor; b: Tensor }) => x.mul(p.a).add(p.b).sub(y).square().mean();
    let p: { a: Tensor; b: Tensor } = { a: tensor(0), b: tensor(0) };
    let v: typeof p = { a: tensor(0), b: tensor(0) };
    let [a, b, va, vb] = [0, 0, 0, 0];
    const compiled = compiledBy(device, () => {
      for (let step = 1; step <= 60; step++) {
        // A rate that warms up, stays, and falls; a momentum that begins to change later.
        const rate = step < 10 ? step / 50 : step < 30 ? 0.2 : 6 / step;
        const momentum = step < 40 ? 0.5 : 0.5 - (step - 40) / 100;
        const [value, g] = valueAndGrad(loss)(p);
        v = { a: v.a.mul(momentum).add(g.a), b: v.b.mul(momentum).add(g.b) };
        p = { a: p.a.sub(v.a.mul(rate)), b: p.b.sub(v.b.mul(rate)) };
        for (const each of [p.a, p.b, v.a, v.b, value]) each.realize();
        const errors = xs.map((at, i) => a * at + b - ys[i]!);
        const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
        va = va * momentum + mean(errors.map((e, i) => 2 * e * xs[i]!));
        vb = vb * momentum + mean(errors.map((e) => 2 * e));
        a -= va * rate;
        b -= vb * rate;
      }
    });
    for (const [got, want] of [[p.a, a] as const, [p.b, b] as const]) {
      assert.ok(Math.abs(Number(got.itemSync()) - want) < 1e-5);
    }
    // The loss and each of the four updates: as they are, with the rate, with the rate and the momentum.
    assert.ok(compiled <= 12, `${compiled} programs`);
  });

  test("loops over columns, windows, places to write and distances compile a few programs, and read the right elements", () => {
    const values = Array.from({ length: 60 }, (_, i) => Math.sin(i));
    const x = tensor(values, { shape: [3, 20] }).realize();
    const at = (row: number, column: number): number => f32(values[row * 20 + column]!);
    const rows = [0, 1, 2];
    let filled = zeros([20]);
    const compiled = compiledBy(device, () => {
      for (let i = 0; i < 20; i++) {
        assert.deepEqual(
          numbersOf(x.at(":", i).mul(2)),
          rows.map((row) => 2 * at(row, i)),
        );
        const first = Math.min(i, 17);
        const window = x.at(":", `${first + 2}:${first === 0 ? "" : first - 1}:-1`).mul(2);
        const backwards = rows.flatMap((row) => [2, 1, 0].map((k) => 2 * at(row, first + k)));
        assert.deepEqual(numbersOf(window), backwards);
        const rolled = x.at(0).roll(i).mul(2);
        assert.deepEqual(
          numbersOf(rolled),
          Array.from({ length: 20 }, (_, k) => 2 * at(0, (k - i + 20) % 20)),
        );
        filled = filled.set(i, x.at(1, i).mul(2));
        assert.deepEqual(
          numbersOf(filled),
          Array.from({ length: 20 }, (_, k) => (k <= i ? 2 * at(1, k) : 0)),
        );
      }
    });
    assert.ok(compiled <= 30, `${compiled} programs`);
  });

  test("methods with other numbers in every round compile a few programs", async () => {
    const x = linspace(0.1, 2, 40).realize();
    const whole = arange(40).realize();
    const square = random.normal(random.key(1, { device }), [8, 8]).realize();
    const key = random.key(3, { device });
    const shape = [5];
    const methods: Readonly<Record<string, (i: number, share: number) => Tensor>> = {
      "arange, moved": (i) => arange(i, i + 10),
      "arange in steps": (i) => arange(0, 10 * (i + 1), i + 1),
      at: (i) => x.at(i).add(1),
      "at, a window": (i) => x.at(`${i}:${i + 3}`).add(1),
      bernoulli: (_, share) => random.bernoulli(key, share, shape),
      binomial: (i, share) => random.binomial(key, i + 1, share, shape),
      categorical: (_, share) => random.categorical(key, square.div(share)),
      clip: (_, share) => x.clip(share / 4, share),
      "clip of integers": (i) => whole.clip(i, i + 3),
      cumsum: (_, share) => x.mul(share).cumsum(),
      dropout: (_, share) => random.uniform(key, [40]).less(share).cast("f32").mul(x).div(share),
      exp: (_, share) => linalg.matrixExp(square.mul(share)),
      eye: (_, share) => linalg.solve(square.add(eye(8).mul(share)), square),
      fold: (i) => random.normal(random.foldIn(key, i), shape),
      full: (_, share) => full(shape, share),
      gamma: (_, share) => random.gamma(key, share, shape),
      geomspace: (_, share) => geomspace(1, 1 + share, 20),
      "histogram, its range": (_, share) => x.histogram({ bins: 10, range: [0, share + 1] }).counts,
      isClose: (_, share) => x.isClose(1, { rtol: share }),
      key: (i) => random.normal(random.key(i, { device }), shape),
      leftShift: (i) => whole.leftShift(i),
      linspace: (_, share) => linspace(share, 3 + share, 20),
      logspace: (_, share) => logspace(0, share, 20),
      nanQuantile: (_, share) => x.nanQuantile(share),
      nanToNum: (_, share) => x.nanToNum({ nan: share }),
      nonzero: (_, share) => x.greater(share).nonzero()[0] as Tensor,
      norm: (_, share) => x.norm({ order: 1 + share }),
      percentile: (_, share) => x.percentile(100 * share),
      permutation: (i) => random.permutation(random.foldIn(key, i), 10),
      poisson: (_, share) => random.poisson(key, 5 * share, shape),
      "pow of floats": (_, share) => x.pow(share),
      "pow of integers": (i) => whole.pow(i),
      quantile: (_, share) => x.quantile(share),
      "quantile of rows": (_, share) => square.quantile(share, { axis: 1 }),
      quantiles: (_, share) => x.quantile([share, 0.95]),
      randint: (i) => random.randint(key, shape, 0, i + 2),
      remainder: (i) => whole.remainder(i + 1),
      roll: (i) => x.roll(i),
      round: (i) => x.round({ decimals: i % 6 }),
      searchSorted: (_, share) => x.searchSorted(share),
      set: (i, share) => x.set(i, share),
      "set, a window": (i, share) => x.set(`${i}:${i + 3}`, share),
      softmax: (_, share) => x.div(share).softmax(),
      std: (_, share) => x.std({ correction: share }),
      take: (i) => x.take([i, i + 1]),
      tensor: (_, share) => tensor([share, 2]).mul(x.at(":2")),
      uniform: (_, share) => random.uniform(key, shape, { low: -share, high: share }),
      where: (_, share) => where(x.greater(share), x, share),
    };
    const many: string[] = [];
    for (const [name, method] of Object.entries(methods)) {
      const before = workOf(device).compiled;
      for (let i = 0; i < 30; i++) await method(i, 0.1 + i / 40).data();
      const compiled = workOf(device).compiled - before;
      // Binomial numbers of few and of many trials are drawn in different ways.
      if (compiled > (name === "binomial" ? 12 : 6)) many.push(`${name}: ${compiled}`);
    }
    assert.deepEqual(many, [], "programs for 30 rounds");
  });

  const dtypes: readonly DType[] = ["f32", "f16", "bf16", "i32", "u8", "i64", "u64"];
  const all = devicesWithDoubles().includes(device) ? [...dtypes, "f64" as const] : dtypes;
  for (const dtype of all) {
    test(`operations on ${dtype} with one number after another are those of each number`, () => {
      const isExact = DTYPES[dtype].kind !== "float";
      const held = (value: number): Value => castValue(castScalar(value, "f64", dtype) as Value, dtype, dtype);
      const values = [-3, -1, 0, 1, 2, 100].map(held);
      const x = tensor(values as Scalar[] as number[], { dtype }).realize();
      const names = isExact
        ? ["add", "sub", "mul", "quotient", "rem", "maximum", "minimum", "equal", "less", "and", "xor", "shiftLeft"]
        : ["add", "sub", "mul", "div", "maximum", "minimum", "equal", "less", "greaterEqual"];
      const methods: Readonly<Record<string, string>> = {
        and: "bitwiseAnd",
        xor: "bitwiseXor",
        shiftLeft: "leftShift",
      };
      for (const name of names) {
        const entry = entries.find((each) => each.name === name);
        assert.ok(entry, name);
        const isComparison = ["equal", "less", "greaterEqual"].includes(name);
        const oracle = elementOracle(entry, [dtype, dtype], isComparison ? "bool" : dtype) as (
          ...args: Value[]
        ) => Value;
        const method = (methods[name] ?? name) as "add";
        if (!(method in x)) continue;
        const compiled = compiledBy(device, () => {
          for (const number of NUMBERS) {
            const operand = held(number);
            // Of two zeros, drivers may take either for the greater.
            const signed = (value: Value) => (name === "maximum" || name === "minimum" ? value || 0 : value);
            const got = Array.from(x[method](operand as number).dataSync() as ArrayLike<Value>, signed);
            const expected = values.map((value) => signed(oracle(value, operand)));
            assert.deepEqual(got, expected, `${name} with ${number}`);
          }
        });
        assert.ok(compiled <= 2, `${name}: ${compiled} programs`);
      }
    });
  }

  test("powers, where, full, sums and products of numbers that change are right for each", () => {
    const mask = tensor([true, false, true]).realize();
    const x = tensor([1, 2, 3]).realize();
    const graphs: Readonly<Record<string, readonly [(c: number) => Tensor, (c: number) => number[]]>> = {
      where: [(c) => where(mask, x, c), (c) => [1, f32(c), 3]],
      "where, both sides": [(c) => where(mask, c, -c), (c) => [f32(c), f32(-c), f32(c)]],
      full: [(c) => full([4], c), (c) => new Array<number>(4).fill(f32(c))],
      "a scalar": [(c) => full([], c), (c) => [f32(c)]],
      "no elements": [(c) => full([0, 3], c), () => []],
      "a sum of one number": [(c) => full([2, 3], c).sum({ axis: 1 }), (c) => [f32(3 * f32(c)), f32(3 * f32(c))]],
      "the greatest of one number": [(c) => full([2, 3], c).max(), (c) => [f32(c)]],
      "a cumulative sum": [(c) => full([3], c).cumsum({ axis: 0 }), (c) => [1, 2, 3].map((n) => f32(n * f32(c)))],
      "a product of matrices": [(c) => full([1, 2], c).matmul(full([2, 1], 2)), (c) => [f32(4 * f32(c))]],
      "a number cast": [
        (c) => full([2], c).cast("i32"),
        (c) => new Array<number>(2).fill(castScalar(f32(c), "f32", "i32")),
      ],
      "a number scattered into": [(c) => full([3], c).set(1, 5), (c) => [f32(c), 5, f32(c)]],
      "numbers sorted": [(c) => full([2], c).sort(), (c) => [f32(c), f32(c)]],
      powers: [(c) => x.pow(c), (c) => [1, 2, 3].map((v) => v ** c)],
    };
    for (const [title, [build, expected]] of Object.entries(graphs)) {
      const compiled = compiledBy(device, () => {
        for (const c of title === "powers" ? NUMBERS.filter(Number.isFinite) : NUMBERS) {
          const [got, want] = [numbersOf(build(c)), expected(c)];
          assert.equal(got.length, want.length);
          got.forEach((value, i) => {
            const isClose = Object.is(value, want[i]) || Math.abs(value - want[i]!) <= 1e-6 * Math.abs(want[i]!);
            assert.ok(isClose || value === want[i], `${title} with ${c}: element ${i} is ${value}, not ${want[i]}`);
          });
        }
      });
      assert.ok(compiled <= 3, `${title}: ${compiled} programs`);
    }
  });

  test("of several numbers that change in turn, four programs are made at most", () => {
    const x = tensor([1, 2, 3, 4, 5, 6, 7]).realize();
    const numbers = [1, 2, 3, 4, 5, 6];
    const compiled = compiledBy(device, () => {
      for (let step = 0; step < 40; step++) {
        if (step > 0) numbers[step % 6]! += step % 4;
        const [a, b, c, d, e, f] = numbers as [number, number, number, number, number, number];
        const got = numbersOf(
          x
            .mul(a)
            .add(b)
            .maximum(c)
            .sub(d)
            .mul(e)
            .minimum(f * 100),
        );
        const expected = [1, 2, 3, 4, 5, 6, 7].map((v) => Math.min((Math.max(v * a + b, c) - d) * e, f * 100));
        assert.deepEqual(got, expected, `step ${step}`);
      }
    });
    assert.ok(compiled <= 4, `${compiled} programs`);
  });

  test("numbers of several dtypes change together", () => {
    const [i, x] = [tensor([1, 2, 3], { dtype: "i32" }).realize(), tensor([0.5, 1, 2]).realize()];
    const compiled = compiledBy(device, () => {
      for (let step = 0; step < 5; step++) {
        const y = where(i.greater(step), x.mul(step + 0.5), i.mul(step).cast("f32"));
        const expected = [1, 2, 3].map((v, at) => (v > step ? [0.5, 1, 2][at]! * (step + 0.5) : v * step));
        assert.deepEqual(numbersOf(y), expected);
      }
    });
    assert.ok(compiled <= 3, `${compiled} programs`);
  });

  test("complex numbers change, too; a whole exponent of a complex power stays part of its program", () => {
    const z = tensor([
      { re: 1, im: 2 },
      { re: -3, im: 0.5 },
    ]).realize();
    const parts = (t: Tensor) => Array.from(t.dataSync() as ArrayLike<number>);
    const compiled = compiledBy(device, () => {
      for (const c of [
        { re: 2, im: 1 },
        { re: 0, im: 1 },
        { re: 1, im: 0 },
        { re: -1, im: -2 },
      ] as const) {
        const product = (re: number, im: number) => [re * c.re - im * c.im, re * c.im + im * c.re];
        assert.deepEqual(parts(z.mul(c)), [...product(1, 2), ...product(-3, 0.5)]);
      }
    });
    assert.ok(compiled <= 2, `${compiled} programs`);
    // By multiplication these are exact; by logarithms they would not be.
    for (const [exponent, power] of [
      [2, [-3, 4]],
      [3, [-11, -2]],
      [4, [-7, -24]],
      [2, [-3, 4]],
    ] as const) {
      assert.deepEqual(parts(z.pow(exponent)).slice(0, 2), power);
    }
  });

  test("a program with a number as data gives the bits of the one that holds it", () => {
    const values = Array.from({ length: 64 }, (_, i) => Math.sin(i) * 10 ** ((i % 13) - 6));
    const build = (x: Tensor, c: number) =>
      x
        .mul(c)
        .add(1 / c)
        .tanh()
        .div(c)
        .sub(x.exp().mul(c).log1p())
        .pow(c);
    const bits = (t: Tensor) => Array.from(new Uint32Array((t.dataSync() as Float32Array).buffer));
    // Another shape is another form, whose first program holds its numbers.
    const holding = (c: number, rows: number) => bits(build(tensor(values, { shape: [64 / rows, rows] }).realize(), c));
    const x = tensor(values).realize();
    build(x, 5).realize();
    [0.1, 1 / 3, 1.7].forEach((c, i) => {
      assert.deepEqual(bits(build(x, c)), holding(c, 2 ** (i + 1)));
    });
  });

  test("explain shows a number that is data as what it is, and a profile sees the kernels", async () => {
    const x = tensor(new Float32Array(11)).realize();
    x.mul(1.25).realize();
    assert.match(explain(x.mul(1.25)), /out\[i\] = a\[i\] \* 1\.25/);
    assert.match(explain(x.mul(1.5)), /reads a f32\[11\], b f32\[1\].*\n.*out\[i\] = a\[i\] \* b\[0\]/);
    const seen = await profile(() => x.mul(1.75).realize());
    assert.match(inspect(seen), /mul\[11\]/);
  });

  test("thousands of numbers without a read between them arrive, and leave nothing behind", () => {
    let x: Tensor = zeros([33]).realize();
    const count = (from: number, to: number) => {
      for (let i = from; i < to; i++) x = x.add(i).realize();
    };
    count(0, 10);
    x.dataSync();
    const before = buffersOn(device);
    assert.equal(
      compiledBy(device, () => count(10, 3000)),
      0,
    );
    // Exact, and so wrong as soon as one number is read after the next has been written in its place.
    assert.deepEqual(numbersOf(x), new Array<number>(33).fill((2999 * 3000) / 2));
    // Some may be on their way out: tiny buffers are given back by eights, and a program that runs often is recorded, with buffers of
    // its own. A leak would be thousands.
    const after = buffersOn(device);
    assert.ok(after <= before + 64, `${before} buffers before, ${after} after`);
  });
});

/** Buffers that somebody can reach. */
function buffersOn(device: string): number {
  const engine = engineOf(device);
  engine.collect();
  return engine.stats().buffers;
}
