/**
 * Complex numbers under transforms: derivatives of real functions that go through them against difference quotients, and
 * the same values from jit, vmap and loops as from plain operations.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError, DTypeError } from "../../src/core/errors.js";
import {
  arange,
  type Complex,
  checkpoint,
  complex,
  concat,
  cond,
  einsum,
  forLoop,
  grad,
  hessian,
  jacobian,
  jit,
  random,
  scan,
  type Tensor,
  tensor,
  vdot,
  vmap,
  where,
  whileLoop,
} from "../../src/index.js";
import { complexNumbers } from "../support/complex-cases.js";
import { checkGradients, type Place } from "../support/gradient-check.js";
import { floats, type OperationCase } from "../support/operation-cases.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const cpu: Place = { device: "cpu", dtype: "f64", tolerance: 1e-7 };

const parts = (z: Tensor): Tensor[] => [z.real(), z.imag()];
const grid = floats([2, 3]);

/** A function of one complex matrix, as one of its parts. */
const ofOne = (name: string, f: (z: Tensor) => Tensor): OperationCase => ({
  name,
  inputs: [grid, grid],
  f: (re, im) => parts(f(complex(re, im))),
});

const ofTwo = (name: string, f: (a: Tensor, b: Tensor) => Tensor): OperationCase => ({
  name,
  inputs: [grid, grid, grid, grid],
  f: (ar, ai, br, bi) => parts(f(complex(ar, ai), complex(br, bi))),
});

const i = { re: 0, im: 1 };
const places = () => tensor([2, 0, 2], { dtype: "i32", device: "cpu" });

const cases: readonly OperationCase[] = [
  ...(
    ["neg", "conj", "square", "reciprocal", "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"] as const
  ).map((name) => ofOne(name, (z) => z[name]())),
  ...(["abs", "phase", "real", "imag", "variance", "norm"] as const).map((name) => ofOne(name, (z) => z[name]())),
  ...(["add", "sub", "mul", "div", "pow"] as const).map((name) => ofTwo(name, (a, b) => a[name](b))),
  ofOne("pow, whole", (z) => z.pow(3)),
  ofOne("with a complex number", (z) => z.mul({ re: 0.5, im: 2 }).add(i)),
  ofOne("with a real tensor", (z) => z.mul(z.real()).div(z.imag().exp())),
  ofOne("sum", (z) => z.mul(z).sum({ axis: 0 })),
  ofOne("mean", (z) => z.exp().mean()),
  ofOne("prod", (z) => z.prod({ axis: 1 })),
  ofOne("cumsum", (z) => z.square().cumsum({ axis: 1, reverse: true })),
  ofOne("cumprod", (z) => z.cumprod({ axis: 1 })),
  ofOne("movement", (z) =>
    z.T.flip(0)
      .at("1:")
      .pad(
        [
          [1, 0],
          [0, 1],
        ],
        { value: i },
      )
      .square()
      .reshape(-1),
  ),
  ofOne("take", (z) => z.take(places(), { axis: 1 }).square()),
  ofTwo("concat", (a, b) => concat([a, b.conj()]).exp()),
  ofTwo("where", (a, b) => where(a.real().greater(0), a.mul(b), b)),
  ofTwo("addAt", (a, b) => a.addAt(":", places(), b.mul(a))),
  ofTwo("matmul", (a, b) => a.matmul(b.conj().T)),
  ofTwo("vdot", (a, b) => vdot(a, b)),
  ofTwo("einsum", (a, b) => einsum("ij,ij,k->ki", a, b, a.at(0))),
  ofOne("cast", (z) => z.cast("c128").mul(2)),
];

describe("derivatives through complex numbers are the limits of difference quotients", () => {
  for (const operation of cases) test(operation.name, () => checkGradients(operation, [cpu]));
});

const values: readonly Complex[] = [
  { re: 1, im: 2 },
  { re: -3, im: 0.5 },
  { re: 0, im: -1 },
];
const product = (a: Complex, b: Complex): Complex => ({ re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re });

describeOnTensorDevices("complex numbers in transforms", (device) => {
  const z = (): Tensor => tensor([...values], { dtype: "c64", device }) as Tensor;

  test("jit computes what plain operations do, time after time", () => {
    const f = (a: Tensor) => a.mul(a).add(i).div(a.conj());
    const quick = jit(f);
    for (const factor of [1, 2, -1]) {
      const x = z().mul(factor);
      assert.deepEqual(complexNumbers(quick(x)), complexNumbers(f(x)));
    }
    const outer = jit((a: Tensor) => a.reshape(3, 1).matmul(a.reshape(1, 3)).sum({ axis: 0 }));
    const sum = values.reduce((total, { re, im }) => ({ re: total.re + re, im: total.im + im }));
    outer(z());
    assert.deepEqual(
      complexNumbers(outer(z())),
      values.map((value) => product(value, sum)),
    );
  });

  test("vmap computes each member as it would be alone", () => {
    const squares = vmap((a: Tensor) => a.mul(a.conj()).sum())(z().reshape(3, 1));
    assert.deepEqual(
      complexNumbers(squares),
      values.map(({ re, im }) => ({ re: re * re + im * im, im: 0 })),
    );
    const cubes = vmap((a: Tensor) => a.pow(3))(z());
    assert.deepEqual(
      complexNumbers(cubes).map(({ re, im }) => [re + 0, im + 0]),
      values.map((value) => product(product(value, value), value)).map(({ re, im }) => [re + 0, im + 0]),
    );
  });

  test("loops carry complex numbers, step through sequences of them and stack them", () => {
    const [last, all] = scan((carry: Tensor, x: Tensor) => [carry.mul(x), carry.mul(x)], z().at(0), z());
    const wanted: Complex[] = [];
    let running = values[0]!;
    for (const value of values) {
      running = product(running, value);
      wanted.push(running);
    }
    assert.deepEqual(complexNumbers(all as Tensor), wanted);
    assert.deepEqual(complexNumbers(last as Tensor), wanted.slice(-1));
    const turned = forLoop(0, 5, (_, carry: Tensor) => carry.mul(i), z().at(0));
    assert.deepEqual(complexNumbers(turned as Tensor), [{ re: -2, im: 1 }]);
    const grown = whileLoop(
      (carry: Tensor) => carry.abs().less(100),
      (carry: Tensor) => carry.mul({ re: 1, im: 1 }),
      tensor({ re: 1, im: 0 }, { dtype: "c64", device }) as Tensor,
    );
    assert.deepEqual(complexNumbers(grown as Tensor), [{ re: 0, im: -128 }]);
  });

  test("choices and checkpoints of complex numbers", () => {
    const chosen = (a: Tensor) =>
      cond(
        a.real().sum().greater(0),
        (x: Tensor) => x.mul(2),
        (x: Tensor) => x.conj(),
        a,
      ) as Tensor;
    assert.deepEqual(
      complexNumbers(chosen(z())),
      values.map(({ re, im }) => ({ re, im: -im })),
    );
    const again = checkpoint((a: Tensor) => a.mul(a))(z()) as Tensor;
    assert.deepEqual(
      complexNumbers(again),
      values.map((value) => product(value, value)),
    );
  });

  test("costly branches of complex numbers: either is taken, also from real ones, inside loops, jitted, and with gradients", () => {
    const n = 70;
    const matrix = random.normal(random.key(3, { device }), [n, n]).div(n).realize();
    const a = complex(matrix, matrix.mT).realize() as Tensor;
    const near = (got: Tensor, want: Tensor) =>
      assert.ok((got.sub(want).abs().max().itemSync() as number) <= 1e-5 * (want.abs().max().itemSync() as number));
    for (const isSquared of [true, false]) {
      // The results are of several kinds: complex of complex and of real numbers, and real.
      const of = (x: Tensor, isTaken: Tensor) =>
        cond(
          isTaken,
          (y: Tensor, r: Tensor) => ({ y: y.matmul(y), turned: complex(r, r.matmul(r)), size: y.abs().sum() }),
          (y: Tensor, r: Tensor) => ({ y: y.conj(), turned: complex(r.neg(), r), size: r.sum() }),
          x,
          matrix,
        ) as { y: Tensor; turned: Tensor; size: Tensor };
      const want = isSquared
        ? [a.matmul(a), complex(matrix, matrix.matmul(matrix)), a.abs().sum()]
        : [a.conj(), complex(matrix.neg(), matrix), matrix.sum()];
      const isTaken = tensor(isSquared, { device }) as Tensor;
      for (const found of [of(a, isTaken), jit(of)(a, isTaken)]) {
        for (const [i, each] of [found.y, found.turned, found.size].entries()) near(each, want[i] as Tensor);
      }
      const slope = grad((x: Tensor) => of(x, isTaken).y.real().mul(matrix).sum())(a);
      const plain = (x: Tensor) => (isSquared ? x.matmul(x) : x.conj());
      near(slope, grad((x: Tensor) => plain(x).real().mul(matrix).sum())(a));
    }
    const alternating = scan(
      (carry: Tensor, i: Tensor) => {
        const next = cond(
          i.remainder(2).equal(0) as Tensor,
          (x: Tensor) => x.matmul(x),
          (x: Tensor) => x.add(a),
          carry,
        ) as Tensor;
        return [next, next.sum()] as [Tensor, Tensor];
      },
      a,
      arange(3, { device, dtype: "i32" }) as Tensor,
    )[0];
    const once = a.matmul(a).add(a);
    near(alternating, once.matmul(once));
  });
});

describe("Jacobians of complex numbers", () => {
  const f64 = { dtype: "f64", device: "cpu" } as const;
  const angles = () => tensor([0.3, 1.2], f64) as Tensor;
  const points = () => complex(tensor([0.5, -1], f64), tensor([2, 0.25], f64));

  function near(got: Tensor, want: readonly Complex[]): void {
    const values = [...complexNumbers(got)];
    assert.equal(values.length, want.length);
    values.forEach(({ re, im }, at) => {
      const { re: x, im: y } = want[at]!;
      assert.ok(Math.hypot(re - x, im - y) < 1e-12, `element ${at} is ${re} + ${im}i, not ${x} + ${y}i`);
    });
  }
  const zero = { re: 0, im: 0 };

  test("by a real argument they are complex, forwards without being told", () => {
    // exp(it) has the derivative i·exp(it) = -sin t + i·cos t; more arguments than results, so that reverse would be shorter.
    const wheel = (t: Tensor) => complex(t.cos(), t.sin());
    const want = [0.3, 1.2].map((t) => ({ re: -Math.sin(t), im: Math.cos(t) }));
    near(jacobian(wheel)(angles()), [want[0]!, zero, zero, want[1]!]);
    near(jacobian((t: Tensor) => wheel(t).sum())(angles()), want);
    near(jit(jacobian((t: Tensor) => wheel(t).sum()))(angles()), want);
    const both = jacobian((t: Tensor) => ({ z: wheel(t).sum(), r: t.square().sum() }))(angles());
    near(both.z, want);
    assert.deepEqual([...(both.r.dataSync() as Float64Array)], [0.6, 2.4]);
    assert.throws(() => jacobian(wheel, { mode: "reverse" })(angles()), {
      name: DTypeError.name,
      message: /jacobian: .*complex.*{ mode: "forward" }/,
    });
  });

  test("of a real result by a complex argument they are what grad gives, backwards without being told", () => {
    // |z|² has ∂/∂x - i·∂/∂y = 2x - 2iy.
    const want = [
      { re: 1, im: -4 },
      { re: -2, im: -0.5 },
    ];
    near(jacobian((z: Tensor) => z.abs().square())(points()), [want[0]!, zero, zero, want[1]!]);
    // Two results for each element: forward would be shorter.
    const twice = (z: Tensor) => concat([z.abs().square(), z.abs().square().mul(2), z.real()], { axis: 0 });
    const doubled = want.map(({ re, im }) => ({ re: 2 * re, im: 2 * im }));
    const one = { re: 1, im: 0 };
    near(jacobian(twice)(points()), [
      want[0]!,
      zero,
      zero,
      want[1]!,
      doubled[0]!,
      zero,
      zero,
      doubled[1]!,
      one,
      zero,
      zero,
      one,
    ]);
    near(grad((z: Tensor) => z.abs().square().sum())(points()), want);
    assert.throws(() => jacobian((z: Tensor) => z.abs(), { mode: "forward" })(points()), {
      name: DTypeError.name,
      message: /jacobian: .*complex.*{ mode: "reverse" }/,
    });
  });

  test("of a complex result by a complex argument there is one only of holomorphic functions, which must be called so", () => {
    // z² has 2z, in either mode.
    const want = [{ re: 1, im: 4 }, zero, zero, { re: -2, im: 0.5 }];
    for (const mode of ["forward", "reverse", undefined] as const) {
      near(jacobian((z: Tensor) => z.square(), { mode, holomorphic: true })(points()), want);
    }
    assert.throws(() => jacobian((z: Tensor) => z.square())(points()), {
      name: DTypeError.name,
      message: /jacobian: .*{ holomorphic: true }.*real\(\) and imag\(\)/s,
    });
    assert.throws(() => jacobian((z: Tensor) => z.conj())(points()), { name: DTypeError.name });
    assert.throws(() => jacobian((z: Tensor) => z.abs(), { holomorphic: true })(points()), {
      name: ArgumentError.name,
      message: /jacobian: { holomorphic: true } .*complex arguments and results/,
    });
    assert.throws(() => jacobian((t: Tensor) => t.exp(), { holomorphic: true })(angles()), {
      name: ArgumentError.name,
    });
  });

  test("hessians by complex arguments are refused", () => {
    assert.throws(() => hessian((z: Tensor) => z.abs().square().sum())(points()), {
      name: DTypeError.name,
      message: /hessian: .*complex.*complex\(x, y\)/,
    });
    // |z|² as one of its parts.
    const ofParts = (p: readonly Tensor[]) =>
      complex(p[0] as Tensor, p[1] as Tensor)
        .abs()
        .square()
        .sum();
    const [[xx, xy]] = hessian(ofParts)([angles(), angles()]) as unknown as [[Tensor, Tensor]];
    for (const [got, want] of [
      [xx, [2, 0, 0, 2]],
      [xy, [0, 0, 0, 0]],
    ] as const) {
      for (const [at, value] of [...(got.dataSync() as Float64Array)].entries()) {
        assert.ok(Math.abs(value - want[at]!) < 1e-12, `${value}, not ${want[at]}`);
      }
    }
  });
});
