/** Derivatives where formulas break: ties, zeros, infinities, nothing at all, single numbers, narrow dtypes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  concat,
  einsum,
  grad,
  hessian,
  jvp,
  linalg,
  stopGradient,
  type Tensor,
  tensor,
  valueAndGrad,
  vjp,
  where,
  zeros,
} from "../../src/index.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

type Scalar = (...x: Tensor[]) => Tensor;
const values = (...x: Tensor[]): number[][] => x.map(numbersOf);

/** The gradients of the sum of f by all its arguments; forward mode must give their sums. */
function slopes(f: Scalar, ...x: (number | number[] | number[][])[]): number[][] {
  const tensors = x.map((each) => tensor(each, { dtype: "f64" }));
  const [result, pullback] = vjp(f, ...tensors);
  const found = pullback(zeros(result.shape, { dtype: "f64" }).add(1));
  const moved = jvp(
    f,
    tensors,
    tensors.map(({ shape }) => zeros(shape, { dtype: "f64" }).add(1)),
  )[1];
  const total = found.flatMap(numbersOf).reduce((a, b) => a + b, 0);
  const forward = numbersOf(moved.sum())[0]!;
  assert.ok(
    Object.is(total, forward) || Math.abs(total - forward) <= 1e-12 * (1 + Math.abs(total)),
    `reverse mode ${total}, forward mode ${forward}`,
  );
  return values(...found);
}

/** The same numbers up to a rounding. */
function near(got: readonly (readonly number[])[], want: readonly (readonly number[])[]): void {
  const isNear = (a: number, b: number) => a === b || Math.abs(a - b) <= 1e-14 * Math.abs(b);
  const same = got.length === want.length && got.every((row, i) => row.length === want[i]!.length);
  assert.ok(
    same && got.every((row, i) => row.every((x, k) => isNear(x, want[i]![k]!))),
    `${inspect(got)} is not ${inspect(want)}`,
  );
}

describeOnTensorDevices("slopes at ties and kinks", () => {
  test("remainders rise with the dividend at multiples of the divisor too, as fmod does", () => {
    // x - floor(x / y) y: 1 by x and -floor(x / y) by y.
    const [dividends, divisors] = [[4, 3, -2, 0, -0, 6, -6, 7], [2, 2, 2, 2, 2, -3, -3, -3]]; // biome-ignore format: pairs
    const byDivisor = dividends.map((x, i) => -Math.floor(x / divisors[i]!));
    near(
      slopes((x, y) => x.remainder(y), dividends, divisors),
      [dividends.map(() => 1), byDivisor],
    );
    near(
      slopes((x, y) => x.mod(y), dividends, divisors),
      [dividends.map(() => 1), byDivisor],
    );
    const signs = numbersOf(tensor(dividends, { dtype: "f64" }).remainder(tensor(divisors, { dtype: "f64" })));
    assert.deepEqual(signs, [0, 1, 0, 0, 0, -0, -0, -2]);
  });

  test("equal extremes share the slope", () => {
    near(
      slopes((x) => x.max(), [1, 3, 3, 2]),
      [[0, 0.5, 0.5, 0]],
    );
    near(
      slopes(
        (x) => x.min({ axis: 1 }),
        [
          [5, 5, 5, 6],
          [1, 2, 3, 4],
        ],
      ),
      [[1 / 3, 1 / 3, 1 / 3, 0, 1, 0, 0, 0]],
    );
    near(
      slopes((x, y) => x.maximum(y), [1, 2, 3], [1, 1, 4]),
      [
        [0.5, 1, 0],
        [0.5, 0, 1],
      ],
    );
    near(
      slopes((x, y) => x.minimum(y), [1, 2], [1, 1]),
      [
        [0.5, 0],
        [0.5, 1],
      ],
    );
    near(
      slopes((x) => x.windowMax(2), [1, 1, 1]),
      [[0.5, 1, 0.5]],
    );
  });

  test("a running extreme takes its slope from where it was last reached", () => {
    near(
      slopes((x) => x.cummax(), [1, 3, 3, 2]),
      [[1, 1, 2, 0]],
    );
    near(
      slopes((x) => x.cummin({ reverse: true }), [3, 1, 1, 4]),
      [[0, 2, 1, 1]],
    );
  });

  test("equal elements keep their order when sorted, and so do their slopes", () => {
    const weights = tensor([1, 10, 100], { dtype: "f64" });
    near(
      slopes((x) => x.sort().mul(weights), [2, 1, 1]),
      [[100, 1, 10]],
    );
    near(
      slopes((x) => x.topK(1).values, [2, 7, 7]),
      [[0, 1, 0]],
    );
  });

  test("extremes that scattered values share with what was there", () => {
    const at = tensor([0, 0, 1, 9], { dtype: "i32" });
    // The last one goes nowhere, though its value is that of nowhere.
    near(
      slopes((x, v) => x.scatter(at, v, { axis: 0, op: "max" }), [3, 5], [3, 3, 1, 0]),
      [
        [1 / 3, 1],
        [1 / 3, 1 / 3, 0, 0],
      ],
    );
  });

  test("relu and abs are flat at zero, clip goes half", () => {
    near(
      slopes((x) => x.relu(), [-1, 0, 2]),
      [[0, 0, 1]],
    );
    near(
      slopes((x) => x.abs(), [-1, 0, 2]),
      [[-1, 0, 1]],
    );
    near(
      slopes((x) => x.clip(0, 1), [-1, 0, 0.5, 1, 2]),
      [[0, 0.5, 1, 0.5, 0]],
    );
  });
});

describeOnTensorDevices("slopes at zeros and infinities", () => {
  test("roots are infinitely steep at zero, lengths are flat", () => {
    near(
      slopes((x) => x.sqrt(), [0, 4]),
      [[Infinity, 0.25]],
    );
    near(
      slopes((x) => x.cbrt(), [0, 8]),
      [[Infinity, 1 / 12]],
    );
    for (const order of [1, 2, 3, Infinity])
      assert.deepEqual(
        slopes((x) => x.norm({ order }), [0, 0]),
        [[0, 0]],
      );
    near(
      slopes((x) => x.norm(), [3, 4]),
      [[0.6, 0.8]],
    );
    near(
      slopes(
        (x) => x.norm({ axis: 1 }),
        [
          [0, 0],
          [0, 2],
        ],
      ),
      [[0, 0, 0, 1]],
    );
    near(
      slopes((x) => x.std(), [2, 2, 2]),
      [[0, 0, 0]],
    );
    near(
      slopes((x, y) => x.hypot(y), [0, 3], [0, 4]),
      [
        [0, 0.6],
        [0, 0.8],
      ],
    );
  });

  test("powers of zero and of negative numbers", () => {
    const exponents = tensor([0, 1, 2, 3], { dtype: "f64" });
    near(
      slopes((x) => x.pow(exponents), [0, 0, 0, 0]),
      [[0, 1, 0, 0]],
    );
    near(
      slopes((x) => x.pow(exponents), [-2, -2, -2, -2]),
      [[0, 1, -4, 12]],
    );
    near(
      slopes((x) => x.pow(0.5), [0]),
      [[Infinity]],
    );
    near(
      slopes((y) => zeros([3], { dtype: "f64" }).pow(y), [0.5, 1, 2]),
      [[0, 0, 0]],
    );
    const second = hessian((x: Tensor) => x.pow(2).add(x.pow(1)).add(x.pow(0)).sum());
    assert.deepEqual(second(tensor([0, 0], { dtype: "f64" })).arraySync(), [
      [2, 0],
      [0, 2],
    ]);
  });

  test("products with no zero, one and two", () => {
    near(
      slopes(
        (x) => x.prod({ axis: 1 }),
        [
          [2, 3, 4],
          [2, 0, 4],
          [0, 0, 4],
        ],
      ),
      [[12, 8, 6, 0, 8, 0, 0, 0, 0]],
    );
    near(
      slopes((x) => x.cumprod(), [2, 0, 3]),
      [[1, 8, 0]],
    );
    near(
      slopes((x) => x.cumprod({ reverse: true, exclusive: true }), [2, 0, 0]),
      [[0, 0, 1]],
    );
    const at = tensor([0, 0, 1], { dtype: "i32" });
    near(
      slopes((x, v) => x.scatter(at, v, { axis: 0, op: "mul" }), [2, 0], [0, 3, 5]),
      [
        [0, 5],
        [6, 0, 0],
      ],
    );
    const second = hessian((x: Tensor) => x.prod());
    assert.deepEqual(second(tensor([2, 0, 3], { dtype: "f64" })).arraySync(), [
      [0, 3, 0],
      [3, 0, 2],
      [0, 2, 0],
    ]);
  });

  test("logaddexp and logsumexp: equal terms, terms of nothing, infinite ones", () => {
    near(
      slopes((x, y) => x.logaddexp(y), [1, -Infinity, 2, Infinity], [1, -Infinity, -Infinity, 0]),
      [
        [0.5, 1, 1, 1],
        [0.5, 1, 0, 0],
      ],
    );
    const curvature = hessian((x: Tensor) => x.at(0).logaddexp(x.at(1)));
    near(values(curvature(tensor([3, 3], { dtype: "f64" }))), [[0.25, -0.25, -0.25, 0.25]]);
    const masked = [
      [0, -Infinity, 0],
      [-Infinity, -Infinity, -Infinity],
    ];
    near(
      slopes((x) => x.logsumexp({ axis: 1 }), masked),
      [[0.5, 0, 0.5, 0, 0, 0]],
    );
    near(
      slopes((x) => x.cumlogsumexp(), [-Infinity, 0, 0]),
      [[1, 1.5, 0.5]],
    );
  });

  test("a choice keeps what it did not choose away, whatever its slope", () => {
    const safe = (x: Tensor) => where(x.greater(0), where(x.greater(0), x, 1).log(), 0);
    near(slopes(safe, [-1, 0, 2]), [[0, 0, 0.5]]);
  });

  test("positions outside: reading goes to the nearest end, writing to nowhere", () => {
    const at = tensor([-9, 0, 1, 7, 7], { dtype: "i32" });
    near(
      slopes((x) => x.take(at, { axis: 0 }), [1, 2, 3]),
      [[2, 1, 2]],
    );
    near(
      slopes((x, v) => x.addAt(at, v).square(), [1, 2, 3], [5, 6, 7, 8, 9]),
      [
        [14, 18, 6],
        [0, 14, 18, 0, 0],
      ],
    );
    near(
      slopes((x, v) => x.set(tensor([0, 0], { dtype: "i32" }), v), [1, 2], [3, 4]),
      [
        [0, 1],
        [0, 1],
      ],
    );
  });
});

describeOnTensorDevices("slopes of nothing and of single numbers", (device) => {
  const nothing: Readonly<Record<string, readonly [Scalar, ...(readonly number[])[]]>> = {
    "elementwise functions": [(x) => x.exp().mul(x).tanh(), [0, 3]],
    broadcasting: [(x, y) => x.add(y), [0, 3], [3]],
    "sums over an axis without elements": [(x) => x.sum({ axis: 0 }), [0, 3]],
    "sums that have no rows": [(x) => x.sum({ axis: 0 }), [3, 0]],
    products: [(x) => x.prod({ axis: 1 }), [2, 0]],
    means: [(x) => x.mean({ axis: 0 }), [2, 0]],
    norms: [(x) => x.norm(), [0]],
    extremes: [(x) => x.max({ axis: 1 }), [0, 2]],
    softmax: [(x) => x.softmax(), [0, 3]],
    logsumexp: [(x) => x.logsumexp({ axis: 1 }), [0, 3]],
    "running sums": [(x) => x.cumsum({ axis: 1 }), [2, 0]],
    "running products": [(x) => x.cumprod({ axis: 0 }), [0, 2]],
    "running extremes": [(x) => x.cummax({ axis: 1 }), [2, 0]],
    movement: [
      (x) =>
        x.T.reshape(3, 0)
          .flip()
          .pad([
            [0, 0],
            [1, 0],
          ]),
      [0, 3],
    ],
    ranges: [(x) => x.at("5:", "::-1"), [2, 3]],
    joining: [(x, y) => concat([x, y]), [0, 2], [3, 2]],
    wrapping: [(x) => x.roll(1).tile(2, 1), [0, 2]],
    taking: [(x) => x.take(zeros([0], { dtype: "i32" }), { axis: 0 }), [3, 2]],
    "taking from no columns": [(x) => x.take(zeros([2], { dtype: "i32" }), { axis: 0 }), [3, 0]],
    "taking along an axis": [(x) => x.takeAlongAxis(zeros([3, 0], { dtype: "i32" }), { axis: 1 }), [3, 2]],
    scattering: [(x, v) => x.scatter(zeros([0], { dtype: "i32" }), v, { axis: 0, op: "max" }), [3, 2], [0, 2]],
    sorting: [(x) => x.sort(), [2, 0]],
    "products of matrices": [(x, y) => x.matmul(y), [2, 0], [0, 3]],
    "products without rows": [(x, y) => x.matmul(y), [0, 2], [2, 3]],
    einsum: [(x, y) => einsum("ij,jk->ik", x, y), [3, 0], [0, 2]],
    convolution: [(x, w) => x.conv(w), [0, 2, 5], [3, 2, 2]],
    "convolution with no room": [(x, w) => x.conv(w), [1, 2, 1], [3, 2, 2]],
    windows: [(x) => x.windowSum(3), [2]],
    "triangular equations": [(a, b) => linalg.triangularSolve(a, b), [2, 2], [2, 0]],
    "factors of no matrices": [(a) => linalg.cholesky(a), [0, 2, 2]],
  };
  for (const [what, [f, ...shapes]] of Object.entries(nothing)) {
    test(`${what}: a slope for each element there is, and none is NaN`, () => {
      const x = shapes.map((shape, i) => zeros(shape, { dtype: "f32", device }).add(i + 1));
      const [result, pullback] = vjp(f, ...x);
      const found = pullback(zeros(result.shape, { device }).add(1));
      found.forEach((each, i) => {
        assert.deepEqual(each.shape, shapes[i]);
        assert.ok(numbersOf(each).every(Number.isFinite), `${numbersOf(each)}`);
      });
      const [, moved] = jvp(f, x, x);
      assert.deepEqual(moved.shape, result.shape);
      numbersOf(moved);
    });
  }

  test("of single numbers", () => {
    near(
      slopes((x) => x.square(), 3),
      [[6]],
    );
    near(
      slopes((x) => x.sum(), 3),
      [[1]],
    );
    near(
      slopes((x) => x.max(), 3),
      [[1]],
    );
    near(
      slopes((x) => x.reshape(1, 1).T.flatten(), 3),
      [[1]],
    );
    near(
      slopes((x, y) => x.mul(y), 3, [1, 2]),
      [[3], [3, 3]],
    );
    assert.equal(hessian((x: Tensor) => x.pow(3))(tensor(2, { dtype: "f64" })).itemSync(), 12);
    assert.deepEqual(hessian((x: Tensor) => x.pow(3))(tensor(2)).shape, []);
  });

  test("an argument that plays no part has the slope zero", () => {
    near(
      slopes((_, y) => y, [1, 2], [3]),
      [[0, 0], [1]],
    );
    near(
      slopes((x) => x.greater(0).cast("f64"), [1, -2]),
      [[0, 0]],
    );
    near(
      slopes((x) => x.round().sign().floor(), [1.2, -2.2]),
      [[0, 0]],
    );
    near(
      slopes((x) => x.argsort().cast("f64"), [1, -2]),
      [[0, 0]],
    );
  });
});

describeOnTensorDevices("slopes and dtypes", () => {
  for (const dtype of ["f16", "bf16", "f32", "f64"] as const) {
    test(`a gradient by ${dtype} is ${dtype}, whatever was computed on the way`, () => {
      const x = tensor([1, 2, 3], { dtype });
      const f = (each: Tensor) =>
        each
          .cast("f32")
          .mul(tensor([1, 2, 4]))
          .sum()
          .add(each.take(tensor([0, 0, 1], { dtype: "i32" })).sum());
      const [value, gradient] = valueAndGrad(f)(x);
      assert.equal(value.itemSync(), 21);
      assert.equal(gradient.dtype, dtype);
      assert.deepEqual(numbersOf(gradient), [3, 3, 4]);
      const [, moved] = jvp(f, [x], [x]);
      assert.equal(moved.itemSync(), 21);
    });
  }

  test("integers along the way pass nothing on, and are passed by", () => {
    const labels = tensor([2, 0], { dtype: "i32" });
    const loss = (x: Tensor) => x.softmax().log().takeAlongAxis(labels.reshape(2, 1), { axis: 1 }).sum().neg();
    const x = tensor(
      [
        [1, 1, 1],
        [1, 1, 1],
      ],
      { dtype: "f64" },
    );
    const third = 1 / 3;
    near([numbersOf(grad(loss)(x))], [[third, third, third - 1, third - 1, third, third]]);
  });

  test("stopGradient keeps the value and stops the slope, in trees too", () => {
    near(
      slopes((x) => x.mul(stopGradient(x)), [3, 4]),
      [[3, 4]],
    );
    const gradient = grad(({ a, b }: { a: Tensor; b: Tensor }) => {
      const held = stopGradient({ a, b });
      return a.mul(held.b).add(b.mul(held.a).mul(2)).sum();
    })({ a: tensor([2]), b: tensor([5]) });
    assert.deepEqual(values(gradient.a, gradient.b), [[5], [4]]);
  });
});
