/**
 * jit: which calls share a program, what numbers, static values and closures become, functions inside functions, results of
 * every kind, and calls that overlap.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ArgumentError, DeviceError, TraceError } from "../../src/core/errors.js";
import {
  checkpoint,
  concat,
  cond,
  einsum,
  full,
  grad,
  jit,
  jvp,
  random,
  scan,
  stack,
  type Tensor,
  tensor,
  tree,
  valueAndGrad,
  vmap,
  where,
  whileLoop,
  zeros,
} from "../../src/index.js";
import { withDevice } from "../../src/tensor/index.js";
import { mayFlush } from "../support/denormals.js";
import { replayed, workOf } from "../support/jit-check.js";
import { kernelCount } from "../support/program-text.js";
import { describeOnTensorDevices, numbersOf, testDevices } from "../support/tensors.js";

/** Runs work and says how many programs were compiled for it. */
function compiledBy(device: string, work: () => void): number {
  const before = workOf(device).compiled;
  work();
  return workOf(device).compiled - before;
}

describeOnTensorDevices("one program for each form of the arguments", (device) => {
  test("shapes, dtypes, structures and static values make new programs; values do not", () => {
    let traces = 0;
    const f = jit((p: { a: Tensor; b?: Tensor | null }, how: string) => {
      traces++;
      return p.a.mul(how === "twice" ? 2 : 3);
    });
    const forms: [{ a: Tensor; b?: Tensor | null }, string][] = [
      [{ a: tensor([1, 2]) }, "twice"],
      [{ a: tensor([1, 2, 3]) }, "twice"],
      [{ a: tensor([[1, 2]]) }, "twice"],
      [{ a: tensor([1, 2], { dtype: "i32" }) }, "twice"],
      [{ a: tensor([1, 2]) }, "thrice"],
      [{ a: tensor([1, 2]), b: tensor(1) }, "twice"],
      [{ a: tensor([1, 2]), b: null }, "twice"],
    ];
    const compiled = compiledBy(device, () => {
      for (const [p, how] of forms) f(p, how);
    });
    assert.deepEqual([traces, f.programs, compiled], [forms.length, forms.length, forms.length]);
    for (const [p, how] of forms) {
      const [first] = numbersOf(f({ ...p, a: p.a.add(4).realize() as Tensor }, how));
      assert.equal(first, how === "twice" ? 10 : 15);
    }
    assert.deepEqual([traces, f.programs], [forms.length, forms.length]);
  });

  test("keys written in another order are another form, because the function can see the order", () => {
    const f = (p: Record<string, Tensor>) => {
      const [first, second] = Object.values(p);
      return { names: Object.keys(p).map((name) => p[name] as Tensor), rest: first!.sub(second!) };
    };
    const quick = jit(f);
    const [a, b] = [tensor([1]), tensor([5])];
    for (const args of [
      { a, b },
      { b, a },
      { b, a },
      { a, b },
    ]) {
      const [plain, jitted] = [f(args), quick(args)];
      assert.deepEqual(numbersOf(jitted.rest), numbersOf(plain.rest));
      assert.deepEqual(jitted.names.map(numbersOf), plain.names.map(numbersOf));
    }
    assert.equal(quick.programs, 2);
    const byOrder = jit((x: Tensor, p: object) => x.mul(Object.keys(p)[0] === "a" ? 2 : 3), { static: 1 });
    assert.deepEqual(numbersOf(byOrder(a, { a: 1, b: { c: 1, d: 1 } })), [2]);
    assert.deepEqual(numbersOf(byOrder(a, { b: { c: 1, d: 1 }, a: 1 })), [3]);
    byOrder(a, { b: { d: 1, c: 1 }, a: 1 });
    assert.equal(byOrder.programs, 3);
  });

  test("a lazy argument is computed first, and a function is told by what it is, not when it was made", () => {
    const f = jit((x: Tensor) => x.add(1));
    const x = tensor([1, 2]).mul(3);
    assert.deepEqual(numbersOf(f(x)), [4, 7]);
    assert.deepEqual(numbersOf(f(tensor([1, 2]).square())), [2, 5]);
    assert.equal(f.programs, 1);
  });

  test("the least recently used program makes room when there are too many", () => {
    let traces = 0;
    const f = jit(
      (x: Tensor) => {
        traces++;
        return x.sum();
      },
      { maxPrograms: 2 },
    );
    const call = (length: number) => assert.equal(f(zeros([length]).add(1)).itemSync(), length);
    for (const length of [1, 2, 1]) call(length);
    assert.deepEqual([f.programs, traces], [2, 2]);
    call(3); // 2 goes, because 1 was used after it
    call(1);
    assert.deepEqual([f.programs, traces], [2, 3]);
    call(2);
    assert.deepEqual([f.programs, traces], [2, 4]);
  });

  test("a chain, a reduction and what follows it are as few kernels as without jit", () => {
    const f = jit((x: Tensor) => x.mul(2).add(1).tanh());
    assert.equal(kernelCount(f.lower(zeros([8])).kernels), 1);
    const softmax = jit((x: Tensor) => x.softmax({ axis: -1 }).mul(2));
    assert.equal(kernelCount(softmax.lower(zeros([128, 16])).kernels), 1);
  });

  test("each call is one replay and no kernel by itself", () => {
    const f = jit((x: Tensor, factor: Tensor) => {
      const y = x.matmul(x.T).mul(factor).softmax();
      return [y, y.sum({ axis: 0 }).cumsum({ axis: 0 }).sort()] as const;
    });
    const x = tensor(
      Float32Array.from({ length: 48 }, (_, i) => Math.sin(i)),
      { shape: [6, 8] },
    );
    f(x, 1);
    for (let call = 0; call < 3; call++) replayed(device, () => f(x, call));
  });

  test("what is thrown while tracing leaves nothing behind", () => {
    let isBad = true;
    const f = jit((x: Tensor) => {
      if (isBad) throw new RangeError("mine");
      return x.add(1);
    });
    assert.throws(() => f(tensor([1])), RangeError);
    isBad = false;
    assert.equal(f.programs, 0);
    assert.deepEqual(numbersOf(f(tensor([1]))), [2]);
  });
});

describeOnTensorDevices("numbers given to a jitted function", (device) => {
  test("enter as data: another learning rate is no other program", () => {
    let traces = 0;
    const step = jit((w: Tensor, g: Tensor, rate: Tensor) => {
      traces++;
      return w.sub(g.mul(rate));
    });
    for (const rate of [0.5, 0.25, -1, 1e-3, 0, 4]) {
      const want = Math.fround(3 - Math.fround(2 * Math.fround(rate)));
      assert.deepEqual(numbersOf(step(tensor([3]), tensor([2]), rate)), [want]);
    }
    assert.deepEqual([traces, step.programs], [1, 1]);
  });

  test("take the dtype of the floats they meet, also after arithmetic among numbers", () => {
    for (const dtype of ["f16", "bf16", "f32", "f64"] as const) {
      const f = jit((x: Tensor, a: Tensor, b: Tensor) => [
        x.mul(a),
        a.add(1).mul(b).neg().mul(x),
        x.sub(a.div(b).sqrt()),
        x.mul(a.maximum(b)),
      ]);
      const x = tensor([1, 2], { dtype });
      for (const y of f(x, 4, 1)) assert.equal(y.dtype, dtype);
      assert.deepEqual(f(x, 4, 1).map(numbersOf), [
        [4, 8],
        [-5, -10],
        [-1, 0],
        [4, 8],
      ]);
    }
  });

  test("keep all the digits the dtype has: f64 gets no f32, f16 is rounded once", () => {
    const f = jit((x: Tensor, a: Tensor) => x.mul(a));
    assert.deepEqual(numbersOf(f(tensor([1], { dtype: "f64" }), 0.1)), [0.1]);
    const third = jit((x: Tensor, a: Tensor, b: Tensor) => x.mul(a.div(b)));
    assert.deepEqual(numbersOf(third(tensor([1], { dtype: "f64" }), 1, 3)), [1 / 3]);
    const [complex] = third(tensor([{ re: 1, im: 0 }], { dtype: "c128" }), 1, 3).arraySync() as { re: number }[];
    assert.equal(complex?.re, 1 / 3);
    // Just above the middle of two f16: rounded to f32 first, it would be the middle, and go down to the even one.
    const value = 1 + 2 ** -11 + 2 ** -40;
    assert.deepEqual(numbersOf(f(tensor([1], { dtype: "f16" }), value)), [1 + 2 ** -10]);
    const captured = tensor([1], { dtype: "f64" });
    assert.deepEqual(numbersOf(jit((a: Tensor) => captured.mul(a))(0.1)), [0.1]);
  });

  test("take the dtype of the floats they meet wherever they meet", () => {
    const halves = tensor([1, 2, 3], { dtype: "f16" });
    const isLarge = (x: Tensor) => x.sum().greater(0);
    const uses: Readonly<Record<string, (x: Tensor, k: Tensor) => Tensor>> = {
      concat: (x, k) => concat([x, k.reshape(1)]),
      stack: (x, k) => stack([k, x.at(0)]),
      "arithmetic, reshaped": (x, k) => k.reshape(1, 1).add(x),
      "arithmetic, broadcast and turned": (x, k) => k.broadcastTo([2, 3]).T.mul(x.reshape(3, 1)),
      matmul: (x, k) => x.matmul(k.broadcastTo([3, 2])),
      einsum: (x, k) => einsum("i,j->ij", x, k.reshape(1)),
      where: (x, k) => where(x.greater(1), x, k),
      "cond, its result": (x, k) =>
        cond(
          isLarge(x),
          () => k,
          () => x.sum(),
        ),
      "cond, its argument": (x, k) =>
        cond(
          isLarge(x),
          (j: Tensor) => j.mul(x.sum()),
          () => x.sum(),
          k,
        ),
      checkpoint: (x, k) => checkpoint((j: Tensor) => j.mul(x))(k),
    };
    for (const [name, f] of Object.entries(uses)) assert.equal(jit(f)(halves, 0.1).dtype, "f16", name);
    // Of numbers alone, and as the carry of a loop, they are f32.
    assert.equal(jit((k: Tensor) => concat([k.reshape(1), k.reshape(1)]))(0.1).dtype, "f32");
    const sum = (x: Tensor, k: Tensor) => scan((c: Tensor, a: Tensor) => [c.add(a), null] as const, k, x)[0];
    assert.equal(jit(sum)(halves, 0.1).dtype, "f32");
    assert.equal(jit((x: Tensor, k: Tensor) => sum(x, k.cast(x.dtype)))(halves, 0.1).dtype, "f16");
    // Rounded once also then.
    const value = 1 + 2 ** -11 + 2 ** -40;
    assert.deepEqual(numbersOf(jit(uses.concat)(halves, value)), [1, 2, 3, 1 + 2 ** -10]);
    assert.deepEqual(numbersOf(jit((k: Tensor) => k.reshape(1).cast("f16"))(value)), [1 + 2 ** -10]);
  });

  test("can be cast to what they are meant to be", () => {
    const f = jit((x: Tensor, a: Tensor) => [x.add(a.cast("i32")), x.mul(a.cast("f32")), x.greater(a)]);
    const [sum, product, isGreater] = f(tensor([1, 2 ** 25], { dtype: "i32" }), 2 ** 24 + 1);
    assert.deepEqual([sum!.dtype, numbersOf(sum!)], ["i32", [2 ** 24 + 2, 2 ** 25 + 2 ** 24 + 1]]);
    assert.equal(product!.dtype, "f32");
    assert.deepEqual(numbersOf(isGreater!), [0, 1]);
    const wide = jit((a: Tensor) => a.cast("i64"));
    assert.deepEqual([...wide(2 ** 53 - 1).dataSync()], [2n ** 53n - 1n]);
  });

  test("make floats of integers, because they need not be whole the next time", () => {
    const f = jit((x: Tensor, a: Tensor) => x.mul(a));
    const x = tensor([1, 2], { dtype: "i32" });
    assert.deepEqual([f(x, 2).dtype, numbersOf(f(x, 2.5))], ["f32", [2.5, 5]]);
  });

  test("may be NaN, infinite, or a negative zero", () => {
    const f = jit((a: Tensor) => a.mul(1));
    const denormals = mayFlush(device, "f32") ? [] : [1e-45];
    for (const value of [Number.NaN, Infinity, -Infinity, -0, 0, 3e38, ...denormals]) {
      assert.ok(Object.is(f(value).itemSync(), Math.fround(value)), `${value}`);
    }
    assert.equal(f.programs, 1);
  });

  test("may stand anywhere in a tree, and be many", () => {
    const f = jit((p: { rate: Tensor; decay: readonly Tensor[] }, x: Tensor) =>
      p.decay.reduce((sum, d) => sum.add(d), x.mul(p.rate)),
    );
    const decay = Array.from({ length: 30 }, (_, i) => i);
    assert.deepEqual(numbersOf(f({ rate: 2, decay }, tensor([1, 10]))), [437, 455]);
    assert.deepEqual(numbersOf(f({ rate: 3, decay }, tensor([1, 10]))), [438, 465]);
    assert.equal(f.programs, 1);
  });

  test("a number in one call and a tensor in the next are two forms", () => {
    const f = jit((x: Tensor, a: Tensor) => x.mul(a));
    assert.deepEqual(numbersOf(f(tensor([2]), 3)), [6]);
    assert.deepEqual(numbersOf(f(tensor([2]), tensor(4))), [8]);
    assert.equal(f.programs, 2);
  });

  test("cannot be used as JavaScript numbers, and the error says what to do", () => {
    const f = jit((x: Tensor, n: Tensor) => x.mul((n as unknown as number) * 2));
    assert.throws(() => f(tensor([1]), 3), /\{ static \}/);
  });

  test("a function of numbers alone runs on the default device of the call", () => {
    const f = jit((a: Tensor) => a.add(1));
    assert.equal(f(1).device.split(":")[0], device);
    for (const other of testDevices()) {
      withDevice(other, () => assert.deepEqual([f(1).device.split(":")[0], f(1).itemSync()], [other, 2]));
    }
  });
});

describeOnTensorDevices("static values", () => {
  test("booleans, strings and objects are seen as they are, and each value has its program", () => {
    const table = new Map([["a", 2]]);
    const f = jit((x: Tensor, isNegative: boolean, name: string, map: Map<string, number>) =>
      (isNegative ? x.neg() : x).mul(map.get(name) ?? 100),
    );
    assert.deepEqual(numbersOf(f(tensor([3]), false, "a", table)), [6]);
    assert.deepEqual(numbersOf(f(tensor([3]), true, "a", table)), [-6]);
    assert.deepEqual(numbersOf(f(tensor([3]), true, "b", table)), [-300]);
    assert.deepEqual(numbersOf(f(tensor([3]), true, "a", new Map([["a", 5]]))), [-15]);
    assert.equal(f.programs, 4);
    f(tensor([3]), true, "a", table);
    assert.equal(f.programs, 4);
  });

  test("symbols, functions and the data of classes are told apart", () => {
    const [a, b] = [Symbol("s"), Symbol("s")];
    const bySymbol = jit((x: Tensor, s: symbol) => x.mul(s === a ? 2 : 5), { static: 1 });
    assert.deepEqual([bySymbol(tensor(1), a).itemSync(), bySymbol(tensor(1), b).itemSync()], [2, 5]);
    class Scaled {
      constructor(
        readonly w: Tensor,
        readonly by: unknown,
      ) {}
    }
    tree.registerClass<Scaled, unknown>(Scaled, {
      name: "Scaled",
      children: ({ w }) => ({ w }),
      data: ({ by }) => by,
      rebuild: ({ w }, by) => new Scaled(w as Tensor, by),
    });
    const seen: unknown[] = [];
    const note = jit((s: Scaled) => {
      seen.push(s.by);
      return s.w.add(0);
    });
    const kinds = [
      () => 1,
      () => 1,
      Number.NaN,
      Infinity,
      -Infinity,
      0,
      -0,
      null,
      new Map(),
      new Map(),
      { a: [Number.NaN] },
    ];
    for (const by of kinds) note(new Scaled(tensor(1), by));
    assert.deepEqual(seen, kinds);
    for (const by of [...kinds, { a: [Number.NaN] }]) note(new Scaled(tensor(1), by));
    assert.equal(seen.length, kinds.length);
  });

  test("a static typed array is known by its content", () => {
    const scaled = jit((x: Tensor, by: Float32Array) => x.mul(tensor(by)), { static: 1 });
    const by = new Float32Array([1, 2]);
    assert.deepEqual(numbersOf(scaled(tensor(1), by)), [1, 2]);
    by[0] = 9;
    assert.deepEqual(numbersOf(scaled(tensor(1), by)), [9, 2]);
  });

  test("whatever can be written down is known by its content, also what changes in place", () => {
    const seen: unknown[] = [];
    const f = jit(
      (x: Tensor, value: unknown) => {
        seen.push(value);
        return x.add(1);
      },
      { static: 1 },
    ) as (x: Tensor, value: unknown) => Tensor;
    const traces = (...values: unknown[]) => {
      seen.length = 0;
      for (const value of values) f(tensor([1]), value);
      return seen.length;
    };
    const bytes = (...list: number[]) => Uint8Array.from(list).buffer;
    const view = (...list: number[]) => new DataView(bytes(...list));
    assert.equal(traces(view(1, 2), view(1, 3), view(1, 2)), 2, "DataView");
    assert.equal(traces(new DataView(bytes(0, 1, 2), 1), new DataView(bytes(9, 1, 2), 1), view(1, 2)), 0, "as seen");
    assert.equal(traces(bytes(1), bytes(2), bytes(1)), 2, "ArrayBuffer");
    assert.equal(traces(new Float32Array([0]), new Float32Array([-0]), new Float32Array([-0])), 2, "-0");
    assert.equal(traces(new Int8Array([1]), new Uint8Array([1]), new Uint8Array([1, 0])), 3, "kinds and lengths");
    assert.equal(traces([new Uint8Array([124]), 1], [new Uint8Array([124, 124]), 1], [new Uint8Array([124]), 1]), 2);
    assert.equal(traces(new Date(1), new Date(2), new Date(1)), 2, "Date");
    const table = new Map([["a", { n: [1] }]]);
    assert.equal(traces(table, table, new Map([["a", { n: [1] }]])), 1, "Map");
    table.get("a")!.n[0] = 2;
    assert.equal(traces(table), 1, "a Map that changed");
    assert.equal(traces(new Set([1, "1"]), new Set([1, "1"]), new Set(["1", 1]), new Set()), 3, "Set");
    const key = {};
    assert.equal(traces(new Map([[key, 1]]), new Map([[key, 1]]), new Map([[{}, 1]])), 2, "keys are told by identity");
    const buffer = new ArrayBuffer(4);
    traces(buffer);
    new Uint8Array(buffer)[0] = 1;
    assert.equal(traces(buffer), 1, "an ArrayBuffer that changed");
    const free = jit((x: Tensor, m: Map<string, number>) => x.mul(m.get("a") as number));
    const rates = new Map([["a", 2]]);
    assert.deepEqual(numbersOf(free(tensor([1]), rates)), [2]);
    rates.set("a", 3);
    assert.deepEqual(numbersOf(free(tensor([1]), rates)), [3], "not in a static position");
  });

  test("what can change and not be looked into is refused", () => {
    const f = jit((x: Tensor, _value: unknown) => x.add(1), { static: 1 }) as (x: Tensor, value: unknown) => Tensor;
    for (const value of [new WeakMap(), new WeakSet(), [new WeakMap()]]) {
      assert.throws(() => f(tensor([1]), value), {
        name: ArgumentError.name,
        message:
          /jit: an argument is or contains a Weak(Map|Set), whose content cannot be looked at.*take it by closure/,
      });
    }
  });

  test("a captured tensor that is returned as it is stays alive when it is disposed outside", () => {
    const c = tensor([7, 8]);
    const f = jit((x: Tensor) => ({ c: c as Tensor, y: x.mul(2) }));
    f(tensor([1]));
    c.dispose();
    const others = [1, 2, 3].map((value) => tensor([value, value]).realize());
    const first = f(tensor([5]));
    assert.deepEqual(numbersOf(first.c), [7, 8]);
    first.c.dispose();
    assert.deepEqual([numbersOf(f(tensor([1])).c), others.length], [[7, 8], 3]);
  });

  test("strings that look alike when joined are not confused", () => {
    const f = jit((x: Tensor, a: string, b: string) => x.mul(a.length * 100 + b.length));
    assert.deepEqual(numbersOf(f(tensor([1]), 'a"|"b', "c")), [501]);
    assert.deepEqual(numbersOf(f(tensor([1]), "a", 'b"|"c')), [105]);
  });

  test("arguments in static positions are part of the program: numbers, shapes, functions", () => {
    let traces = 0;
    const f = jit(
      (n: number, x: Tensor, shape: readonly number[], g: (x: Tensor) => Tensor) => {
        traces++;
        assert.equal(typeof n, "number");
        return g(x.reshape(shape)).mul(n);
      },
      { static: [0, 2, 3] },
    );
    const negate = (x: Tensor) => x.neg();
    assert.deepEqual(f(2, tensor([1, 2]), [2, 1], negate).arraySync(), [[-2], [-4]]);
    assert.deepEqual(f(2, tensor([3, 4]), [2, 1], negate).arraySync(), [[-6], [-8]]);
    assert.equal(traces, 1, "an equal list is the same value");
    assert.deepEqual(f(3, tensor([1, 2]), [1, 2], negate).arraySync(), [[-3, -6]]);
    f(-0, tensor([1, 2]), [1, 2], negate);
    f(0, tensor([1, 2]), [1, 2], negate);
    f(0, tensor([1, 2]), [1, 2], (x) => x);
    assert.equal(traces, 5);
  });

  test("tensors there are refused", () => {
    const f = jit((x: Tensor, y: Tensor) => x.add(y), { static: 1 });
    assert.throws(() => f(tensor([1]), tensor([2])), { name: ArgumentError.name, message: /tensors enter as data/ });
  });
});

describeOnTensorDevices("objects that hold tensors", () => {
  class Model {
    w: Tensor | null = tensor([1, 1, 1]);
    readonly inner: { list: unknown[] } = { list: [] };
  }
  const x3 = (): Tensor => tensor([1, 2, 3]);

  test("of classes that are not registered are refused: their tensors would be frozen into the program", () => {
    const step = jit((m: Model, x: Tensor) => (m.w as Tensor).sub(x.mul(0.1)));
    const message = /jit: \[0\] is an instance of Model, neither .*; register its class with tree\.registerClass/;
    assert.throws(() => step(new Model() as never, x3()), { name: ArgumentError.name, message });
    const nested = jit((p: { m: Model }, x: Tensor) => x.add(p.m.w as Tensor));
    assert.throws(() => nested({ m: new Model() } as never, x3()), { message: /\[0\]\.m is an instance of Model/ });
    assert.throws(() => grad((x: Tensor) => step(new Model() as never, x).sum())(x3()), { message });
    const fixed = jit((m: Model, x: Tensor) => x.add(m.w as Tensor), { static: 0 });
    assert.throws(() => fixed(new Model() as never, x3()), {
      message: /jit, static: the tree is an instance of Model/,
    });
    assert.throws(() => vmap((m: Model, x: Tensor) => x.add(m.w as Tensor), { in: [null, 0] })(new Model(), x3()), {
      name: ArgumentError.name,
      message: /vmap: \[0\] is an instance of Model.*register its class/,
    });
  });

  test("in maps and sets, or deep inside, or given to one later, are found as well", () => {
    const f = jit((x: Tensor, _other: unknown) => x.add(1));
    const remedy = /use a plain object or an array/;
    assert.throws(() => f(x3(), new Map([["w", x3()]])), { name: ArgumentError.name, message: remedy });
    assert.throws(() => f(x3(), new Set([x3()])), { message: remedy });
    assert.throws(() => f(x3(), new Map([[x3(), 1]])), { message: remedy });
    assert.throws(() => grad((m: Map<string, Tensor>) => m.get("w")!.sum())(new Map([["w", x3()]])), {
      message: remedy,
    });
    assert.throws(() => vmap((x: Tensor, _m: unknown) => x)(x3(), new Map([["w", x3()]])), { message: remedy });
    const model = new Model();
    model.w = null;
    for (let i = 0; i < 3; i++) assert.deepEqual(numbersOf(f(x3(), model)), [2, 3, 4]);
    assert.equal(f.programs, 1);
    model.inner.list.push(model, new Map([[1, { deep: [new Set([x3()])] }]]));
    assert.throws(() => f(x3(), model), { message: /instance of Model/ });
  });

  test("without tensors they are part of the program, known by identity: a class, a function, a date", () => {
    class Settings {
      constructor(readonly rate: number) {}
    }
    const slow = new Settings(2);
    const f = jit((x: Tensor, s: Settings) => x.mul(s.rate));
    const use = f as unknown as (x: Tensor, s: Settings) => Tensor;
    assert.deepEqual(numbersOf(use(x3(), slow)), [2, 4, 6]);
    assert.deepEqual(numbersOf(use(x3(), new Settings(3))), [3, 6, 9]);
    assert.deepEqual(numbersOf(use(x3(), slow)), [2, 4, 6]);
    assert.equal(f.programs, 2);
    const weight = x3();
    const g = jit((x: Tensor, activate: (x: Tensor) => Tensor, _when: Date) => activate(x));
    const twice = (x: Tensor) => x.mul(weight);
    const now = new Date(0);
    for (let i = 0; i < 2; i++) assert.deepEqual(numbersOf(g(x3(), twice, now as never)), [1, 4, 9]);
    assert.equal(g.programs, 1);
    assert.deepEqual(numbersOf(vmap((x: Tensor, s: Settings) => x.mul(s.rate))(x3(), slow)), [2, 4, 6]);
  });
});

describeOnTensorDevices("tensors reached by closure", (device) => {
  test("are captured as they are at the trace", () => {
    let w: Tensor = tensor([1, 2]);
    const f = jit((x: Tensor) => x.mul(w));
    assert.deepEqual(numbersOf(f(tensor([10, 10]))), [10, 20]);
    w = tensor([5, 5]);
    assert.deepEqual(numbersOf(f(tensor([1, 1]))), [1, 2]);
    assert.deepEqual(numbersOf(f(tensor([[1, 1]]))), [5, 5], "a new form is a new trace");
  });

  test("may be disposed afterwards: the program holds their memory", () => {
    const w = tensor([1, 2]);
    const f = jit((x: Tensor) => x.mul(w));
    f(tensor([1, 1]));
    w.dispose();
    for (let i = 0; i < 20; i++) tensor([7, 7]).add(i).realize();
    assert.deepEqual(numbersOf(f(tensor([3, 3]))), [3, 6]);
  });

  test("that wait to be computed are computed once, at the trace", () => {
    const base = tensor([1, 2, 3]);
    const pending = base.mul(2).cumsum({ axis: 0 });
    const f = jit((x: Tensor) => x.add(pending.reshape(3, 1)).sum({ axis: 1 }));
    assert.deepEqual(numbersOf(f(tensor([1]))), [3, 7, 13]);
    const { graph } = f.lower(tensor([1]));
    assert.match(graph, /= memory : f32\[3\]/);
    assert.doesNotMatch(graph, /mul|cum/, "what leads to it is no part of the program");
    const before = workOf(device).kernels;
    assert.deepEqual(numbersOf(pending), [2, 6, 12]);
    assert.equal(workOf(device).kernels, before, "it is computed");
    base.dispose();
    replayed(device, () => f(tensor([2])));
    assert.deepEqual(numbersOf(f(tensor([2]))), [4, 8, 14]);
    assert.deepEqual(numbersOf(pending), [2, 6, 12]);
  });

  test("and constants, iotas and random keys made outside or inside are part of the program", () => {
    const outside = full([3], 2);
    const key = random.key(3);
    const f = jit((x: Tensor) =>
      x
        .mul(outside)
        .add(random.uniform(key, [3]))
        .add(full([3], 1)),
    );
    const want = numbersOf(random.uniform(key, [3])).map((u) => Math.fround(Math.fround(2 + u) + 1));
    for (let call = 0; call < 2; call++) assert.deepEqual(numbersOf(f(tensor([1, 1, 1]))), want);
  });
});

describeOnTensorDevices("jit inside other transforms and around them", () => {
  const x = () => tensor([0.5, -1, 2], { dtype: "f64" });
  const cube = (a: Tensor, factor: Tensor) => a.mul(a).mul(a).mul(factor);

  test("inside itself, with numbers", () => {
    const inner = jit(cube);
    const outer = jit((a: Tensor, n: Tensor) =>
      inner(a, n)
        .add(inner(a.neg(), 2))
        .add(inner(a, n.mul(0))),
    );
    for (const n of [3, 4]) assert.deepEqual(numbersOf(outer(x(), n)), [(n - 2) * 0.125, -(n - 2), (n - 2) * 8]);
    assert.deepEqual([inner.programs, outer.programs], [0, 1]);
  });

  test("inside grad and around it, with numbers", () => {
    const quick = jit(cube);
    const loss = (a: Tensor, n: number) => quick(a, n).sum();
    const want = [0.25, 1, 4].map((square) => 6 * square);
    assert.deepEqual(numbersOf(grad(loss)(x(), 2)), want);
    const slope = jit(grad((a: Tensor, n: Tensor) => cube(a, n).sum()));
    assert.deepEqual(numbersOf(slope(x(), 2)), want);
    assert.deepEqual(
      numbersOf(slope(x(), 4)),
      want.map((value) => 2 * value),
    );
    const both = jit(valueAndGrad((a: Tensor, n: Tensor) => cube(a, n).sum()));
    const [value, gradient] = both(x(), 2);
    assert.deepEqual([numbersOf(value), numbersOf(gradient)], [[2 * (0.125 - 1 + 8)], want]);
    const second = jit(grad((a: Tensor) => grad((b: Tensor) => quick(b, 1).sum())(a).sum()));
    assert.deepEqual(numbersOf(second(x())), [3, -6, 12]);
    const moved = jit((a: Tensor, t: Tensor) => jvp((b: Tensor) => quick(b, 1), [a], [t])[1]);
    assert.deepEqual(numbersOf(moved(x(), x())), [0.375, -3, 24]);
  });

  test("inside vmap and around it, with numbers", () => {
    const rows = tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { dtype: "f64" },
    );
    const total = jit((row: Tensor, n: Tensor) => row.sum().mul(n));
    assert.deepEqual(numbersOf(vmap((row: Tensor) => total(row, 10))(rows)), [30, 70]);
    assert.deepEqual(numbersOf(vmap(total, { in: [0, null] })(rows, 10 as unknown as Tensor)), [30, 70]);
    const all = jit((m: Tensor, n: Tensor) => vmap((row: Tensor) => row.sum().mul(n))(m));
    assert.deepEqual(numbersOf(all(rows, 10)), [30, 70]);
    assert.deepEqual(numbersOf(all(rows, 20)), [60, 140]);
  });

  test("inside a loop", () => {
    const step = jit((carry: Tensor, add: Tensor, factor: Tensor) => carry.mul(factor).add(add));
    const [last] = scan((c: Tensor, a: Tensor) => [step(c, a, 2), null], tensor(1), tensor([1, 2, 3]));
    assert.equal(last.itemSync(), ((1 * 2 + 1) * 2 + 2) * 2 + 3);
  });

  test("functions made inside a differentiated function see its variables: their gradients count", () => {
    const c = tensor([1, 2, 3], { dtype: "f64" });
    const loss = (a: Tensor) => jit((b: Tensor) => a.mul(b).sum())(c);
    assert.deepEqual(numbersOf(grad(loss)(x())), [1, 2, 3]);
    const pending = (a: Tensor) => {
      const squares = a.square().realize() as Tensor;
      return jit((b: Tensor) => squares.mul(b).sum())(c);
    };
    assert.deepEqual(numbersOf(grad(pending)(x())), [1, -4, 12]);
    const lowering = (a: Tensor) => {
      jit((b: Tensor) => a.mul(b)).lower(c);
      return a.sum();
    };
    assert.throws(() => grad(lowering)(x()), {
      name: ArgumentError.name,
      message: /outer function that is being traced/,
    });
  });

  test("functions made inside a vectorised or jitted one see its members and arguments", () => {
    const c = tensor([1, 2], { dtype: "f64" });
    const rows = tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { dtype: "f64" },
    );
    assert.deepEqual(numbersOf(vmap((row: Tensor) => jit((b: Tensor) => row.mul(b).sum())(c))(rows)), [5, 11]);
    const outer = jit((m: Tensor) => jit((b: Tensor) => m.mul(b))(c));
    for (const factor of [1, 2])
      assert.deepEqual(
        numbersOf(outer(rows.mul(factor))),
        [1, 4, 3, 8].map((v) => v * factor),
      );
  });

  test("a jitted function of plain values inside a differentiated one is a constant there, and a program", () => {
    const quick = jit((b: Tensor) => b.exp());
    const c = tensor([0, 1], { dtype: "f64" });
    const gradient = grad((a: Tensor) => a.mul(quick(c)).sum())(tensor([1, 1], { dtype: "f64" }));
    assert.equal(quick.programs, 1);
    assert.deepEqual(numbersOf(gradient), [1, numbersOf(c.exp())[1]]);
  });
});

describeOnTensorDevices("jit refuses", (device) => {
  const x = () => tensor([1, 2]);
  const uses: Readonly<Record<string, (x: Tensor) => unknown>> = {
    "data()": (a) => a.dataSync(),
    "item()": (a) => a.sum().itemSync(),
    "a value of what was computed": (a) => tensor(a.mul(2).add(1).arraySync() as number[]),
    "a shape that depends on values": (a) => a.nonzero()[0],
  };
  for (const [what, use] of Object.entries(uses)) {
    test(`reading inside the function, with the remedy: ${what}`, () => {
      const f = jit(use as (x: Tensor) => Tensor);
      assert.throws(() => f(x()), {
        name: TraceError.name,
        message: /asked for inside a function that jit.*Return the tensor.*where\(\) or cond\(\).*scan\(\).*static/s,
      });
      assert.equal(f.programs, 0);
    });
  }

  test("values that were carried out of the function", () => {
    let leaked: Tensor = x();
    jit((a: Tensor) => {
      leaked = a.add(1);
      return a;
    })(x());
    assert.throws(() => leaked.dataSync(), TraceError);
    assert.match(inspect(leaked), /traced/);
  });

  test("results that are no tensors, and promises", () => {
    const loose = (f: unknown) => jit(f as (x: Tensor) => Tensor);
    assert.throws(() => loose(() => 3)(x()), { name: ArgumentError.name, message: /jit, results: .*the number 3/ });
    assert.throws(() => loose((a: Tensor) => ({ a, n: "no" }))(x()), { name: ArgumentError.name, message: /n is/ });
    assert.throws(() => loose(async (a: Tensor) => a)(x()), {
      name: ArgumentError.name,
      message: /promise.*await before or after/,
    });
  });

  test("a call with tensors of another device is another program, there", (t) => {
    const other = testDevices().find((each) => each !== device);
    if (!other) return t.skip("one device only");
    const f = jit((a: Tensor, k: Tensor) => a.mul(k).add(1));
    for (const [round, where] of [device, other, device, other].entries()) {
      const made = f(tensor([1, 2], { device: where }), round);
      assert.equal(made.device.split(":")[0], where);
      assert.deepEqual(numbersOf(made), [1 + round, 1 + 2 * round]);
    }
    assert.equal(f.programs, 2);
  });

  test("arguments of two devices, and results of another device than the arguments'", (t) => {
    const other = testDevices().find((each) => each !== device);
    if (!other) return t.skip("one device only");
    const f = jit((a: Tensor, b: Tensor) => a.add(b));
    const elsewhere = tensor([1, 2], { device: other });
    assert.throws(() => f(x(), elsewhere), { name: DeviceError.name, message: /one device, move one with \.to/ });
    assert.throws(() => jit((_: Tensor) => elsewhere.add(1))(x()), {
      name: DeviceError.name,
      message: /a result is on/,
    });
    assert.deepEqual(numbersOf(f(x(), elsewhere.to(device))), [2, 4]);
  });
});

describeOnTensorDevices("results", () => {
  test("that are arguments, each other, constants or captured tensors have memory of their own", () => {
    const captured = tensor([5, 6]);
    const f = jit((x: Tensor, n: Tensor) => {
      const y = x.add(1);
      return { x, again: x, y, twice: y, same: x.add(1), constant: full([2], 9), captured, n, view: x.reshape(2, 1) };
    });
    const x = tensor([1, 2]);
    for (let call = 0; call < 3; call++) {
      const made = f(x, call);
      const want = { x: [1, 2], again: [1, 2], y: [2, 3], twice: [2, 3], same: [2, 3], constant: [9, 9] };
      const values = tree.map((each: Tensor) => numbersOf(each), made);
      assert.deepEqual(values, { ...want, captured: [5, 6], n: [call], view: [1, 2] });
      for (const each of tree.leaves(made)) each.dispose();
    }
    assert.deepEqual(
      [numbersOf(x), numbersOf(captured)],
      [
        [1, 2],
        [5, 6],
      ],
    );
  });

  test("may be trees with nothing in them", () => {
    const f = jit((x: Tensor) => ({ none: null, list: [], x: x.neg() }));
    assert.deepEqual(f(tensor([1])).none, null);
    assert.deepEqual(jit((_: Tensor) => null)(tensor([1])), null);
    assert.deepEqual(jit(() => [])(), []);
  });

  test("without elements, of arguments without elements", () => {
    const f = jit((x: Tensor, y: Tensor) => [x.mul(2), x.sum(), x.sum({ axis: 0 }), concat([x, y]), x.matmul(x.T)]);
    for (let call = 1; call < 3; call++) {
      const [a, b, c, d, e] = f(zeros([0, 3]), full([2, 3], call));
      assert.deepEqual([a!.shape, numbersOf(a!)], [[0, 3], []]);
      assert.deepEqual([numbersOf(b!), numbersOf(c!), e!.shape], [[0], [0, 0, 0], [0, 0]]);
      assert.deepEqual(numbersOf(d!), [call, call, call, call, call, call]);
    }
  });

  test("of more inputs than a kernel is told addresses of", () => {
    const f = jit((xs: readonly Tensor[], n: Tensor) => {
      const total = xs.reduce((sum, x) => sum.add(x)).mul(n);
      return [total, concat(xs as Tensor[]), total.sum()] as const;
    });
    const inputs = (offset: number) => Array.from({ length: 40 }, (_, i) => tensor([i, offset]));
    for (const offset of [1, 2, 3]) {
      const [total, joined, sum] = f(inputs(offset), 2);
      assert.deepEqual(numbersOf(total), [1560, 80 * offset]);
      assert.deepEqual(
        numbersOf(joined),
        Array.from({ length: 80 }, (_, i) => (i % 2 ? offset : i / 2)),
      );
      assert.equal(sum.itemSync(), 1560 + 80 * offset);
    }
    assert.equal(f.programs, 1);
  });
});

describeOnTensorDevices("calls that overlap", () => {
  const step = () =>
    jit((x: Tensor, y: Tensor, n: Tensor) => {
      const z = x.mul(2).add(y).sub(n);
      return [z, z.sum()] as const;
    });

  test("a hundred calls, each of the results of the one before, nothing read", () => {
    const f = step();
    let x: Tensor = tensor([1, 2, 3], { dtype: "i32" }).cast("f32");
    let want = [1, 2, 3];
    const y = tensor([1, 0, -1]);
    for (let call = 0; call < 100; call++) {
      [x] = f(x, y, call % 3);
      x = x.mul(0.5).floor().realize() as Tensor;
      want = want.map((value, i) => Math.floor((2 * value + [1, 0, -1][i]! - (call % 3)) / 2));
    }
    assert.deepEqual(numbersOf(x), want);
  });

  test("sixty independent calls keep their arguments and numbers apart", () => {
    const f = step();
    const results = Array.from({ length: 60 }, (_, i) => f(tensor([i, i + 1]), tensor([0.5, 0.25]), i));
    results.forEach(([z, sum], i) => {
      assert.deepEqual(numbersOf(z), [i + 0.5, i + 2.25]);
      assert.equal(sum.itemSync(), 2 * i + 2.75);
    });
  });

  test("uploads, other work and disposals in between do not disturb them", () => {
    const f = step();
    const kept: { readonly z: Tensor; readonly want: number }[] = [];
    for (let i = 0; i < 80; i++) {
      const x = tensor([i, i]);
      const y = x.square().add(1);
      const [z, sum] = f(x, y, 1);
      x.dispose();
      y.dispose();
      const other = tensor(new Float32Array(64).fill(-1)).add(i).realize();
      if (i % 3 === 0) sum.dispose();
      if (i % 2 === 0) z.dispose();
      else kept.push({ z, want: 2 * i + i * i });
      other.dispose();
    }
    for (const { z, want } of kept) assert.deepEqual(numbersOf(z), [want, want]);
  });

  test("two functions that feed each other", async () => {
    const double = jit((x: Tensor) => x.mul(2));
    const less = jit((x: Tensor, n: Tensor) => x.sub(n).cumsum({ axis: 0 }));
    let x: Tensor = tensor([1, 1]);
    let want = [1, 1];
    for (let i = 0; i < 50; i++) {
      x = less(double(x), i % 4);
      const [a, b] = want.map((value) => 2 * value - (i % 4)) as [number, number];
      want = [a, a + b].map((value) => value % 64);
      x = x.fmod(64).realize() as Tensor;
      if (i % 20 === 0) await x.data();
    }
    assert.deepEqual(numbersOf(x), want);
  });

  test("reads asked for between calls see what was there then", async () => {
    const f = jit((x: Tensor) => x.add(1), { donate: 0 });
    let x: Tensor = tensor([0]);
    const reads: Promise<Float32Array>[] = [];
    for (let i = 0; i < 30; i++) {
      reads.push(x.data() as Promise<Float32Array>);
      x = f(x);
    }
    const values = (await Promise.all(reads)).map(([value]) => value);
    assert.deepEqual(
      values,
      Array.from({ length: 30 }, (_, i) => i),
    );
    assert.equal(x.itemSync(), 30);
    const [item, list] = [x.item(), x.array()];
    x.dispose();
    assert.deepEqual([await item, await list], [30, [30]]);
  });
});

describeOnTensorDevices("lower", () => {
  const f = jit((p: { w: Tensor }, x: Tensor, n: Tensor) => p.w.matmul(x).mul(n).tanh().sum());
  const args = () => [{ w: zeros([64, 32]) }, zeros([32, 16]), 2] as const;

  test("shows the graph, the kernels, the memory and the time, and runs nothing", () => {
    const lowered = f.lower(...args());
    assert.match(lowered.graph, /%\d+ = tanh %\d+ : f32\[64, 16\]/);
    assert.match(lowered.graph, /%\d+ = placeholder : f32\[64, 32\]/);
    assert.match(lowered.graph, /return %\d+$/);
    assert.match(lowered.kernels, /1\. .*rows.*reads .*f32\[64, 32\].*writes/);
    assert.equal(lowered.memory.resultBytes, 4);
    assert.ok(lowered.traceMilliseconds >= 0 && lowered.compileMilliseconds > 0);
    const text = String(lowered);
    for (const part of [/graph \(traced in/, /kernels \(compiled in/, /memory: results 4 bytes/, /results: f32\[\]/]) {
      assert.match(text, part);
    }
    assert.equal(inspect(lowered), text);
  });

  test("shows what loops and choices do, numbers as numbers, and the values of constants", () => {
    const loop = jit((c: Tensor, xs: Tensor, rate: Tensor) => {
      const w = c.mul(rate);
      return scan((a: Tensor, x: Tensor) => [a.mul(w).add(x), a.neg()] as const, c, xs, { reverse: true });
    });
    assert.equal(
      loop.lower(zeros([]), zeros([5]), 2).graph,
      [
        "  %0 = placeholder : f32[]",
        "  %1 = number : f32[]",
        "  %2 = mul %0 %1 : f32[]",
        "  %3 = placeholder : f32[5]",
        "  %4 = scan %2 %0 %3, 5 rounds, from the end : f32[], f32[5]",
        "      %4.0 = from outside : f32[]",
        "      %4.1 = carry : f32[]",
        "      %4.2 = element : f32[]",
        "      %4.3 = mul %4.1 %4.0 : f32[]",
        "      %4.4 = add %4.3 %4.2 : f32[]",
        "      %4.5 = neg %4.1 : f32[]",
        "      return %4.4, %4.5",
        "  %5 = part %4 0 : f32[]",
        "  %6 = part %4 1 : f32[5]",
        "  return %5, %6",
      ].join("\n"),
    );
    const slope = jit(grad((c: Tensor) => scan((a: Tensor) => [a.sin(), null], c, null, { length: 4 })[0]));
    const way = slope.lower(tensor(1)).graph;
    assert.match(way, /= scan %\d+, 4 rounds : f32\[\]$/m);
    assert.match(way, /= part %\d+ 1, what rounds began with : f32\[4\]$/m);
    const isLarge = (y: Tensor) => y.greater(0.25);
    const halved = (x: Tensor) => whileLoop(isLarge, (y: Tensor) => y.mul(0.5), x, { maxRounds: 9 });
    const chosen = jit((x: Tensor) => cond(x.greater(-1), (y: Tensor) => y.neg(), halved, x));
    const { graph } = chosen.lower(tensor(1));
    assert.match(graph, /^ {2}%1 = constant -1 : f32\[\]$/m);
    assert.match(graph, /^ {2}%4 = choice %3 %0 : f32\[\]\n {4}branch 0:\n {6}%4\.0 = operand : f32\[\]$/m);
    assert.match(graph, /^ {6}%4\.1 = whileLoop %4\.0, at most 9 rounds : f32\[\]\n {8}while:\n {10}%4\.1\.0 = carry/m);
    assert.match(graph, /^ {10}%4\.1\.1 = constant 0.25 : f32\[\]$/m);
    assert.match(graph, /^ {8}do:$/m);
    assert.match(graph, /^ {4}branch 1:\n.*\n {6}%4\.1 = neg %4\.0 : f32\[\]$/m);
  });

  test("compiles the program that calls use", () => {
    const g = jit((x: Tensor) => x.exp());
    g.lower(zeros([3]));
    assert.equal(g.programs, 1);
    g(zeros([3]));
    assert.equal(g.programs, 1);
    assert.equal(g.name, "jit(function)");
    assert.equal(jit(Math.max as never).name, "jit(max)");
  });
});
