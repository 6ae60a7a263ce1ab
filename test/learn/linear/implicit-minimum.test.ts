/** Derivatives of fitted coefficients against central differences of fits, whose values stand beside scikit-learn's in other tests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, jvp, stack, type Tensor, tensor, vmap } from "../../../src/index.js";
import {
  bayesianRidge,
  elasticNet,
  huberRegressor,
  isotonicRegression,
  lasso,
  linearSvc,
  linearSvr,
  logisticRegression,
  poissonRegressor,
  tweedieRegressor,
} from "../../../src/learn/index.js";
import { devicesWithDoubles, f64, numbersOf, testDevices } from "../../support/tensors.js";

/** What a fit depends on. Targets of classifications have no derivative. */
interface Given {
  readonly x: Tensor;
  readonly y: Tensor;
  readonly weights: Tensor;
  readonly penalty: Tensor;
}
type Learned = Readonly<Record<string, Tensor>>;

const waves = (count: number, step: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.sin(i * step + 1));
const SAMPLES = 24;
const x = f64(waves(SAMPLES * 3, 2.7)).reshape(SAMPLES, 3) as Tensor;
const noise = f64(waves(SAMPLES, 7.1));
const numbers = x.matmul(f64([1, -0.5, 0.3])).add(noise.mul(0.4)) as Tensor;
const amounts = numbers.exp() as Tensor;
// One sample in six is far off.
const outlying = numbers.add(tensor(Array.from({ length: SAMPLES }, (_, i) => (i % 6 === 0 ? 9 : 0)))) as Tensor;
const weights = noise.add(1.6) as Tensor;
const [two, three] = [2, 3].map((classes) => numbers.argsort().argsort().remainder(classes).cast("i32") as Tensor);
const tight = { tol: 1e-12, maxIter: 300 };

const labelled = (y: Tensor, classes: number, options: object) => ({
  y,
  fit: (of: Given): Learned =>
    logisticRegression({ ...tight, ...options, c: of.penalty }).fitTensors(of.x, y, {
      classes: Array.from({ length: classes }, (_, i) => i),
      weights: of.weights,
    }).learned,
});
type Regression = typeof poissonRegressor | typeof tweedieRegressor | typeof huberRegressor;
const regressed = (y: Tensor, kind: Regression, options: object = {}) => ({
  y,
  fit: (of: Given): Learned =>
    kind({ ...tight, ...options, alpha: of.penalty }).fitTensors(of.x, of.y, { weights: of.weights }).learned,
});

const CASES: Readonly<Record<string, { readonly y: Tensor; fit(of: Given): Learned }>> = {
  "logistic regression": labelled(two!, 2, {}),
  "softmax regression": labelled(three!, 3, {}),
  "each class against the rest": labelled(three!, 3, { multiClass: "ovr" }),
  "Poisson regression": regressed(amounts, poissonRegressor),
  "Tweedie regression, whose search has stand-ins for curvatures": regressed(amounts, tweedieRegressor, { power: 3 }),
  "gamma regression of plain means": regressed(numbers.add(6) as Tensor, tweedieRegressor, {
    power: 2,
    link: "identity",
  }),
  "Huber's regression": regressed(outlying, huberRegressor),
  "squared hinges": {
    y: two!,
    fit: (of) =>
      linearSvc({ ...tight, c: of.penalty }).fitTensors(of.x, two!, { classes: [0, 1], weights: of.weights }).learned,
  },
  "a squared tube": {
    y: numbers,
    fit: (of) =>
      linearSvr({ ...tight, c: of.penalty, epsilon: 0.2, loss: "squaredEpsilonInsensitive" }).fitTensors(of.x, of.y, {
        weights: of.weights,
      }).learned,
  },
};

const SPARSE: typeof CASES = {
  lasso: {
    y: numbers,
    fit: (of) =>
      lasso({ ...tight, maxIter: 1e4, alpha: of.penalty.mul(0.3) as Tensor }).fitTensors(of.x, of.y, {
        weights: of.weights,
      }).learned,
  },
  "an elastic net": {
    y: numbers,
    fit: (of) =>
      elasticNet({ ...tight, maxIter: 1e4, alpha: of.penalty }).fitTensors(of.x, of.y, { weights: of.weights }).learned,
  },
  "two lassos at once": {
    y: numbers,
    fit: (of) =>
      lasso({ ...tight, maxIter: 1e4, alpha: of.penalty.mul(0.1) as Tensor }).fitTensors(
        of.x,
        stack([of.y, of.y.neg().add(of.x.at(":", 1))], { axis: 1 }) as Tensor,
        { weights: of.weights },
      ).learned,
  },
  "logistic regression with absolute values": labelled(two!, 2, { penalty: "l1" }),
  "softmax regression with both penalties": labelled(three!, 3, { penalty: "elasticnet", l1Ratio: 0.6 }),
  "squared hinges with absolute values": {
    y: two!,
    fit: (of) =>
      linearSvc({ ...tight, penalty: "l1", c: of.penalty }).fitTensors(of.x, two!, {
        classes: [0, 1],
        weights: of.weights,
      }).learned,
  },
  "an isotonic curve, by its targets and weights": {
    y: numbers,
    fit: (of) => {
      const model = isotonicRegression().fitTensors(x.at(":", ":1") as Tensor, of.y, { weights: of.weights });
      const read = model.predict(x.at(":", ":1") as Tensor).add(of.penalty.mul(0)).add(of.x.mul(0).sum()) as Tensor; // biome-ignore format: one line
      return { coefficients: read };
    },
  },
};

/** One number that depends on all that was learned. */
function mixed(learned: Learned): Tensor {
  const parts = ["coefficients", "intercept", "scale"].flatMap((name) =>
    learned[name] ? [learned[name].flatten()] : [],
  );
  return parts
    .map((part, i) => part.mul(tensor(waves(part.size, i + 1.3), { dtype: part.dtype, device: part.device })).sum())
    .reduce((a, b) => a.add(b)) as Tensor;
}

const near = (found: number, wanted: number, within: number, what: string): void =>
  assert.ok(Math.abs(found - wanted) <= within * Math.max(1e-3, Math.abs(wanted)), `${what}: ${found}, not ${wanted}`);

for (const [name, { y, fit }] of Object.entries({ ...CASES, ...SPARSE })) {
  test(`${name}: data, weights and the penalty have their derivatives, backwards and forwards`, async () => {
    const given: Given = { x, y, weights, penalty: f64(0.7) };
    const of = (each: Given): Tensor => mixed(fit(each));
    const isClassified = y.dtype === "i32";
    const all = ["x", "weights", "penalty", ...(isClassified ? [] : ["y"])] as (keyof Given)[];
    const pick = (each: Given) => Object.fromEntries(all.map((key) => [key, each[key]])) as unknown as Given;
    const slopes = jit(grad((each: Given) => of({ ...given, ...each })))(pick(given));
    const value = jit(of);
    for (const key of all) {
      const direction = f64(waves(given[key].size, 0.9)).reshape(given[key].shape) as Tensor;
      const h = 1e-5;
      const [up, down] = [h, -h].map(
        (step) => numbersOf(value({ ...given, [key]: given[key].add(direction.mul(step)) }))[0]!,
      );
      const wanted = (up! - down!) / (2 * h);
      near(numbersOf(slopes[key].mul(direction).sum())[0]!, wanted, 1e-5, `grad by ${key}`);
      if (key !== "penalty") continue;
      const [, moved] = jvp((penalty: Tensor) => of({ ...given, penalty }), [given.penalty], [direction]);
      near(numbersOf(moved)[0]!, wanted, 1e-5, "jvp");
    }
  });
}

const coefficients = (c: Tensor): Tensor =>
  mixed(CASES["softmax regression"]!.fit({ x, y: three!, weights, penalty: c }));

test("second derivatives, and derivatives of many fits at once", () => {
  const slope = grad(coefficients);
  const h = 1e-5;
  const [up, down] = [1 + h, 1 - h].map((c) => numbersOf(slope(f64(c)))[0]!);
  near(numbersOf(grad(slope)(f64(1)))[0]!, (up! - down!) / (2 * h), 1e-5, "second derivative");
  const [first, second] = numbersOf(vmap(slope)(f64([1, 3])));
  near(first!, numbersOf(slope(f64(1)))[0]!, 1e-9, "vmap");
  near(second!, numbersOf(slope(f64(3)))[0]!, 1e-9, "vmap");
});

test("so many parameters that L-BFGS finds them and conjugate gradients their derivative", () => {
  const wide = f64(waves(20 * 600, 3.1)).reshape(20, 600) as Tensor;
  const y = tensor(
    Array.from({ length: 20 }, (_, i) => i % 2),
    { dtype: "i32", device: "cpu" },
  );
  const of = jit((c: Tensor) =>
    mixed(logisticRegression({ c, tol: 1e-10, maxIter: 1000 }).fitTensors(wide, y, { classes: [0, 1] }).learned),
  );
  const h = 1e-4;
  const [up, down] = [1 + h, 1 - h].map((c) => numbersOf(of(f64(c)))[0]!);
  near(numbersOf(grad(of)(f64(1)))[0]!, (up! - down!) / (2 * h), 1e-5, "slope");
});

test("a column twice has the slopes of its sum, though equations are singular without a penalty", () => {
  const y = numbers;
  const fit = (columns: Tensor, targets: Tensor) =>
    tweedieRegressor({ ...tight, alpha: 0, power: 0 }).fitTensors(columns, targets).learned.intercept;
  const once = numbersOf(grad((targets: Tensor) => fit(x, targets))(y));
  const twice = x.take(tensor([0, 1, 2, 0], { dtype: "i32", device: "cpu" }), { axis: 1 }) as Tensor;
  numbersOf(grad((targets: Tensor) => fit(twice, targets))(y)).forEach((slope, i) => {
    assert.ok(Math.abs(slope - once[i]!) < 1e-8);
  });
});

for (const device of testDevices()) {
  const dtypes =
    device !== "cpu" && devicesWithDoubles().includes(device) ? (["f32", "f64"] as const) : (["f32"] as const);
  for (const dtype of dtypes) {
    test(`the same in ${dtype} on ${device}`, () => {
      const { y, fit } = CASES["logistic regression"]!;
      const slope = (to: (of: Tensor) => Tensor, tol: number): number[] => {
        const [rows, counted, labels] = [
          to(x),
          to(weights),
          tensor(numbersOf(y), { dtype: "i32", device: to(x).device }),
        ];
        const options = { classes: [0, 1], weights: counted };
        const of = (c: Tensor) => mixed(logisticRegression({ c, tol }).fitTensors(rows, labels, options).learned);
        return numbersOf(grad(of)(to(f64(0.7))));
      };
      assert.ok(fit);
      const [found] = slope((of) => tensor(numbersOf(of), { dtype, device }).reshape(of.shape) as Tensor, 1e-4);
      const [wanted] = slope((of) => of, 1e-12);
      near(found!, wanted!, dtype === "f32" ? 1e-3 : 1e-4, "slope");
    });
  }
}

test("a lasso's second derivative, and coefficients of zero that stay so", () => {
  const of = (alpha: Tensor): Tensor =>
    lasso({ ...tight, maxIter: 1e4, alpha })
      .fitTensors(x, numbers)
      .learned.coefficients.square()
      .sum() as Tensor;
  const slope = grad(of);
  const [up, down] = [0.1 + 1e-5, 0.1 - 1e-5].map((alpha) => numbersOf(slope(f64(alpha)))[0]!);
  near(numbersOf(grad(slope)(f64(0.1)))[0]!, (up! - down!) / 2e-5, 1e-5, "second derivative");
  assert.deepEqual(numbersOf(slope(f64(100))), [0]);
});

test("searches without a reverse derivative are refused by the name of the kind, with a remedy, and go forwards", () => {
  const labels = { classes: [0, 1] };
  const fits: Readonly<Record<string, readonly [(by: Tensor) => Tensor, RegExp]>> = {
    bayesianRidge: [
      (by) =>
        bayesianRidge({ ...tight })
          .fitTensors(x.mul(by), numbers)
          .learned.coefficients.sum(),
      /grad: bayesianRidge has no reverse derivative.* Take ridge, or forward mode/,
    ],
    linearSvc: [
      (c) =>
        linearSvc({ ...tight, loss: "hinge", c })
          .fitTensors(x, two!, labels)
          .learned.coefficients.sum(),
      /grad: linearSvc without squares has no reverse derivative.* Take the loss "squaredHinge", or forward mode/,
    ],
    linearSvr: [
      (c) =>
        linearSvr({ ...tight, epsilon: 0.2, c })
          .fitTensors(x, numbers)
          .learned.coefficients.sum(),
      /grad: linearSvr without squares has no reverse derivative.* Take the loss "squaredEpsilonInsensitive"/,
    ],
  };
  for (const [name, [of, message]] of Object.entries(fits)) {
    assert.throws(() => grad(of)(f64(1)), message, name);
    const [up, down] = [1.0001, 0.9999].map((by) => numbersOf(of(f64(by)))[0]!);
    near(numbersOf(jvp(of, [f64(1)], [f64(1)])[1])[0]!, (up! - down!) / 0.0002, 1e-3, name);
  }
});
