/** Compiling and running kernels on one thread: the contract, its checks, and what failing looks like. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { inspect } from "node:util";
import { ArgumentError, DeviceError, DisposedError, FormatError, UnsupportedError } from "../../../src/core/errors.js";
import { openHostDevice } from "../../../src/engines/host/device.js";
import { ModuleBuilder } from "../../../src/wasm/builder.js";
import { countRows, kernel, nothing, scaleAndCount, traps } from "./kernels.js";

const device = openHostDevice({ threads: 1 });
after(() => device.close());

const bits = (x: number) => new Uint32Array(new Float32Array([x]).buffer);

describe("running", () => {
  test("buffers come first in the argument block, then the rest", () => {
    const run = device.kernel(scaleAndCount, { name: "scale" });
    const n = 1000;
    const x = device.upload(Float32Array.from({ length: n }, (_, i) => i / 2));
    const y = device.alloc(4 * n);
    const expected = Float32Array.from({ length: n }, (_, i) => (i / 2) * 3 + i);
    run.run({ buffers: [x, y], args: bits(3), length: n });
    assert.deepEqual(new Float32Array(y.readSync().buffer), expected);
    y.write(new Uint8Array(4 * n));
    const block = new Uint32Array([x.address, y.address, ...bits(3)]);
    for (const args of [block, new Uint8Array(block.buffer), new DataView(block.buffer)]) {
      run.run({ args, length: n });
      assert.deepEqual(new Float32Array(y.readSync().buffer), expected);
    }
  });

  test("long argument blocks arrive whole", () => {
    const sum = device.kernel(
      kernel((f, args, start, end) => {
        const out = f.i32.load(args);
        const total = f.fold(start, end, 1, f.i32.const(0), (i, s) =>
          f.i32.add(s, f.i32.load(f.i32.add(args, f.i32.shl(i, 2)), { offset: 4 })),
        );
        f.i32.store(out, total);
      }),
    );
    for (const count of [1, 31, 32, 33, 5000]) {
      const out = device.alloc(4);
      sum.run({
        buffers: [out],
        args: Uint32Array.from({ length: count }, (_, i) => i + 1),
        length: count,
        grain: 1e9,
      });
      assert.equal(new Uint32Array(out.readSync().buffer)[0], (count * (count + 1)) / 2);
    }
  });

  test("no rows run nothing", () => {
    const counts = device.alloc(4);
    device.kernel(countRows).run({ buffers: [counts], length: 0 });
    assert.deepEqual([...counts.readSync()], [0, 0, 0, 0]);
  });

  test("a kernel reads zeros from a buffer nobody wrote", () => {
    device.upload(new Uint8Array(400).fill(9)).dispose();
    const counts = device.alloc(400);
    device.kernel(countRows).run({ buffers: [counts], length: 100 });
    assert.deepEqual([...new Int32Array(counts.readSync().buffer)], Array(100).fill(1));
  });

  test("another entry than run", () => {
    const m = new ModuleBuilder();
    const store = (value: number) =>
      m.function(`store${value}`, ["i32", "i32", "i32"], [], (f, args) => f.i32.store(f.i32.load(args), value));
    m.export(store(5));
    m.export(store(6));
    const out = device.alloc(4);
    device.kernel(m.build(), { entry: "store6" }).run({ buffers: [out], length: 1 });
    assert.equal(out.readSync()[0], 6);
  });

  test("equal modules are compiled once", () => {
    const before = device.stats().kernels;
    device.kernel(nothing, { name: "n" });
    device.kernel(nothing.slice(), { name: "n" });
    assert.equal(device.stats().kernels, before + 1);
  });
});

describe("checks", () => {
  test("bytes that are no module", () => {
    assert.throws(
      () => device.kernel(new Uint8Array([0, 1, 2, 3]), { name: "bad" }),
      (error) => {
        return error instanceof FormatError && /^bad: not a valid WebAssembly module/.test(error.message);
      },
    );
  });

  test("a module that breaks the contract", () => {
    const other = new ModuleBuilder();
    const log = other.importFunction("env", "log", ["i32"], []);
    other.export(other.function("run", ["i32", "i32", "i32"], [], (f, x) => f.call(log, x)));
    assert.throws(() => device.kernel(other.build()), /imports env\.log; a kernel may import env\.memory/);
    const two = new ModuleBuilder();
    two.export(two.function("run", ["i32", "i32"], [], () => {}));
    assert.throws(() => device.kernel(two.build()), /run takes 2 parameters; a kernel takes \(args, start, end\)/);
    assert.throws(() => device.kernel(nothing, { entry: "go" }), /no function "go"; it exports run/);
    const unshared = new ModuleBuilder({ memory: { shared: false } });
    unshared.export(unshared.function("run", ["i32", "i32", "i32"], [], () => {}));
    assert.throws(() => device.kernel(unshared.build(), { name: "u" }), UnsupportedError);
  });

  test("arguments of a run", () => {
    const run = device.kernel(nothing, { name: "idle" });
    for (const length of [-1, 0.5, 2 ** 31, Number.NaN]) assert.throws(() => run.run({ length }), ArgumentError);
    assert.throws(() => run.run({ length: 1, grain: 0 }), ArgumentError);
    assert.throws(() => run.run({ length: 1, args: new Uint8Array(3) }), /3 bytes of arguments/);
    assert.throws(() => run.run({ length: 1, args: new Uint32Array(20_000) }), /80000 bytes of arguments/);
    assert.throws(() => run.run({ length: 1, buffers: [{} as never] }), /buffers\[0\] is not a buffer/);
    const other = openHostDevice({ threads: 1 });
    assert.throws(() => run.run({ length: 1, buffers: [other.alloc(4)] }), /another host device/);
    void other.close();
    const gone = device.alloc(4);
    gone.dispose();
    assert.throws(() => run.run({ length: 1, buffers: [gone] }), DisposedError);
  });
});

describe("a kernel that fails", () => {
  for (const [what, module] of Object.entries(traps)) {
    test(what, () => {
      const run = device.kernel(module, { name: "culprit" });
      assert.throws(
        () => run.run({ args: new Uint32Array([0]), length: 1 }),
        (error) => {
          assert.ok(error instanceof DeviceError);
          return error.message.startsWith("culprit failed: ") && error.message.includes(what.split(" ")[0] as string);
        },
      );
      const counts = device.alloc(8);
      device.kernel(countRows).run({ buffers: [counts], length: 2 });
      assert.deepEqual([...new Int32Array(counts.readSync().buffer)], [1, 1], "the device goes on");
    });
  }
});

describe("profile", () => {
  test("has an event per run, named for its kernel", async () => {
    const [a, b] = [device.kernel(nothing, { name: "a" }), device.kernel(countRows, { name: "b" })];
    const counts = device.alloc(4000);
    const profile = await device.profile(() => {
      for (let i = 0; i < 3; i++) a.run({ length: 1 });
      b.run({ buffers: [counts], length: 1000 });
    });
    assert.deepEqual(
      profile.events.map(({ name }) => name),
      ["a", "a", "a", "b"],
    );
    assert.ok(profile.events.every(({ start, duration }) => start >= 0 && duration >= 0));
    assert.match(inspect(profile), /kernel +calls/);
    await assert.rejects(
      device.profile(() => device.profile(() => {})),
      ArgumentError,
    );
    assert.equal((await device.profile(() => {})).events.length, 0);
  });

  test("stats count", () => {
    const before = device.stats();
    device.kernel(nothing).run({ length: 5 });
    const { dispatches, threadedDispatches, workers, threads } = device.stats();
    assert.equal(dispatches, before.dispatches + 1);
    assert.deepEqual([threadedDispatches, workers, threads], [0, 0, 1]);
  });
});
