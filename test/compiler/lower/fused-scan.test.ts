/** Scans that go element by element are one kernel with the loop inside, and compute what a loop in JavaScript does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../../src/core/dtype.js";
import { checkpoint, cond, forLoop, full, grad, jit, scan, type Tensor, tensor, where } from "../../../src/index.js";
import { replayed } from "../../support/jit-check.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const kernelCount = (text: string): number => text.match(/^\s*\d+\. /gm)?.length ?? 0;
const isLooping = (text: string): boolean => /times:/.test(text);

type Step = (c: Tensor, x: Tensor) => readonly [Tensor, Tensor | readonly Tensor[] | null];

describeOnTensorDevices("a scan that goes element by element", (device) => {
  const sequence = (length: number, size: number) =>
    tensor(
      Float32Array.from({ length: length * size }, (_, i) => ((i * 7) % 13) / 4 - 1),
      { shape: [length, size] },
    ) as Tensor;
  const state = (size: number) => tensor(Float32Array.from({ length: size }, (_, i) => i / 8 - 1)) as Tensor;
  const kernelsOf = (step: Step, c: Tensor, xs: Tensor, options = {}) =>
    jit((a: Tensor, b: Tensor) => scan(step, a, b, options) as unknown as Tensor).lower(c, xs).kernels;

  test("is one kernel, of one replay, whatever its length", () => {
    const f = jit((c: Tensor, xs: Tensor) =>
      scan((a: Tensor, x: Tensor) => [a.mul(0.5).add(x), a.sub(x)] as const, c, xs),
    );
    for (const [length, size] of [
      [1, 6],
      [2, 96],
      [9, 6],
      [5000, 8],
    ] as const) {
      const [c, xs] = [state(size), sequence(length, size)];
      assert.equal(kernelCount(f.lower(c, xs).kernels), 1);
      const [last, all] = replayed(device, () => f(c, xs));
      let carry = numbersOf(c);
      const values = numbersOf(xs);
      const want = Array.from({ length }, (_, i) => {
        const row = values.slice(size * i, size * (i + 1));
        const out = carry.map((a, k) => Math.fround(a - row[k]!));
        carry = carry.map((a, k) => Math.fround(Math.fround(a * 0.5) + row[k]!));
        return out;
      });
      assert.deepEqual(numbersOf(last), carry);
      assert.deepEqual(numbersOf(all), want.flat());
    }
  });

  test("computes nothing of the host's and reads its inputs as they are: by itself it is one kernel, too", () => {
    const [c, xs] = [state(4), sequence(3, 4)];
    const step: Step = (a, x) => [a.add(x), null];
    assert.equal(numbersOf(scan(step, c, xs)[0] as Tensor).length, 4);
    assert.equal(kernelCount(kernelsOf(step, c, xs, { reverse: true })), 1);
  });

  const plain: Readonly<
    Record<string, { readonly step: Step; readonly by: (c: number, x: number, k: number) => readonly [number, number] }>
  > = {
    "choices and comparisons": {
      step: (c, x) => [
        where(c.greater(x), c.sub(1), x),
        cond(
          tensor(1),
          (a: Tensor) => a.mul(2),
          (a: Tensor) => a,
          c,
        ),
      ],
      by: (c, x) => [c > x ? c - 1 : x, 2 * c],
    },
    "numbers, constants and counting": {
      step: (c, x) => [c.add(x).mul(0.5), tensor([10, 20, 30, 40]).mul(2).sub(c)],
      by: (c, x, k) => [(c + x) * 0.5, 20 * (k + 1) - c],
    },
    "sequences and constants that are read elsewhere": {
      step: (c, x) => [c.add(x.flip(0)), tensor([1, 2, 3, 4]).flip(0).mul(c)],
      by: () => [0, 0],
    },
    "a checkpoint": {
      step: (c, x) => [checkpoint((a: Tensor, b: Tensor) => a.mul(0.5).add(b))(c, x), c],
      by: (c, x) => [c * 0.5 + x, c],
    },
    "reshaping there and back": {
      step: (c, x) => [c.reshape(2, 2).add(x.reshape(2, 2)).reshape(4), c.reshape(2, 2).neg()],
      by: (c, x) => [c + x, -c],
    },
  };
  for (const [what, { step, by }] of Object.entries(plain)) {
    test(`may hold ${what}`, () => {
      const [c, xs] = [state(4), sequence(5, 4)];
      const kernels = kernelsOf(step, c, xs);
      // What does not change from round to round is computed once, before.
      assert.ok(!isLooping(kernels) && kernelCount(kernels) <= 2, kernels);
      const [last, all] = jit((a: Tensor, b: Tensor) => scan(step, a, b))(c, xs);
      const isElsewhere = what.includes("elsewhere");
      let carry = numbersOf(c);
      const values = numbersOf(xs);
      const want = Array.from({ length: 5 }, (_, i) => {
        const row = values.slice(4 * i, 4 * i + 4);
        const made = carry.map((a, k) => (isElsewhere ? [a + row[3 - k]!, (4 - k) * a] : by(a, row[k]!, k)));
        carry = made.map(([next]) => next!);
        return made.map(([, out]) => out!);
      });
      numbersOf(last as Tensor).forEach((value, k) => {
        assert.ok(Math.abs(value - carry[k]!) < 1e-5, `${value}, not ${carry[k]}`);
      });
      numbersOf(all as Tensor).forEach((value, k) => {
        assert.ok(Math.abs(value - want.flat()[k]!) < 1e-5);
      });
    });
  }

  test("may carry scalars beside vectors: every row goes along, one of them writes", () => {
    const f = jit((c: { n: Tensor; v: Tensor; on: Tensor }, xs: Tensor, w: Tensor) =>
      scan(
        ({ n, v, on }: typeof c, x: Tensor) =>
          [
            { n: n.add(1), v: v.mul(w).add(x).add(n.cast("f32")), on: on.logicalNot() },
            { n, twice: v.mul(2), on },
          ] as const,
        c,
        xs,
      ),
    );
    const c = {
      n: tensor(3, { dtype: "i32" }) as Tensor,
      v: state(5),
      on: tensor([true], { dtype: "bool" }) as Tensor,
    };
    const xs = sequence(4, 5);
    assert.equal(kernelCount(f.lower(c, xs, tensor(0.5)).kernels), 1);
    const [end, all] = f(c, xs, tensor(0.5));
    let v = numbersOf(c.v);
    const twice: number[] = [];
    for (let i = 0; i < 4; i++) {
      twice.push(...v.map((a) => 2 * a));
      v = v.map((a, k) => a * 0.5 + numbersOf(xs)[5 * i + k]! + 3 + i);
    }
    assert.deepEqual(
      [end.n.itemSync(), numbersOf(end.on), numbersOf(all.n), numbersOf(all.on)],
      [7, [1], [3, 4, 5, 6], [1, 0, 1, 0]],
    );
    numbersOf(end.v).forEach((value, k) => {
      assert.ok(Math.abs(value - v[k]!) < 1e-5);
    });
    numbersOf(all.twice).forEach((value, k) => {
      assert.ok(Math.abs(value - twice[k]!) < 1e-5);
    });
  });

  test("carries of every dtype are rounded and wrapped as in memory", () => {
    // As many elements as lanes and turns may share, and a few.
    const run = (dtype: DType, start: number, by: number, rounds: number) => {
      const f = jit((c: Tensor, x: Tensor) => forLoop(0, rounds, (_, a: Tensor) => a.add(x), c));
      const filled = (size: number, value: number) =>
        full([size], value, { dtype: dtype as "f32" }).realize() as Tensor;
      const [few, many] = [2, 16].map((size) => numbersOf(f(filled(size, start), filled(size, by))));
      assert.deepEqual(many, new Array(16).fill(few![0]));
      return few;
    };
    // Between neighbours of f16 there is 1 at 1024, of bf16 there is 2 at 256.
    assert.deepEqual(run("f16", 1024, 0.25, 8), [1024, 1024]);
    assert.deepEqual(run("bf16", 256, 0.75, 8), [256, 256]);
    assert.deepEqual(run("f32", 2 ** 24, 1, 4), [2 ** 24, 2 ** 24]);
    assert.deepEqual(run("f64", 2 ** 24, 1, 4), [2 ** 24 + 4, 2 ** 24 + 4]);
    assert.deepEqual(run("u8", 250, 3, 4), [6, 6]);
    assert.deepEqual(run("i8", 120, 3, 4), [-124, -124]);
    assert.deepEqual(run("i16", 32_000, 300, 4), [-32_336, -32_336]);
    assert.deepEqual(run("u32", 2 ** 32 - 2, 1, 4), [2, 2]);
    assert.deepEqual(run("i64", 2 ** 40, 1, 4), [2 ** 40 + 4, 2 ** 40 + 4]);
  });

  test("the way back of a gradient is such a kernel, too", () => {
    const loss = (c: Tensor, xs: Tensor, w: Tensor) => {
      const [last, all] = scan((a: Tensor, x: Tensor) => [a.mul(w).add(x).sin(), a.mul(x)] as const, c, xs);
      return [last, all] as const;
    };
    const gradient = jit((c: Tensor, xs: Tensor, w: Tensor) =>
      grad((v: Tensor) => {
        const [last, all] = loss(c, xs, v);
        return last.sum().add(all.sum());
      })(w),
    );
    const lowered = gradient.lower(state(8), sequence(20, 8), state(8));
    assert.ok(!isLooping(lowered.kernels), lowered.kernels);
    assert.ok(kernelCount(lowered.kernels) <= 4, lowered.kernels);
  });

  test("that needs other rows' carries, sums, matrices or complex numbers is done round by round", () => {
    const steps: Readonly<Record<string, Step>> = {
      rolled: (c, x) => [c.roll(1).add(x), null],
      flipped: (c, x) => [c.flip(0).add(x), null],
      summed: (c, x) => [c.add(x).sub(c.sum()), null],
      "one for all": (c, x) => [c.add(c.at(0)).add(x), null],
      taken: (c, x) => [c.take(x.cast("i32"), { axis: 0 }), null],
      transposed: (c, x) => [c.reshape(2, 2).T.reshape(4).add(x), null],
    };
    for (const [what, step] of Object.entries(steps)) {
      const [c, xs] = [state(4), sequence(3, 4)];
      assert.ok(isLooping(kernelsOf(step, c, xs)), what);
      let carry = c;
      for (const x of xs.unstack()) [carry] = step(carry, x);
      const [last] = jit((a: Tensor, b: Tensor) => scan(step, a, b))(c, xs);
      assert.deepEqual(numbersOf(last), numbersOf(carry), what);
    }
    const z = tensor([{ re: 1, im: 2 }], { dtype: "c64" }) as Tensor;
    const turned = jit((a: Tensor) => forLoop(0, 3, (_, c: Tensor) => c.mul(c), a));
    assert.ok(isLooping(turned.lower(z).kernels));
  });

  test("stands in other loops, with carries, elements and results of theirs", () => {
    const f = jit((c: Tensor, xs: Tensor) =>
      scan(
        (a: Tensor, rows: Tensor) => {
          const [last, all] = scan((b: Tensor, x: Tensor) => [b.mul(0.5).add(x), b] as const, a, rows, {
            reverse: true,
          });
          return [last.roll(1), all] as const;
        },
        c,
        xs,
      ),
    );
    const [c, xs] = [state(3), sequence(4, 6)];
    const { kernels } = f.lower(c, xs.reshape(4, 2, 3));
    assert.ok(isLooping(kernels) && /scan\[2×3\]/.test(kernels), kernels);
    const [last, all] = f(c, xs.reshape(4, 2, 3));
    let carry = numbersOf(c);
    const values = numbersOf(xs);
    const want: number[] = [];
    for (let i = 0; i < 4; i++) {
      for (const j of [1, 0]) {
        carry.forEach((value, k) => {
          want[6 * i + 3 * j + k] = value;
        });
        carry = carry.map((value, k) => Math.fround(Math.fround(value * 0.5) + values[6 * i + 3 * j + k]!));
      }
      carry = [carry[2]!, carry[0]!, carry[1]!];
    }
    assert.deepEqual([numbersOf(last), numbersOf(all)], [carry, want]);
  });

  test("writes its results over donated arguments", () => {
    const f = jit((c: Tensor, xs: Tensor) => scan((a: Tensor, x: Tensor) => [a.add(x), a.mul(x)] as const, c, xs), {
      donate: [0, 1],
    });
    const [c, xs] = [state(3).realize() as Tensor, sequence(4, 3).realize() as Tensor];
    const memory = [c.node.storage, xs.node.storage];
    const [first, second] = [numbersOf(c), numbersOf(xs)];
    const [last, all] = f(c, xs);
    assert.ok(last.node.storage === memory[0] && all.node.storage === memory[1]);
    let carry = first;
    const want: number[] = [];
    for (let i = 0; i < 4; i++) {
      want.push(...carry.map((a, k) => Math.fround(a * second[3 * i + k]!)));
      carry = carry.map((a, k) => Math.fround(a + second[3 * i + k]!));
    }
    assert.deepEqual([numbersOf(last), numbersOf(all)], [carry, want]);
  });
});
