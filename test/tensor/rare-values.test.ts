/**
 * Quotients and roots of any numbers, in every kind of kernel. Where a device does not round them correctly they are
 * refined, fast where operands are ordinary and slowly where they are not: both ways must give what IEEE says.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor, where } from "../../src/tensor/index.js";
import { mayFlush } from "../support/denormals.js";
import { randomFrom } from "../support/random.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const random = randomFrom(11);
const anyFloats = (count: number): Float32Array =>
  new Float32Array(Uint32Array.from({ length: count }, () => random.below(2 ** 32)).buffer);
/** Ordinary numbers, but for one in a thousand. */
const mostlyMild = (count: number): Float32Array =>
  anyFloats(count).map((x, i) => (i % 997 === 0 ? x : Math.fround((i % 1000) / 250 - 2.0005)));

const isDenormal = (x: number): boolean => x !== 0 && Math.abs(x) < 2 ** -126;

/** Compares bits; on a device that may flush denormals, only where neither the operands nor the result are. */
function assertSame(actual: Tensor, expected: ArrayLike<number>, ...operands: ArrayLike<number>[]): void {
  const values = numbersOf(actual);
  assert.equal(values.length, expected.length);
  const flushes = mayFlush(actual.device, "f32");
  values.forEach((got, i) => {
    const want = expected[i]!;
    if (flushes && (isDenormal(want) || operands.some((operand) => isDenormal(operand[i]!)))) return;
    assert.ok(Object.is(got, want), `element ${i} is ${got}, not ${want}`);
  });
}

describeOnTensorDevices("quotients and roots of any numbers", () => {
  const n = 1 << 17;
  const [a, b, mild] = [anyFloats(n), anyFloats(n), mostlyMild(n)];
  const quotients = a.map((x, i) => Math.fround(x / b[i]!));

  test("element by element, several to a thread and one", () => {
    assertSame(tensor(a).div(tensor(b)), quotients, a, b);
    const few = 1001;
    assertSame(tensor(a.slice(0, few)).div(tensor(b.slice(0, few))), quotients.slice(0, few), a, b);
    const roots = mild.map((x) => Math.fround(x / Math.fround(Math.sqrt(Math.abs(x)))));
    assertSame(tensor(mild).div(tensor(mild).abs().sqrt()), roots, mild);
  });

  for (const columns of [63, 1024, 1000, 8192]) {
    const rows = Math.floor(n / columns);
    const size = rows * columns;

    test(`in rows of ${columns}, before and after they are reduced`, () => {
      const x = tensor(mild.slice(0, size), { shape: [rows, columns] });
      const largest = Array.from({ length: rows }, (_, row) => {
        const line = mild.slice(row * columns, (row + 1) * columns);
        return line.reduce((most, value) => (Number.isNaN(most) || most > Math.abs(value) ? most : Math.abs(value)), 0);
      });
      const shares = mild.slice(0, size).map((value, i) => Math.fround(value / largest[Math.floor(i / columns)]!));
      assertSame(x.div(x.abs().max({ axis: 1, keepDims: true })).reshape(-1), shares, mild);

      const least = new Float32Array(rows).fill(Infinity);
      quotients.slice(0, size).forEach((quotient, i) => {
        const row = Math.floor(i / columns);
        const isOrdinary = Math.abs(quotient) > 1e-30 && !isDenormal(a[i]!) && !isDenormal(b[i]!);
        if (isOrdinary && Math.abs(quotient) < least[row]!) least[row] = Math.abs(quotient);
      });
      const [p, q] = [a, b].map((values) => tensor(values.slice(0, size), { shape: [rows, columns] })) as [
        Tensor,
        Tensor,
      ];
      const magnitude = p.div(q).abs();
      const isOrdinary = magnitude
        .greater(1e-30)
        .logicalAnd(p.abs().greaterEqual(2 ** -126))
        .logicalAnd(q.abs().greaterEqual(2 ** -126));
      assertSame(where(isOrdinary, magnitude, Infinity).min({ axis: 1 }), least);
    });
  }
});
