/**
 * i4, u4, i2 and u2 on every device. Several elements share a byte, so these tests look at what that could break: sizes that
 * fill no whole byte or word, parts that begin in the middle of one, neighbours that many lanes write, loops, and memory.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPES, type PackedDType } from "../../src/core/dtype.js";
import { DTypeError, SizeMismatchError } from "../../src/core/errors.js";
import {
  arange,
  concat,
  cond,
  forLoop,
  fromBytes,
  jit,
  scan,
  type Tensor,
  tensor,
  vmap,
  zeros,
} from "../../src/index.js";
import { randomFrom } from "../support/random.js";
import { describeOnTensorDevices, narrowDTypes, numbersOf } from "../support/tensors.js";

const packed = narrowDTypes.filter((dtype) => DTYPES[dtype].bits < 8) as readonly PackedDType[];

/** Every number there is, in order. */
const range = (dtype: PackedDType): number[] => {
  const { min, max } = DTYPES[dtype];
  return Array.from({ length: Number(max) - Number(min) + 1 }, (_, i) => Number(min) + i);
};

const wrap = (value: number, dtype: PackedDType): number => {
  const { bits, signed } = DTYPES[dtype];
  return Number(signed ? BigInt.asIntN(bits, BigInt(value)) : BigInt.asUintN(bits, BigInt(value)));
};

const someOf = (dtype: PackedDType, count: number, seed = 1): number[] => {
  const random = randomFrom(seed);
  const all = range(dtype);
  return Array.from({ length: count }, () => random.pick(all));
};

const floor = (a: number, b: number) => (b === 0 ? 0 : Math.floor(a / b));

describeOnTensorDevices("integers narrower than a byte", () => {
  for (const dtype of packed) {
    const of = (values: readonly number[], shape: readonly number[] = [values.length]) =>
      tensor([...values], { dtype, shape: [...shape] });

    test(`every pair of ${dtype}: arithmetic wraps, comparisons and bits are those of whole numbers`, () => {
      const all = range(dtype);
      const n = all.length;
      const [a, b] = [of(all, [n, 1]), of(all, [1, n])];
      const pairs = (f: (p: number, q: number) => number) => all.flatMap((p) => all.map((q) => wrap(f(p, q), dtype)));
      const rules: [string, Tensor, (p: number, q: number) => number][] = [
        ["add", a.add(b), (p, q) => p + q],
        ["sub", a.sub(b), (p, q) => p - q],
        ["mul", a.mul(b), (p, q) => p * q],
        ["floorDivide", a.floorDivide(b), floor],
        ["maximum", a.maximum(b), Math.max],
        ["minimum", a.minimum(b), Math.min],
        ["bitwiseAnd", a.bitwiseAnd(b), (p, q) => p & q],
        ["bitwiseXor", a.bitwiseXor(b), (p, q) => p ^ q],
      ];
      for (const [name, got, rule] of rules) {
        assert.equal(got.dtype, dtype, name);
        assert.deepEqual(numbersOf(got), pairs(rule), name);
      }
      assert.deepEqual(
        numbersOf(a.less(b)),
        all.flatMap((p) => all.map((q) => Number(p < q))),
      );
      assert.deepEqual(
        numbersOf(of(all).neg()),
        all.map((p) => wrap(-p, dtype)),
      );
      assert.deepEqual(numbersOf(of(all).cast("f32").cast(dtype)), all);
    });

    test(`${dtype} of every small size, from values and from bytes`, async () => {
      for (let count = 0; count <= 67; count++) {
        const values = someOf(dtype, count, count + 1);
        const x = of(values);
        const bytes = await x.bytes();
        assert.equal(bytes.length, Math.ceil((count * DTYPES[dtype].bits) / 8));
        assert.deepEqual(
          numbersOf(x.add(1)),
          values.map((value) => wrap(value + 1, dtype)),
          `${count}`,
        );
        const again = fromBytes(bytes, [count], dtype);
        assert.deepEqual(numbersOf(again.add(0)), values, `${count}, from bytes`);
        // Computed results have zeros after their last element, too.
        assert.deepEqual(await again.sub(1).add(1).bytes(), bytes);
      }
      assert.throws(() => fromBytes(new Uint8Array(3), [3], dtype), SizeMismatchError);
    });

    test(`parts, orders and pieces of ${dtype} that begin and end inside a byte`, () => {
      const values = someOf(dtype, 7 * 11);
      const x = of(values, [7, 11]);
      const at = (i: number, j: number) => values[11 * i + j]!;
      const rows = [0, 1, 2, 3, 4, 5, 6];
      const columns = rows.concat(7, 8, 9, 10);
      assert.deepEqual(
        numbersOf(x.T),
        columns.flatMap((j) => rows.map((i) => at(i, j))),
      );
      assert.deepEqual(
        numbersOf(x.at("2:5", "3:8")),
        [2, 3, 4].flatMap((i) => [3, 4, 5, 6, 7].map((j) => at(i, j))),
      );
      for (let start = 0; start < 20; start++) {
        const part = x.flatten().at(`${start}:${start + 33}`);
        assert.deepEqual(numbersOf(part), values.slice(start, start + 33), `from ${start}`);
        assert.deepEqual(
          numbersOf(part.realize().add(1)),
          values.slice(start, start + 33).map((v) => wrap(v + 1, dtype)),
        );
      }
      assert.deepEqual(numbersOf(x.flip()), [...values].reverse());
      const joined = concat([x.flatten(), of(values.slice(0, 3)), x.flatten()]);
      assert.deepEqual(numbersOf(joined), [...values, ...values.slice(0, 3), ...values]);
      assert.deepEqual(numbersOf(x.reshape([11, 7]).at(3)), values.slice(21, 28));
      assert.deepEqual(numbersOf(x.take(tensor([6, 0, 6], { dtype: "i32" }), { axis: 0 }).at(":", 10)), [
        at(6, 10),
        at(0, 10),
        at(6, 10),
      ]);
    });

    test(`single elements of ${dtype} are set, added to and gathered without touching their neighbours`, () => {
      const values = someOf(dtype, 41);
      const x = of(values);
      for (const place of [0, 1, 2, 7, 8, 31, 39, 40]) {
        assert.deepEqual(numbersOf(x.set(place, 1)), values.with(place, 1), `set ${place}`);
      }
      const places = tensor([40, 3, 4, 5, 3], { dtype: "i32" });
      const added = [...values];
      for (const place of [40, 3, 4, 5, 3]) added[place] = wrap(added[place]! + 1, dtype);
      assert.deepEqual(numbersOf(x.addAt(places, 1)), added);
      assert.deepEqual(
        numbersOf(x.at(places)),
        [40, 3, 4, 5, 3].map((place) => values[place]!),
      );
    });

    test(`reductions, orders and products of ${dtype}`, () => {
      const values = someOf(dtype, 5 * 13);
      const x = of(values, [5, 13]);
      const rows = Array.from({ length: 5 }, (_, i) => values.slice(13 * i, 13 * i + 13));
      const sums = x.sum({ axis: 1 });
      assert.equal(sums.dtype, DTYPES[dtype].signed ? "i32" : "u32");
      assert.deepEqual(
        numbersOf(sums),
        rows.map((row) => row.reduce((a, b) => a + b)),
      );
      assert.deepEqual(
        numbersOf(x.max({ axis: 1 })),
        rows.map((row) => Math.max(...row)),
      );
      assert.deepEqual(
        numbersOf(x.argmin({ axis: 1 })),
        rows.map((row) => row.indexOf(Math.min(...row))),
      );
      assert.deepEqual(
        numbersOf(x.sort()),
        rows.flatMap((row) => [...row].sort((a, b) => a - b)),
      );
      assert.deepEqual(numbersOf(x.cumsum({ axis: 1 }).at(":", -1)), numbersOf(sums));
      const product = x.cast("i32").matmul(x.cast("i32").T);
      assert.equal(
        product.at(1, 2).itemSync(),
        rows[1]!.reduce((sum, v, k) => sum + v * rows[2]![k]!, 0),
      );
    });

    test(`a large tensor of ${dtype} is packed by many lanes`, () => {
      const count = 300_007;
      const { min, max } = DTYPES[dtype];
      const span = Number(max) - Number(min) + 1;
      const x = arange(count, { dtype: "i32" }).cast(dtype).realize();
      const got = x.add(1).dataSync();
      for (let i = 0; i < count; i++) {
        const want = wrap((i % span) + 1, dtype);
        if (got[i] !== want) assert.fail(`element ${i} is ${got[i]}, not ${want}`);
      }
      assert.equal(
        x
          .notEqual(arange(count, { dtype: "i32" }).cast(dtype))
          .any()
          .itemSync(),
        false,
      );
    });

    test(`loops, branches, jit and vmap carry ${dtype}`, () => {
      const values = someOf(dtype, 15);
      const x = of(values, [5, 3]);
      const [last, all] = scan((sum: Tensor, row: Tensor) => [sum.add(row), sum], of([0, 0, 0]) as Tensor, x as Tensor);
      const running = [[0, 0, 0]];
      for (let i = 0; i < 5; i++) running.push(running[i]!.map((v, j) => wrap(v + values[3 * i + j]!, dtype)));
      assert.deepEqual(numbersOf(last), running[5]);
      assert.deepEqual(numbersOf(all), running.slice(0, 5).flat());
      const counted = forLoop(0, 5, (_, v: Tensor) => v.add(1), of([1, 0, 1]) as Tensor);
      assert.deepEqual(
        numbersOf(counted),
        [6, 5, 6].map((v) => wrap(v, dtype)),
      );
      const chosen = cond(
        tensor(true),
        (v: Tensor) => v.add(1),
        (v: Tensor) => v,
        x as Tensor,
      );
      assert.deepEqual(
        numbersOf(chosen),
        values.map((v) => wrap(v + 1, dtype)),
      );
      const step = jit((v: Tensor, w: Tensor) => ({ sum: v.add(w), same: v }));
      for (let round = 0; round < 3; round++) {
        const { sum, same } = step(x, of([round % 2, 1, 0]));
        assert.deepEqual(
          numbersOf(sum),
          values.map((v, i) => wrap(v + [round % 2, 1, 0][i % 3]!, dtype)),
        );
        assert.deepEqual(numbersOf(same), values);
      }
      assert.deepEqual(
        numbersOf(vmap((row: Tensor) => row.flip())(x)),
        [0, 1, 2, 3, 4].flatMap((i) => values.slice(3 * i, 3 * i + 3).reverse()),
      );
    });

    test(`numbers that change from step to step meet ${dtype}`, () => {
      const x = of([0, 1, 0]);
      for (let round = 0; round < 20; round++) {
        const by = range(dtype)[round % range(dtype).length]!;
        assert.deepEqual(
          numbersOf(x.add(by)),
          [0, 1, 0].map((v) => wrap(v + by, dtype)),
          `${round}`,
        );
      }
    });
  }

  test("four elements of i2 take a byte", async () => {
    const x = zeros([1 << 20], { dtype: "i2" });
    assert.equal((await x.bytes()).length, 1 << 18);
  });

  test("values that do not fit are refused", () => {
    assert.throws(() => tensor([8], { dtype: "i4" }), /8 does not fit i4 \(-8 to 7\)/);
    assert.throws(() => tensor([1], { dtype: "u2" }).add(4), DTypeError);
    assert.throws(() => tensor([1], { dtype: "i4" }).bitcast("i8"), DTypeError);
    assert.throws(() => tensor([1], { dtype: "int4" as "i4" }), /write "i4"/);
    assert.throws(() => tensor([1], { dtype: "f8" as "f32" }), /is not a dtype/);
  });
});
