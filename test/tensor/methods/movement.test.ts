/** Rearrangements against the index rule each stands for, applied by loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType, Scalar } from "../../../src/core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../../src/core/errors.js";
import {
  arange,
  blockDiagonal,
  broadcastTensors,
  meshgrid,
  type PadMode,
  type Tensor,
  tensor,
  tri,
  zeros,
} from "../../../src/tensor/index.js";
import { grad } from "../../../src/transforms/grad.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  narrowDTypes,
  type Plain,
  plainOf,
  read,
  realDTypes,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

const shapes = [[3, 4], [7], [2, 3, 1, 5], [2, 1, 3, 2, 2]];
const mod = (a: number, n: number) => ((a % n) + n) % n;
const sample = (shape: readonly number[], dtype: DType = "f32"): Plain => ({
  shape,
  values: sampleValues(dtype, count(shape), shape.length),
});

/** A rearrangement, checked on several shapes, on each view of them. */
function rearranges(
  what: string,
  apply: (x: Tensor) => Tensor,
  rule: (x: Plain) => Plain,
  over: readonly (readonly number[])[] = shapes,
): void {
  test(what, () => {
    for (const shape of over) {
      const plain = sample(shape);
      const want = rule(plain);
      // Views of one shape are enough: each is a kernel to compile.
      const views = shape === over[0] ? viewsOf(plain, "f32") : [{ name: "whole", x: toTensor(plain, "f32") }];
      for (const { name, x } of views) {
        expectTensor(apply(x), want, "f32", undefined, `${what} of [${shape}], ${name}`);
      }
    }
  });
}

describeOnTensorDevices("movement", () => {
  rearranges(
    "roll along the last axis by more than its length",
    (x) => x.roll(9, { axis: -1 }),
    (p) => plainOf(p.shape, (i) => read(p, i.with(-1, mod(i.at(-1)! - 9, p.shape.at(-1)!)))),
  );
  rearranges(
    "roll along two axes",
    (x) => x.roll([-1, 2], { axis: [0, -1] }),
    (p) =>
      plainOf(p.shape, (i) =>
        read(p, i.with(0, mod(i[0]! + 1, p.shape[0]!)).with(-1, mod(i.at(-1)! - 2, p.shape.at(-1)!))),
      ),
    [
      [3, 4],
      [2, 3, 1, 5],
    ],
  );
  rearranges(
    "roll of all elements in row-major order",
    (x) => x.roll(2),
    (p) => ({ shape: p.shape, values: p.values.map((_, i) => p.values[mod(i - 2, p.values.length)]!) }),
  );
  rearranges(
    "tile repeats the last axis and adds axes in front",
    (x) => x.tile(2, ...new Array(x.rank - 1).fill(1), 3),
    (p) =>
      plainOf([2, ...p.shape.slice(0, -1), 3 * p.shape.at(-1)!], ([, ...i]) =>
        read(
          p,
          i.map((at, axis) => at % p.shape[axis]!),
        ),
      ),
  );
  rearranges(
    "tile with fewer counts than axes counts from the last",
    (x) => x.tile([2]),
    (p) => plainOf(p.shape.with(-1, 2 * p.shape.at(-1)!), (i) => read(p, i.with(-1, i.at(-1)! % p.shape.at(-1)!))),
  );
  rearranges(
    "repeat along an axis",
    (x) => x.repeat(3, { axis: -1 }),
    (p) => plainOf(p.shape.with(-1, 3 * p.shape.at(-1)!), (i) => read(p, i.with(-1, Math.floor(i.at(-1)! / 3)))),
  );
  rearranges(
    "repeat of all elements",
    (x) => x.repeat(2),
    (p) => ({ shape: [2 * p.values.length], values: p.values.flatMap((v) => [v, v]) }),
  );

  const countAt = (place: number) => (place * 5) % 4;
  const repeated = (n: number) =>
    Array.from({ length: n }, (_, place) => new Array<number>(countAt(place)).fill(place)).flat();
  rearranges(
    "repeat of each place along an axis so often as its count",
    (x) => x.repeat(Array.from({ length: x.shape[0] as number }, (_, i) => countAt(i)), { axis: 0 }), // biome-ignore format: one line
    (p) => {
      const from = repeated(p.shape[0] as number);
      return plainOf(p.shape.with(0, from.length), (i) => read(p, i.with(0, from[i[0] as number] as number)));
    },
  );
  rearranges(
    "repeat of each of all elements so often as its count",
    (x) => x.repeat(Int32Array.from({ length: x.size }, (_, i) => countAt(i)) as unknown as number[]),
    (p) => {
      const values = repeated(p.values.length).map((place) => p.values[place] as number);
      return { shape: [values.length], values };
    },
  );

  const padding: Record<Exclude<PadMode, "constant">, (i: number, n: number) => number> = {
    edge: (i, n) => Math.min(Math.max(i, 0), n - 1),
    wrap: (i, n) => mod(i, n),
    symmetric: (i, n) => Math.min(mod(i, 2 * n), 2 * n - 1 - mod(i, 2 * n)),
    reflect: (i, n) => (n === 1 ? 0 : Math.min(mod(i, 2 * n - 2), 2 * n - 2 - mod(i, 2 * n - 2))),
  };
  for (const [mode, at] of Object.entries(padding)) {
    rearranges(
      `pad by "${mode}", further than the axis is long`,
      (x) =>
        x.pad(
          x.shape.map((_, axis): [number, number] => (axis === 0 ? [11, 9] : [1, 0])),
          { mode: mode as PadMode },
        ),
      (p) => {
        const before = p.shape.map((_, axis) => (axis === 0 ? 11 : 1));
        const shape = p.shape.map((n, axis) => n + (axis === 0 ? 20 : 1));
        return plainOf(shape, (i) =>
          read(
            p,
            i.map((v, axis) => at(v - before[axis]!, p.shape[axis]!)),
          ),
        );
      },
      shapes.slice(0, 3),
    );
  }
  test("what pads is any value of the dtype, and elements that are NaN stay beside it", () => {
    const padded = (x: Tensor, value: Scalar) => Array.from(x.pad([[1, 2]], { value }).dataSync() as ArrayLike<Scalar>);
    assert.deepEqual(padded(tensor([1, Number.NaN]), -0), [-0, 1, Number.NaN, -0, -0]);
    assert.deepEqual(padded(tensor([1]), Number.NaN), [Number.NaN, 1, Number.NaN, Number.NaN]);
    const large = 9007199254740993n;
    assert.deepEqual(padded(tensor([1n]), large), [large, 1n, large, large]);
    assert.deepEqual(padded(tensor([false]), true), [1, 0, 1, 1]);
    assert.deepEqual(padded(tensor([1], { dtype: "c64" }), { re: 1, im: -2 }), [1, -2, 1, 0, 1, -2, 1, -2]);
    assert.deepEqual(padded(tensor([3], { dtype: "u8" }), 255), [255, 3, 255, 255]);
    const ct = grad((x: Tensor) =>
      x
        .pad([[1, 1]], { value: 5, interior: [1] })
        .square()
        .sum(),
    )(tensor([1, 2]));
    assert.deepEqual(ct.arraySync(), [2, 4]);
  });

  test("pad by a value still does, and other modes are named when one is wrong", () => {
    assert.deepEqual(
      tensor([1, 2])
        .pad([[1, 1]], { mode: "constant", value: 7 })
        .arraySync(),
      [7, 1, 2, 7],
    );
    assert.throws(() => tensor([1]).pad([[1, 1]], { mode: "mirror" as PadMode }), { message: /"mirror".*reflect/ });
    assert.throws(() => tensor([1]).pad([], { mode: "edge" }), ArgumentError);
    assert.throws(() => zeros([0]).pad([[1, 1]], { mode: "edge" }), ShapeError);
  });

  test("negative amounts cut off in every mode, as of the tensor that goes on without end", () => {
    const modes = {
      constant: [2, 3, 4, 0, 0, 0],
      edge: [2, 3, 4, 4, 4, 4],
      reflect: [2, 3, 4, 3, 2, 1],
      symmetric: [2, 3, 4, 4, 3, 2],
      wrap: [2, 3, 4, 1, 2, 3],
    };
    for (const [mode, want] of Object.entries(modes) as [PadMode, number[]][]) {
      const x = tensor([1, 2, 3, 4]);
      assert.deepEqual(x.pad([[-1, 3]], { mode }).arraySync(), want, mode);
      assert.deepEqual(x.pad([[3, -1]], { mode }).flip().arraySync(), tensor([4, 3, 2, 1]).pad([[-1, 3]], { mode }).arraySync(), mode); // biome-ignore format: one line
      assert.deepEqual(x.pad([[-1, 1]], { mode }).arraySync(), want.slice(0, 4), mode);
      assert.deepEqual(x.pad([[-3, 0]], { mode }).arraySync(), [4], mode);
      assert.deepEqual(x.pad([[-2, -2]], { mode }).arraySync(), [], mode);
      assert.throws(() => x.pad([[-3, -2]], { mode }), ShapeError);
    }
    assert.throws(() => tensor([1, 2]).pad([[-3, 0]], { mode: "edge" }), {
      message: "pad: [-3, 0] cuts more off axis 0 of [2] than it has elements.",
    });
  });

  const matrices = [
    [4, 4],
    [3, 5],
    [5, 3],
    [2, 3, 4],
  ];
  for (const offset of [0, 1, -2, 7, -7]) {
    rearranges(
      `triu and tril at diagonal ${offset}`,
      (x) => x.triu(offset).add(x.tril(offset).mul(100)),
      (p) =>
        plainOf(p.shape, (i) => {
          const [row, column] = i.slice(-2) as [number, number];
          const v = read(p, i);
          return (column - row >= offset ? v : 0) + (column - row <= offset ? v : 0) * 100;
        }),
      matrices,
    );
    rearranges(
      `diagonal ${offset}`,
      (x) => x.diagonal({ offset }),
      (p) => {
        const [rows, columns] = p.shape.slice(-2) as [number, number];
        const at = (k: number): [number, number] => (offset >= 0 ? [k, k + offset] : [k - offset, k]);
        let n = 0;
        while (at(n)[0] < rows && at(n)[1] < columns) n++;
        return plainOf([...p.shape.slice(0, -2), n], (i) => read(p, [...i.slice(0, -1), ...at(i.at(-1)!)]));
      },
      matrices,
    );
    rearranges(
      `diagonalMatrix ${offset}`,
      (x) => x.diagonalMatrix(offset),
      (p) => {
        const n = p.shape.at(-1)! + Math.abs(offset);
        return plainOf([...p.shape.slice(0, -1), n, n], (i) => {
          const [row, column] = i.slice(-2) as [number, number];
          return column - row === offset ? read(p, [...i.slice(0, -2), Math.min(row, column)]) : 0;
        });
      },
      [[4], [2, 3]],
    );
  }
  rearranges(
    "diagonal of other axes",
    (x) => x.diagonal({ axes: [2, 0] }),
    (p) => plainOf([3, 2], ([j, k]) => read(p, [k!, j!, k!])),
    [[2, 3, 4]],
  );
  rearranges(
    "trace",
    (x) => x.trace(),
    (p) => plainOf([2], ([b]) => [0, 1, 2].reduce((sum, k) => sum + read(p, [b!, k, k]), 0)),
    [[2, 3, 4]],
  );
  rearranges(
    "diff, twice",
    (x) => x.diff({ order: 2, axis: 0 }),
    (p) =>
      plainOf(p.shape.with(0, p.shape[0]! - 2), ([i, ...rest]) => {
        const at = (k: number) => read(p, [i! + k, ...rest]);
        return at(2) - at(1) - (at(1) - at(0));
      }),
    [[7], [3, 4], [5, 2, 2]],
  );

  for (const dtype of [...realDTypes, ...narrowDTypes, "bool"] as const) {
    test(`of ${dtype}`, () => {
      const plain = sample([3, 4], dtype);
      const x = toTensor(plain, dtype);
      const rolled = plainOf([3, 4], ([i, j]) => read(plain, [mod(i! - 1, 3), j!]));
      expectTensor(x.roll(1, { axis: 0 }), rolled, dtype, undefined, "roll");
      const lower = plainOf([3, 4], ([i, j]) => (j! > i! ? 0 : read(plain, [i!, j!])));
      expectTensor(x.tril(), lower, dtype, undefined, "tril");
      const edge = plainOf([3, 5], ([i, j]) => read(plain, [i!, Math.max(j! - 1, 0)]));
      expectTensor(
        x.pad(
          [
            [0, 0],
            [1, 0],
          ],
          { mode: "edge" },
        ),
        edge,
        dtype,
        undefined,
        "edge",
      );
    });
  }

  test("split into equal parts, at positions, and unstack", () => {
    const parts = arange(12).reshape(2, 6).split(3, { axis: 1 });
    assert.deepEqual(
      parts.map((part) => part.arraySync()),
      [
        [
          [0, 1],
          [6, 7],
        ],
        [
          [2, 3],
          [8, 9],
        ],
        [
          [4, 5],
          [10, 11],
        ],
      ],
    );
    const uneven = arange(7).split([2, 5, 5, -1]);
    assert.deepEqual(
      uneven.map((part) => part.arraySync()),
      [[0, 1], [2, 3, 4], [], [5], [6]],
    );
    assert.deepEqual(
      arange(4)
        .reshape(2, 2)
        .unstack({ axis: -1 })
        .map((part) => part.arraySync()),
      [
        [0, 2],
        [1, 3],
      ],
    );
    assert.throws(() => arange(7).split(3), { name: ShapeError.name, message: /split.*equal parts/ });
  });

  test("zero-size and rank-0 tensors", () => {
    assert.deepEqual(zeros([0, 3]).roll(1, { axis: 0 }).shape, [0, 3]);
    assert.deepEqual(zeros([0]).roll(1, { axis: 0 }).arraySync(), []);
    assert.deepEqual(tensor(3).tile(2).arraySync(), [3, 3]);
    assert.deepEqual(tensor([1, 2]).tile(0).shape, [0]);
    assert.deepEqual(tensor(3).repeat(2).arraySync(), [3, 3]);
    assert.deepEqual(tensor(3).repeat([2]).arraySync(), [3, 3]);
    assert.deepEqual(zeros([2, 0]).repeat(2, { axis: 1 }).shape, [2, 0]);
    assert.deepEqual(zeros([0, 3]).diagonal().shape, [0]);
    assert.deepEqual(zeros([0]).diagonalMatrix().shape, [0, 0]);
    assert.deepEqual(zeros([0, 3]).triu().shape, [0, 3]);
  });

  test("several axes move, and are inserted, at once", () => {
    const x = zeros([2, 3, 4, 5]);
    // The shapes of np.moveaxis and np.expand_dims.
    assert.deepEqual(x.moveAxis([0, 1], [-1, -2]).shape, [4, 5, 3, 2]);
    assert.deepEqual(x.moveAxis([3, 0], [0, 1]).shape, [5, 2, 3, 4]);
    assert.deepEqual(x.moveAxis(0, 2).shape, [3, 4, 2, 5]);
    assert.deepEqual(x.expandDims([0, 2]).shape, [1, 2, 1, 3, 4, 5]);
    assert.deepEqual(x.expandDims([-1, 0]).shape, [1, 2, 3, 4, 5, 1]);
    assert.throws(() => x.moveAxis([0, 1], 2), /^ArgumentError: moveAxis: 2 axes to 1 places/);
    assert.throws(() => x.expandDims([0, 0]), /expandDims: axes \[0, 0\] name axis 0 of 6 twice/);
    assert.deepEqual(
      zeros([2, 3])
        .softmax({ axis: [0, 1] })
        .sum()
        .itemSync()
        .toFixed(5),
      "1.00000",
    );
  });

  test("putDiagonal writes on a diagonal and keeps the rest", () => {
    const x = tensor([[1, 2, 3], [4, 5, 6]]); // biome-ignore format: a matrix
    assert.deepEqual(x.putDiagonal(0).arraySync(), [[0, 2, 3], [4, 0, 6]]); // biome-ignore format: a matrix
    assert.deepEqual(x.putDiagonal(tensor([8, 9]), { offset: 1 }).arraySync(), [[1, 8, 3], [4, 5, 9]]); // biome-ignore format: a matrix
    assert.deepEqual(x.putDiagonal(tensor([7]), { offset: -1 }).arraySync(), [[1, 2, 3], [7, 5, 6]]); // biome-ignore format: a matrix
    assert.deepEqual(x.T.putDiagonal(tensor([8, 9]), { offset: -1 }).arraySync(), [[1, 4], [8, 5], [3, 9]]); // biome-ignore format: a matrix
    assert.deepEqual(x.putDiagonal(0, { offset: 5 }).arraySync(), x.arraySync());
    assert.throws(() => x.putDiagonal(tensor([1, 2, 3])), /putDiagonal, values: \[3\] does not broadcast to \[2\]/);
  });

  test("oneHot marks the position each integer names; others mark none", () => {
    const got = tensor([1, 0, 3, -1], { dtype: "i64" }).oneHot(3);
    assert.deepEqual(got.arraySync(), [
      [0, 1, 0],
      [1, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    const first = tensor([[1], [0]], { dtype: "u8" }).oneHot(300, { axis: 0, dtype: "i32" });
    assert.deepEqual([first.shape, first.dtype, first.sum().itemSync()], [[300, 2, 1], "i32", 2]);
    assert.throws(() => tensor([1.5]).oneHot(3), DTypeError);
  });

  test("tri, meshgrid, broadcastTensors, blockDiagonal", () => {
    assert.deepEqual(tri(2, 3, { offset: 1, dtype: "i32" }).arraySync(), [
      [1, 1, 0],
      [1, 1, 1],
    ]);
    const [x, y] = meshgrid([arange(3), arange(2)]) as [Tensor, Tensor];
    assert.deepEqual(
      [x.arraySync(), y.arraySync()],
      [
        [
          [0, 1, 2],
          [0, 1, 2],
        ],
        [
          [0, 0, 0],
          [1, 1, 1],
        ],
      ],
    );
    const [i] = meshgrid([arange(3), arange(2)], { indexing: "ij" }) as [Tensor];
    assert.deepEqual(i.arraySync(), [
      [0, 0],
      [1, 1],
      [2, 2],
    ]);
    assert.deepEqual(
      broadcastTensors(zeros([2, 1]), zeros([3])).map((t) => t.shape),
      [
        [2, 3],
        [2, 3],
      ],
    );
    assert.deepEqual(blockDiagonal([tensor([[1, 2]]), tensor([[3], [4]])]).arraySync(), [
      [1, 2, 0],
      [0, 0, 3],
      [0, 0, 4],
    ]);
  });

  test("misuse names the operation and the shapes", () => {
    assert.throws(() => tensor([1, 2]).triu(), { name: ShapeError.name, message: /triu.*\[2\]/ });
    assert.throws(() => tensor([1, 2]).roll(0.5, { axis: 0 }), ArgumentError);
    assert.throws(() => tensor([1, 2]).roll([1, 2], { axis: [0] }), ArgumentError);
    assert.throws(() => tensor([1, 2]).tile(-1), ShapeError);
    assert.throws(() => tensor([1, 2]).repeat(2, { axis: 1 }), ShapeError);
    assert.throws(() => tensor([1, 2]).repeat([1], { axis: 0 }), /^ShapeError: repeat: 1 counts for axis 0 of \[2\]/);
    assert.throws(() => tensor([1, 2]).repeat([1, -1], { axis: 0 }), ArgumentError);
    assert.throws(
      () => tensor([1, 2]).repeat(tensor([1, 2]) as unknown as number[]),
      /^ArgumentError: repeat: the shape of the result depends on the counts.*await counts\.data\(\)/,
    );
    assert.throws(() => meshgrid([zeros([2, 2])]), ShapeError);
  });
});
