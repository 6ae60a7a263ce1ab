/**
 * Loops and choices against loops and choices in plain JavaScript: every length, direction, dtype and shape of element, and
 * what is thrown when they cannot work.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../src/core/dtype.js";
import { ArgumentError, DTypeError, ShapeError, TraceError, UnsupportedError } from "../../src/core/errors.js";
import {
  arange,
  associativeScan,
  checkpoint,
  concat,
  cond,
  forLoop,
  full,
  grad,
  jacobian,
  jit,
  jvp,
  scan,
  stack,
  switchCase,
  type Tensor,
  tensor,
  vmap,
  whileLoop as whileLoopWithoutEnd,
  zeros,
} from "../../src/index.js";
import { vulkanEngineOf } from "../support/engines.js";
import { replayed, workOf } from "../support/jit-check.js";
import { count, describeOnTensorDevices, indicesOf, numbersOf, sampleValues, toTensor } from "../support/tensors.js";

/** A loop that does not end because something is broken fails, and does not hang. */
const whileLoop: typeof whileLoopWithoutEnd = (test, body, init, options) =>
  whileLoopWithoutEnd(test, body, init, { maxRounds: 1000, ...options });

/** 0 … n - 1. */
const times = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describeOnTensorDevices("scan", (device) => {
  for (const length of [0, 1, 2, 7]) {
    for (const reverse of [false, true]) {
      test(`${length} rounds${reverse ? ", in reverse" : ""}: carries, stacked results, in and out of jit`, () => {
        const rows = times(length).map((i) => [i + 1, i - 2, 3]);
        const run = (init: Tensor, xs: Tensor) =>
          scan((c: Tensor, x: Tensor) => [c.mul(2).sub(x), c.add(x)] as const, init, xs, { reverse });
        let carry = [1, -1, 0.5];
        const all: number[][] = rows.map(() => []);
        for (const i of reverse ? times(length).reverse() : times(length)) {
          all[i] = carry.map((c, k) => Math.fround(c + rows[i]![k]!));
          carry = carry.map((c, k) => Math.fround(2 * c - rows[i]![k]!));
        }
        const inputs = () => [tensor([1, -1, 0.5]), tensor(rows.flat(), { shape: [length, 3], dtype: "f32" })] as const;
        const [last, stacked] = run(...inputs());
        assert.deepEqual([last.shape, stacked.shape], [[3], [length, 3]]);
        assert.deepEqual([numbersOf(last), numbersOf(stacked)], [carry, all.flat()]);
        const quick = jit(run);
        for (let call = 0; call < 3; call++) {
          const [quickLast, quickAll] = quick(...inputs());
          assert.deepEqual([numbersOf(quickLast), numbersOf(quickAll)], [carry, all.flat()]);
        }
      });
    }
  }

  test("5,000 rounds are one replay", () => {
    const f = jit((x: Tensor, xs: Tensor) =>
      scan((c: Tensor, each: Tensor) => [c.mul(0.5).add(each), c.sum()] as const, x, xs),
    );
    const steps = Float32Array.from({ length: 10_000 }, (_, i) => (i % 17) / 16);
    const xs = tensor(steps, { shape: [5000, 2] });
    f(zeros([2]).realize() as Tensor, xs);
    const [last, sums] = replayed(device, () => f(tensor([1, 2]), xs));
    let carry = [1, 2];
    const want: number[] = [];
    for (let i = 0; i < 5000; i++) {
      want.push(Math.fround(carry[0]! + carry[1]!));
      carry = carry.map((c, k) => Math.fround(Math.fround(c * 0.5) + steps[2 * i + k]!));
    }
    assert.deepEqual([numbersOf(last), numbersOf(sums)], [carry, want]);
  });

  test("all rounds are one submission, of one kernel and of several", {
    skip: device === "cpu" && "the CPU has no queue",
  }, () => {
    const { stream } = vulkanEngineOf(device);
    const fused = (c: Tensor, x: Tensor) => [c.mul(0.5).add(x), c] as const;
    const several = (c: Tensor, x: Tensor) => [c.matmul(c).sort().mul(0.01).add(x), c] as const;
    for (const body of [fused, several]) {
      const f = jit((c: Tensor, xs: Tensor) => scan(body, c, xs));
      const inputs = [full([8, 8], 0.5).realize(), zeros([200, 8, 8]).realize()] as const;
      f(...inputs);
      stream.flush();
      const { submissions, dispatches } = stream.counters;
      f(...inputs);
      stream.flush();
      assert.equal(stream.counters.submissions - submissions, 1);
      const kernels = stream.counters.dispatches - dispatches;
      assert.ok(body === fused ? kernels === 1 : kernels >= 400, `${kernels} kernels`);
    }
  });

  const dtypes: readonly DType[] = ["bool", "u8", "i16", "f16", "i32", "f32", "f64"];
  for (const dtype of dtypes) {
    test(`elements of ${dtype} that begin anywhere, forwards and back`, () => {
      for (const [k, shape] of [[], [1], [3], [2, 5], [20]].entries()) {
        const [length, size, reverse] = [5, count(shape), k % 2 === 1];
        const values = sampleValues(dtype, length * size, 3 + k);
        const start = sampleValues(dtype, size, 4);
        // Each element changes places with the carry, so that what comes out is what went in, a round late. Turned round,
        // a carry is needed by other elements, and every round has kernels of its own.
        for (const isTurned of shape.length > 0 ? [false, true] : [false]) {
          const run = (a: Tensor, b: Tensor) =>
            scan((c: Tensor, x: Tensor) => [x, isTurned ? c.flip() : c] as const, a, b, { reverse });
          const stacked: number[] = [];
          let carry = start;
          for (const i of reverse ? times(length).reverse() : times(length)) {
            stacked.splice(reverse ? 0 : stacked.length, 0, ...(isTurned ? carry.toReversed() : carry));
            carry = values.slice(i * size, (i + 1) * size);
          }
          const xs = toTensor({ shape: [length, ...shape], values }, dtype);
          for (const way of isTurned ? [jit(run)] : [run, jit(run)]) {
            const [last, all] = way(toTensor({ shape, values: start }, dtype), xs);
            assert.deepEqual([numbersOf(last), numbersOf(all)], [carry, stacked], `[${shape}], ${isTurned}`);
          }
        }
      }
    });
  }

  test("large elements that begin off the boundaries of vectors, in one kernel and in several", () => {
    for (const [dtype, size, isTurned] of [
      ["f16", 65_540, true],
      ["u8", 65_544, true],
      ["u8", 65_544, false],
      ["f32", 65_537, true],
      ["f32", 65_540, false],
    ] as const) {
      const length = 3;
      const values = Array.from({ length: length * size }, (_, i) => i % 101);
      const run = jit((c: Tensor, xs: Tensor) =>
        scan((a: Tensor, x: Tensor) => [(isTurned ? a.flip() : a).add(x), a.sub(x)] as const, c, xs),
      );
      const start = full([size], 1, { dtype: dtype as "f32" });
      const [last, all] = run(start, toTensor({ shape: [length, size], values }, dtype));
      const inType = (value: number) => (dtype === "u8" ? value & 255 : value);
      let carry = new Array<number>(size).fill(1);
      const want: number[] = [];
      for (let i = 0; i < length; i++) {
        const x = values.slice(i * size, (i + 1) * size);
        for (const [k, value] of carry.entries()) want.push(inType(value - x[k]!));
        if (isTurned) carry.reverse();
        carry = carry.map((value, k) => inType(value + x[k]!));
      }
      assert.deepEqual(Float64Array.from(numbersOf(all)), Float64Array.from(want), `${dtype} ${size}`);
      assert.deepEqual(numbersOf(last), carry);
    }
  });

  test("rows that are reduced by vectors, off their boundaries", () => {
    const [length, rows, columns] = [3, 3, 100];
    const values = Array.from({ length: length * rows * columns }, (_, i) => (i % 7) - 3);
    const xs = toTensor({ shape: [length, rows, columns], values }, "f16");
    const run = (a: Tensor, b: Tensor) =>
      scan((c: Tensor, x: Tensor) => [c.add(x.sum({ axis: 1 })), x.max({ axis: 1 })] as const, a, b);
    for (const way of [run, jit(run)]) {
      const [last, all] = way(zeros([rows], { dtype: "f16" }), xs);
      const line = (i: number, r: number) => values.slice((i * rows + r) * columns, (i * rows + r + 1) * columns);
      const sum = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
      assert.deepEqual(
        numbersOf(last),
        times(rows).map((r) => sum(times(length).map((i) => sum(line(i, r))))),
      );
      assert.deepEqual(
        numbersOf(all),
        indicesOf([length, rows]).map(([i, r]) => Math.max(...line(i!, r!))),
      );
    }
  });

  test("routines in the body read elements wherever they begin", () => {
    const xs = tensor([3, 1, 2, 9, 7, 8, 5, 6, 4, 1, 1, 0], { shape: [4, 3] });
    const run = (a: Tensor) =>
      scan((c: Tensor, x: Tensor) => [c.add(x.cumsum({ axis: 0 })), x.sort()] as const, zeros([3]), a);
    for (const way of [run, jit(run)]) {
      const [last, sorted] = way(xs);
      assert.deepEqual(numbersOf(sorted), [1, 2, 3, 7, 8, 9, 4, 5, 6, 0, 1, 1]);
      assert.deepEqual(numbersOf(last), [18, 33, 47]);
    }
  });

  test("carries and results are trees of any dtypes", () => {
    const run = (start: { n: Tensor; on: Tensor; sums: readonly Tensor[] }, xs: { a: Tensor; b: Tensor }) =>
      scan(
        ({ n, on, sums: [s, t] }: typeof start, { a, b }: typeof xs) =>
          [
            { n: n.add(1), on: on.logicalNot(), sums: [s!.add(a), t!.add(b.mul(n))] },
            { before: n, flag: on, pair: [a.mul(2), b] },
          ] as const,
        start,
        xs,
      );
    const start = () => ({
      n: tensor(0, { dtype: "i32" }) as Tensor,
      on: tensor(true, { dtype: "bool" }) as Tensor,
      sums: [tensor([0.5], { dtype: "f64" }), tensor([0n], { dtype: "i64" })] as readonly Tensor[],
    });
    const xs = () => ({
      a: tensor([[1], [2], [3]], { dtype: "f64" }) as Tensor,
      b: tensor([[10n], [20n], [30n]], { dtype: "i64" }) as Tensor,
    });
    for (const way of [run, jit(run)]) {
      const [end, all] = way(start(), xs());
      assert.deepEqual([end.n, end.on, ...end.sums].map(numbersOf), [[3], [0], [6.5], [80]]);
      assert.deepEqual(
        [end.n, end.on, ...end.sums].map(({ dtype }) => dtype),
        ["i32", "bool", "f64", "i64"],
      );
      assert.deepEqual([all.before, all.flag, ...all.pair].map(numbersOf), [
        [0, 1, 2],
        [1, 0, 1],
        [2, 4, 6],
        [10, 20, 30],
      ]);
    }
  });

  test("large products of the gradient leave the loop: one is left in a round, forwards and back", () => {
    const [batch, width, rounds] = [16, 64, 8];
    const loss = (weights: Tensor, xs: Tensor) => {
      const cell = (h: Tensor, x: Tensor) => {
        const next = x.add(h.matmul(weights)).tanh();
        return [next, next] as const;
      };
      return scan(cell, zeros([batch, width]), xs)[1].sum();
    };
    const { graph } = jit(grad(loss)).lower(zeros([width, width]), zeros([rounds, batch, width]));
    const products = graph.split("\n").filter((line) => /= (dot|matmul) /.test(line));
    const inLoops = products.filter((line) => /^ *%\d+\.\d+ /.test(line));
    assert.deepEqual([inLoops.length, products.length], [2, 4], graph);
  });

  test("what nobody uses is not stacked; what is used later still is", () => {
    const run = (xs: Tensor) => scan((c: Tensor, x: Tensor) => [c.add(x), [c, c.mul(x)]] as const, zeros([2]), xs);
    const xs = tensor([1, 2, 3, 4, 5, 6], { shape: [3, 2] });
    const bytes = (f: (xs: Tensor) => unknown) => jit(f as (xs: Tensor) => Tensor).lower(xs).memory;
    const carryOnly = bytes((a) => run(a)[0]);
    assert.equal(carryOnly.resultBytes, 8);
    assert.ok(carryOnly.withoutSharingBytes <= 3 * 8, "the first carry, two places to go on in, and nothing else");
    const [last, [before, products]] = run(xs);
    assert.deepEqual(numbersOf(last), [9, 12]);
    assert.deepEqual(numbersOf(products), [0, 0, 3, 8, 20, 36]);
    assert.deepEqual(numbersOf(before), [0, 0, 1, 2, 4, 6]);
  });

  test("captures tensors, constants and pending expressions; numbers stay numbers", () => {
    const w = tensor([2, 3]);
    const pending = w.add(1).square();
    const run = (xs: Tensor, rate: Tensor | number) =>
      scan(
        (c: Tensor, x: Tensor) =>
          [
            c
              .mul(w)
              .add(pending)
              .add(full([2], 1))
              .sub(x.mul(rate as Tensor)),
            null,
          ] as const,
        zeros([2]),
        xs,
      )[0];
    const want = (rate: number) => {
      let c = [0, 0];
      for (const x of [
        [1, 1],
        [2, 2],
      ])
        c = c.map((v, k) => v * (k + 2) + (k + 3) ** 2 + 1 - x[k]! * rate);
      return c;
    };
    const xs = tensor([
      [1, 1],
      [2, 2],
    ]);
    assert.deepEqual(numbersOf(run(xs, 0.5)), want(0.5));
    const quick = jit(run as (xs: Tensor, rate: Tensor) => Tensor);
    for (const rate of [0.5, 2, -1]) assert.deepEqual(numbersOf(quick(xs, rate)), want(rate));
    assert.equal(quick.programs, 1);
  });

  test("loops in loops in loops, over carries, elements and captured sequences", () => {
    const inner = tensor([1, 2, 3]);
    const run = (x: Tensor, xs: Tensor) =>
      scan(
        (c: Tensor, row: Tensor) => {
          const [d, ds] = scan(
            (e: Tensor, y: Tensor) =>
              [forLoop(0, 3, (i, z: Tensor) => z.add(i.cast("f32")).add(y), e), e.mul(c)] as const,
            c,
            row,
          );
          const [f] = scan((e: Tensor, y: Tensor) => [e.sub(y), null] as const, d, inner, { reverse: true });
          return [f, ds] as const;
        },
        x,
        xs,
      );
    const rows = [
      [1, 2, 0, 1],
      [3, -1, 1, 2],
      [2, 2, 2, 1],
    ];
    let c = 1;
    const all = rows.map((row) => {
      let d = c;
      const ds = row.map((y) => {
        const e = d;
        for (let i = 0; i < 3; i++) d += i + y;
        return e * c;
      });
      c = d - 6;
      return ds;
    });
    for (const way of [run, jit(run)]) {
      const [last, stacked] = way(tensor(1), tensor(rows));
      assert.deepEqual([last.itemSync(), numbersOf(stacked)], [c, all.flat()]);
    }
  });

  test("one jitted function, sequences of different lengths: a program for each", () => {
    const f = jit((xs: Tensor) => scan((c: Tensor, x: Tensor) => [c.add(x), null] as const, tensor(0), xs)[0]);
    for (const length of [1, 4, 0, 7, 4]) {
      const want = times(length).reduce((a, b) => a + b, 0);
      assert.equal(f(arange(length)).itemSync(), want);
    }
    assert.equal(f.programs, 4);
  });

  test("the same loop written again runs the same program", () => {
    const run = (n: number) =>
      scan((c: Tensor, x: Tensor) => [c.mul(x).add(1), c] as const, tensor(1), tensor([1, 2, n]));
    numbersOf(run(3)[0]);
    const before = workOf(device).compiled;
    assert.deepEqual(numbersOf(run(4)[0]), [((1 * 1 + 1) * 2 + 1) * 4 + 1]);
    assert.equal(workOf(device).compiled, before);
  });

  test("gradients of captured tensors count, also of such as are constants", () => {
    const loss = (w: Tensor) =>
      scan(
        (c: Tensor, x: Tensor) => [c.mul(w).add(x), null] as const,
        tensor([1, 2]),
        tensor([
          [1, 1],
          [2, 3],
        ]),
      )[0].sum();
    // ((c·w + x₀)·w + x₁)' = 2·c·w + x₀
    for (const w of [tensor([3, 3]), full([2], 3)]) assert.deepEqual(numbersOf(grad(loss)(w as Tensor)), [7, 13]);
    assert.deepEqual(numbersOf(grad(loss)(zeros([2]))), [1, 1]);
    const chosen = (w: Tensor) =>
      cond(
        tensor(1),
        (a: Tensor) => a.mul(w),
        (a: Tensor) => a,
        tensor([2, 5]),
      ).sum();
    assert.deepEqual(numbersOf(grad(chosen)(zeros([2]))), [2, 5]);
  });

  test("an empty carry, no results, elements without elements", () => {
    const [none, squares] = scan((_: null, x: Tensor) => [null, x.square()] as const, null, tensor([1, 2, 3]));
    assert.deepEqual([none, numbersOf(squares)], [null, [1, 4, 9]]);
    const [carry, nothing] = scan((c: Tensor, x: Tensor) => [c.add(x), null] as const, zeros([0]), zeros([4, 0]));
    assert.deepEqual([carry.shape, nothing], [[0], null]);
    assert.deepEqual(
      numbersOf(jit((x: Tensor) => scan((c: Tensor, y: Tensor) => [c, y] as const, x, zeros([2, 0]))[0])(tensor(3))),
      [3],
    );
  });
});

describeOnTensorDevices("forLoop and whileLoop", (device) => {
  test("forLoop counts from start up to end, and not at all when there is nothing between", () => {
    const run = (start: number, end: number) =>
      forLoop(start, end, (i, c: Tensor) => c.mul(3).add(i.cast("f32")), tensor(1));
    for (const [start, end] of [
      [0, 0],
      [0, 1],
      [-3, 4],
      [5, 2],
      [7, 8],
    ] as const) {
      let want = 1;
      for (let i = start; i < end; i++) want = want * 3 + i;
      assert.equal(run(start, end).itemSync(), want, `${start} to ${end}`);
    }
  });

  test("whileLoop runs as often as its condition says: never, once, odd and even times", () => {
    const run = (x: Tensor, limit: Tensor) =>
      whileLoop(
        ({ sum }: { sum: Tensor; n: Tensor }) => sum.less(limit),
        ({ sum, n }) => ({ sum: sum.mul(2), n: n.add(1) }),
        { sum: x, n: tensor(0, { dtype: "i32" }) as Tensor },
      );
    const quick = jit(run);
    for (const limit of [0, 1, 1.5, 2, 3, 100, 3000]) {
      let [sum, n] = [1, 0];
      for (; sum < limit; n++) sum *= 2;
      for (const way of [run, quick]) {
        const end = way(tensor(1), tensor(limit));
        assert.deepEqual([end.sum.itemSync(), end.n.itemSync(), end.n.dtype], [sum, n, "i32"]);
      }
    }
    assert.equal(quick.programs, 1);
  });

  test("whileLoop over vectors, with captured tensors and numbers, in a scan", () => {
    const factor = tensor([2, 3]);
    const run = (xs: Tensor, limit: Tensor) =>
      scan(
        (c: Tensor, x: Tensor) => {
          const grown = whileLoop(
            (v: Tensor) => v.sum().less(limit),
            (v: Tensor) => v.mul(factor),
            x,
          );
          return [c.add(grown), grown] as const;
        },
        zeros([2]),
        xs,
      );
    const plain = (limit: number) =>
      [
        [1, 1],
        [100, 1],
        [0, 2],
      ].map((x) => {
        let v = x;
        while (v[0]! + v[1]! < limit) v = [v[0]! * 2, v[1]! * 3];
        return v;
      });
    const xs = tensor([
      [1, 1],
      [100, 1],
      [0, 2],
    ]);
    const quick = jit(run);
    for (const limit of [20, 50]) {
      const [sum, all] = quick(xs, limit);
      const want = plain(limit);
      assert.deepEqual(numbersOf(all), want.flat());
      assert.deepEqual(
        numbersOf(sum),
        [0, 1].map((k) => want.reduce((total, v) => total + v[k]!, 0)),
      );
    }
    assert.equal(quick.programs, 1);
  });

  test("a loop in the condition, and a condition that is part of the carry", () => {
    const end = whileLoop(
      ({ x }: { x: Tensor; isOn: Tensor }) => forLoop(0, 3, (_, s: Tensor) => s.add(x), tensor(0)).less(30),
      ({ x, isOn }) => ({ x: x.add(4), isOn: isOn.logicalNot() }),
      { x: tensor(1) as Tensor, isOn: tensor(true, { dtype: "bool" }) as Tensor },
    );
    assert.deepEqual([end.x.itemSync(), end.isOn.itemSync()], [13, false]);
    const flagged = whileLoop(
      ([isOn]: readonly Tensor[]) => isOn!,
      ([, n]) => [n!.less(5), n!.add(1)],
      [tensor(true, { dtype: "bool" }), tensor(0)] as readonly Tensor[],
    );
    assert.equal(flagged[1]!.itemSync(), 6);
  });

  test("vmap of a whileLoop: each member goes on until it is done", () => {
    const collatz = (n: Tensor) =>
      whileLoop(
        ([x]: readonly Tensor[]) => x!.greater(1),
        ([x, steps]) => [
          x!
            .mod(2)
            .equal(0)
            .cast("i32")
            .mul(x!.floorDivide(2).sub(x!.mul(3).add(1)))
            .add(x!.mul(3))
            .add(1),
          steps!.add(1),
        ],
        [n, tensor(0, { dtype: "i32" })] as readonly Tensor[],
      )[1]!;
    const plain = (start: number) => {
      let [n, steps] = [start, 0];
      for (; n > 1; steps++) n = n % 2 === 0 ? n / 2 : 3 * n + 1;
      return steps;
    };
    const numbers = [1, 6, 7, 27, 2, 9];
    const got = vmap(collatz)(tensor(numbers, { dtype: "i32" }));
    assert.deepEqual(numbersOf(got), numbers.map(plain));
  });

  test("vmap of a whileLoop whose members share the condition, or some of the carry", () => {
    const doubled = (x: Tensor, limit: Tensor) =>
      whileLoop(
        ([n]: readonly Tensor[]) => n!.less(limit),
        ([n, v]) => [n!.add(1), v!.mul(2)],
        [tensor(0), x] as readonly Tensor[],
      );
    const [n, v] = vmap(doubled, { in: [0, null], out: [null, 0] })(tensor([1, 2, 3]), tensor(3));
    assert.deepEqual([numbersOf(n!), numbersOf(v!)], [[3], [8, 16, 24]]);
    const [each, w] = vmap(doubled, { in: [null, 0] })(tensor(1), tensor([0, 2, 5]));
    assert.deepEqual(
      [numbersOf(each!), numbersOf(w!)],
      [
        [0, 2, 5],
        [1, 4, 32],
      ],
    );
  });

  test("a whileLoop in forward mode: the slope of what it runs, and in Jacobians; reverse mode says what to do", () => {
    // Newton's steps for √x, as many as it takes.
    const root = (x: Tensor) =>
      whileLoop(
        (y: Tensor) => y.mul(y).sub(x).abs().greater(1e-9),
        (y: Tensor) => y.add(x.div(y)).mul(0.5),
        x.mul(0).add(1),
      );
    const x = tensor(7, { dtype: "f64" });
    const [value, slope] = jvp(root, [x], [tensor(1, { dtype: "f64" })]);
    assert.ok(Math.abs((value.itemSync() as number) - Math.sqrt(7)) < 1e-9);
    assert.ok(Math.abs((slope.itemSync() as number) - 0.5 / Math.sqrt(7)) < 1e-6);
    const matrix = jacobian((v: Tensor) => vmap(root)(v), { mode: "forward" })(tensor([4, 9], { dtype: "f64" }));
    [0.25, 0, 0, 1 / 6].forEach((want, i) => {
      assert.ok(Math.abs(numbersOf(matrix)[i]! - want) < 1e-6);
    });
    assert.throws(() => grad(root)(x), {
      name: UnsupportedError.name,
      message: /whileLoop has no reverse derivative.*scan or forLoop.*forward mode.*customGradient/s,
    });
    const counter = (a: Tensor) =>
      whileLoop(
        (n: Tensor) => n.less(3),
        (n: Tensor) => n.add(1),
        tensor(0),
      )
        .mul(a)
        .sum();
    assert.deepEqual(
      numbersOf(grad(counter)(tensor([2]))),
      [3],
      "a loop that does not depend on the variable is a constant",
    );
  });

  test("a loop that never ends stops at maxRounds, and the device goes on", () => {
    const forever = (x: Tensor) =>
      whileLoop(
        (c: Tensor) => c.greaterEqual(0),
        (c: Tensor) => c.add(1),
        x,
        { maxRounds: 20 },
      );
    const quick = jit(forever);
    for (const way of [forever, quick, quick]) {
      assert.throws(() => numbersOf(way(tensor(0))), {
        name: ArgumentError.name,
        message: /whileLoop: its condition still held after 20 rounds; raise \{ maxRounds \}/,
      });
    }
    assert.equal(quick(tensor(-1)).itemSync(), -1);
    const exact = whileLoop(
      (c: Tensor) => c.less(20),
      (c: Tensor) => c.add(1),
      tensor(0),
      { maxRounds: 20 },
    );
    assert.equal(exact.itemSync(), 20, "as many rounds as are allowed are allowed");
    assert.ok(workOf(device).kernels > 0);
  });
});

describeOnTensorDevices("rounds sent off together", (device) => {
  const steps = (limit: Tensor) =>
    whileLoop(
      ({ i }: { i: Tensor; sum: Tensor }) => i.less(limit),
      ({ i, sum }: { i: Tensor; sum: Tensor }) => ({ i: i.add(1), sum: sum.add(i.mul(i)) }),
      { i: tensor(0, { dtype: "i32" }), sum: zeros([3], { dtype: "i32" }) } as { i: Tensor; sum: Tensor },
    );

  test("a loop may end in any of them", () => {
    const quick = jit(steps);
    for (const n of [0, 1, 2, 3, 4, 5, 11, 12, 13, 27, 28, 29, 60, 61, 123, 124, 125, 300]) {
      const sum = times(n).reduce((total, i) => total + i * i, 0);
      for (const way of [steps, quick]) {
        const result = way(tensor(n, { dtype: "i32" }));
        assert.deepEqual([result.i.itemSync(), numbersOf(result.sum)], [n, [sum, sum, sum]]);
      }
    }
  });

  test("maxRounds is exact", () => {
    const run = (n: number, maxRounds: number) =>
      whileLoop(
        (c: Tensor) => c.less(n),
        (c: Tensor) => c.add(1),
        tensor(0),
        { maxRounds },
      ).itemSync();
    for (const n of [0, 1, 4, 5, 12, 13]) {
      assert.equal(run(n, n), n);
      if (n > 0) assert.throws(() => run(n, n - 1), /still held after/);
    }
  });

  test("loops that may end inside each other, and inside branches and loops that are counted", () => {
    // The rounds of 3x + 1 until 1 is reached, of the numbers up to one that is itself the result of a loop.
    const collatz = (start: Tensor) =>
      whileLoop(
        ({ x }: { x: Tensor; n: Tensor }) => x.greater(1),
        ({ x, n }: { x: Tensor; n: Tensor }) => ({
          x: cond(
            x.mod(2).equal(0),
            (y: Tensor) => y.floorDivide(2),
            (y: Tensor) =>
              whileLoop(
                (z: Tensor) => z.less(y.mul(3).add(1)),
                (z: Tensor) => z.add(1),
                y.mul(3),
              ),
            x,
          ),
          n: n.add(1),
        }),
        { x: start, n: tensor(0, { dtype: "i32" }) as Tensor },
      ).n;
    const plain = (x: number): number => (x <= 1 ? 0 : 1 + plain(x % 2 === 0 ? x / 2 : 3 * x + 1));
    const all = (n: Tensor) =>
      scan(
        (c: Tensor, x: Tensor) => [c.add(collatz(x)), collatz(x)] as const,
        tensor(0, { dtype: "i32" }) as Tensor,
        n,
      );
    const xs = [1, 6, 7, 9];
    const [sum, each] = all(tensor(xs, { dtype: "i32" }) as Tensor);
    assert.deepEqual(numbersOf(each), xs.map(plain));
    assert.equal(
      sum.itemSync(),
      xs.map(plain).reduce((a, b) => a + b),
    );
    if (device === "cpu") return;
    // Few waits: after 4, 12, 28, 60, 124, 188 and 252 rounds. The stream submits between them, too, when it sees time pass.
    const engine = vulkanEngineOf(device);
    steps(tensor(250, { dtype: "i32" })).sum.dataSync();
    const before = engine.stream.counters.submissions;
    steps(tensor(250, { dtype: "i32" })).sum.dataSync();
    const submissions = engine.stream.counters.submissions - before;
    assert.ok(submissions < 80, `${submissions} submissions`);
  });
});

describeOnTensorDevices("cond and switchCase", () => {
  test("cond takes the branch of its predicate, eagerly, jitted, on every kind of scalar", () => {
    const run = (p: Tensor, x: Tensor) =>
      cond(
        p,
        (a: Tensor) => ({ value: a.mul(2), tag: tensor(1, { dtype: "i32" }) as Tensor }),
        (a: Tensor) => ({ value: a.neg(), tag: tensor(2, { dtype: "i32" }) as Tensor }),
        x,
      );
    const quick = jit(run);
    for (const p of [
      tensor(true, { dtype: "bool" }),
      tensor(0),
      tensor([[5]]),
      tensor([0], { dtype: "u8" }),
      tensor(-0),
    ]) {
      const isTrue = numbersOf(p)[0] !== 0;
      for (const way of [run, quick]) {
        const { value, tag } = way(p as Tensor, tensor([1, 2]));
        assert.deepEqual([numbersOf(value), tag.itemSync()], isTrue ? [[2, 4], 1] : [[-1, -2], 2]);
      }
    }
  });

  test("members choose for themselves, also where only an inner vmap tells them apart", () => {
    const chosen = (flag: Tensor, x: Tensor) =>
      cond(
        flag,
        (a: Tensor) => a.mul(10),
        (a: Tensor) => a.neg(),
        x,
      );
    const flags = tensor([true, false, true], { dtype: "bool" });
    const inner = (x: Tensor) => vmap(chosen)(flags, x);
    const rows = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    assert.deepEqual(numbersOf(vmap(inner)(rows)), [10, -2, 30, 40, -5, 60]);
    assert.deepEqual(numbersOf(vmap(grad((x: Tensor) => inner(x).sum()))(rows)), [10, -1, 10, 10, -1, 10]);
    // And where what is chosen from is the same for all members of the outer one.
    const shared = (scale: Tensor) => vmap((flag: Tensor) => chosen(flag, tensor(1)).mul(scale))(flags);
    assert.deepEqual(numbersOf(vmap(shared)(tensor([1, 2]))), [10, -1, 10, 20, -2, 20]);
  });

  test("under vmap, a loop in a branch runs only for the members that take it, however it is nested", () => {
    // Doubles until 10; for what is not positive it never ends, and ten rounds are too many.
    const doubled = (a: Tensor): Tensor =>
      whileLoop(
        (c: Tensor) => c.less(10),
        (c: Tensor) => c.mul(2),
        a,
        { maxRounds: 10 },
      );
    const inScan = (a: Tensor): Tensor => scan((c: Tensor) => [doubled(c), null] as const, a, null, { length: 2 })[0];
    const inCond = (a: Tensor): Tensor =>
      cond(
        a.less(100),
        (b: Tensor) => doubled(b),
        (b: Tensor) => b,
        a,
      );
    const inWhile = (a: Tensor): Tensor =>
      whileLoop(
        (c: Tensor) => c.less(10),
        (c: Tensor) => doubled(c),
        a,
        { maxRounds: 10 },
      );
    const inCheckpoint = checkpoint(doubled);
    const inVmap = (a: Tensor): Tensor => vmap(doubled)(a.reshape(1)).reshape([]);
    const members = tensor([-1, 3, 0, 1]);
    const none = tensor([-1, 0, -2, -0.5]);
    for (const [name, long] of Object.entries({ doubled, inScan, inCond, inWhile, inCheckpoint, inVmap })) {
      const each = (a: Tensor) =>
        cond(
          a.greater(0),
          (b: Tensor) => long(b),
          (b: Tensor) => b.sub(1),
          a,
        );
      for (const way of [vmap(each), jit(vmap(each))]) {
        assert.deepEqual(numbersOf(way(members)), [-2, 12, -1, 16], name);
        assert.deepEqual(numbersOf(way(none)), [-2, -1, -3, -1.5], name);
      }
      const rows = vmap(vmap(each))(stack([members, none], { axis: 0 }));
      assert.deepEqual(numbersOf(rows), [-2, 12, -1, 16, -2, -1, -3, -1.5], name);
      const slopes = (x: Tensor) => jvp(vmap(each), [x], [x.mul(0).add(1)])[1];
      assert.deepEqual(numbersOf(slopes(members)), [1, 4, 1, 16], name);
      assert.deepEqual(numbersOf(jit(slopes)(none)), [1, 1, 1, 1], name);
      assert.deepEqual(numbersOf(vmap((a: Tensor) => jvp(each, [a], [a])[1])(members)), [-1, 12, 0, 16], name);
      const third = (i: Tensor, a: Tensor) => switchCase(i, [(b: Tensor) => b, (b: Tensor) => b.neg(), long], a);
      const indices = tensor([0, 2, 1, 2], { dtype: "i32" });
      assert.deepEqual(numbersOf(vmap(third)(indices, members)), [-1, 12, -0, 16], name);
    }
  });

  test("an index of any dtype, however far outside, takes the nearest branch", () => {
    const branches = [0, 1, 2].map((value) => (a: Tensor) => a.mul(0).add(value));
    const taken = (value: number | bigint | boolean, dtype: DType) =>
      switchCase(tensor([value], { dtype }), branches, tensor(1)).itemSync();
    assert.deepEqual([taken(4294967295, "u32"), taken(1, "u32")], [2, 1]);
    assert.deepEqual([taken(2n ** 40n, "i64"), taken(-(2n ** 40n), "i64"), taken(2n ** 32n, "i64")], [2, 0, 2]);
    assert.deepEqual([taken(2n ** 63n, "u64"), taken(2n ** 32n + 1n, "u64")], [2, 2]);
    assert.deepEqual([taken(255, "u8"), taken(-128, "i8"), taken(1, "i16")], [2, 0, 1]);
    assert.deepEqual([taken(true, "bool"), taken(false, "bool")], [1, 0]);
    assert.deepEqual([taken(1e20, "f32"), taken(-1e20, "f32"), taken(1, "f32"), taken(Infinity, "f32")], [2, 0, 1, 2]);
    const many = Array.from({ length: 300 }, (_, value) => (a: Tensor) => a.mul(0).add(value));
    assert.equal(switchCase(tensor(255, { dtype: "u8" }), many, tensor(1)).itemSync(), 255);
    const members = tensor([4294967295, 0, 1], { dtype: "u32" });
    assert.deepEqual(numbersOf(vmap((i: Tensor) => switchCase(i, branches, tensor(1)))(members as Tensor)), [2, 0, 1]);
  });

  test("switchCase takes the branch of its index; one outside takes the nearest", () => {
    const run = (i: Tensor, x: Tensor) =>
      switchCase(i, [(a: Tensor) => a.add(10), (a: Tensor) => a.mul(2), (a: Tensor) => a.neg()], x);
    const quick = jit(run);
    for (const [index, want] of [
      [-5, 13],
      [0, 13],
      [1, 6],
      [2, -3],
      [3, -3],
      [1e9, -3],
    ] as const) {
      for (const way of [run, quick]) assert.equal(way(tensor(index, { dtype: "i32" }), tensor(3)).itemSync(), want);
    }
    assert.deepEqual(numbersOf(vmap(run)(tensor([2, 0, 1], { dtype: "i32" }), tensor([1, 2, 3]))), [-1, 12, 6]);
  });

  test("NaN and infinities of the branch not taken show neither in values nor in gradients", () => {
    const safe = (x: Tensor) =>
      cond(
        x.greater(0),
        (a: Tensor) => a.log().add(a.sqrt()),
        (a: Tensor) => a.exp(),
        x,
      );
    const want = (x: number) => (x > 0 ? Math.log(x) + Math.sqrt(x) : Math.exp(x));
    const slope = (x: number) => (x > 0 ? 1 / x + 0.5 / Math.sqrt(x) : Math.exp(x));
    const values = [-1, 0, 2, -30];
    const near = (got: readonly number[], expected: readonly number[]) => {
      for (const [i, value] of got.entries()) {
        assert.ok(
          Math.abs(value - expected[i]!) <= 1e-6 * (1 + Math.abs(expected[i]!)),
          `${value}, not ${expected[i]}`,
        );
      }
    };
    for (const x of values) {
      near([safe(tensor(x)).itemSync() as number], [want(x)]);
      near([grad(safe)(tensor(x)).itemSync() as number], [slope(x)]);
      near([jvp(safe, [tensor(x)], [tensor(1)])[1].itemSync() as number], [slope(x)]);
    }
    const batch = tensor(values);
    near(numbersOf(vmap(safe)(batch)), values.map(want));
    near(numbersOf(vmap(grad(safe))(batch)), values.map(slope));
    near(numbersOf(grad((x: Tensor) => vmap(safe)(x).sum())(batch)), values.map(slope));
    near(numbersOf(grad((x: Tensor) => vmap(vmap(safe))(x).sum())(batch.reshape(2, 2))), values.map(slope));
    near(numbersOf(jit(grad((x: Tensor) => vmap(safe)(x).sum()))(batch)), values.map(slope));
    // A tensor that all members share: what it gets from members that take the other branch is nothing, too.
    const shared = (w: Tensor, x: Tensor) =>
      cond(
        x.greater(0),
        (a: Tensor) => a.mul(x),
        (a: Tensor) => a.sub(1).sqrt(),
        w,
      );
    const byShared = grad((w: Tensor) => vmap(shared, { in: [null, 0] })(w, tensor([1, 2, 3])).sum())(tensor(0));
    near([byShared.itemSync() as number], [6]);
    const inLoop = grad(
      (x: Tensor) => scan((c: Tensor, y: Tensor) => [c.add(safe(y)), null] as const, tensor(0), x)[0],
    );
    near(numbersOf(inLoop(batch)), values.map(slope));
  });

  test("branches capture what they like, and loops stand in branches and branches in loops", () => {
    const w = tensor([1, 2]);
    const run = (n: Tensor) =>
      forLoop(
        0,
        4,
        (i, c: Tensor) =>
          cond(
            i.mod(2).equal(0),
            (a: Tensor) => forLoop(0, 2, (_, b: Tensor) => b.add(w), a),
            (a: Tensor) => a.mul(n),
            c,
          ),
        zeros([2]),
      );
    for (const way of [run, jit(run)]) assert.deepEqual(numbersOf(way(tensor(3))), [24, 48]);
  });

  // Long branches are compiled apart, and all but the one taken end at once.
  const long = 64;
  const matrix = () => tensor(sampleMatrix(long).flat(), { shape: [long, long] });
  const sampleMatrix = (n: number) => times(n).map((i) => times(n).map((j) => ((i * 7 + j * 3) % 11) / 16 - 0.25));
  const product = (a: readonly (readonly number[])[], b: readonly (readonly number[])[]) =>
    a.map((row) => times(b[0]!.length).map((j) => row.reduce((sum, value, k) => sum + value * b[k]![j]!, 0)));
  const isClose = (got: readonly number[], want: readonly number[]) => {
    assert.equal(got.length, want.length);
    got.forEach((value, i) => {
      assert.ok(Math.abs(value - want[i]!) <= 1e-4 * (1 + Math.abs(want[i]!)), `${i}: ${value}, not ${want[i]}`);
    });
  };

  test("long branches: values, gradients and replays with either, in loops and in each other", () => {
    const a = sampleMatrix(long);
    const squared = product(a, a);
    const sums = times(long).map((i) => squared[i]!.reduce((x, y) => x + y));
    const run = (p: Tensor, x: Tensor) =>
      cond(
        p,
        (y: Tensor) => ({ y: y.matmul(y).sum({ axis: 1 }), same: y }),
        (y: Tensor) => ({ y: y.sum({ axis: 0 }), same: y.matmul(y) }),
        x,
      );
    const columns = times(long).map((j) => a.reduce((sum, row) => sum + row[j]!, 0));
    const quick = jit(run);
    for (const way of [run, quick, quick, quick]) {
      for (const isTrue of [true, false, true]) {
        const { y, same } = way(tensor(isTrue, { dtype: "bool" }) as Tensor, matrix());
        isClose(numbersOf(y), isTrue ? sums : columns);
        isClose(numbersOf(same), (isTrue ? a : squared).flat());
      }
    }
    // d sum(x·x) = 1·xᵀ + xᵀ·1; d sum(3x) = 3.
    const loss = (p: Tensor, x: Tensor) =>
      cond(
        p,
        (y: Tensor) => y.matmul(y).sum(),
        (y: Tensor) => y.mul(3).sum(),
        x,
      );
    const rows = a.map((row) => row.reduce((x, y) => x + y));
    const slopes = times(long).flatMap((i) => times(long).map((j) => rows[j]! + columns[i]!));
    for (const way of [grad(loss, { argument: 1 }), jit(grad(loss, { argument: 1 }))]) {
      isClose(numbersOf(way(tensor(1) as Tensor, matrix())), slopes);
      isClose(
        numbersOf(way(tensor(0) as Tensor, matrix())),
        slopes.map(() => 3),
      );
    }
    // One in another, and both in a loop by rounds: which of three happens follows from the counter.
    const nested = (x: Tensor) =>
      forLoop(
        0,
        6,
        (i, c: Tensor) =>
          cond(
            i.mod(2).equal(0),
            (y: Tensor) =>
              cond(
                i.mod(4).equal(0),
                (z: Tensor) => z.matmul(x),
                (z: Tensor) => x.matmul(z).add(1),
                y,
              ),
            (y: Tensor) => y.sub(x.matmul(x)),
            c,
          ),
        x,
      );
    let want: readonly (readonly number[])[] = a;
    for (const i of times(6)) {
      if (i % 4 === 0) want = product(want, a);
      else if (i % 2 === 0) want = product(a, want).map((row) => row.map((value) => value + 1));
      else want = want.map((row, r) => row.map((value, c) => value - squared[r]![c]!));
    }
    for (const way of [nested, jit(nested)]) isClose(numbersOf(way(matrix())), want.flat());
  });

  test("a branch not taken is not computed: its loop may be endless", () => {
    const endless = (x: Tensor) =>
      whileLoop(
        (c: Tensor) => c.less(Infinity),
        (c: Tensor) => c.add(1),
        x,
        { maxRounds: 50 },
      );
    const run = (p: Tensor, x: Tensor) => cond(p, endless, (y: Tensor) => y.neg(), x);
    const nested = (p: Tensor, x: Tensor) =>
      cond(
        p,
        (y: Tensor) => cond(y.greater(0), endless, (z: Tensor) => z.mul(2), y),
        (y: Tensor) => y.neg(),
        x,
      );
    for (const way of [run, jit(run), nested, jit(nested)]) {
      assert.equal(way(tensor(0) as Tensor, tensor(3)).itemSync(), -3);
      assert.throws(() => way(tensor(1) as Tensor, tensor(3)).itemSync(), /still held after 50 rounds/);
    }
    assert.equal(nested(tensor(1) as Tensor, tensor(-3)).itemSync(), -6);
  });

  test("a branch without arguments is not computed either: what it reaches by closure goes in by itself", () => {
    const endless = (x: Tensor) =>
      whileLoop(
        (c: Tensor) => c.less(Infinity),
        (c: Tensor) => c.add(1),
        x,
        { maxRounds: 50 },
      );
    const run = (p: Tensor, x: Tensor) =>
      cond(
        p,
        () => endless(x.add(1)),
        () => x.neg(),
      );
    const chosen = (p: Tensor, x: Tensor) => switchCase(p, [() => x.neg(), () => endless(x), () => x.mul(2)]);
    const alone = (p: Tensor) =>
      cond(
        p,
        () => endless(tensor(1)),
        () => tensor([7]).sum(),
      );
    for (const way of [run, jit(run)]) {
      assert.equal(way(tensor(0) as Tensor, tensor(3)).itemSync(), -3);
      assert.throws(() => way(tensor(1) as Tensor, tensor(3)).itemSync(), /still held after 50 rounds/);
    }
    for (const way of [chosen, jit(chosen)]) {
      assert.deepEqual([way(tensor(0), tensor(3)).itemSync(), way(tensor(2), tensor(3)).itemSync()], [-3, 6]);
    }
    for (const way of [alone, jit(alone)]) assert.equal(way(tensor(0) as Tensor).itemSync(), 7);
  });

  test("derivatives go through what branches without arguments reach, also inside a branch and twice", () => {
    const long = (x: Tensor) => times(3).reduce((power: Tensor) => power.matmul(x), x).sum(); // biome-ignore format: one line
    const choose = (x: Tensor) =>
      cond(
        x.sum().greater(0),
        () => long(x),
        () =>
          grad((y: Tensor) => long(y))(x)
            .mul(x)
            .sum(),
      );
    // The trace of X⁴ summed: the gradient is known for multiples of the identity, and differences check the rest.
    for (const sign of [1, -1]) {
      const start = [[0.5, 0.25], [-0.125, 0.75]].map((row) => row.map((value) => sign * value)); // biome-ignore format: a matrix
      const x = tensor(start, { dtype: "f32" });
      const value = (at: number[][]) => {
        const power = times(3).reduce((power) => product(power, at), at as readonly (readonly number[])[]);
        // The second branch is x·∇Σx⁴, which is 4 Σx⁴ since the sum is homogeneous of degree 4.
        return power.flat().reduce((a, b) => a + b, 0) * (sign > 0 ? 1 : 4);
      };
      isClose([Number(choose(x).itemSync())], [value(start)]);
      const slopes = start.flatMap((row, r) =>
        row.map((_, c) => {
          const moved = (h: number) =>
            value(start.map((line, i) => line.map((v, j) => (i === r && j === c ? v + h : v))));
          return (moved(1e-4) - moved(-1e-4)) / 2e-4;
        }),
      );
      for (const way of [grad(choose), jit(grad(choose))]) isClose(numbersOf(way(x)), slopes);
    }
  });

  test("a tensor that a branch makes and keeps is good outside, and one computed meanwhile is used as it is", () => {
    let kept: Tensor | undefined;
    const x = tensor([1, 2, 3]);
    const before = x.mul(2);
    const y = cond(
      x.sum().greater(0),
      () => {
        kept ??= before.matmul(x).add(1);
        return kept.add(before);
      },
      () => before,
    );
    assert.equal(kept?.itemSync(), 29);
    assert.deepEqual(numbersOf(y), [31, 33, 35]);
    kept.dispose();
    assert.deepEqual(numbersOf(y.add(0)), [31, 33, 35]);
  });

  test("a branch not taken takes no time", () => {
    const n = 256;
    const x = arange(0, n * n, 1, { dtype: "f32" })
      .div(n * n)
      .reshape([n, n])
      .realize();
    const run = jit((p: Tensor, y: Tensor) =>
      cond(
        p,
        (z: Tensor) => times(30).reduce((power: Tensor) => power.matmul(z).div(n), z),
        (z: Tensor) => z.neg(),
        y,
      ),
    );
    const timed = (p: number) => {
      const start = performance.now();
      run(tensor(p) as Tensor, x).dataSync();
      return performance.now() - start;
    };
    let [taken, other] = [Infinity, Infinity];
    // The best of each, on a machine that may be busy.
    for (let i = 0; i < 4 || (i < 30 && other >= taken / 3); i++) {
      taken = Math.min(taken, timed(1));
      other = Math.min(other, timed(0));
    }
    assert.ok(other < taken / 3, `${taken} ms with the long branch, ${other} ms without`);
  });
});

describeOnTensorDevices("associativeScan", () => {
  test("running products of matrices, every length, along any axis, in both directions", () => {
    const multiply = (a: readonly number[], b: readonly number[]) => [
      a[0]! * b[0]! + a[1]! * b[2]!,
      a[0]! * b[1]! + a[1]! * b[3]!,
      a[2]! * b[0]! + a[3]! * b[2]!,
      a[2]! * b[1]! + a[3]! * b[3]!,
    ];
    for (const length of [1, 2, 3, 7, 8]) {
      const matrices = times(length).map((i) => [1, i % 3, (i + 1) % 2, -1]);
      let running = matrices[0]!;
      const want = matrices.map((m, i) => {
        if (i > 0) running = multiply(running, m);
        return running;
      });
      const x = tensor(matrices.flat(), { shape: [length, 2, 2] });
      const combine = (a: Tensor, b: Tensor) => a.matmul(b);
      assert.deepEqual(numbersOf(associativeScan(combine, x)), want.flat());
      const back = associativeScan((a: Tensor, b: Tensor) => b.matmul(a), x.flip(0), { reverse: true });
      assert.deepEqual(
        numbersOf(back.flip(0)),
        matrices.flatMap((_, i) => matrices.slice(0, i + 1).reduce((a, b) => multiply(b, a))),
      );
      const rows = tensor(times(2 * length), { shape: [2, length], dtype: "f32" });
      const sums = associativeScan((a: Tensor, b: Tensor) => a.add(b), rows, { axis: -1 });
      assert.deepEqual(numbersOf(sums), numbersOf(rows.cumsum({ axis: 1 })));
    }
    assert.deepEqual(associativeScan((a: Tensor, b: Tensor) => a.add(b), zeros([0, 2])).shape, [0, 2]);
  });
});

describeOnTensorDevices("loops and choices refuse", () => {
  const x = () => tensor([1, 2, 3]);
  const call = (f: unknown, ...args: unknown[]): unknown => (f as (...args: unknown[]) => unknown)(...args);
  const uses: Readonly<Record<string, readonly [() => unknown, { readonly name: string }, RegExp]>> = {
    "a carry that changes its shape": [
      () => scan((c: Tensor, y: Tensor) => [concat([c, c]), y], x(), x()),
      ShapeError,
      /scan: the carry has the shape \[3\] at first and \[6\] after a round/,
    ],
    "a carry that changes its dtype": [
      () =>
        scan(
          (c: { n: Tensor }, y: Tensor) => [{ n: c.n.add(0.5) }, y],
          { n: tensor(1, { dtype: "i32" }) as Tensor },
          x(),
        ),
      DTypeError,
      /the carry's n is i32 at first and f32 after a round; cast/,
    ],
    "a carry that changes its structure": [
      () => call(scan, (c: { a: Tensor }) => [{ b: c.a }, null], { a: x() }, x()),
      ArgumentError,
      /the carry has an object with key a at first and an object with key b after a round/,
    ],
    "a step that returns no pair": [
      () => call(scan, (c: Tensor) => c, x(), x()),
      ArgumentError,
      /must return \[carry, y\]/,
    ],
    "a step that returns a promise": [
      () => call(scan, async (c: Tensor) => [c, null], x(), x()),
      ArgumentError,
      /scan: the function returned a promise/,
    ],
    "sequences of different lengths": [
      () => scan((c: Tensor, y: Tensor[]) => [c, y[0]], x(), [x(), tensor([1])]),
      ShapeError,
      /sequences of 3 and 1 elements/,
    ],
    "a scalar as a sequence": [() => scan((c: Tensor, y: Tensor) => [c, y], x(), tensor(1)), ShapeError, /capture it/],
    "no length": [
      () => scan((c: Tensor, _: null) => [c, null], x(), null),
      ArgumentError,
      /needs to be told \{ length \}/,
    ],
    "a length that is not the sequence's": [
      () => scan((c: Tensor, y: Tensor) => [c, y], x(), x(), { length: 4 }),
      ArgumentError,
      /length 4 for sequences of 3/,
    ],
    "a length below zero": [
      () => scan((c: Tensor, _: null) => [c, null], x(), null, { length: -1 }),
      ArgumentError,
      /length of -1/,
    ],
    "reading inside a step": [
      () => scan((c: Tensor, y: Tensor) => [c.add(y.itemSync() as number), null], x(), x()),
      TraceError,
      /a loop is tracing.*Return the tensor/,
    ],
    "bounds that are no whole numbers": [
      () => forLoop(0, 2.5, (_, c: Tensor) => c, x()),
      ArgumentError,
      /whole numbers/,
    ],
    "a condition of several values": [
      () =>
        whileLoop(
          (c: Tensor) => c.less(3),
          (c: Tensor) => c,
          x(),
        ),
      ShapeError,
      /whileLoop: the condition must return one bool/,
    ],
    "a condition that is no tensor": [
      () =>
        call(
          whileLoop,
          () => true,
          (c: Tensor) => c,
          x(),
        ),
      ShapeError,
      /must return one bool, a tensor/,
    ],
    "a while body that changes the shape": [
      () =>
        whileLoop(
          (c: Tensor) => c.sum().less(3),
          (c: Tensor) => c.at("1:"),
          x(),
        ),
      ShapeError,
      /whileLoop: the carry has the shape \[3\] at first and \[2\]/,
    ],
    "branches of different shapes": [
      () =>
        cond(
          tensor(1),
          (a: Tensor) => a,
          (a: Tensor) => a.sum(),
          x(),
        ),
      ShapeError,
      /cond: the result is f32\[\] from whenFalse and f32\[3\] from whenTrue; they must be alike/,
    ],
    "branches of different dtypes": [
      () =>
        switchCase(
          tensor(1, { dtype: "i32" }),
          [(a: Tensor) => ({ v: a }), (a: Tensor) => ({ v: a.cast("i32") as Tensor })],
          x(),
        ),
      DTypeError,
      /switchCase: v is f32\[3\] from branch 0 and i32\[3\] from branch 1.*cast/,
    ],
    "branches of different structures": [
      () =>
        call(
          cond,
          tensor(1),
          (a: Tensor) => [a],
          (a: Tensor) => [a, a],
          x(),
        ),
      ArgumentError,
      /all must return the same tree/,
    ],
    "branches that differ in what is empty": [
      () =>
        call(
          cond,
          tensor(true),
          (a: Tensor) => ({ a, b: null }),
          (a: Tensor) => ({ a }),
          x(),
        ),
      ArgumentError,
      /cond: at the top whenFalse returns an object with key a, whenTrue an object with keys a, b; all must return the same tree/,
    ],
    "a carry that gets another structure": [
      () => call(scan, (c: { a: Tensor }) => [{ a: [c.a] }, null], { a: x() }, x()),
      ArgumentError,
      /scan: at a the carry has a leaf at first and an array of 1 after a round; it must keep its structure/,
    ],
    "a predicate of several values": [
      () =>
        cond(
          x(),
          (a: Tensor) => a,
          (a: Tensor) => a,
          x(),
        ),
      ShapeError,
      /cond: the predicate is one bool.*where\(\)/,
    ],
    "no branches": [() => switchCase(tensor(0), [] as ((a: Tensor) => Tensor)[], x()), ArgumentError, /no branches/],
    "an index of several values": [
      () => switchCase(x(), [(a: Tensor) => a], x()),
      ShapeError,
      /the index has the shape \[3\]/,
    ],
    "axes of different lengths": [
      () => associativeScan((a: Tensor[]) => a, [x(), tensor([1])]),
      ShapeError,
      /axes of 3 and 1 elements/,
    ],
    "a combination of another shape": [
      () => associativeScan((a: Tensor, b: Tensor) => a.add(b).sum(), x()),
      ShapeError,
      /associativeScan: the combination has the shape/,
    ],
  };
  for (const [what, [use, kind, message]] of Object.entries(uses)) {
    test(what, () => assert.throws(use, { name: kind.name, message }));
  }
});
