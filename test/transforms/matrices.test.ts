/** Jacobians and Hessians against difference quotients and closed forms; results that are trees. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  grad,
  hessian,
  hvp,
  jacobian,
  jvp,
  linearize,
  setDefaultDevice,
  type Tensor,
  tensor,
  valueAndGrad,
  vjp,
  whileLoop,
} from "../../src/index.js";
import { floats } from "../support/operation-cases.js";
import { numbersOf } from "../support/tensors.js";

before(() => setDefaultDevice("cpu"));

const random = (shape: readonly number[], seed: number): Tensor =>
  tensor([...floats(shape, 0.3, 2)(seed).values], { shape, dtype: "f64" });

/** Column by column, from differences extrapolated over two steps. */
function quotients(f: (x: Tensor) => Tensor, x: Tensor): number[][] {
  const start = numbersOf(x);
  const at = (i: number, h: number) => {
    const moved = start.map((value, k) => (k === i ? value + h : value));
    return numbersOf(f(tensor(moved, { shape: x.shape, dtype: "f64" })));
  };
  return start.map((_, i) => {
    const central = (h: number) => {
      const below = at(i, -h);
      return at(i, h).map((value, k) => (value - below[k]!) / (2 * h));
    };
    const [coarse, fine] = [central(2 ** -9), central(2 ** -10)];
    return fine.map((value, k) => (4 * value - coarse[k]!) / 3);
  });
}

function expectMatrix(got: Tensor, columns: readonly (readonly number[])[], shape: readonly number[]): void {
  assert.deepEqual(got.shape, shape);
  const values = numbersOf(got);
  columns.forEach((column, j) => {
    column.forEach((want, i) => {
      const value = values[i * columns.length + j]!;
      assert.ok(Math.abs(value - want) <= 1e-8 * (1 + Math.abs(want)), `[${i}, ${j}] is ${value}, not ${want}`);
    });
  });
}

const functions: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  "a function of each element": (x) => x.log().mul(x),
  "a reduction": (x) => x.prod({ axis: 1 }),
  "a matrix from a matrix": (x) => x.matmul(x.T).tanh(),
  softmax: (x) => x.softmax(),
  sorting: (x) => x.flatten().sort().at("::2"),
  "one number": (x) => x.norm(),
};

describe("jacobian", () => {
  for (const [name, f] of Object.entries(functions)) {
    test(`${name}, in either mode and by default`, () => {
      const x = random([2, 3], 1);
      const shape = [...f(x).shape, 2, 3];
      const columns = quotients(f, x);
      for (const mode of ["forward", "reverse", undefined] as const)
        expectMatrix(jacobian(f, { mode })(x), columns, shape);
    });
  }

  test("trees give trees of matrices, and further arguments stay as they are", () => {
    const f = ({ a, b }: { a: Tensor; b: Tensor }, scale: number) => ({
      product: a.mul(b).mul(scale),
      sums: [a.sum(), b.square().sum()] as const,
    });
    const [a, b] = [random([2], 1), random([], 2)];
    for (const mode of ["forward", "reverse"] as const) {
      const { product, sums } = jacobian(f, { mode })({ a, b }, 3);
      expectMatrix(
        product.a,
        quotients((x) => x.mul(b).mul(3), a),
        [2, 2],
      );
      expectMatrix(
        product.b,
        quotients((x) => a.mul(x).mul(3), b),
        [2],
      );
      assert.deepEqual([numbersOf(sums[0].a), numbersOf(sums[0].b)], [[1, 1], [0]]);
      expectMatrix(
        sums[1].b,
        quotients((x) => x.square(), b),
        [],
      );
    }
  });

  test("of nothing, and of what does not depend on the argument", () => {
    assert.deepEqual(jacobian((x: Tensor) => x.exp())(random([0], 1)).shape, [0, 0]);
    assert.deepEqual(jacobian((x: Tensor) => x.at("0:0"))(random([3], 1)).shape, [0, 3]);
    assert.deepEqual(
      numbersOf(jacobian((_: Tensor) => random([2], 1), { mode: "reverse" })(random([2], 1))),
      [0, 0, 0, 0],
    );
    assert.deepEqual(
      numbersOf(jacobian((_: Tensor) => random([2], 1), { mode: "forward" })(random([2], 1))),
      [0, 0, 0, 0],
    );
  });
});

describe("hessian", () => {
  const losses: Readonly<Record<string, (x: Tensor) => Tensor>> = {
    "a polynomial": (x) => x.pow(3).sum().mul(x.at(0, 0)),
    "log of a sum of exponentials": (x) => x.logsumexp(),
    "a network": (x) =>
      x
        .matmul(random([3, 2], 5))
        .tanh()
        .square()
        .mean(),
    "gamma functions": (x) => x.lgamma().mul(x.log()).sum(),
    products: (x) => x.prod(),
  };
  for (const [name, f] of Object.entries(losses)) {
    test(`${name}: symmetric, and the quotients of the gradient; hvp is its product with a vector`, () => {
      const [x, v] = [random([2, 3], 3), random([2, 3], 4)];
      const h = hessian(f)(x);
      expectMatrix(h, quotients(grad(f), x), [2, 3, 2, 3]);
      const values = numbersOf(h);
      for (let i = 0; i < 6; i++) {
        for (let j = 0; j < i; j++) assert.ok(Math.abs(values[i * 6 + j]! - values[j * 6 + i]!) < 1e-12);
      }
      const product = numbersOf(hvp(f, x, v));
      const direct = numbersOf(h.reshape(6, 6).matmul(v.flatten()));
      product.forEach((value, i) => {
        assert.ok(Math.abs(value - direct[i]!) < 1e-12 * (1 + Math.abs(value)));
      });
    });
  }

  test("of a tree is a tree of trees", () => {
    const f = ({ a, b }: { a: Tensor; b: Tensor }) => a.mul(a).mul(b).sum();
    const { a, b } = hessian(f)({ a: tensor([1, 2], { dtype: "f64" }), b: tensor([3, 4], { dtype: "f64" }) });
    assert.deepEqual(
      [numbersOf(a.a), numbersOf(a.b)],
      [
        [6, 0, 0, 8],
        [2, 0, 0, 4],
      ],
    );
    assert.deepEqual(
      [numbersOf(b.a), numbersOf(b.b)],
      [
        [2, 0, 0, 4],
        [0, 0, 0, 0],
      ],
    );
  });
});

describe("the pieces", () => {
  const f = (x: Tensor, y: Tensor) => ({ product: x.mul(y), sum: x.sum().add(y.sum()) });
  const [x, y] = [tensor([1, 2], { dtype: "f64" }), tensor([3, 4], { dtype: "f64" })];

  test("vjp gives the results and a pullback that may be called again", () => {
    const [result, pullback] = vjp(f, x, y);
    assert.deepEqual(numbersOf(result.product), [3, 8]);
    const [one, zero] = [tensor([1, 1], { dtype: "f64" }), tensor(0, { dtype: "f64" })];
    assert.deepEqual(pullback({ product: one, sum: zero }).map(numbersOf), [
      [3, 4],
      [1, 2],
    ]);
    assert.deepEqual(pullback({ product: one.mul(0), sum: zero.add(5) }).map(numbersOf), [
      [5, 5],
      [5, 5],
    ]);
  });

  test("jvp and linearize move the results along", () => {
    const moved = jvp(f, [x, y], [y, x])[1];
    assert.deepEqual([numbersOf(moved.product), numbersOf(moved.sum)], [[10, 20], [10]]);
    const [, push] = linearize(f, x, y);
    assert.deepEqual(numbersOf(push(x, x).product), [4, 12]);
    assert.deepEqual(numbersOf(push(y, y).product), [12, 24]);
  });

  test("grad and valueAndGrad choose arguments, and pass auxiliary results on", () => {
    const loss = (a: Tensor, scale: number, b: Tensor) => [a.mul(b).sum().mul(scale), { a, note: "kept" }] as const;
    const [[value, aux], gradients] = valueAndGrad(loss, { argument: [2, 0], aux: true })(x, 2, y);
    assert.equal(value.itemSync(), 22);
    assert.equal(aux.note, "kept");
    assert.deepEqual(numbersOf(aux.a), [1, 2]);
    assert.deepEqual(gradients.map(numbersOf), [
      [2, 4],
      [6, 8],
    ]);
    const [byY] = grad(loss, { argument: 2, aux: true })(x, 2, y);
    assert.deepEqual(numbersOf(byY), [2, 4]);
  });

  test("derivatives of derivatives keep their variables apart", () => {
    // d/dx (x · d/dy (x + y)) at y = 1 is 1, not 2.
    const g = grad((a: Tensor) => a.mul(grad((b: Tensor) => a.add(b))(tensor(1, { dtype: "f64" }))));
    assert.equal(g(tensor(5, { dtype: "f64" })).itemSync(), 1);
    let d: (t: Tensor) => Tensor = (t) => t.pow(6);
    for (let order = 0; order < 6; order++) {
      const before = d;
      d = order % 2 === 0 ? grad(before) : (t) => jvp(before, [t], [t.mul(0).add(1)])[1];
    }
    assert.equal(d(tensor(2, { dtype: "f64" })).itemSync(), 720);
  });
});

describe("jacobian chooses the mode", () => {
  test("of a function that has only one, and runs it once", () => {
    let runs = 0;
    const doubled = (x: Tensor) => {
      runs++;
      return whileLoop(
        (v: Tensor) => v.max().less(10),
        (v: Tensor) => v.mul(2),
        x.mul(tensor([1, 2, 3])),
      );
    };
    assert.deepEqual(numbersOf(jacobian(doubled)(tensor(1))), [4, 8, 12]);
    assert.equal(runs, 1);
  });
});
