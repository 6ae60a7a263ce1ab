/**
 * Slices whose elements lie side by side in memory that is there: the program is the same wherever they begin, and a slice
 * that is wanted itself is that memory, or a copy of a few bytes, without a kernel.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import { castScalar } from "../../src/core/cast.js";
import { DTYPES, type DType, isPacked } from "../../src/core/dtype.js";
import { DisposedError } from "../../src/core/errors.js";
import type { IndexArgument } from "../../src/core/slice.js";
import { grad, io, jit, type Tensor, tensor, vmap, zeros } from "../../src/index.js";
import { backendFor, explain } from "../../src/tensor/index.js";
import { engineOf } from "../support/engines.js";
import { randomFrom } from "../support/random.js";
import {
  count,
  describeOnTensorDevices,
  devicesWithDoubles,
  flatIndex,
  indicesOf,
  numbersOf,
} from "../support/tensors.js";

interface Work {
  readonly compiled: number;
  readonly kernels: number;
}

/** Programs compiled and kernels run by work. */
function workBy(device: string, work: () => void): Work {
  const { counters } = backendFor(device);
  const { compiled, kernels } = counters;
  work();
  return { compiled: counters.compiled - compiled, kernels: counters.kernels - kernels };
}

const usedBytes = (device: string): number => engineOf(device).stats().usedBytes;

/** 0, 1, 2 … up to what a u8 holds, and again. */
const byteAt = (i: number): number => i % 251;
const counting = (shape: readonly number[], dtype: DType = "f32"): Tensor => {
  const values = Array.from({ length: count(shape) }, (_, i) => byteAt(i));
  const floats = tensor(values, { shape, dtype: "f32" });
  return dtype === "f32" ? floats : floats.cast(dtype).realize();
};
const run = (from: number, length: number): number[] => Array.from({ length }, (_, i) => byteAt(from + i));
const range = (from: number, to: number) => `${from}:${to}` as const;
const isStrict = (device: string): boolean => device.startsWith("vulkan");

const NOTHING: Work = { compiled: 0, kernels: 0 };
const MiB = 1024 * 1024;

describeOnTensorDevices("slices of memory", (device) => {
  test("50 minibatches read as they lie compile nothing and run nothing", () => {
    const x = counting([800, 16]);
    const work = workBy(device, () => {
      for (let i = 0; i < 50; i++) {
        assert.deepEqual(numbersOf(x.at(range(16 * i, 16 * i + 16))), run(256 * i, 256));
      }
    });
    assert.deepEqual(work, NOTHING);
  });

  test("50 rows and 50 elements, wherever they begin, compile nothing and run nothing", () => {
    const x = counting([50, 10]);
    const work = workBy(device, () => {
      for (let i = 0; i < 50; i++) {
        assert.deepEqual(numbersOf(x.at(i)), run(10 * i, 10));
        assert.equal(x.at(i, i % 10).itemSync(), byteAt(10 * i + (i % 10)));
        assert.deepEqual(numbersOf(x.at(i, "3:7")), run(10 * i + 3, 4));
        assert.deepEqual(numbersOf(x.at(-1 - i)), run(10 * (49 - i), 10));
      }
    });
    assert.deepEqual(work, NOTHING);
  });

  test("what is computed of 50 minibatches is one program of as many kernels as of a batch that is a tensor", () => {
    const x = counting([1600, 8]);
    const w = counting([8, 4]);
    const loss = (batch: Tensor) => batch.matmul(w).square().sum();
    const whole = counting([32, 8]);
    const alone = workBy(device, () => loss(whole).realize());
    const work = workBy(device, () => {
      for (let i = 0; i < 50; i++) {
        const values = run(256 * i, 256);
        let expected = 0;
        for (let row = 0; row < 32; row++) {
          for (let column = 0; column < 4; column++) {
            let sum = 0;
            for (let k = 0; k < 8; k++) sum += values[8 * row + k]! * byteAt(4 * k + column);
            expected += sum * sum;
          }
        }
        const got = Number(loss(x.at(range(32 * i, 32 * i + 32))).itemSync());
        assert.ok(Math.abs(got - expected) <= 1e-5 * expected, `batch ${i}: ${got}, not ${expected}`);
      }
    });
    assert.ok(work.compiled <= 1, `${work.compiled} programs`);
    assert.equal(work.kernels, 50 * alone.kernels);
  });

  test("rows of 40 bytes are computed with by one program, or two where vectors of 16 bytes are to be aligned", () => {
    const x = counting([51, 10]);
    const work = workBy(device, () => {
      for (let i = 0; i < 50; i++) {
        const sum = run(10 * i, 10).reduce((total, value) => total + value, 0);
        assert.equal(x.at(i).sum().itemSync(), sum);
        assert.deepEqual(
          numbersOf(
            x
              .at(i)
              .mul(2)
              .add(x.at(i + 1)),
          ),
          run(10 * i, 10).map((v, k) => 2 * v + byteAt(10 * i + 10 + k)),
        );
      }
    });
    assert.ok(work.compiled <= (isStrict(device) ? 4 : 2), `${work.compiled} programs`);
    assert.equal(work.kernels, 100);
  });

  test("single elements are computed with by one program", () => {
    const x = counting([7, 9]);
    const work = workBy(device, () => {
      for (let i = 0; i < 50; i++)
        assert.equal(
          x
            .at(i % 7, i % 9)
            .add(1)
            .itemSync(),
          byteAt(9 * (i % 7) + (i % 9)) + 1,
        );
    });
    assert.deepEqual(work, { compiled: 1, kernels: 50 });
  });

  test("a jitted function takes slices as they come: nothing is compiled or run for them", () => {
    const [x, y] = [counting([640, 16]), counting([640, 3])];
    const step = jit((batch: Tensor, target: Tensor) => batch.sum().add(target.sum()));
    step(x.at("0:64"), y.at("0:64")).realize();
    const work = workBy(device, () => {
      for (let i = 0; i < 10; i++) {
        const at = range(64 * i, 64 * i + 64);
        const total = [...run(1024 * i, 1024), ...run(192 * i, 192)].reduce((sum, value) => sum + value, 0);
        assert.equal(step(x.at(at), y.at(at)).itemSync(), total);
      }
    });
    assert.deepEqual(work, NOTHING);
  });

  test("a step of 3 rows of 10 through jit, where every other begins between vectors", () => {
    const x = counting([60, 10]);
    const step = jit((batch: Tensor) => batch.mul(2).sum({ axis: 1 }));
    step(x.at("0:3")).realize();
    const work = workBy(device, () => {
      for (let i = 0; i < 20; i++) {
        const sums = [0, 1, 2].map((row) => 2 * run(30 * i + 10 * row, 10).reduce((sum, value) => sum + value, 0));
        assert.deepEqual(numbersOf(step(x.at(range(3 * i, 3 * i + 3)))), sums);
      }
    });
    assert.deepEqual(work, NOTHING);
  });

  const dtypes = (Object.keys(DTYPES) as DType[]).filter(
    (dtype) => devicesWithDoubles().includes(device) || (dtype !== "f64" && dtype !== "c128"),
  );
  for (const dtype of dtypes) {
    test(`of ${dtype}: read, computed with and given to jit at every position`, async () => {
      const shape = [23, 5];
      const x = counting(shape, dtype);
      const held = (i: number) => (dtype.startsWith("c") ? byteAt(i) : Number(castScalar(byteAt(i), "f32", dtype)));
      const plain = (t: Tensor) => (dtype.startsWith("c") ? numbersOf(t.real()) : numbersOf(t.cast("f32")));
      const twice = jit((t: Tensor) => t.cast("f32").mul(2));
      const numbers = (from: number, length: number) => Array.from({ length }, (_, i) => held(from + i));
      const all = await x.bytes();
      const { bytes: each } = DTYPES[dtype];
      for (let row = 0; row + 3 <= 23; row++) {
        const expected = numbers(5 * row, 15);
        const slice = x.at(range(row, row + 3));
        assert.deepEqual(plain(slice), expected, `row ${row}`);
        if (!dtype.startsWith("c")) {
          assert.deepEqual(
            numbersOf(
              x
                .at(range(row, row + 3))
                .cast("f32")
                .add(1),
            ),
            expected.map((v) => v + 1),
          );
          assert.deepEqual(
            numbersOf(twice(slice)),
            expected.map((v) => 2 * v),
          );
        }
        if (!isPacked(dtype)) {
          assert.deepEqual(await slice.bytes(), all.slice(5 * row * each, (5 * row + 15) * each));
        }
      }
    });
  }

  test("every way of cutting gives the elements of plain loops, computed with, read and given on", () => {
    const random = randomFrom(7);
    for (let round = 0; round < 60; round++) {
      const shape = Array.from({ length: 1 + random.below(4) }, () => 1 + random.below(5));
      const x = counting(shape);
      let kept = indicesOf(shape);
      const keep = (isKept: (i: number) => boolean, axis: number) => {
        kept = kept.filter((index) => isKept(index[axis]!));
      };
      const indices = shape.map((extent, axis): IndexArgument => {
        const [at, end] = [random.below(extent), random.below(extent + 1)];
        switch (random.below(4)) {
          case 0:
            keep((i) => i === at, axis);
            return at;
          case 1:
            keep((i) => i >= at && i < end, axis);
            return range(at, end);
          case 2:
            keep((i) => i % 2 === 0, axis);
            return "::2";
          default:
            return ":";
        }
      });
      const expected = kept.map((index) => byteAt(flatIndex(shape, index)));
      const title = `[${shape}] at ${indices.join(", ")}`;
      assert.deepEqual(numbersOf(x.at(...indices)), expected, title);
      assert.deepEqual(
        numbersOf(x.at(...indices).mul(2)),
        expected.map((v) => 2 * v),
        title,
      );
      assert.deepEqual(
        numbersOf(
          x
            .at(...indices)
            .flatten()
            .at("1:")
            .reshape(-1, 1),
        ),
        expected.slice(1),
        title,
      );
      assert.equal(
        x
          .at(...indices)
          .sum()
          .itemSync(),
        expected.reduce((sum, v) => sum + v, 0),
        title,
      );
    }
  });

  test("slices of slices, split, unstack, reshape and axes of one are slices of the same memory", () => {
    const x = counting([8, 6, 4]);
    const work = workBy(device, () => {
      assert.deepEqual(numbersOf(x.at("2:6").at(1).at("3:5")), run(24 * 3 + 12, 8));
      for (const [i, part] of x.split(4).entries()) assert.deepEqual(numbersOf(part), run(48 * i, 48));
      for (const [i, part] of x.unstack().entries()) assert.deepEqual(numbersOf(part), run(24 * i, 24));
      assert.deepEqual(numbersOf(x.reshape(16, 12).at("5:7").reshape(3, 8)), run(60, 24));
      assert.deepEqual(numbersOf(x.at("3:4").swapAxes(0, 1)), run(72, 24));
      assert.deepEqual(numbersOf(x.at(5).expandDims(1)), run(120, 24));
      assert.deepEqual(numbersOf(x.flatten().at("7:9")), run(7, 2));
    });
    assert.deepEqual(work, NOTHING);
  });

  test("what is not contiguous is computed as before: columns, steps, backwards", () => {
    const x = counting([6, 4]);
    assert.deepEqual(numbersOf(x.at(":", 1)), [1, 5, 9, 13, 17, 21]);
    assert.deepEqual(numbersOf(x.at("::2", ":")), [...run(0, 4), ...run(8, 4), ...run(16, 4)]);
    assert.deepEqual(numbersOf(x.at("3:1:-1")), [...run(12, 4), ...run(8, 4)]);
    assert.deepEqual(numbersOf(x.at("1:3", "0:2")), [4, 5, 8, 9]);
    assert.deepEqual(numbersOf(x.T.at(1)), [1, 5, 9, 13, 17, 21]);
  });

  test("no elements, no axes, and all of it", () => {
    const x = counting([4, 3]);
    assert.deepEqual([...x.at("2:2").shape], [0, 3]);
    assert.deepEqual(numbersOf(x.at("2:2")), []);
    assert.deepEqual(numbersOf(x.at("4:").mul(2)), []);
    assert.equal(x.at("4:").sum().itemSync(), 0);
    assert.deepEqual(numbersOf(zeros([0, 3]).realize().at("0:0")), []);
    assert.equal(tensor(7).realize().at().itemSync(), 7);
    assert.equal(tensor(7).realize().reshape(1, 1).at(0, 0).itemSync(), 7);
    assert.deepEqual(numbersOf(x.at(":")), run(0, 12));
    assert.deepEqual(numbersOf(x.at("...")), run(0, 12));
    assert.deepEqual(
      workBy(device, () => numbersOf(x.at(":", ":"))),
      NOTHING,
    );
  });

  test("what is written twice is read and computed once", () => {
    const x = counting([40, 16]);
    const once = (i: number) => {
      const row = x.at(range(4 * i, 4 * i + 4));
      return row.exp().sum().add(row.exp().mean());
    };
    const twice = (i: number) => {
      const row = () => x.at(range(4 * i, 4 * i + 4));
      return row().exp().sum().add(row().exp().mean());
    };
    const sizes = (t: Tensor) => /1\. .*?reads (.*?); writes/.exec(explain(t))?.[1];
    assert.equal(sizes(twice(3)), sizes(once(3)));
    assert.equal(explain(twice(5)).split("\n").length, explain(once(5)).split("\n").length);
    assert.equal(twice(2).itemSync(), once(2).itemSync());
    // Two that begin at different places do not take the program of two that are one.
    const apart = (i: number, j: number) => x.at(i).mul(3).add(x.at(j));
    for (const [i, j] of [
      [1, 1],
      [1, 2],
      [2, 2],
      [3, 0],
    ] as const) {
      assert.deepEqual(
        numbersOf(apart(i, j)),
        run(16 * i, 16).map((v, k) => 3 * v + byteAt(16 * j + k)),
      );
    }
  });

  test("a sum of 40 slices of one tensor, each where it is", () => {
    const x = counting([80, 8]);
    for (const step of [1, 2]) {
      let total = x.at(0);
      for (let i = 1; i < 40; i++) total = total.add(x.at(step * i));
      const expected = Array.from({ length: 8 }, (_, k) =>
        Array.from({ length: 40 }, (_, i) => byteAt(8 * step * i + k)),
      );
      assert.deepEqual(
        numbersOf(total),
        expected.map((column) => column.reduce((sum, v) => sum + v, 0)),
      );
    }
  });

  test("neighbours: the difference of a tensor and itself one further on is one kernel without a copy", () => {
    const x = counting([1000]);
    const work = workBy(device, () => {
      assert.deepEqual(
        numbersOf(x.at("1:").sub(x.at(":-1"))),
        Array.from({ length: 999 }, (_, i) => byteAt(i + 1) - byteAt(i)),
      );
    });
    assert.deepEqual(work, { compiled: 1, kernels: 1 });
  });

  test("loops and choices read slices from outside", () => {
    const x = counting([30, 6]);
    const scanned = jit((t: Tensor) => t.sum({ axis: 0 }));
    for (let i = 0; i < 5; i++) {
      const [from, to] = [3 * i, 3 * i + 3];
      const columns = Array.from({ length: 6 }, (_, k) =>
        [0, 1, 2].reduce((sum, row) => sum + byteAt(6 * (from + row) + k), 0),
      );
      assert.deepEqual(numbersOf(scanned(x.at(range(from, to)))), columns);
      assert.deepEqual(numbersOf(x.at(range(from, to)).cumsum({ axis: 0 }).at(-1)), columns);
      assert.deepEqual(
        numbersOf(x.at(range(from, to)).flatten().sort()),
        run(18 * i, 18).sort((a, b) => a - b),
      );
      assert.deepEqual(
        numbersOf(vmap((row: Tensor) => row.sum())(x.at(range(from, to)))),
        [0, 1, 2].map((row) => run(6 * (from + row), 6).reduce((sum, v) => sum + v, 0)),
      );
    }
  });

  test("gradients by slices, and with slices as data", () => {
    const x = counting([10, 4]);
    const w = tensor([1, 2, 3, 4]).realize();
    const slopes = workBy(device, () => {
      for (let i = 0; i < 10; i++) {
        assert.deepEqual(numbersOf(grad((v: Tensor) => x.at(i).mul(v).sum())(w)), run(4 * i, 4));
      }
    });
    assert.ok(slopes.compiled <= 1, `${slopes.compiled} programs`);
    const byPlace = grad((t: Tensor) => t.at(3).square().sum())(x);
    assert.deepEqual(
      numbersOf(byPlace),
      Array.from({ length: 40 }, (_, i) => (i >= 12 && i < 16 ? 2 * byteAt(i) : 0)),
    );
    const inside = grad((v: Tensor) => {
      const row = x.at(2).mul(v);
      assert.deepEqual(
        numbersOf(row),
        run(8, 4).map((value, k) => value * (k + 1)),
      );
      return row.sum();
    })(w);
    assert.deepEqual(numbersOf(inside), run(8, 4));
  });

  test("a slice outlives its tensor, and a tensor its slices; the memory is there until the last of them ends", () => {
    engineOf(device).collect();
    const before = usedBytes(device);
    const x = counting([64, 1024]);
    const slice = x.at("16:32").realize();
    const full = usedBytes(device);
    x.dispose();
    assert.equal(usedBytes(device), full, "the slice holds the memory");
    assert.deepEqual(numbersOf(slice.at(3)), run(1024 * 19, 1024));
    const part = slice.at("2:4").realize();
    slice.dispose();
    assert.throws(() => slice.at(0), DisposedError);
    // Whoever would take the freed memory is not to write what the last part reads.
    const other = zeros([64, 1024]).add(5).realize();
    assert.deepEqual(numbersOf(part), run(1024 * 18, 2048));
    other.dispose();
    part.dispose();
    engineOf(device).collect();
    assert.equal(usedBytes(device), before);
    const y = counting([64, 1024]);
    y.at("0:32").realize().dispose();
    assert.deepEqual(numbersOf(y.at(40)), run(40960, 1024));
  });

  test("slices that nobody holds any more are collected", () => {
    engineOf(device).collect();
    const before = usedBytes(device);
    const leave = () => {
      const x = counting([64, 1024]);
      for (let i = 0; i < 64; i += 16) x.at(range(i, i + 16)).realize();
      x.dispose();
    };
    leave();
    assert.ok(usedBytes(device) > before);
    engineOf(device).collect();
    assert.equal(usedBytes(device), before);
  });

  test("a small slice of a large tensor is a copy, so that it does not keep it", () => {
    engineOf(device).collect();
    const before = usedBytes(device);
    const held = (bytes: number): number => {
      const x = zeros([MiB]).add(1).realize();
      const slice = x.at(range(0, bytes / 4)).realize();
      x.dispose();
      const kept = usedBytes(device) - before;
      assert.equal(slice.sum().itemSync(), bytes / 4);
      slice.dispose();
      engineOf(device).collect();
      return kept;
    };
    assert.ok(held(4) < 64 * 1024, "an element of 4 MiB");
    assert.ok(held(64 * 1024 - 16) < MiB, "just below 64 KiB");
    assert.ok(held(64 * 1024) >= 4 * MiB, "from 64 KiB on it is the memory itself");
    const small = zeros([256, 1024]).add(1).realize();
    const row = small.at("3:4").realize();
    const full = usedBytes(device);
    small.dispose();
    assert.equal(usedBytes(device), full, "1 MiB is kept for a row");
    row.dispose();
    // What is left of a large tensor counts as large, however small the slice of it that is sliced again.
    const x = zeros([1024, 1024]).add(1).realize();
    const slice = x.at("0:32").realize();
    const part = slice.at("0:1").realize();
    x.dispose();
    slice.dispose();
    assert.ok(usedBytes(device) - before < MiB);
    assert.deepEqual(numbersOf(part.at(0, "0:2")), [1, 1]);
    part.dispose();
  });

  test("memory that is shared is never donated: neither the tensor's nor the slice's", () => {
    const fill = jit((w: Tensor) => w.mul(0).sub(1), { donate: 0 });
    const x = counting([32, 64]);
    const slice = x.at("8:24").realize();
    const result = fill(slice);
    assert.ok(slice.isDisposed);
    assert.deepEqual(numbersOf(x.at("8:24")), run(512, 1024));
    assert.deepEqual(numbersOf(result), new Array<number>(1024).fill(-1));
    const kept = x.at("0:16").realize();
    const all = fill(x);
    assert.ok(x.isDisposed);
    assert.deepEqual(numbersOf(kept), run(0, 1024));
    assert.equal(numbersOf(all)[5], -1);
    // A slice that is the last holder is no memory to go on with either: it would keep all of the tensor.
    const last = fill(kept);
    assert.deepEqual(numbersOf(last), new Array<number>(1024).fill(-1));
    // Without slices, memory is taken over again.
    const own = counting([32, 64]);
    own.at("0:16").realize().dispose();
    const memory = own.node.storage;
    assert.ok(fill(own).node.storage === memory, "the same memory");
    // A slice that waits holds its tensor back as well.
    const y = counting([32, 64]);
    const waiting = y.at("3:5");
    fill(y).realize();
    assert.deepEqual(numbersOf(waiting), run(192, 128));
  });

  test("a tensor and slices of it are arguments of one call, one of them donated", () => {
    const step = jit((w: Tensor, batch: Tensor) => ({ w: w.mul(2), sum: batch.sum() }), { donate: 0 });
    const x = counting([16, 64]);
    const batch = x.at("4:8").realize();
    const { w, sum } = step(x, batch);
    assert.deepEqual(
      numbersOf(w),
      run(0, 1024).map((v) => 2 * v),
    );
    assert.equal(
      sum.itemSync(),
      run(256, 256).reduce((total, v) => total + v, 0),
    );
    assert.deepEqual(numbersOf(batch), run(256, 256));
  });

  test("kernels that write memory come before those that read slices of it, and reuse of it after", () => {
    const n = 65_536;
    for (let round = 0; round < 20; round++) {
      const x = zeros([4, n]).add(round).realize();
      const slice = x.at(range(1, 3)).realize();
      x.dispose();
      const twice = slice.mul(2).realize();
      slice.dispose();
      // Takes the memory that was just given up.
      const next = zeros([4, n]).sub(1).realize();
      assert.equal(twice.max().itemSync(), 2 * round);
      assert.equal(twice.min().itemSync(), 2 * round);
      assert.equal(next.max().itemSync(), -1);
      next.dispose();
    }
  });

  test("replays of a jitted function on slices are in order with what wrote them", () => {
    const add = jit((t: Tensor, u: Tensor) => t.add(u));
    let x = counting([8, 4096]);
    const one = zeros([8, 4096]).add(1).realize();
    for (let round = 1; round <= 10; round++) {
      x = add(x, one);
      const halves = [x.at("0:4"), x.at("4:8")] as const;
      const sum = add(...halves);
      const [first, last] = [numbersOf(sum.at(0, 0)), numbersOf(sum.at(3, 4095))];
      assert.deepEqual(first, [byteAt(0) + byteAt(4 * 4096) + 2 * round]);
      assert.deepEqual(last, [byteAt(4 * 4096 - 1) + byteAt(8 * 4096 - 1) + 2 * round]);
    }
  });

  test("printing, bytes, files and other devices get the slice alone", async () => {
    const x = counting([6, 4]);
    const slice = x.at("1:3");
    assert.match(inspect(slice), /\[\[ 4\., {2}5\., {2}6\., {2}7\.\],\s+\[ 8\., {2}9\., 10\., 11\.\]\]/);
    assert.equal((await slice.bytes()).byteLength, 32);
    assert.deepEqual(Array.from((await x.at(4).data()) as Float32Array), run(16, 4));
    assert.equal(await x.at(4, 3).item(), 19);
    assert.deepEqual(await x.at("0:2", "...").array(), [run(0, 4), run(4, 4)]);
    assert.deepEqual(numbersOf(slice.to("cpu")), run(4, 8));
    const folder = mkdtempSync(join(tmpdir(), "pumice-slices-"));
    try {
      await io.saveNpy(join(folder, "slice.npy"), slice);
      assert.equal(statSync(join(folder, "slice.npy")).size, 128 + 32);
      assert.deepEqual(numbersOf(await io.loadNpy(join(folder, "slice.npy"))), run(4, 8));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("explain says that a slice is a part of memory", () => {
    const x = counting([6, 4]);
    assert.match(explain(x.at(2)), /part of memory that is there: nothing would run/);
    assert.match(explain(x.at(2).mul(2)), /reads a f32\[1, 4\]/);
  });

  test("a slice that is realised is the tensor's memory, or on a GPU a copy where that is between vectors", () => {
    const x = counting([40, 10]);
    const begin = (t: Tensor) => Number((t.realize().node.storage as unknown as { readonly address: bigint }).address);
    for (let row = 0; row < 40; row++) {
      const isShared = begin(x.at(row)) === begin(x) + 40 * row;
      assert.equal(isShared, !isStrict(device) || row % 2 === 0, `row ${row}`);
      if (isStrict(device)) assert.equal(begin(x.at(row)) % 16, 0);
    }
  });

  if (isStrict(device)) {
    test("a program reads a slice in vectors where it begins at one, and not where it begins between two", () => {
      const x = counting([200, 300]).flatten();
      const softmax = (from: number) =>
        explain(
          x
            .at(range(from, from + 128 * 300))
            .reshape(128, 300)
            .softmax(),
        );
      assert.match(softmax(4), /a in vectors of 4/);
      assert.doesNotMatch(softmax(1), /a in vectors/);
    });
  }
});
