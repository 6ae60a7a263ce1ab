/** einsum against the definition: one loop per letter, in f64. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { einsum, type Tensor } from "../../../src/tensor/index.js";
import { contractionOrder } from "../../../src/tensor/methods/contraction-order.js";
import { parseSubscripts } from "../../../src/tensor/methods/subscripts.js";
import { grad } from "../../../src/transforms/grad.js";
import { sumOfProducts } from "../../support/contraction-oracle.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  numbersOf,
  type Plain,
  plainOf,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

const sample = (shape: readonly number[], seed: number): Plain => ({
  shape,
  values: sampleValues("i8", count(shape), seed).map((value) => value / 2),
});
const sizes: Readonly<Record<string, number>> = { a: 2, b: 3, c: 4, d: 5, i: 3, j: 4, k: 5, l: 2, m: 1, z: 0 };
const operandsFor = (inputs: readonly string[]): Plain[] =>
  inputs.map((letters, i) =>
    sample(
      [...letters].map((letter) => sizes[letter]!),
      i + 1,
    ),
  );

describeOnTensorDevices("einsum", () => {
  const explicit = [
    "ij->ji",
    "ij->",
    "ij->i",
    "ij->j",
    "ii->i",
    "ii->",
    "iij->ij",
    "iji->j",
    "iii->i",
    "ijij->ij",
    "->",
    "i,i->",
    "i,j->ij",
    "i,j->ji",
    "ij,jk->ik",
    "ij,jk->ki",
    "ij,ij->",
    "ij,ij->ij",
    "ij,ij->i",
    "ij,kl->",
    "bij,bjk->bik",
    "ijk,jk->i",
    "ii,ij->j",
    "ij,i->ij",
    "ijk,ilk->ijl",
    "im,mj->ij",
    "iz,zj->ij",
    "z,i->i",
    "z,i->z",
    ",ij->ij",
    "ij,jk,kl->il",
    "ij,jk,kl->",
    "a,b,c->abc",
    "ab,bc,cd->ad",
    "abc,bd,cd->a",
    "i,i,i->i",
    "i,i,i,i->",
    "ab,ab,ab->b",
    "ij,jk,kl,la,ab->ib",
    "a,a,b,b,c,c,d,d,i->i",
  ];
  for (const subscripts of explicit) {
    test(subscripts, () => {
      const [left, output] = subscripts.split("->") as [string, string];
      const inputs = left.split(",");
      const plain = operandsFor(inputs);
      const actual = einsum(subscripts, ...plain.map((x) => toTensor(x, "f64")));
      expectTensor(actual, sumOfProducts(inputs, output, plain), "f64", { relative: 1e-13, absolute: 1e-9 });
    });
  }

  test("without an arrow: the letters that occur once, in alphabetical order", () => {
    const cases = [
      ["ba", "ab"],
      ["ij,jk", "ik"],
      ["ji,kj", "ik"],
      ["ii", ""],
      ["ij", "ij"],
      ["d,c", "cd"],
    ];
    for (const [left, output] of cases as [string, string][]) {
      const plain = operandsFor(left.split(","));
      const actual = einsum(left, ...plain.map((x) => toTensor(x, "f32")));
      expectTensor(actual, sumOfProducts(left.split(","), output, plain), "f32", {}, left);
    }
  });

  test("an ellipsis stands for further axes, which broadcast", () => {
    const [x, y] = [sample([2, 3, 4, 5], 1), sample([3, 5, 2], 2)];
    const [a, b] = [toTensor(x, "f32"), toTensor(y, "f32")];
    const matrices = sumOfProducts(["abij", "bjk"], "abik", [x, y]);
    expectTensor(einsum("...ij,...jk->...ik", a, b), matrices, "f32", {}, "explicit");
    expectTensor(einsum("...ij,...jk", a, b), matrices, "f32", {}, "implicit");
    expectTensor(einsum("...ij->...ji", a), sumOfProducts(["abij"], "abji", [x]), "f32", {}, "transpose");
    expectTensor(einsum("i...->...", a), sumOfProducts(["abij"], "bij", [x]), "f32", {}, "sum");
    expectTensor(einsum("...", a), x, "f32", {}, "all");
    const one = sample([1, 4], 3);
    const stretched = plainOf([3, 4], ([, j]) => one.values[j!]!);
    const other = sample([3, 4], 4);
    const expected = sumOfProducts(["ij", "ij"], "ij", [stretched, other]);
    expectTensor(einsum("...,...", toTensor(one, "f32"), toTensor(other, "f32")), expected, "f32", {}, "size 1");
    expectTensor(
      einsum("...i,...i->...i", toTensor(one, "f32"), toTensor(one, "f32")),
      sumOfProducts(["ij", "ij"], "ij", [one, one]),
      "f32",
      {},
      "all of size 1",
    );
  });

  test("an extent of 1 stretches under a letter, too", () => {
    const [x, y] = [sample([2, 1], 1), sample([4, 3], 2)];
    const stretched = plainOf([2, 4], ([i]) => x.values[i!]!);
    expectTensor(
      einsum("ij,jk->ik", toTensor(x, "f32"), toTensor(y, "f32")),
      sumOfProducts(["ij", "jk"], "ik", [stretched, y]),
      "f32",
      {},
    );
  });

  test("views", () => {
    const [x, y] = [sample([3, 4, 3], 1), sample([4, 5], 2)];
    const expected = sumOfProducts(["iji", "jk"], "ki", [x, y]);
    for (const left of viewsOf(x, "f32")) {
      for (const right of viewsOf(y, "f32")) {
        expectTensor(einsum("iji,jk->ki", left.x, right.x), expected, "f32", {}, `${left.name}, ${right.name}`);
      }
    }
  });

  test("dtypes are kept: i8 wraps, bool asks for any, f16 is added up in f32", () => {
    const bytes = toTensor({ shape: [3], values: [100, 100, 100] }, "i8");
    expectTensor(einsum("i,i->", bytes, bytes), { shape: [], values: [48] }, "i8");
    expectTensor(einsum("i->", bytes), { shape: [], values: [44] }, "i8");
    const truth = toTensor({ shape: [2, 2], values: [1, 0, 0, 0] }, "bool");
    expectTensor(einsum("ij,jk->ik", truth, truth), { shape: [2, 2], values: [1, 0, 0, 0] }, "bool");
    expectTensor(einsum("ij->i", truth), { shape: [2], values: [1, 0] }, "bool");
    const halves = toTensor({ shape: [4000], values: new Array(4000).fill(1) }, "f16");
    expectTensor(einsum("i->", halves), { shape: [], values: [4000] }, "f16");
  });

  test("misuse is explained", () => {
    const of = (shape: readonly number[]) => toTensor(sample(shape, 1), "f32");
    const cases: [() => unknown, string | RegExp][] = [
      [
        () => einsum("ij,jk", of([2, 2])),
        'einsum "ij,jk": it describes 2 operands, and 1 are given; separate operands by commas.',
      ],
      [
        () => einsum("ij", of([2, 2, 2])),
        'einsum "ij": "ij" names 2 axes of operand 1, which has 3; add "..." for the rest.',
      ],
      [() => einsum("ijk", of([2])), 'einsum "ijk": "ijk" names 3 axes of operand 1, which has 1.'],
      [() => einsum("i1", of([2, 2])), 'einsum "i1": "1" in "i1" is no letter; axes are named a to z and A to Z.'],
      [() => einsum("i->ii", of([2])), /the result names "i" twice/],
      [() => einsum("i->j", of([2])), /the result names "j", which no operand has\./],
      [() => einsum("i->j->k", of([2])), /more than one ->/],
      [() => einsum("...i->i", of([2, 2])), /cannot be summed over/],
      [
        () => einsum("ij,jk->ik", of([2, 3]), of([4, 5])),
        'einsum "ij,jk->ik": "j" is 3 and 4; the operands have the shapes [2, 3], [4, 5].',
      ],
      [() => einsum("ii->i", of([1, 3])), /"i" is 1 and 3/],
      [() => einsum(""), /it describes 1 operands|there is no operand/],
    ];
    for (const [call, message] of cases) assert.throws(call, typeof message === "string" ? { message } : message);
  });
});

test("subscripts are read with or without spaces", () => {
  assert.deepEqual(parseSubscripts(" i j , j k -> i k ", [2, 2]), {
    inputs: [
      ["i", "j"],
      ["j", "k"],
    ],
    output: ["i", "k"],
  });
  assert.deepEqual(parseSubscripts("i...j", [4]).inputs, [["i", ".1", ".0", "j"]]);
});

describeOnTensorDevices("sums over axes of one operand alone", () => {
  const large = () => toTensor({ shape: [4, 1], values: [1e38, 1e38, 1e38, 1e38] }, "f32");
  const small = () => toTensor({ shape: [1], values: [1e-10] }, "f32");
  const smalls = () => toTensor({ shape: [2], values: [1e-10, 2e-10] }, "f32");
  const wide = () => toTensor({ shape: [2, 4], values: [1e38, 1e38, 1e38, 1e38, 1e38, 0, 0, 0] }, "f32");
  const columns = () => toTensor({ shape: [2, 2], values: [1e-10, 2e-10, 1e-10, 2e-10] }, "f32");
  const tiny = () => toTensor({ shape: [3, 2], values: new Array(6).fill(1e-10) }, "f32");
  const thousands = () => toTensor({ shape: [200], values: new Array(200).fill(1024) }, "f16");
  const smallHalves = () => toTensor({ shape: [2], values: [2 ** -11, 2 ** -10] }, "f16");
  const cancelling = () => toTensor({ shape: [7], values: [3e38, 3e38, 3e38, -3e38, -3e38, -3e38, 1e38] }, "f32");
  const three = () => toTensor({ shape: [3], values: [1, 2, -1] }, "f32");
  const cases: readonly (readonly [string, () => Tensor, number[]])[] = [
    ["ij,j->j", () => einsum("ij,j->j", large(), small()), [4e28]],
    ["j,ij->j", () => einsum("j,ij->j", small(), large()), [4e28]],
    ["ij,j->", () => einsum("ij,j->", large(), small()), [4e28]],
    ["ij,k->k", () => einsum("ij,k->k", large(), small()), [4e28]],
    ["ij,k->", () => einsum("ij,k->", large(), small()), [4e28]],
    ["ij,j,j->j", () => einsum("ij,j,j->j", large(), small(), small()), [4e18]],
    ["ij,j,k->jk", () => einsum("ij,j,k->jk", large(), small(), three()), [4e28, 8e28, -4e28]],
    // The other operand has an axis of its own: multiplying first would repeat the products along it.
    ["ij,k->k, k of 2", () => einsum("ij,k->k", large(), smalls()), [4e28, 8e28]],
    ["k,ij->k, k of 2", () => einsum("k,ij->k", smalls(), large()), [4e28, 8e28]],
    ["ij,k->ki", () => einsum("ij,k->ki", wide(), smalls()), [4e28, 1e28, 8e28, 2e28]],
    ["ij,ik->k", () => einsum("ij,ik->k", wide(), columns()), [5e28, 1e29]],
    ["ij,k->, a small sum of large numbers", () => einsum("ij,k->", tiny(), large().reshape(4)), [2.4e29]],
    ["c64", () => einsum("ij,k->k", large().cast("c64"), smalls().cast("c64")).real(), [4e28, 8e28]],
    ["f16", () => einsum("i,k->k", thousands(), smallHalves()), [100, 200]],
    ["both sides of 0", () => einsum("i,k->k", cancelling(), smalls()), [1e28, 2e28]],
  ];
  for (const [name, product, want] of cases) {
    test(`${name} overflows only where the result does`, () => {
      const got = numbersOf(product());
      for (const [i, value] of got.entries()) assert.ok(Math.abs(value / want[i]! - 1) < 1e-6, `${got} is not ${want}`);
      assert.equal(got.length, want.length);
    });
  }

  test("what overflows stays infinite, and an infinite operand gives what it gives in NumPy", () => {
    const infinite = toTensor({ shape: [2], values: [Number.POSITIVE_INFINITY, 1] }, "f32");
    const factors = toTensor({ shape: [3], values: [2, -1, 0] }, "f32");
    assert.deepEqual(numbersOf(einsum("i,k->k", infinite, factors)), [Infinity, -Infinity, NaN]);
    const ones = toTensor({ shape: [2], values: [1, 2] }, "f32");
    assert.deepEqual(numbersOf(einsum("ij,k->k", large(), ones)), [Infinity, Infinity]);
  });

  test("the slope through a sum that is taken first is that of the products", () => {
    for (const [x, y] of [
      [large(), smalls()],
      [columns(), smalls()],
    ] as const) {
      const loss = (a: Tensor) =>
        einsum("ij,k->k", a, y)
          .mul(toTensor({ shape: [2], values: [3, 1] }, "f32"))
          .sum();
      for (const slope of numbersOf(grad(loss)(x))) assert.ok(Math.abs(slope / 5e-10 - 1) < 1e-6, `${slope}`);
    }
  });
});

test("a chain of matrices is contracted from its thin end", () => {
  const chain = [
    ["a", "b"],
    ["b", "c"],
    ["c", "d"],
  ];
  const thinRight = new Map([
    ["a", 100],
    ["b", 100],
    ["c", 100],
    ["d", 1],
  ]);
  const thinLeft = new Map([
    ["a", 1],
    ["b", 100],
    ["c", 100],
    ["d", 100],
  ]);
  assert.deepEqual(contractionOrder(chain, ["a", "d"], thinRight), [0, [1, 2]]);
  assert.deepEqual(contractionOrder(chain, ["a", "d"], thinLeft), [[0, 1], 2]);
});
