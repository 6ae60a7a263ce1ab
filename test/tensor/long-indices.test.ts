/**
 * Tensors that 32 bits do not count. Most are never stored, so that every device can test them: a counter of 2^33 numbers
 * needs no memory until something of it is asked for. Those that are stored need a device that holds them.
 */

import assert from "node:assert/strict";
import { freemem } from "node:os";
import { test } from "node:test";
import { UnsupportedError } from "../../src/core/errors.js";
import { arange, concat, eye, full, ones, type Tensor, tensor, zeros } from "../../src/tensor/index.js";
import { vulkanEngineOf } from "../support/engines.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const expect = (x: Tensor, wanted: readonly number[]) => assert.deepEqual(numbersOf(x), wanted);

/** Bytes that a tensor may have on a device. */
function roomOn(device: string): number {
  if (device === "cpu") return Math.min(freemem() / 2, 2 ** 32 - 2 ** 26);
  const { plan, properties } = vulkanEngineOf(device);
  return Math.min(plan.deviceHeapBytes * 0.4, properties.limits.maxBufferSize || Number.POSITIVE_INFINITY);
}

describeOnTensorDevices("long indices", (device) => {
  const whenThereIsRoomFor = (bytes: number) =>
    roomOn(device) < bytes && `${device} has no room for a tensor of ${(bytes / 2 ** 30).toFixed(1)} GiB`;

  test("a counter goes on beyond 2^31, forwards and backwards, cut, strided and reshaped", () => {
    const n = 2 ** 33;
    const counter = arange(n, { dtype: "i64" });
    assert.equal(counter.dtype, "i64");
    expect(counter.at("-3:"), [n - 3, n - 2, n - 1]);
    expect(counter.at("::2147483648"), [0, 2 ** 31, 2 ** 32, 3 * 2 ** 31]);
    expect(counter.flip().at(":2"), [n - 1, n - 2]);
    expect(counter.roll(2).at(":4"), [n - 2, n - 1, 0, 1]);
    const square = arange(2 ** 34, { dtype: "i64" }).reshape(2 ** 17, 2 ** 17);
    expect(square.at(-1, "-2:"), [2 ** 34 - 2, 2 ** 34 - 1]);
    expect(square.T.at(-2, "-2:"), [2 ** 34 - 2 ** 17 - 2, 2 ** 34 - 2]);
    expect(square.at("65535:65537", 3), [65535 * 2 ** 17 + 3, 65536 * 2 ** 17 + 3]);
  });

  test("values at long positions are found, and positions outside read the nearest end", () => {
    const positions = tensor([0n, 2n ** 32n + 5n, 2n ** 33n - 1n, 2n ** 40n, -1n], { dtype: "i64" });
    expect(arange(2 ** 33, { dtype: "i64" }).take(positions), [0, 2 ** 32 + 5, 2 ** 33 - 1, 2 ** 33 - 1, 2 ** 33 - 1]);
    expect(arange(10).take(positions), [0, 9, 9, 9, 9]);
    expect(arange(10).take(tensor([4_000_000_000, 3], { dtype: "u32" })), [9, 3]);
  });

  test("index tensors reach beyond 2^31, from either end, beside numbers and in index vectors", () => {
    const n = 2 ** 33;
    const counter = arange(n, { dtype: "i64" });
    expect(counter.at([2 ** 32 + 1, 5]), [2 ** 32 + 1, 5]);
    expect(counter.at(tensor([2n ** 32n + 1n, -1n, -(2n ** 32n), 2n ** 50n, -(2n ** 50n)])), [
      2 ** 32 + 1,
      n - 1,
      2 ** 32,
      n - 1,
      0,
    ]);
    expect(counter.at(tensor([-1, 7], { dtype: "i32" })), [n - 1, 7]);
    expect(counter.at(tensor([2n ** 32n + 9n, 2n ** 63n], { dtype: "u64" })), [2 ** 32 + 9, n - 1]);
    expect(counter.at(tensor([2 ** 32 - 1], { dtype: "u32" })), [2 ** 32 - 1]);
    expect(counter.gather([[2 ** 32 + 1], [-2]]), [2 ** 32 + 1, n - 2]);
    const columns = arange(2 * n, { dtype: "i64" }).reshape(n, 2);
    expect(columns.at(2 ** 32 + 3, [1, 0]), [2 * (2 ** 32 + 3) + 1, 2 * (2 ** 32 + 3)]);
    expect(columns.gather([[2 ** 32 + 3, 1]]), [2 * (2 ** 32 + 3) + 1]);
  });

  test("triangles, diagonals and classes reach beyond 2^31", () => {
    const far = 2 ** 32;
    expect(
      ones([far, 2])
        .tril()
        .at(far - 1),
      [1, 1],
    );
    expect(
      ones([1, 2 * far])
        .triu(5)
        .at(0, far + 1),
      [1],
    );
    expect(
      ones([1, 2 * far])
        .triu(far + 1)
        .at(0, `${far}:${far + 2}`),
      [0, 1],
    );
    expect(
      ones([far, 2])
        .tril(-far + 2)
        .at("-3:"),
      [0, 0, 1, 0, 1, 1],
    );
    expect(eye(3, 2 * far).at(0, far), [0]);
    expect(eye(2 * far, 4, { offset: -far }).at(far + 1), [0, 1, 0, 0]);
    expect(eye(3, 2 * far, { offset: far }).at(1, `${far}:${far + 3}`), [0, 1, 0]);
    expect(
      zeros([2, 2 * far])
        .putDiagonal(tensor([3, 4]), { offset: far })
        .at(1, `${far}:${far + 3}`),
      [0, 4, 0],
    );
    expect(
      tensor([2n ** 32n])
        .oneHot(2 * far)
        .at(0, `${far - 1}:${far + 2}`),
      [0, 1, 0],
    );
    const unsigned = tensor([far - 1], { dtype: "u32" });
    expect(unsigned.oneHot(2 * far).at(0, `${far - 2}:${far + 1}`), [0, 1, 0]);
    expect(unsigned.oneHot(3), [0, 0, 0]);
  });

  test("diagonals outside a matrix are empty, however far", () => {
    expect(ones([1, 2]).triu(2 ** 40), [0, 0]);
    expect(ones([1, 2]).triu(-(2 ** 40)), [1, 1]);
    expect(ones([1, 2]).tril(2 ** 40), [1, 1]);
    expect(eye(1, 2, { offset: 2 ** 40 }), [0, 0]);
    expect(ones([1, 2]).putDiagonal(5, { offset: -(2 ** 40) }), [1, 1]);
  });

  test("padding with what is there reaches beyond 2^31", () => {
    const n = 2 ** 33;
    const counter = arange(n, { dtype: "i64" });
    const around = (mode: "edge" | "reflect" | "symmetric") => counter.pad([[2, 2]], { mode });
    expect(around("edge").at("-4:"), [n - 2, n - 1, n - 1, n - 1]);
    expect(around("reflect").at("-4:"), [n - 2, n - 1, n - 2, n - 3]);
    expect(around("symmetric").at("-4:"), [n - 2, n - 1, n - 1, n - 2]);
    expect(around("reflect").at(":3"), [2, 1, 0]);
    const long = 2 ** 31 - 100;
    expect(
      arange(long)
        .pad([[0, 2]], { mode: "reflect" })
        .at("-3:"),
      [long - 1, long - 2, long - 3],
    );
  });

  test("positions along long axes are i64, and counts of so many elements", () => {
    const none = zeros([0, 2 ** 33]);
    assert.equal(none.argmax({ axis: 1 }).dtype, "i64");
    assert.equal(none.argmin({ axis: 1 }).dtype, "i64");
    assert.equal(zeros([0, 5]).argmax({ axis: 1 }).dtype, "i32");
    assert.equal(ones([2 ** 33]).countNonzero().dtype, "i64");
    expect(ones([2 ** 33]).countNonzero(), [2 ** 33]);
    expect(
      ones([4, 2 ** 20])
        .countNonzero({ axis: 0 })
        .at(":2"),
      [4, 4],
    );
  });

  test("padding and joining reach that far", () => {
    const far = 2 ** 33;
    expect(
      arange(3)
        .pad([[far, 2]])
        .at(`${far - 1}:`),
      [0, 0, 1, 2, 0, 0],
    );
    const none = zeros([2 ** 32], { dtype: "i64" });
    expect(concat([none, arange(4, 6).cast("i64"), none]).at(`${2 ** 32 - 1}:${2 ** 32 + 3}`), [0, 4, 5, 0]);
    expect(eye(2 ** 17).at(-1, "-2:"), [0, 1]);
  });

  test("sums of what is nowhere stored are right, over any number of elements", () => {
    // Σ 8192 i for i below 2^20
    expect(
      arange(2 ** 33, { dtype: "i64" })
        .at("::8192")
        .sum(),
      [8192 * 2 ** 20 * 2 ** 19 - 8192 * 2 ** 19],
    );
    expect(
      arange(2 ** 33, { dtype: "i64" })
        .at("::4096")
        .cast("f64")
        .max(),
      [2 ** 33 - 4096],
    );
    const rows = arange(2 ** 34, { dtype: "i64" })
      .reshape(2 ** 17, 2 ** 17)
      .at("-2:", "::64")
      .cast("f64")
      .sum({ axis: 1 });
    const sumOf = (row: number) => 2048 * row * 2 ** 17 + (64 * 2048 * 2047) / 2;
    expect(rows, [sumOf(2 ** 17 - 2), sumOf(2 ** 17 - 1)]);
  });

  test("reductions of a constant count its elements, however many", () => {
    expect(zeros([2 ** 40]).sum(), [0]);
    expect(ones([2 ** 40]).sum(), [2 ** 40]);
    expect(full([2 ** 20, 2 ** 20, 3], 0.5).sum({ axis: [0, 1] }), [2 ** 39, 2 ** 39, 2 ** 39]);
    // 3 · 2^33 and 3^(2^33), in 32 bits
    expect(full([2 ** 33], 3, { dtype: "i32" }).sum(), [0]);
    expect(full([2 ** 33 + 1], 3, { dtype: "u32" }).prod(), [3]);
    expect(full([2 ** 40], -2.5).max(), [-2.5]);
    expect(full([2 ** 40], -2.5).mean(), [-2.5]);
    expect(zeros([2 ** 40], { dtype: "bool" }).any(), [0]);
  });

  test("the sum of a repeated tensor is a multiple of its sum", () => {
    const x = tensor([1, 2, 3.5]);
    expect(
      x
        .reshape(3, 1)
        .broadcastTo([3, 2 ** 35])
        .sum({ axis: 1 }),
      [2 ** 35, 2 ** 36, 3.5 * 2 ** 35],
    );
    expect(x.broadcastTo([2 ** 35, 3]).sum(), [6.5 * 2 ** 35]);
    expect(x.broadcastTo([2 ** 35, 3]).max({ axis: 0 }), [1, 2, 3.5]);
  });

  test("what counts in 32 bits says so", () => {
    const far = zeros([2 ** 33]);
    const updates: [string, () => Tensor][] = [
      ["scatter", () => far.scatter([2 ** 32], 1, { op: "add" })],
      ["scatterNd", () => far.scatterNd([[2 ** 32]], 1)],
      ["putAlongAxis", () => far.putAlongAxis([2 ** 32], 1, { axis: 0 })],
      ["addAt", () => far.addAt([2 ** 32], 1)],
      ["set", () => far.reshape(2 ** 16, 2 ** 17).set([3], [5], 1)],
      ["bincount", () => tensor([1], { dtype: "i32" }).bincount({ length: 2 ** 32 })],
    ];
    for (const [name, update] of updates) {
      assert.throws(
        update,
        (error) => error instanceof UnsupportedError && error.message.startsWith(`${name}: `),
        name,
      );
    }
    assert.throws(
      () =>
        zeros([2 ** 32])
          .cumsum()
          .at("-1:")
          .dataSync(),
      UnsupportedError,
    );
  });

  test("a stored tensor of more than 2^31 bytes is written and read to its end", {
    skip: whenThereIsRoomFor(2 ** 31 + 10),
  }, () => {
    const n = 2 ** 31 + 10;
    const x = arange(n, { dtype: "u8" }).realize();
    expect(x.at("-12:"), [254, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(x.at(`${2 ** 31 - 2}:${2 ** 31 + 2}`).flip(), [1, 0, 255, 254]);
    let wanted = 0;
    for (let i = 0; i < n; i += 4097) wanted += i % 256;
    expect(x.at("::4097").cast("i64").sum(), [wanted]);
    x.dispose();
  });

  test("more than 2^31 elements of 4 bytes: sums, results and rows of them", {
    skip: whenThereIsRoomFor(4 * (2 ** 31 + 4096)),
  }, () => {
    const n = 2 ** 31 + 4096;
    const x = arange(n, { dtype: "u32" }).realize();
    expect(x.at("-3:"), [n - 3, n - 2, n - 1]);
    expect(x.cast("u64").sum(), [(n * (n - 1)) / 2]);
    const y = x.add(x).realize();
    expect(y.at("-2:"), [(2 * (n - 2)) % 2 ** 32, (2 * (n - 1)) % 2 ** 32]);
    expect(y.at(`${2 ** 30 - 1}:${2 ** 30 + 2}`), [2 ** 31 - 2, 2 ** 31, 2 ** 31 + 2]);
    y.dispose();
    const rows = x
      .reshape(n / 4096, 4096)
      .cast("u64")
      .sum({ axis: 1 });
    const last = n - 4096;
    expect(rows.at("-1:"), [4096 * last + (4096 * 4095) / 2]);
    const columns = x.reshape(n / 4096, 4096).max({ axis: 0 });
    expect(columns.at("-2:"), [n - 2, n - 1]);
    x.dispose();
  });

  test("more than 2^32 elements: rows beyond 32 bits", { skip: whenThereIsRoomFor(5_000_000_100) }, () => {
    const n = 5_000_000_100;
    const x = arange(n, { dtype: "u8" }).realize();
    expect(
      x.at("-4:"),
      [0, 1, 2, 3].map((i) => (n - 4 + i) % 256),
    );
    const whole = Math.floor(n / 256);
    const rest = n % 256;
    expect(x.cast("u64").sum(), [whole * 32640 + (rest * (rest - 1)) / 2]);
    const y = x.add(1).realize();
    expect(y.at("-2:"), [(n - 1) % 256, n % 256]);
    expect(y.at(`${2 ** 32 - 2}:${2 ** 32 + 1}`), [255, 0, 1]);
    const positions = tensor([BigInt(n - 1), 2n ** 32n + 7n, 3n], { dtype: "i64" });
    expect(x.take(positions), [(n - 1) % 256, 7, 3]);
    y.dispose();
    x.dispose();
  });
});
