/**
 * Donated arguments: their memory becomes a result's where that is safe, they are disposed in any case, and nobody who also
 * holds them ever sees them change.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DisposedError } from "../../src/core/errors.js";
import { jit, scan, type Tensor, tensor, zeros } from "../../src/index.js";
import { engineOf } from "../support/engines.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const memoryOf = (x: Tensor): unknown => x.node.storage;
const isDisposed = (x: Tensor): boolean => {
  try {
    return !x.node;
  } catch (error) {
    return error instanceof DisposedError;
  }
};

function usedBytes(device: string): number {
  const engine = engineOf(device);
  return engine.stats().usedBytes;
}

const counting = (length: number, from = 0): Tensor =>
  tensor(Float32Array.from({ length }, (_, i) => (from + i) % 1000));

describeOnTensorDevices("a donated argument", (device) => {
  for (const length of [1, 3, 1000, 70_000, 262_144]) {
    test(`is updated in place, of ${length} elements`, () => {
      const step = jit((w: Tensor, g: Tensor, rate: Tensor) => w.sub(g.mul(rate)), { donate: 0 });
      const g = counting(length, 7);
      let w = counting(length);
      const memory = memoryOf(w.realize());
      for (let call = 1; call <= 3; call++) {
        const before = w;
        w = step(w, g, 0.5);
        assert.ok(memoryOf(w) === memory, "the same memory");
        assert.ok(isDisposed(before));
      }
      const [values, slopes] = [numbersOf(w), numbersOf(g)];
      for (let i = 0; i < length; i += Math.max(1, length >> 6)) assert.equal(values[i], (i % 1000) - 1.5 * slopes[i]!);
    });
  }

  test("among thousands: each is updated in place, but one that is given twice, and a call takes no time", () => {
    const count = 3000;
    const halve = jit((w: readonly Tensor[]) => w.map((x) => x.mul(0.5)), { donate: 0 });
    const first = Array.from({ length: count }, (_, i) => tensor([i, 2 * i]).realize());
    first[count - 1] = first[5]!;
    const memory = first.map(memoryOf);
    const once = halve(first);
    assert.ok(first.every(isDisposed));
    once.forEach((x, i) => {
      const isTwice = i === 5 || i === count - 1;
      assert.equal(memory.includes(memoryOf(x)), !isTwice, `argument ${i}`);
      const from = i === count - 1 ? 5 : i;
      if (i % 97 === 0 || isTwice) assert.deepEqual(numbersOf(x), [from / 2, from]);
    });
    assert.notEqual(memoryOf(once[5]!), memoryOf(once[count - 1]!));
    let w = once;
    const began = process.cpuUsage();
    for (let call = 0; call < 20; call++) w = halve(w);
    const { user, system } = process.cpuUsage(began);
    assert.ok(user + system < 1e6, `20 calls took ${(user + system) / 1e6} s`);
  });

  test("of a whole tree of parameters and moments: memory does not grow", () => {
    type State = { w: Tensor; m: Tensor; v: Tensor };
    const adam = jit(
      ({ w, m, v }: State, g: Tensor, t: Tensor): State => {
        const next = { m: m.mul(0.9).add(g.mul(0.1)), v: v.mul(0.99).add(g.square().mul(0.01)) };
        const correction = t.mul(0).add(1);
        return { w: w.sub(next.m.div(next.v.sqrt().add(1e-3)).mul(correction)), ...next };
      },
      { donate: 0 },
    );
    const length = 100_000;
    const g = counting(length, 1).realize() as Tensor;
    let state: State = { w: counting(length), m: zeros([length]).realize(), v: zeros([length]).realize() } as State;
    state = adam(state, g, 1);
    const before = usedBytes(device);
    const kept = [state.w, state.m, state.v].map(memoryOf);
    for (let t = 2; t < 6; t++) state = adam(state, g, t);
    assert.ok([state.w, state.m, state.v].every((x) => kept.includes(memoryOf(x))));
    assert.equal(usedBytes(device), before);
    let [w, m, v] = [5, 0, 0];
    for (let t = 1; t < 6; t++) {
      m = 0.9 * m + 0.1 * 6;
      v = 0.99 * v + 0.01 * 36;
      w -= m / (Math.sqrt(v) + 1e-3);
    }
    assert.ok(Math.abs(numbersOf(state.w)[5]! - w) < 1e-4);
  });

  test("need not be the first that would do: the others keep their values", () => {
    const f = jit((x: Tensor, y: Tensor, z: Tensor) => x.add(y).mul(z), { donate: 1 });
    const [x, y, z] = [counting(300), counting(300, 5), counting(300, 9)] as const;
    const memory = memoryOf(y.realize());
    const sum = f(x, y, z);
    assert.ok(memoryOf(sum) === memory);
    assert.deepEqual(
      [x, sum, z].map((each) => numbersOf(each)[7]),
      [7, 19 * 16, 16],
    );
  });

  test("is disposed also when its memory is of no use", () => {
    const f = jit((x: Tensor, y: Tensor) => x.sum().add(y), { donate: [0, 1] });
    const [x, y] = [counting(10), counting(3)];
    assert.deepEqual(numbersOf(f(x, y)), [45, 46, 47]);
    assert.ok(isDisposed(x) && isDisposed(y));
    assert.throws(() => x.add(1), DisposedError);
  });

  test("says to which function it was given, and what to do, when it is used again", () => {
    const step = (x: Tensor, y: Tensor) => x.mul(y.sum());
    const [named, nameless] = [jit(step, { donate: [0, 1] }), jit((x: Tensor) => x.add(1), { donate: 0 })];
    const [x, y, z] = [counting(10), counting(3), counting(4)];
    named(x, y);
    nameless(z);
    const remedy = "use what that call returned, or leave its position out of { donate }";
    const told = (to: string) => ({ name: "DisposedError", message: new RegExp(`donated to ${to}.*${remedy}`) });
    for (const donated of [x, y]) {
      assert.throws(() => donated.add(1), told("jit\\(step\\)"));
      assert.throws(() => donated.dataSync(), told("jit\\(step\\)"));
      assert.throws(() => named(donated, donated), told("jit\\(step\\)"));
    }
    assert.throws(() => z.shape, told("jit\\(function\\)"));
  });

  test("that is read elsewhere than where it is written gets other memory: flipped, summed, sorted, transposed", () => {
    const functions: Readonly<Record<string, (x: Tensor) => Tensor>> = {
      flip: (x) => x.flip(0),
      "plus its sum": (x) => x.add(x.sum()),
      softmax: (x) => x.sub(x.max()).exp().div(x.sub(x.max()).exp().sum()),
      sort: (x) => x.neg().sort(),
      cumsum: (x) => x.cumsum({ axis: 0 }),
      transposed: (x) => x.reshape(20, 30).T.reshape(600),
      rolled: (x) => x.roll(1).sub(x),
      neighbours: (x) =>
        x
          .at("1:")
          .sub(x.at(":-1"))
          .pad([[0, 1]]),
      taken: (x) => x.take(x.cast("i32"), { axis: 0 }),
    };
    for (const [name, f] of Object.entries(functions)) {
      const want = numbersOf(f(counting(600)));
      const quick = jit(f, { donate: 0 });
      for (let call = 0; call < 2; call++) assert.deepEqual(numbersOf(quick(counting(600))), want, name);
    }
  });

  test("may be written over when all who read it are done: a result need not have to do with it", () => {
    const f = jit((x: Tensor, y: Tensor) => [x.flip(0).sum(), y.flip(0).mul(2)] as const, { donate: 0 });
    const [x, y] = [counting(500), counting(500, 3)];
    const [sum, doubled] = f(x, y);
    assert.equal(sum.itemSync(), 124_750);
    assert.deepEqual(
      numbersOf(doubled),
      numbersOf(counting(500, 3))
        .reverse()
        .map((value) => 2 * value),
    );
  });

  test("with other holders, or pending users, keeps its values for them", () => {
    const f = jit((x: Tensor) => x.mul(10), { donate: 0 });
    const x = counting(4).realize() as Tensor;
    const pending = x.add(1);
    assert.deepEqual(numbersOf(f(x)), [0, 10, 20, 30]);
    assert.deepEqual(numbersOf(pending), [1, 2, 3, 4]);
    const captured = counting(4).realize() as Tensor;
    const uses = jit((y: Tensor) => y.add(captured));
    uses(counting(4));
    f(captured);
    assert.deepEqual(numbersOf(uses(counting(4))), [0, 2, 4, 6]);
  });

  test("given twice, or given and passed beside, is safe", () => {
    const f = jit((x: Tensor, y: Tensor) => [x.mul(10), y.add(1), x.add(y)] as const, { donate: [0, 1] });
    const x = counting(3);
    assert.deepEqual(f(x, x).map(numbersOf), [
      [0, 10, 20],
      [1, 2, 3],
      [0, 2, 4],
    ]);
    const g = jit((a: Tensor, b: Tensor) => [a.mul(10), b.add(1)] as const, { donate: 0 });
    const y = counting(3);
    assert.deepEqual(g(y, y).map(numbersOf), [
      [0, 10, 20],
      [1, 2, 3],
    ]);
  });

  test("that is returned as it is, under one name or two", () => {
    const f = jit((x: Tensor) => [x, x, x.add(1)] as const, { donate: 0 });
    assert.deepEqual(f(counting(3)).map(numbersOf), [
      [0, 1, 2],
      [0, 1, 2],
      [1, 2, 3],
    ]);
  });

  test("of another dtype or size than any result is not written over", () => {
    const f = jit((x: Tensor, y: Tensor) => [x.cast("i32"), y.cast("f16")] as const, { donate: [0, 1] });
    const [a, b] = f(counting(3), counting(3));
    assert.deepEqual([a.dtype, numbersOf(a), b.dtype, numbersOf(b)], ["i32", [0, 1, 2], "f16", [0, 1, 2]]);
  });

  test("is not lost when tracing fails", () => {
    const f = jit(
      (_: Tensor): Tensor => {
        throw new RangeError("mine");
      },
      { donate: 0 },
    );
    const x = counting(3);
    assert.throws(() => f(x), RangeError);
    assert.deepEqual(numbersOf(x), [0, 1, 2]);
  });

  test("is handed on when the function is part of another trace", () => {
    const inner = jit((x: Tensor) => x.add(1), { donate: 0 });
    const outer = jit((x: Tensor) => [inner(x), x] as const);
    const x = counting(2);
    assert.deepEqual(outer(x).map(numbersOf), [
      [1, 2],
      [0, 1],
    ]);
    assert.deepEqual(numbersOf(x), [0, 1]);
  });

  test("goes into loops", () => {
    const f = jit((x: Tensor, ys: Tensor) => scan((c: Tensor, y: Tensor) => [c.add(y), c.mul(y)], x, ys), {
      donate: [0, 1],
    });
    for (let call = 0; call < 3; call++) {
      const [last, all] = f(counting(3), counting(6).reshape(2, 3));
      assert.deepEqual(
        [numbersOf(last), numbersOf(all)],
        [
          [3, 6, 9],
          [0, 1, 4, 0, 8, 20],
        ],
      );
    }
  });
});
