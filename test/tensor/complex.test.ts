/**
 * Complex tensors: arithmetic, reductions, movement, indexing and contraction of small arrays against what NumPy gave
 * (make-complex-cases.py wrote it down), every shape and view against loops, printing, files, types and misuse. Values
 * are small whole numbers, so that all of them are exact. complex-functions.test.ts has the functions.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { type Complex, DTYPE_NAMES, DTYPES, type DType, isComplex, type Scalar } from "../../src/core/dtype.js";
import { DTypeError } from "../../src/core/errors.js";
import { newAxis } from "../../src/core/slice.js";
import {
  arange,
  backendFor,
  complex,
  concat,
  einsum,
  explain,
  fromBytes,
  full,
  linspace,
  ones,
  stack,
  Tensor,
  tensor,
  vdot,
  where,
  zeros,
} from "../../src/tensor/index.js";
import { complexCases, complexNumbers, complexOf, numbersIn } from "../support/complex-cases.js";
import { flatAt, forEachIndex, sizeOf, type ViewKind, viewKinds, viewOf } from "../support/plain-views.js";
import { type Random, randomFrom } from "../support/random.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const dtypes = ["c64", "c128"] as const;
type ComplexDType = (typeof dtypes)[number];

/** The arrays that make-complex-cases.py works on. */
function inputs(dtype: ComplexDType) {
  const count = Array.from({ length: 24 }, (_, i) => i);
  const shape = [2, 3, 4];
  const make = (values: Scalar[], as: DType) => tensor(values, { dtype: as, shape }) as Tensor;
  return {
    x: make(
      count.map((i) => ({ re: (i % 7) - 3, im: (i % 5) - 2 })),
      dtype,
    ),
    y: make(
      count.map((i) => ({ re: (i % 4) - 1, im: (i % 3) - 1 })),
      dtype,
    ),
    r: make(
      count.map((i) => (i % 3) - 1),
      "f32",
    ),
    n: make(count, "i32"),
    v: tensor([{ re: 1, im: 1 }, { re: 0, im: -1 }, 2], { dtype }) as Tensor,
    places: tensor([2, 0, 2, 1], { dtype: "i32" }) as Tensor,
    dtype,
  };
}

type Inputs = ReturnType<typeof inputs>;
const i = { re: 0, im: 1 };
const ints = (values: number[]) => tensor(values, { dtype: "i32" }) as Tensor;

/** By the names in make-complex-cases.py. */
const operations: Readonly<Record<string, (given: Inputs) => Tensor>> = {
  add: ({ x, y }) => x.add(y),
  sub: ({ x, y }) => x.sub(y),
  mul: ({ x, y }) => x.mul(y),
  neg: ({ x }) => x.neg(),
  square: ({ x }) => x.square(),
  conj: ({ x }) => x.conj(),
  real: ({ x }) => x.real(),
  imag: ({ x }) => x.imag(),
  equal: ({ x, y }) => x.equal(y),
  notEqual: ({ x, y }) => x.notEqual(y),
  broadcast: ({ x, y, v }) => x.mul(v.reshape(3, 1)).add(y.at(0, 0)),
  "with a real tensor": ({ x, r }) => x.mul(r).sub(r),
  "with an integer tensor": ({ x, n }) => n.add(x),
  "with a bool tensor": ({ x, r }) => r.greater(0).mul(x),
  "with numbers": ({ x }) => x.mul(2).add(1n).mul(0.5),
  "with a complex number": ({ x }) => x.add({ re: 0, im: 2 }).mul({ re: 1, im: -1 }),
  "a real tensor with a complex number": ({ r, dtype }) => (dtype === "c128" ? r.cast("f64") : r).mul(i),
  where: ({ x, y, r }) => where(r.greater(0), x, y),
  "where with a number": ({ x, r }) => where(r.greater(0), x, i),
  "to bool": ({ x }) => x.cast("bool"),
  "to real": ({ x, dtype }) => x.cast(dtype === "c128" ? "f64" : "f32"),
  "to integer": ({ x }) => x.cast("i32"),
  "from real": ({ r, dtype }) => r.cast(dtype),
  powers: ({ x }) => x.pow(3),
  complex: ({ r, y }) => complex(r, y.real()),
  sum: ({ x }) => x.sum(),
  "sum 0": ({ x }) => x.sum({ axis: 0 }),
  "sum 1 2": ({ x }) => x.sum({ axis: [1, 2], keepDims: true }),
  "sum 0 2": ({ x }) => x.sum({ axis: [0, -1] }),
  "sum none": ({ x }) => x.sum({ axis: [] }),
  mean: ({ y }) => y.at(":", "0:2").mean({ axis: 1 }),
  "mean all": ({ y }) => y.mean({ keepDims: true }),
  prod: ({ x }) => x.at(0, "0:2").prod(),
  "prod 0": ({ x }) => x.prod({ axis: 0 }),
  "prod 1": ({ x }) => x.sub(4).prod({ axis: 1, keepDims: true }),
  "prod 2": ({ x }) => x.sub(4).prod({ axis: 2 }),
  "prod 0 2": ({ y }) => y.add(2).prod({ axis: [2, 0] }),
  all: ({ x }) => x.all({ axis: 2 }),
  any: ({ x }) => x.any({ axis: [0, 1] }),
  count: ({ x }) => x.countNonzero({ axis: 1 }),
  cumsum: ({ x }) => x.cumsum({ axis: 1 }),
  "cumsum reverse": ({ x }) => x.cumsum({ axis: 1, reverse: true }),
  "cumsum all": ({ x }) => x.cumsum(),
  cumprod: ({ x }) => x.at("...", "0:3").sub(1).cumprod({ axis: -1 }),
  "cumprod reverse": ({ x }) => x.cumprod({ axis: 1, reverse: true }),
  "cumprod exclusive": ({ y }) => y.at(0, 1).cumprod({ exclusive: true }),
  variance: ({ x }) => x.at(0, 0, "0:2").mul(4).variance(),
  reshape: ({ x }) => x.reshape(4, 6),
  flatten: ({ x }) => x.flatten(),
  permute: ({ x }) => x.permute(2, 0, 1),
  T: ({ x }) => x.T,
  expand: ({ x }) => x.expandDims(1),
  squeeze: ({ x }) => x.at("0:1").squeeze(0),
  broadcastTo: ({ x }) => x.at(0, ":", "0:1").broadcastTo([2, 3, 4]),
  flip: ({ x }) => x.flip([0, 2]),
  at: ({ x }) => x.at(1, "::-1", "1:3"),
  "at new": ({ x }) => x.at("...", newAxis, "::2"),
  take: ({ x, places }) => x.take(places, { axis: 1 }),
  "take flat": ({ x, places }) => x.take(places),
  takeAlongAxis: ({ x, places }) => x.takeAlongAxis(places.broadcastTo([2, 3, 4]), { axis: 2 }),
  "index tensors": ({ x }) => x.at(ints([0, 1, 1]), ":", ints([3, 0, 1])),
  mask: ({ x, r }) => x.at(r.greater(0)),
  set: ({ x }) => x.set(0, "1:3", { re: 5, im: -1 }),
  "set tensor": ({ x, y }) => x.set(":", ints([0, 2]), y.at(":", "0:2")),
  addAt: ({ x, y }) => x.addAt(":", ints([2, 2]), y.at(":", "0:2")),
  pad: ({ x }) =>
    x.pad(
      [
        [0, 0],
        [1, 0],
        [0, 2],
      ],
      { value: { re: 3, im: -2 } },
    ),
  "pad edge": ({ x }) =>
    x.pad(
      [
        [1, 1],
        [0, 0],
        [0, 2],
      ],
      { mode: "edge" },
    ),
  "pad reflect": ({ x }) =>
    x.pad(
      [
        [0, 0],
        [2, 2],
        [0, 0],
      ],
      { mode: "reflect" },
    ),
  roll: ({ x }) => x.roll([1, 2], { axis: [0, 2] }),
  tile: ({ x }) => x.at(0).tile(2, 2),
  repeat: ({ x }) => x.repeat(2, { axis: 1 }),
  concat: ({ x, y, r }) => concat([x, y, r], { axis: 1 }),
  stack: ({ x, y }) => stack([x, y], { axis: 3 }),
  split: ({ x }) => x.split(2, { axis: 2 })[1]!,
  triu: ({ x }) => x.triu(),
  tril: ({ x }) => x.tril(1),
  diagonal: ({ x }) => x.diagonal(),
  trace: ({ x }) => x.trace({ offset: 1 }),
  diff: ({ x }) => x.diff({ axis: 1 }),
  diagonalMatrix: ({ v }) => v.diagonalMatrix(),
  matmul: ({ x, y }) => x.matmul(y.mT),
  "matmul real": ({ x, r }) => x.matmul(r.mT),
  "matmul vector": ({ y, v }) => y.mT.matmul(v),
  "vector matmul": ({ x, v }) => v.matmul(x),
  "matmul wide": ({ x, y }) => x.at(0).tile(5, 3).matmul(y.at(1).T.tile(3, 5)),
  dot: ({ v }) => v.dot(v),
  vdot: ({ x, y }) => vdot(x, y),
  inner: ({ x, y }) => x.at(0).inner(y.at(0)),
  outer: ({ x, v }) => v.outer(x.at(0, 0)),
  tensordot: ({ x, y }) =>
    x.tensordot(y, [
      [0, 2],
      [0, 2],
    ]),
  kron: ({ x, v }) => x.at(0).kron(v.reshape(1, 3)),
  einsum: ({ x, y }) => einsum("bij,bkj->bik", x, y.conj()),
  "einsum trace": ({ x }) => einsum("bii->b", x.at("...", "0:3")),
  "einsum three": ({ x, v }) => einsum("bij,j,k->ki", x, x.at(0, 0), v),
  "empty sum": ({ dtype }) => zeros([2, 0, 3], { dtype }).sum({ axis: 1 }),
  "empty prod": ({ dtype }) => zeros([2, 0], { dtype }).prod({ axis: 1 }),
  "empty matmul": ({ dtype }) => zeros([2, 0], { dtype }).matmul(zeros([0, 3], { dtype })),
  "empty add": ({ dtype }) => zeros([2, 0], { dtype }).add(i),
};

const product = (a: Complex, b: Complex): Complex => ({ re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re });

const isSame = (a: Complex, b: Complex): boolean => a.re === b.re && a.im === b.im;

function expectNumbers(got: readonly Complex[], want: readonly Complex[], what: string): void {
  assert.equal(got.length, want.length, what);
  want.forEach((value, at) => {
    if (!isSame(got[at]!, value)) {
      assert.fail(`${what}: element ${at} is ${inspect(got[at])}, not ${inspect(value)}`);
    }
  });
}

const samples = (random: Random, size: number): Complex[] =>
  Array.from({ length: size }, () => ({ re: (random.below(17) - 8) / 2, im: (random.below(17) - 8) / 2 }));

test("every case has an operation, and every operation a case", () => {
  assert.deepEqual(Object.keys(operations).sort(), Object.keys(complexCases.arrays).sort());
});

describeOnTensorDevices("complex tensors as NumPy's", (device) => {
  for (const dtype of dtypes) {
    test(`operations on ${dtype}`, () => {
      for (const [name, { shape, isComplex: isPair, values }] of Object.entries(complexCases.arrays)) {
        const result = operations[name]!(inputs(dtype));
        assert.deepEqual(result.shape, shape, name);
        assert.equal(result.device.split(":")[0], device, name);
        assert.equal(isComplex(result.dtype), isPair, `${name}: ${result.dtype}`);
        if (isPair) assert.equal(result.dtype, dtype, name);
        const want = isPair ? complexOf(values) : numbersIn(values).map((re) => ({ re, im: 0 }));
        expectNumbers(complexNumbers(result), want, `${name} of ${dtype}`);
      }
    });
  }

  test("promotion: c64 with f64 is c128, with f32 and integers c64; scalars are weak", () => {
    const z = tensor([i], { dtype: "c64" });
    for (const dtype of DTYPE_NAMES) {
      const wanted = dtype === "f64" || dtype === "c128" ? "c128" : "c64";
      const other = tensor([1], { dtype });
      const sum = z.add(other);
      assert.equal(sum.dtype, wanted, dtype);
      assert.deepEqual(complexNumbers(sum), [{ re: 1, im: 1 }], dtype);
      assert.equal(other.mul(i).dtype, wanted, `${dtype} with a number`);
    }
    for (const value of [2, 0.5, 2n, true, i]) assert.equal(z.mul(value).dtype, "c64");
    assert.equal(tensor([1, i]).dtype, "c64");
    assert.equal(full([2], i).dtype, "c64");
  });

  test("casts from and to every dtype", () => {
    for (const from of dtypes) {
      const z = tensor([{ re: 1.75, im: -1 }, { re: 0, im: 3 }, 0, { re: 1, im: 0 }], { dtype: from });
      for (const to of DTYPE_NAMES) {
        const got = z.cast(to);
        assert.equal(got.dtype, to);
        const isWhole = /^[iu]/.test(to);
        const want = to === "bool" ? [1, 1, 0, 1] : isWhole ? [1, 0, 0, 1] : [1.75, 0, 0, 1];
        const imaginary = isComplex(to) ? [-1, 3, 0, 0] : [0, 0, 0, 0];
        expectNumbers(
          complexNumbers(got),
          want.map((re, at) => ({ re, im: imaginary[at]! })),
          `${from} to ${to}`,
        );
        const third = DTYPES[to].max < 3 ? 1 : 3;
        const back = tensor([1, 0, third], { dtype: to }).cast(from);
        expectNumbers(
          complexNumbers(back),
          [1, 0, third].map((re) => ({ re, im: 0 })),
          `${to} to ${from}`,
        );
      }
    }
  });

  test("parts of parts: complex(real(z), imag(z)) is z, also of infinities and NaNs", () => {
    const values = [
      { re: Infinity, im: 1 },
      { re: 1, im: Number.NaN },
      { re: -0, im: -0 },
      { re: -1, im: -Infinity },
    ];
    for (const dtype of dtypes) {
      const z = tensor(values, { dtype });
      assert.deepEqual(complex(z.real(), z.imag()).arraySync(), values);
      assert.deepEqual(z.conj().conj().arraySync(), values);
    }
    assert.deepEqual(complex(1, 2).itemSync(), { re: 1, im: 2 });
    assert.deepEqual(complex(tensor([1, 2]), 3).arraySync(), [
      { re: 1, im: 3 },
      { re: 2, im: 3 },
    ]);
    assert.equal(complex(tensor([1]), tensor([2], { dtype: "f64" })).dtype, "c128");
    assert.equal(complex(tensor([1], { dtype: "f16" }), 0).dtype, "c64");
    assert.equal(complex(ints([1]), 0).dtype, "c64");
  });

  test("real tensors have parts too", () => {
    const x = tensor([-2, 0, 3]);
    assert.equal(x.real().node, x.node);
    assert.equal(x.conj().node, x.node);
    assert.deepEqual(x.imag().arraySync(), [0, 0, 0]);
    assert.deepEqual(x.phase().arraySync(), [Math.fround(Math.PI), 0, 0]);
    assert.deepEqual(ints([-1, 1]).phase().arraySync(), [Math.fround(Math.PI), 0]);
  });

  test("creation in complex dtypes", () => {
    for (const dtype of dtypes) {
      assert.deepEqual(complexNumbers(zeros([2], { dtype })), [
        { re: 0, im: 0 },
        { re: 0, im: 0 },
      ]);
      assert.deepEqual(complexNumbers(full([], { re: 1, im: 2 }, { dtype })), [{ re: 1, im: 2 }]);
      assert.deepEqual(
        complexNumbers(arange(0, 3, 1, { dtype })),
        [0, 1, 2].map((re) => ({ re, im: 0 })),
      );
      assert.deepEqual(
        complexNumbers(linspace(0, 1, 3, { dtype })),
        [0, 0.5, 1].map((re) => ({ re, im: 0 })),
      );
      const parts = dtype === "c64" ? new Float32Array([1, 2, 3, 4]) : new Float64Array([1, 2, 3, 4]);
      const z = fromBytes(new Uint8Array(parts.buffer), [2], dtype);
      assert.deepEqual(z.arraySync(), [
        { re: 1, im: 2 },
        { re: 3, im: 4 },
      ]);
      assert.deepEqual(z.dataSync(), parts);
      assert.deepEqual(z.add(0).dataSync(), parts);
    }
  });

  test("norms and distances are real", () => {
    const z = tensor(
      [
        { re: 3, im: 4 },
        { re: 0, im: 0 },
        { re: -5, im: 12 },
      ],
      { dtype: "c64" },
    );
    assert.deepEqual(
      [z.norm({ order: 1 }), z.norm({ order: Infinity }), z.norm({ order: 0 })].map((n) => [n.dtype, n.itemSync()]),
      [
        ["f32", 18],
        ["f32", 13],
        ["f32", 2],
      ],
    );
    assert.equal(z.at("0:1").norm().itemSync(), 5);
    assert.equal(z.std().dtype, "f32");
    assert.equal(z.variance().dtype, "f32");
  });

  test("scattered sums, also in a fixed order; sums of weights", () => {
    const z = zeros([3], { dtype: "c64" });
    const values = tensor(
      [
        { re: 1, im: 2 },
        { re: 3, im: -4 },
        { re: 5, im: 6 },
      ],
      { dtype: "c64" },
    );
    const want = [
      { re: 4, im: -2 },
      { re: 0, im: 0 },
      { re: 5, im: 6 },
    ];
    assert.deepEqual(z.addAt(ints([0, 0, 2]), values).arraySync(), want);
    assert.deepEqual(z.addAt(ints([0, 0, 2]), values, { deterministic: true }).arraySync(), want);
    assert.deepEqual(ints([0, 0, 2]).bincount({ weights: values, length: 3 }).arraySync(), want);
  });

  test("scattered products, in a fixed order or not", () => {
    const z = tensor([i, 2, 3], { dtype: "c64" });
    const values = tensor([{ re: 1, im: 2 }, { re: 3, im: -4 }, i], { dtype: "c64" }); // biome-ignore format: one row
    // i·(1 + 2i)·(3 - 4i) = i·(11 + 2i)
    const want = [{ re: -2, im: 11 }, { re: 2, im: 0 }, { re: 0, im: 3 }]; // biome-ignore format: one row
    const at = ints([0, 0, 2]);
    assert.deepEqual(z.mulAt(at, values).arraySync(), want);
    assert.deepEqual(z.mulAt(at, values, { deterministic: true }).arraySync(), want);
    assert.deepEqual(z.scatter(at, values, { op: "mul" }).arraySync(), want);
    assert.deepEqual(z.putAlongAxis(at, values, { axis: 0, op: "mul" }).arraySync(), want);
    assert.deepEqual(z.scatterNd(at.reshape(3, 1), values, { op: "mul" }).arraySync(), want);
    assert.deepEqual(z.mulAt("1:", i).arraySync(), [i, { re: 0, im: 2 }, { re: 0, im: 3 }]);
    // Two of one place, one of none.
    assert.deepEqual(z.mulAt(ints([1, 1, 9]), i).arraySync(), [i, { re: -2, im: 0 }, { re: 3, im: 0 }]);
  });

  test("covariance conjugates the second of two variables, as np.cov", () => {
    const z = tensor([[{ re: 1, im: 2 }, i], [3, { re: 2, im: -1 }]], { dtype: "c64" }); // biome-ignore format: a matrix
    // np.cov([[1+2j, 3], [1j, 2-1j]]): the deviations are ∓(1 - i) and ∓(1 - i), of which each product is 2.
    const [all, sample] = [z.covariance(), z.covariance({ correction: 1 })];
    assert.equal(all.dtype, "c64");
    assert.deepEqual(all.arraySync(), [[2, 2], [2, 2]].map((row) => row.map((re) => ({ re, im: 0 })))); // biome-ignore format: one row
    assert.deepEqual(sample.at(0, 0).itemSync(), { re: 4, im: 0 });
    // np.cov([[0, 2], [0, 2j]], bias=True)
    const turned = tensor([[0, 0], [2, { re: 0, im: 2 }]], { dtype: "c64" }).covariance(); // biome-ignore format: one row
    assert.deepEqual(turned.arraySync(), [[{ re: 1, im: 0 }, { re: 0, im: -1 }], [i, { re: 1, im: 0 }]]); // biome-ignore format: one row
  });

  test("convolution and window sums", () => {
    const z = tensor(
      [
        { re: 1, im: 1 },
        { re: 2, im: 0 },
        { re: 0, im: -1 },
        { re: 3, im: 2 },
      ],
      { dtype: "c128" },
    );
    const kernel = tensor(
      [
        { re: 0, im: 1 },
        { re: 2, im: -1 },
      ],
      { dtype: "c128" },
    );
    const [a, k] = [z.arraySync() as Complex[], kernel.arraySync() as Complex[]];
    const pairs = [0, 1, 2].map((at) => [product(a[at]!, k[0]!), product(a[at + 1]!, k[1]!)]);
    const want = pairs.map(([p, q]) => ({ re: p!.re + q!.re, im: p!.im + q!.im }));
    expectNumbers(complexNumbers(z.reshape(1, 1, 4).conv(kernel.reshape(1, 1, 2))), want, "conv");
    const sums = [0, 1, 2].map((at) => ({ re: a[at]!.re + a[at + 1]!.re, im: a[at]!.im + a[at + 1]!.im }));
    expectNumbers(complexNumbers(z.windowSum(2)), sums, "windowSum");
    expectNumbers(
      complexNumbers(z.windowProduct(2)),
      [0, 1, 2].map((at) => product(a[at]!, a[at + 1]!)),
      "windowProduct",
    );
  });
});

const shapes: readonly (readonly number[])[] = [
  [],
  [0],
  [1],
  [7],
  [3, 5],
  [4, 0, 3],
  [1, 1, 1],
  [2, 3, 5],
  [2, 3, 4, 5],
  [3, 1, 2, 4],
];

describeOnTensorDevices("complex tensors of any shape, reached through views", (device) => {
  for (const kind of viewKinds) {
    test(`sums, products and quotients of ${kind} tensors`, () => {
      shapes.forEach((shape, turn) => {
        // Drivers take long to compile: they get every other shape.
        if (device !== "cpu" && (turn + kind.length) % 2 === 1) return;
        const dtype = dtypes[turn % 2]!;
        const random = randomFrom(turn);
        const other: ViewKind = viewKinds[(turn * 5 + 2) % viewKinds.length]!;
        const a = viewOf(kind, samples(random, sizeOf(shape)), shape, dtype, device, random);
        const b = viewOf(other, samples(random, sizeOf(shape)), shape, dtype, device, random);
        const what = `${kind} and ${other} of ${dtype} [${shape}]`;
        const pairs = a.values.map((value, at) => [value, b.values[at]!] as const);
        const result = a.x.mul(b.x).sub(a.x.conj()).add({ re: 0, im: 1 });
        assert.deepEqual(result.shape, shape);
        const want = pairs.map(([p, q]) => {
          const { re, im } = product(p, q);
          return { re: re - p.re, im: im + p.im + 1 };
        });
        expectNumbers(complexNumbers(result), want, what);
        // (a·2b) / (2b) in exact numbers: where b is a power of two of a unit, it comes back.
        const units = b.values.map(({ re }) => (re < 0 ? { re: 0, im: 4 } : { re: -2, im: 0 }));
        const divisor = tensor(units, { dtype, device, shape }) as Tensor;
        expectNumbers(complexNumbers(a.x.mul(divisor).div(divisor)), a.values, `quotients, ${what}`);
      });
    });
  }

  test("sums and products over every set of axes", () => {
    shapes.forEach((shape, turn) => {
      if (device !== "cpu" && turn % 3 !== 0) return;
      for (let set = 0; set < 2 ** shape.length; set++) {
        const axes = shape.flatMap((_, axis) => (set & (1 << axis) ? [axis] : []));
        const dtype = dtypes[set % 2]!;
        const random = randomFrom(turn * 100 + set);
        // Units, so that products are exact.
        const units = [
          { re: 1, im: 0 },
          { re: 0, im: 1 },
          { re: -1, im: 0 },
          { re: 0, im: -1 },
          { re: 1, im: 1 },
        ];
        const given = Array.from({ length: sizeOf(shape) }, (_, at) => units[at % 17 === 3 ? 4 : random.below(4)]!);
        const { x, values } = viewOf(viewKinds[set % viewKinds.length]!, given, shape, dtype, device, random);
        const kept = shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent));
        const sums = Array.from({ length: sizeOf(kept) }, () => ({ re: 0, im: 0 }));
        const products: Complex[] = sums.map(() => ({ re: 1, im: 0 }));
        forEachIndex(shape, (index, flat) => {
          const at = flatAt(
            kept,
            index.map((n, axis) => (axes.includes(axis) ? 0 : n)),
          );
          sums[at] = { re: sums[at]!.re + values[flat]!.re, im: sums[at]!.im + values[flat]!.im };
          products[at] = product(products[at]!, values[flat]!);
        });
        const what = `[${shape}] over [${axes}], ${dtype}`;
        const keepDims = set % 2 === 0;
        const sum = x.sum({ axis: axes, keepDims });
        assert.deepEqual(sum.shape, keepDims ? kept : shape.filter((_, axis) => !axes.includes(axis)), what);
        expectNumbers(complexNumbers(sum), sums, `sum of ${what}`);
        expectNumbers(complexNumbers(x.prod({ axis: axes })), products, `prod of ${what}`);
      }
    });
  });

  test("large ones: sums that are split, products in many steps, matrices", () => {
    const length = 70001;
    const random = randomFrom(1);
    const values = samples(random, length);
    const z = tensor(values, { dtype: "c64", device });
    const total = values.reduce((sum, { re, im }) => ({ re: sum.re + re, im: sum.im + im }), { re: 0, im: 0 });
    assert.deepEqual(z.sum().itemSync(), total);
    const turns = tensor(
      values.map(({ re }) => (re < 0 ? { re: 0, im: 1 } : { re: -1, im: 0 })),
      { dtype: "c64", device },
    );
    const quarters = values.reduce((count, { re }) => count + (re < 0 ? 1 : 2), 0) % 4;
    const [re, im] = [
      [1, 0],
      [0, 1],
      [-1, 0],
      [0, -1],
    ][quarters]!;
    const { re: gotRe, im: gotIm } = turns.prod().itemSync();
    assert.deepEqual([gotRe + 0, gotIm + 0], [re, im]);
    const [m, k, n] = [65, 129, 67];
    const a = samples(random, m * k);
    const b = samples(random, k * n);
    const got = complexNumbers(
      tensor(a, { dtype: "c64", device, shape: [m, k] }).matmul(tensor(b, { dtype: "c64", device, shape: [k, n] })),
    );
    for (let row = 0; row < m; row++) {
      for (let column = 0; column < n; column++) {
        let want = { re: 0, im: 0 };
        for (let at = 0; at < k; at++) {
          const term = product(a[row * k + at]!, b[at * n + column]!);
          want = { re: want.re + term.re, im: want.im + term.im };
        }
        if (!isSame(got[row * n + column]!, want)) assert.fail(`row ${row}, column ${column}`);
      }
    }
  });

  test("an expression is one kernel, and a matrix product no more than that of real numbers needs", () => {
    const z = tensor(samples(randomFrom(2), 12), { dtype: "c64", device, shape: [3, 4] });
    const expression = z.mul(z).add(1).exp().div(z.conj().add(2));
    assert.match(explain(expression), /: 1 kernel\n/);
    assert.match(explain(z.matmul(z.mT)), /: 1 kernel\n/);
    const backend = backendFor(device);
    const before = backend.counters.kernels;
    expression.realize();
    assert.equal(backend.counters.kernels - before, 1);
  });

  test("programs of equal graphs are shared, of other constants not", () => {
    const z = tensor([{ re: 1, im: 2 }], { dtype: "c64", device });
    assert.deepEqual(z.mul({ re: 0, im: 1 }).arraySync(), [{ re: -2, im: 1 }]);
    assert.deepEqual(z.mul({ re: 0, im: -1 }).arraySync(), [{ re: 2, im: -1 }]);
    const backend = backendFor(device);
    const { compiled } = backend.counters;
    z.neg().mul({ re: 0, im: 1 }).dataSync();
    tensor([{ re: 5, im: 2 }], { dtype: "c64", device })
      .neg()
      .mul({ re: 0, im: 1 })
      .dataSync();
    assert.equal(backend.counters.compiled - compiled, 1);
  });
});

describeOnTensorDevices("complex tensors for people and programs", (device) => {
  test("printing is NumPy's, with the shape, the dtype and the device", () => {
    const z = tensor(
      [
        [
          { re: 1, im: -2 },
          { re: 0.5, im: 0 },
        ],
        [{ re: -3, im: 1.25 }, i],
      ],
      { dtype: "c64", device },
    );
    assert.equal(
      inspect(z).replace(/vulkan:\d/, "vulkan"),
      `Tensor([[ 1. -2.j  ,  0.5+0.j  ],\n        [-3. +1.25j,  0. +1.j  ]], shape [2, 2], c64, ${device})`,
    );
    const one = tensor({ re: Number.NaN, im: -Infinity }, { dtype: "c128", device });
    assert.equal(inspect(one).replace(/vulkan:\d/, "vulkan"), `Tensor(nan-infj, shape [], c128, ${device})`);
  });

  test("data alternates parts; item and array are { re, im }", async () => {
    const z = tensor(
      [
        { re: 1, im: 2 },
        { re: 3, im: 4 },
      ],
      { dtype: "c64", device },
    );
    assert.deepEqual(await z.data(), new Float32Array([1, 2, 3, 4]));
    assert.deepEqual(await z.array(), [
      { re: 1, im: 2 },
      { re: 3, im: 4 },
    ]);
    assert.deepEqual(await z.at(1).item(), { re: 3, im: 4 });
    assert.equal((await z.bytes()).byteLength, 16);
    assert.deepEqual(await z.cast("c128").data(), new Float64Array([1, 2, 3, 4]));
  });

  test("types know the parts", () => {
    const z = tensor([1, 2], { dtype: "c64", device });
    const wide = z.cast("c128");
    // Each line is a claim that the type checker checks.
    const parts: Tensor<"f32">[] = [z.abs(), z.real(), z.imag(), z.phase(), z.std()];
    const wideParts: Tensor<"f64">[] = [wide.abs(), wide.real(), wide.phase()];
    const whole: Tensor<"c64">[] = [
      z.exp(),
      z.conj(),
      z.div(2),
      z.sum(),
      z.mul(i),
      tensor([1]).mul(i),
      complex(tensor([1]), 2),
    ];
    const doubles = tensor([1], { dtype: "f64" });
    const turned: Tensor<"c128"> = complex(doubles, tensor([1]));
    for (const x of parts) assert.equal(x.dtype, "f32");
    for (const x of wideParts) assert.equal(x.dtype, "f64");
    for (const x of whole) assert.equal(x.dtype, "c64");
    assert.equal(turned.dtype, "c128");
    const value: Complex = z.at(0).itemSync();
    assert.deepEqual(value, { re: 1, im: 0 });
  });

  test("what needs an order, bits or real numbers is refused when the graph is built, by name", () => {
    const z = tensor([1, i], { dtype: "c64", device }) as Tensor;
    const refused: Readonly<Record<string, () => unknown>> = {
      less: () => z.less(z),
      greaterEqual: () => z.greaterEqual(0),
      maximum: () => z.maximum(1),
      max: () => z.max(),
      min: () => z.min({ axis: 0 }),
      floor: () => z.floor(),
      ceil: () => z.ceil(),
      signbit: () => z.signbit(),
      copysign: () => z.copysign(1),
      quantile: () => z.quantile(0.5),
      fmod: () => z.fmod(2),
      bitwiseAnd: () => z.bitwiseAnd(1),
      bitwiseNot: () => z.bitwiseNot(),
      sort: () => z.sort(),
      argmax: () => z.argmax(),
      median: () => z.median(),
      sigmoid: () => z.sigmoid(),
      erf: () => z.erf(),
      cummax: () => z.cummax(),
      minAt: () => z.minAt(ints([0, 0]), 2),
      maxAt: () => z.maxAt(0, 2),
      scatter: () => z.scatter(ints([0]), 2, { op: "max" }),
      scatterNd: () => z.scatterNd(ints([0]).reshape(1, 1), 2, { op: "min" }),
      putAlongAxis: () => z.putAlongAxis(ints([0]), 2, { axis: 0, op: "min" }),
      complex: () => complex(z, 1),
      logaddexp: () => z.logaddexp(1),
      take: () => tensor([1, 2], { device }).take(z),
    };
    for (const [name, run] of Object.entries(refused)) {
      assert.throws(run, (error) => {
        assert.ok(error instanceof DTypeError, `${name}: ${error}`);
        assert.match(error.message, new RegExp(`^${name}\\b`), name);
        return true;
      });
    }
    assert.throws(() => ones([2], { device }).set(0, i), { name: DTypeError.name, message: /set.*f32/ });
    assert.throws(() => tensor([i], { dtype: "f32", device }), DTypeError);
  });

  test("logic asks whether a number differs from zero", () => {
    const z = tensor([0, i, 1], { dtype: "c64", device });
    assert.deepEqual(z.logicalNot().arraySync(), [true, false, false]);
    assert.deepEqual(z.logicalAnd({ re: 0, im: 0 }).arraySync(), [false, false, false]);
    assert.deepEqual(z.logicalAnd(i).arraySync(), [false, true, true]);
    assert.deepEqual(
      z.nonzero().map((positions) => positions.arraySync()),
      [[1, 2]],
    );
  });

  test("moving to another device and freeing", () => {
    const z = tensor([i, 2], { dtype: "c64", device });
    const there = z.to("cpu");
    assert.deepEqual(there.arraySync(), [i, { re: 2, im: 0 }]);
    const copy = z.mul(1);
    assert.ok(copy instanceof Tensor);
    copy.realize().dispose();
    assert.throws(() => copy.add(1), /disposed/);
  });
});
