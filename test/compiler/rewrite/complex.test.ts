/** Complex numbers as pairs of real ones: what each kind of operation becomes, against complex arithmetic in JavaScript. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  complexOfMemory,
  constantExponent,
  expandComplex,
  removeComplex,
} from "../../../src/compiler/rewrite/complex.js";
import { isComplex, type Scalar } from "../../../src/core/dtype.js";
import { scalarNode } from "../../../src/graph/build.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { cumulate } from "../../../src/graph/primitives/cumulate.js";
import { abs, equal } from "../../../src/graph/primitives/elementwise.js";
import { max, product } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, nowhere, storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

type C = readonly [re: number, im: number];
const add = (a: C, b: C): C => [a[0] + b[0], a[1] + b[1]];
const times = (a: C, b: C): C => [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];

/** Memory of pairs, and the complex node over it. */
function complexMemory(...shape: number[]) {
  const memory = storedAs("f64", ...shape, 2);
  return { memory, z: complexOfMemory(memory) };
}

/** A graph without complex numbers, expanded as the rewriter does it, of memory with these pairs in it. */
function computed(node: Node, given: ReadonlyMap<Node, readonly C[]>): number[] {
  const copies = new Map<Node, Node>();
  for (const each of inputsFirst([node], ({ inputs }) => inputs)) {
    const inputs = each.inputs.map((input) => copies.get(input)!);
    const made = each.storage ? each : (expandComplex(each, inputs) ?? make(each.primitive, inputs, each.params));
    copies.set(each, made);
  }
  const [real] = removeComplex([copies.get(node)!]);
  for (const { dtype } of inputsFirst([real!], ({ inputs }) => inputs)) assert.equal(isComplex(dtype), false);
  return plainValues([real!], new Map([...given].map(([memory, pairs]) => [memory, pairs.flat()])))[0] as number[];
}

const A: readonly C[] = [
  [1, 2],
  [3, -1],
  [0, 1],
  [-2, 0.5],
  [1, 1],
  [2, -3],
];
const B: readonly C[] = [
  [2, 0],
  [1, 1],
  [-1, 4],
  [0.5, 0.5],
  [3, -2],
  [1, 0],
];

test("memory that is made complex and made memory again is the same memory", () => {
  const { memory, z } = complexMemory(2, 3);
  assert.deepEqual([z.shape, z.dtype], [[2, 3], "c128"]);
  assert.deepEqual(removeComplex([z]), [memory]);
  const [shaped] = removeComplex([g.permute(g.reshape(z, [3, 2]), [1, 0])]);
  assert.deepEqual(shaped!.shape, [2, 3, 2], "other shapes and orders of axes are done to the memory");
  const [values] = plainValues([shaped!], new Map([[memory, A.flat()]]));
  assert.deepEqual(values, [A[0], A[2], A[4], A[1], A[3], A[5]].flat());
});

test("sums, differences, signs, choices and movement go part by part", () => {
  const [{ memory: a, z }, { memory: b, z: w }] = [complexMemory(6), complexMemory(6)];
  const given = new Map([
    [a, A],
    [b, B],
  ]);
  assert.deepEqual(
    computed(g.add(z, w), given),
    A.flatMap((x, i) => add(x, B[i]!)),
  );
  assert.deepEqual(
    computed(g.neg(z), given),
    A.flat().map((x) => -x),
  );
  assert.deepEqual(computed(g.flip(z, [0]), given), [...A].reverse().flat());
  assert.deepEqual(computed(g.pad(z, [1], [0]), given), [0, 0, ...A.flat()]);
  assert.deepEqual(computed(g.sum(z, [0]), given), [...A.reduce(add)]);
  const totals = A.map((_, i) => A.slice(0, i + 1).reduce(add));
  assert.deepEqual(computed(g.cumulate(z, { axis: 0, op: "sum" }), given), totals.flat());
});

test("products, squares and conjugates mix the parts as they should", () => {
  const [{ memory: a, z }, { memory: b, z: w }] = [complexMemory(6), complexMemory(6)];
  const given = new Map([
    [a, A],
    [b, B],
  ]);
  assert.deepEqual(
    computed(g.mul(z, w), given),
    A.flatMap((x, i) => times(x, B[i]!)),
  );
  assert.deepEqual(
    computed(g.square(z), given),
    A.flatMap((x) => times(x, x)),
  );
  assert.deepEqual(
    computed(g.conj(z), given),
    A.flatMap(([re, im]) => [re, -im]),
  );
  assert.deepEqual(
    computed(g.real(z), given),
    A.map(([re]) => re),
  );
  assert.deepEqual(
    computed(g.imag(z), given),
    A.map(([, im]) => im),
  );
});

test("what a reduction by halves and its running totals multiply is the product of all, for any number of them", () => {
  for (const count of [0, 1, 2, 3, 5, 6]) {
    const { memory, z } = complexMemory(count);
    const given = new Map([[memory, A.slice(0, count)]]);
    const want = A.slice(0, count).reduce(times, [1, 0]);
    assert.deepEqual(computed(make(product, [z], { axes: [0] }), given), [...want], `${count} of them`);
  }
  const { memory, z } = complexMemory(5);
  const running = make(cumulate, [z], { axis: 0, op: "product", isReverse: false, isExclusive: false });
  const want = [0, 1, 2, 3, 4].map((i) => A.slice(0, i + 1).reduce(times));
  assert.deepEqual(computed(running, new Map([[memory, A.slice(0, 5)]])), want.flat());
});

test("a product of matrices is one real product of twice the size", () => {
  const [{ memory: a, z }, { memory: b, z: w }] = [complexMemory(1, 2, 3), complexMemory(1, 3, 2)];
  const node = g.dot(z, w);
  const want = [0, 1].flatMap((i) =>
    [0, 1].map((j) => [0, 1, 2].map((k) => times(A[3 * i + k]!, B[2 * k + j]!)).reduce(add)),
  );
  assert.deepEqual(
    computed(
      node,
      new Map([
        [a, A],
        [b, B],
      ]),
    ),
    want.flat(),
  );
});

test("real results: absolute values, equality, casts that drop a part or ask whether there is any", () => {
  const { memory, z } = complexMemory(3);
  const pairs: readonly C[] = [
    [3, 4],
    [0, 0],
    [0, -2],
  ];
  const given = new Map([[memory, pairs]]);
  assert.deepEqual(computed(make(abs, [z]), given), [5, 0, 2]);
  assert.deepEqual(computed(make(equal, [z, z]), given), [1, 1, 1]);
  assert.deepEqual(computed(g.cast(z, "f64"), given), [3, 0, 0]);
  assert.deepEqual(computed(g.cast(z, "bool"), given), [1, 0, 1]);
  const real = storedAs("f64", 2);
  const [values] = plainValues(removeComplex([g.cast(real, "c128")]), new Map([[real, [7, 8]]]));
  assert.deepEqual(values, [7, 0, 8, 0]);
});

test("a small whole power that is a constant is multiplied out; other exponents are no constants", () => {
  const { memory, z } = complexMemory(2);
  const power = (value: Scalar) => g.pow(z, g.broadcast(scalarNode(value, "c128", nowhere), [2]));
  const given = new Map([[memory, [A[0]!, A[4]!]]]);
  assert.deepEqual(
    computed(power(3), given),
    [A[0]!, A[4]!].flatMap((x) => times(times(x, x), x)),
  );
  assert.deepEqual(computed(power(0), given), [1, 0, 1, 0]);
  assert.equal(constantExponent(power(3))?.params.value, 3);
  assert.equal(constantExponent(g.pow(z, z)), null);
});

test("what has no rule for complex numbers says so", () => {
  const { z } = complexMemory(3);
  assert.throws(() => make(max, [z], { axes: [0] }), /max: takes .*real\(\)/);
  const unknown = { ...g.exp(z).primitive, name: "mystery" };
  assert.throws(() => removeComplex([g.real(make(unknown, [z]))]), /mystery: it has no rule for complex numbers/);
});
