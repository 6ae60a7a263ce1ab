/** Derivatives by hand that use tensors from outside, inside loops, branches and checkpoints: each rule's factor must arrive. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError } from "../../src/core/errors.js";
import {
  associativeScan,
  checkpoint,
  cond,
  customGradient,
  forLoop,
  full,
  grad,
  hessian,
  jacobian,
  jit,
  jvp,
  scan,
  switchCase,
  type Tensor,
  tensor,
  vmap,
  whileLoop,
} from "../../src/index.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

type Map = (x: Tensor) => Tensor;

const x3 = (): Tensor => tensor([1, 2, 3]);
const ones = (): Tensor => tensor([1, 1, 1]);

function near(got: Tensor, want: readonly number[], what = ""): void {
  const values = numbersOf(got);
  assert.equal(values.length, want.length, what);
  for (const [i, value] of values.entries()) {
    assert.ok(Math.abs(value - want[i]!) <= 1e-5 * (1 + Math.abs(want[i]!)), `${what}: [${values}], not [${want}]`);
  }
}

/** The identity, whose derivative is said to be k. */
const byVjp = (k: Tensor): Map => customGradient((y: Tensor) => y.mul(1), { vjp: (ct: Tensor) => [ct.mul(k)] });
const byJvp = (k: Tensor): Map =>
  customGradient((y: Tensor) => y.mul(1), { jvp: ([t]: readonly [Tensor]) => t.mul(k) });

/** Functions with the slope k² or k·3 at (1, 2, 3), of which the other factor is not by hand. */
const within: Readonly<Record<string, { readonly f: (own: Map) => Map; readonly slope: (k: number) => number }>> = {
  cond: {
    f: (own) => (x) =>
      cond(
        tensor(true),
        (a: Tensor) => own(a),
        (a: Tensor) => a,
        x,
      ),
    slope: (k) => k,
  },
  "cond, not taken": {
    f: (own) => (x) =>
      cond(
        tensor(false),
        (a: Tensor) => own(a),
        (a: Tensor) => a.mul(3),
        x,
      ),
    slope: () => 3,
  },
  "cond with a loop in it": {
    f: (own) => (x) =>
      cond(
        tensor(true),
        (a: Tensor) => forLoop(0, 2, (_i, c: Tensor) => own(c), a),
        (a: Tensor) => a,
        x,
      ),
    slope: (k) => k * k,
  },
  switchCase: {
    f: (own) => (x) => switchCase(tensor(2, { dtype: "i32" }), [(a: Tensor) => a, (a: Tensor) => a.mul(2), own], x),
    slope: (k) => k,
  },
  scan: {
    f: (own) => (x) => scan((c: Tensor, b: Tensor) => [c, own(b).mul(3)] as const, tensor(0), x)[1],
    slope: (k) => 3 * k,
  },
  "scan, backwards": {
    f: (own) => (x) => scan((c: Tensor, b: Tensor) => [c, own(b).mul(3)] as const, tensor(0), x, { reverse: true })[1],
    slope: (k) => 3 * k,
  },
  "scan, of the carry": {
    f: (own) => (x) => scan((c: Tensor) => [own(c), null] as const, x, null, { length: 2 })[0],
    slope: (k) => k * k,
  },
  "scan in a scan": {
    f: (own) => (x) =>
      scan(
        (c: Tensor) => [scan((d: Tensor) => [own(d), null] as const, c, null, { length: 2 })[0], null] as const,
        x,
        null,
        { length: 1 },
      )[0],
    slope: (k) => k * k,
  },
  checkpoint: { f: (own) => checkpoint((a: Tensor) => own(a).mul(3)), slope: (k) => 3 * k },
  "checkpoint in a scan": {
    f: (own) => (x) => scan((c: Tensor) => [checkpoint(own)(c), null] as const, x, null, { length: 2 })[0],
    slope: (k) => k * k,
  },
  associativeScan: {
    f: (own) => (x) => own(associativeScan((a: Tensor, b: Tensor) => a.add(b), own(x))).mul(tensor([1, 1, 1])),
    slope: (k) => k * k,
  },
  vmap: { f: (own) => vmap(own), slope: (k) => k },
  "vmap of a cond by each member": {
    f: (own) =>
      vmap((b: Tensor) =>
        cond(
          b.less(10),
          (a: Tensor) => own(a),
          (a: Tensor) => a.mul(7),
          b,
        ),
      ),
    slope: (k) => k,
  },
  "vmap of a scan": {
    f: (own) => vmap((b: Tensor) => scan((c: Tensor) => [own(c), null] as const, b, null, { length: 2 })[0]),
    slope: (k) => k * k,
  },
  "vmap of a checkpoint": { f: (own) => vmap(checkpoint((b: Tensor) => own(b).mul(3))), slope: (k) => 3 * k },
};

/** Only forwards. */
const loops: Readonly<Record<string, (own: Map) => Map>> = {
  whileLoop: (own) => (x) =>
    whileLoop(
      ({ i }: { i: Tensor; c: Tensor }) => i.less(2),
      ({ i, c }) => ({ i: i.add(1), c: own(c) }),
      { i: tensor(0), c: x },
    ).c,
  "vmap of a whileLoop": (own) =>
    vmap(
      (b: Tensor) =>
        whileLoop(
          ({ i }: { i: Tensor; c: Tensor }) => i.less(2),
          ({ i, c }) => ({ i: i.add(1), c: own(c) }),
          { i: tensor(0), c: b },
        ).c,
    ),
};

/** Ways of having 5. */
const factors: Readonly<Record<string, () => Tensor>> = {
  stored: () => tensor(5),
  lazy: () => tensor([2, 3]).sum(),
  constant: () => full([], 5),
};

describeOnTensorDevices("rules that use tensors from outside", () => {
  for (const [kind, factor] of Object.entries(factors)) {
    for (const [form, rule] of Object.entries({ vjp: byVjp, jvp: byJvp })) {
      test(`a ${kind} factor in a ${form} rule arrives in every loop and branch, in both modes, with and without jit`, () => {
        for (const [name, { f, slope }] of Object.entries(within)) {
          const own = f(rule(factor()));
          const [back, there] = [grad((x: Tensor) => own(x).sum()), (x: Tensor) => jvp(own, [x], [ones()])[1]];
          const k = slope(5);
          const running = name === "associativeScan";
          const [reverse, forward] = running
            ? [
                [3 * k, 2 * k, k],
                [k, 2 * k, 3 * k],
              ]
            : [
                [k, k, k],
                [k, k, k],
              ];
          near(back(x3()), reverse, `grad, ${name}`);
          near(jit(back)(x3()), reverse, `jit of grad, ${name}`);
          near(there(x3()), forward, `jvp, ${name}`);
          near(jit(there)(x3()), forward, `jit of jvp, ${name}`);
        }
        for (const [name, loop] of Object.entries(loops)) {
          const own = loop(rule(factor()));
          const there = (x: Tensor) => jvp(own, [x], [ones()])[1];
          near(there(x3()), [25, 25, 25], `jvp, ${name}`);
          near(jit(there)(x3()), [25, 25, 25], `jit of jvp, ${name}`);
        }
      });
    }
  }

  test("under vmap of the derivative, and in derivatives of derivatives", () => {
    const square = (k: Tensor): Map =>
      customGradient((y: Tensor) => y.square(), { vjp: (ct: Tensor, _y: Tensor, a: Tensor) => [ct.mul(a).mul(k)] });
    for (const name of ["cond", "scan", "checkpoint", "switchCase"]) {
      const { f, slope } = within[name]!;
      const own = f(square(tensor(5)));
      const k = slope(5);
      near(vmap(grad((x: Tensor) => own(x.reshape(1)).sum()))(x3()), [k, 2 * k, 3 * k], `vmap of grad, ${name}`);
      near(hessian((x: Tensor) => own(x).sum())(x3()), [k, 0, 0, 0, k, 0, 0, 0, k], `hessian, ${name}`);
      near(grad((x: Tensor) => grad((y: Tensor) => own(y).sum())(x).sum())(x3()), [k, k, k], `grad of grad, ${name}`);
      near(jacobian(own, { mode: "reverse" })(x3()), [k, 0, 0, 0, 2 * k, 0, 0, 0, 3 * k], `jacobian, ${name}`);
    }
  });

  test("what the rule uses may itself be differentiated: by k, the slope of 5·k is 5", () => {
    for (const name of ["cond", "scan", "checkpoint", "scan, of the carry", "vmap of a cond by each member"]) {
      const { f, slope } = within[name]!;
      const slopeAt = (k: Tensor) => grad((x: Tensor) => f(byVjp(k))(x).sum())(x3()).sum();
      const change = (slope(5 + 1e-3) - slope(5 - 1e-3)) / 2e-3;
      const got = grad(slopeAt)(tensor(5)).itemSync() as number;
      assert.ok(Math.abs(got - 3 * change) < 1e-3, `${name}: ${got}, not ${3 * change}`);
    }
  });

  test("members that choose for themselves and share k: those that take the rule count, in all orders of vmap and grad", () => {
    const own = (k: Tensor) =>
      vmap((b: Tensor) =>
        cond(
          b.less(2.5),
          (a: Tensor) => byVjp(k)(a),
          (a: Tensor) => a.mul(7),
          b,
        ),
      );
    const slopes = (k: Tensor, x: Tensor) => grad((y: Tensor) => own(k)(y).sum())(x);
    near(slopes(tensor(5), x3()), [5, 5, 7]);
    // By k: two members of three take the rule, whose slope is k³ once it is cubed.
    const cubed = (k: Tensor, x: Tensor) => slopes(k, x).pow(3).sum();
    near(grad(cubed)(tensor(5), x3()), [150]);
    near(jit(grad(cubed))(tensor(5), x3()), [150]);
    near(jvp((k: Tensor) => cubed(k, x3()), [tensor(5)], [tensor(1)])[1], [150]);
    near(grad((k: Tensor) => grad(cubed)(k, x3()))(tensor(5)), [60]);
    near(vmap(grad(cubed), { in: [0, null] })(tensor([1, 5]), x3()), [6, 150]);
    const rows = tensor([1, 2, 3, 1, 4, 5], { shape: [2, 3] }) as Tensor;
    near(grad((k: Tensor) => vmap((x: Tensor) => cubed(k, x))(rows).sum())(tensor(5)), [225]);
    near(grad((k: Tensor) => slopesOfRows(k, rows).pow(3).sum())(tensor(5)), [225]);
  });
  const slopesOfRows = (k: Tensor, rows: Tensor) =>
    grad((m: Tensor) =>
      vmap((x: Tensor) =>
        vmap((b: Tensor) =>
          cond(
            b.less(2.5),
            (a: Tensor) => byVjp(k)(a),
            (a: Tensor) => a.mul(7),
            b,
          ),
        )(x),
      )(m).sum(),
    )(rows);

  test("a value of an outer function that is still being traced may be used: an argument of jit, a member of vmap", () => {
    for (const name of ["cond", "scan", "checkpoint", "switchCase", "vmap"]) {
      const { f, slope } = within[name]!;
      for (const rule of [byVjp, byJvp]) {
        const slopes = (k: Tensor, x: Tensor) => grad((y: Tensor) => f(rule(k))(y).sum())(x);
        const k = slope(5);
        near(jit(slopes)(tensor(5), x3()), [k, k, k], `argument of jit, ${name}`);
        near(
          jit((a: Tensor, x: Tensor) => slopes(a.square(), x))(tensor(3), x3()),
          [1, 1, 1].map(() => slope(9)),
        );
        const members = vmap(slopes, { in: [0, null] });
        const want = [1, 5].flatMap((each) => [1, 1, 1].map(() => slope(each)));
        near(members(tensor([1, 5]), x3()), want, `member of vmap, ${name}`);
        near(jit(members)(tensor([1, 5]), x3()), want, `jit of vmap, ${name}`);
      }
    }
    near(
      grad((x: Tensor) => {
        const own = byVjp(x.sum());
        return scan((c: Tensor) => [own(c), null] as const, x, null, { length: 2 })[0].sum();
      })(x3()),
      [36, 36, 36],
    );
    const inBody = (c: Tensor) => grad((y: Tensor) => within.cond!.f(byVjp(c.sum()))(y).sum())(c);
    near(scan((c: Tensor) => [inBody(c), null] as const, x3(), null, { length: 2 })[0], [18, 18, 18]);
  });

  test("a value of a body that is gone when the rule runs gives an error that says to pass it as an argument", () => {
    const gone = { name: ArgumentError.name, message: /customGradient, (vjp|jvp): .* pass it as an argument/i };
    for (const rule of [byVjp, byJvp]) {
      const own = (a: Tensor): Tensor => rule(a.mul(2))(a);
      const uses: Record<string, Map> = {
        cond: (x) => cond(tensor(true), own, (a: Tensor) => a, x),
        switchCase: (x) => switchCase(tensor(0, { dtype: "i32" }), [own, (a: Tensor) => a], x),
        "scan, a carry": (x) => scan((c: Tensor) => [own(c), null] as const, x, null, { length: 2 })[0],
        "scan, an element": (x) => scan((c: Tensor, b: Tensor) => [c, own(b)] as const, tensor(0), x)[1],
        checkpoint: checkpoint(own),
        vmap: vmap(own),
        "vmap in a scan": (x) => scan((c: Tensor) => [vmap(own)(c), null] as const, x, null, { length: 2 })[0],
      };
      for (const [name, f] of Object.entries(uses)) {
        assert.throws(() => grad((x: Tensor) => f(x).sum())(x3()), gone, `grad, ${name}`);
        assert.throws(() => jit(grad((x: Tensor) => f(x).sum()))(x3()), gone, `jit of grad, ${name}`);
        assert.throws(() => jvp(f, [x3()], [ones()]), gone, `jvp, ${name}`);
      }
    }
    // As an argument it works.
    const scaled = customGradient((y: Tensor, _k: Tensor) => y.mul(1), {
      vjp: (ct: Tensor, _y: Tensor, _a: Tensor, k: Tensor) => [ct.mul(k), null],
    });
    const f = (x: Tensor) => scan((c: Tensor, b: Tensor) => [c, scaled(b, b.mul(2))] as const, tensor(0), x)[1];
    near(grad((x: Tensor) => f(x).sum())(x3()), [2, 4, 6]);
  });
});
