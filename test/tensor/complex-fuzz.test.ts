/**
 * Random graphs of complex 3×3 matrices, several of their nodes computed at once, against the same operations on plain
 * arrays. Values are whole numbers that an f64 holds, so that everything is exact.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Complex } from "../../src/core/dtype.js";
import { backendFor, complex, concat, type Tensor, tensor, where } from "../../src/tensor/index.js";
import { complexNumbers } from "../support/complex-cases.js";
import { type Random, randomFrom } from "../support/random.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const N = 3;
type Plain = readonly Complex[];

/** A matrix from a rule for its elements. */
const matrix = (rule: (row: number, column: number) => Complex): Plain =>
  Array.from({ length: N * N }, (_, i) => rule(Math.floor(i / N), i % N));
const at = (x: Plain, row: number, column: number): Complex => x[row * N + column]!;
const add = (a: Complex, b: Complex): Complex => ({ re: a.re + b.re, im: a.im + b.im });
const sub = (a: Complex, b: Complex): Complex => ({ re: a.re - b.re, im: a.im - b.im });
const mul = (a: Complex, b: Complex): Complex => ({ re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re });
const total = (numbers: readonly Complex[]): Complex => numbers.reduce(add, { re: 0, im: 0 });
const range = [0, 1, 2] as const;

interface Operation {
  /** How the largest part of the result may exceed that of the operands: a power. */
  readonly degree: number;
  readonly tensors: (a: Tensor, b: Tensor) => Tensor;
  readonly plain: (a: Plain, b: Plain) => Plain;
}

const value = { re: 1, im: -2 };
const places = [2, 0, 2];

const operations: Readonly<Record<string, Operation>> = {
  add: { degree: 1, tensors: (a, b) => a.add(b), plain: (a, b) => a.map((x, i) => add(x, b[i]!)) },
  sub: { degree: 1, tensors: (a, b) => a.sub(b), plain: (a, b) => a.map((x, i) => sub(x, b[i]!)) },
  mul: { degree: 2, tensors: (a, b) => a.mul(b), plain: (a, b) => a.map((x, i) => mul(x, b[i]!)) },
  square: { degree: 2, tensors: (a) => a.pow(2), plain: (a) => a.map((x) => mul(x, x)) },
  conj: { degree: 1, tensors: (a) => a.conj(), plain: (a) => a.map(({ re, im }) => ({ re, im: -im })) },
  swap: {
    degree: 1,
    tensors: (a, b) => complex(a.imag(), b.real()),
    plain: (a, b) => a.map(({ im }, i) => ({ re: im, im: b[i]!.re })),
  },
  real: { degree: 1, tensors: (a) => a.real().cast("c128"), plain: (a) => a.map(({ re }) => ({ re, im: 0 })) },
  turn: {
    degree: 1,
    tensors: (a) => a.mul({ re: 0, im: 1 }).neg(),
    plain: (a) => a.map(({ re, im }) => ({ re: im, im: -re })),
  },
  transpose: { degree: 1, tensors: (a) => a.T, plain: (a) => matrix((row, column) => at(a, column, row)) },
  flip: { degree: 1, tensors: (a) => a.flip(1), plain: (a) => matrix((row, column) => at(a, row, N - 1 - column)) },
  take: {
    degree: 1,
    tensors: (a) => a.take(tensor(places, { dtype: "i32", device: a.device }), { axis: 0 }),
    plain: (a) => matrix((row, column) => at(a, places[row]!, column)),
  },
  pad: {
    degree: 1,
    tensors: (a) =>
      a.at("1:", "0:2").pad(
        [
          [0, 1],
          [1, 0],
        ],
        { value },
      ),
    plain: (a) => matrix((row, column) => (row < 2 && column > 0 ? at(a, row + 1, column - 1) : value)),
  },
  concat: {
    degree: 1,
    tensors: (a, b) => concat([a.at("1:"), b.at("0:1")]),
    plain: (a, b) => matrix((row, column) => (row < 2 ? at(a, row + 1, column) : at(b, 0, column))),
  },
  where: {
    degree: 1,
    tensors: (a, b) => where(a.real().greater(0), a, b),
    plain: (a, b) => a.map((x, i) => (x.re > 0 ? x : b[i]!)),
  },
  sum: {
    degree: 1,
    tensors: (a, b) => b.sub(a.sum({ axis: 0 })),
    plain: (a, b) => matrix((row, column) => sub(at(b, row, column), total(range.map((i) => at(a, i, column))))),
  },
  prod: {
    degree: 3,
    tensors: (a) => a.prod({ axis: 1, keepDims: true }).broadcastTo([N, N]),
    plain: (a) => matrix((row) => mul(mul(at(a, row, 0), at(a, row, 1)), at(a, row, 2))),
  },
  cumsum: {
    degree: 1,
    tensors: (a) => a.cumsum({ axis: 1 }),
    plain: (a) => matrix((row, column) => total(range.slice(0, column + 1).map((i) => at(a, row, i)))),
  },
  matmul: {
    degree: 2,
    tensors: (a, b) => a.matmul(b),
    plain: (a, b) => matrix((row, column) => total(range.map((i) => mul(at(a, row, i), at(b, i, column))))),
  },
  scatter: {
    degree: 1,
    tensors: (a, b) => a.addAt(tensor(places, { dtype: "i32", device: a.device }), b),
    plain: (a, b) =>
      matrix((row, column) =>
        total([at(a, row, column), ...range.filter((i) => places[i] === row).map((i) => at(b, i, column))]),
      ),
  },
};
const names = Object.keys(operations);

const largest = (x: Plain): number => Math.max(1, ...x.flatMap(({ re, im }) => [Math.abs(re), Math.abs(im)]));

function checkGraph(seed: number, device: string, length: number): void {
  const random: Random = randomFrom(seed);
  const leaf = (): Plain => matrix(() => ({ re: random.below(7) - 3, im: random.below(7) - 3 }));
  const made: { plain: Plain; x: Tensor; text: string }[] = [0, 1].map((i) => {
    const plain = leaf();
    return { plain, x: tensor([...plain], { dtype: "c128", device, shape: [N, N] }) as Tensor, text: `${i} = x` };
  });
  while (made.length < length) {
    const [i, j] = [random.below(made.length), random.below(made.length)];
    const [a, b] = [made[i]!, made[j]!];
    const name = random.pick(names);
    const { degree, tensors, plain } = operations[name]!;
    // 12 terms at most are added up, of which none may leave the whole numbers that an f64 holds.
    if (12 * Math.max(largest(a.plain), largest(b.plain)) ** degree * 2 ** degree > 2 ** 53) continue;
    made.push({ plain: plain(a.plain, b.plain), x: tensors(a.x, b.x), text: `${made.length} = ${name}(${i}, ${j})` });
  }
  const roots = made.filter((_, i) => i === made.length - 1 || random.below(4) === 0);
  backendFor(device).realize(roots.map(({ x }) => x.node));
  const program = made.map(({ text }) => text).join("; ");
  for (const { x, plain, text } of roots) {
    complexNumbers(x).forEach((got, i) => {
      const want = plain[i]!;
      if (got.re !== want.re || got.im !== want.im) {
        assert.fail(
          `seed ${seed} on ${device}: element ${i} is ${got.re} + ${got.im}i, not ${want.re} + ${want.im}i, of ${text} in ${program}`,
        );
      }
    });
  }
}

describeOnTensorDevices("random graphs of complex matrices", (device) => {
  test("are what their operations give one by one", () => {
    // Drivers take long to compile.
    const seeds = device === "cpu" ? 150 : 12;
    for (let seed = 1; seed <= seeds; seed++) checkGraph(seed, device, 4 + (seed % 5) * 6);
  });
});
