/**
 * Functions of complex numbers, against mpmath and NumPy (make-complex-cases.py wrote their values down). Errors are
 * measured against the absolute value of the result, in units of the last place of its parts.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Complex, realDType, type Scalar } from "../../../src/core/dtype.js";
import { complex, type Tensor, tensor } from "../../../src/tensor/index.js";
import { complexCases, complexNumbers, complexOf, numbersIn } from "../../support/complex-cases.js";
import { mayFlush } from "../../support/denormals.js";
import { testDevices } from "../../support/tensors.js";

const devices = testDevices();
const skip = devices.length === 0 ? "missing: a device for tensors" : false;
const dtypes = ["c64", "c128"] as const;

/** Errors allowed, in units of the last place of the larger part; what is not listed may have 4. */
const allowed: Readonly<Record<string, number>> = { mul: 2, square: 2, abs: 2, phase: 2 };
/** A power magnifies the error of the logarithm by the exponent. */
const powerError = (z: Complex, w: Complex): number =>
  4 * (1 + Math.hypot(w.re, w.im) * (1 + Math.log(Math.hypot(z.re, z.im)) ** 2 + Math.PI));

const epsilon = { c64: 2 ** -23, c128: 2 ** -52 } as const;
const smallest = { c64: 2 ** -126, c128: 2 ** -1022 } as const;

type Method = (this: Tensor, ...others: Tensor[]) => Tensor;

/** One length for all, so that each function is compiled once: large kernels take drivers long. */
const LENGTH = 160;

function apply(
  name: string,
  operands: readonly (readonly Complex[])[],
  dtype: "c64" | "c128",
  device: string,
): Complex[] {
  const [first, ...others] = operands.map((values) => {
    const filled = Array.from({ length: LENGTH }, (_, i) => values[i % values.length]!);
    return tensor(filled, { dtype, device }) as Tensor;
  });
  return complexNumbers((first![name as "mul"] as Method).call(first!, ...others));
}

const shown = ({ re, im }: Complex): string => `${Object.is(re, -0) ? "-0" : re} + ${Object.is(im, -0) ? "-0" : im}i`;

describe("functions of complex numbers", { skip }, () => {
  for (const { name, kind, args, result } of complexCases.functions) {
    for (const dtype of dtypes.filter((each) => kind === "tame" || kind === each)) {
      test(`${name} of ${dtype}, ${kind === "tame" ? "of moderate size" : "near overflow and underflow"}`, () => {
        const operands = args.map(complexOf);
        const wanted = complexOf(result);
        for (const device of devices) {
          const got = apply(name, operands, dtype, device);
          wanted.forEach((want, i) => {
            const value = got[i]!;
            const row = operands.map((values) => values[i]!);
            const units = name === "pow" ? powerError(row[0]!, row[1]!) : (allowed[name] ?? 4);
            const size = Math.max(Math.abs(want.re), Math.abs(want.im), smallest[dtype]);
            const isClose = (a: number, b: number) =>
              Object.is(a, b) || Math.abs(a - b) <= units * epsilon[dtype] * size || (a === b && !Number.isFinite(a));
            // A GPU may flush denormal parts, of operands too.
            const flushes = mayFlush(device, realDType(dtype));
            const hasFlushed = flushes && row.some(({ re, im }) => isTiny(re, dtype) || isTiny(im, dtype));
            const flushed = (x: number) => (flushes && isTiny(x, dtype) ? 0 : x);
            const isFlushed = isClose(value.re, flushed(want.re)) && isClose(value.im, flushed(want.im));
            if (hasFlushed || isFlushed || (isClose(value.re, want.re) && isClose(value.im, want.im))) return;
            assert.fail(`${name}(${row.map(shown).join(", ")}) on ${device} is ${shown(value)}, not ${shown(want)}`);
          });
        }
      });
    }
  }
});

const isTiny = (x: number, dtype: "c64" | "c128"): boolean => x !== 0 && Math.abs(x) < smallest[dtype];

/**
 * Where we keep to C99 and NumPy does not: by infinity the quotient is zero, by zero it has the sign of the zero. Which
 * sign zeros of quotients have, and what infinite powers are, is left open.
 */
function isOpen(name: string, row: readonly Complex[]): boolean {
  const divisor = row[row.length - 1]!;
  const isNothing = divisor.re === 0 && divisor.im === 0;
  const isEndless = (z: Complex) => Math.abs(z.re) === Infinity || Math.abs(z.im) === Infinity;
  if (name === "reciprocal" || name === "div") return isNothing || isEndless(divisor);
  return name === "pow" && row.some(isEndless);
}

/** Signs that C99 leaves open: the result is infinite or zero in no direction. */
const signFree = new Set(["exp", "sin", "cos", "sinh", "cosh"]);

describe("special values", { skip }, () => {
  for (const { name, args, result } of complexCases.specials) {
    test(`${name} of infinities, NaNs and signed zeros is that of C99 and NumPy`, () => {
      const operands = args.map(complexOf);
      const wanted = complexOf(result);
      for (const device of devices) {
        for (const dtype of dtypes) {
          const got = apply(name, operands, dtype, device);
          wanted.forEach((want, i) => {
            const row = operands.map((values) => values[i]!);
            if (isOpen(name, row)) return;
            const value = got[i]!;
            const isUnbounded = !Number.isFinite(row[0]!.re) || !Number.isFinite(row[0]!.im);
            const isSame = (a: number, b: number) => {
              if (Object.is(a, b)) return true;
              if (name === "div" && a === 0 && b === 0) return true;
              if (signFree.has(name) && isUnbounded && Math.abs(a) === Math.abs(b) && (a === 0 || a === -b)) {
                return Number.isNaN(want.re) || Number.isNaN(want.im) || (want.re === 0 && want.im === 0);
              }
              const size = Math.max(...[want.re, want.im].filter(Number.isFinite).map(Math.abs));
              return Math.abs(a - b) <= 16 * epsilon[dtype] * size && (a !== 0 || b !== 0);
            };
            if (isSame(value.re, want.re) && isSame(value.im, want.im)) return;
            assert.fail(
              `${name}(${row.map(shown).join(", ")}) of ${dtype} on ${device} is ${shown(value)}, not ${shown(want)}`,
            );
          });
        }
      }
    });
  }

  test("what is finite by what is infinite is zero, and by zero infinite, with the sign of the zero", () => {
    for (const device of devices) {
      for (const dtype of dtypes) {
        const a = tensor([1, 1, 1, { re: 1, im: -2 }, { re: 1, im: -2 }, { re: Infinity, im: 0 }], { dtype, device });
        const b = tensor(
          [
            { re: Infinity, im: Infinity },
            { re: -Infinity, im: Number.NaN },
            { re: 3, im: -Infinity },
            { re: 0, im: 0 },
            { re: -0, im: 0 },
            { re: Infinity, im: 1 },
          ],
          { dtype, device },
        );
        const got = complexNumbers(a.div(b));
        for (const { re, im } of got.slice(0, 3)) assert.deepEqual([Math.abs(re), Math.abs(im)], [0, 0]);
        assert.deepEqual(got[3], { re: Infinity, im: -Infinity });
        assert.deepEqual(got[4], { re: -Infinity, im: Infinity });
        assert.ok(Number.isNaN(got[5]!.re) && Number.isNaN(got[5]!.im));
        assert.deepEqual(
          complexNumbers(b.reciprocal())
            .slice(0, 3)
            .map(({ re, im }) => [Math.abs(re), Math.abs(im)]),
          [
            [0, 0],
            [0, 0],
            [0, 0],
          ],
        );
      }
    }
  });

  test("NaN in either part is NaN, infinity in either part is infinite, and only both finite is finite", () => {
    const values = [
      { re: 1, im: 2 },
      { re: Number.NaN, im: 1 },
      { re: 1, im: Number.NaN },
      { re: -Infinity, im: 0 },
      { re: Number.NaN, im: Infinity },
    ];
    for (const device of devices) {
      const z = tensor(values, { dtype: "c64", device });
      assert.deepEqual(z.isNaN().arraySync(), [false, true, true, false, true]);
      assert.deepEqual(z.isInf().arraySync(), [false, false, false, true, true]);
      assert.deepEqual(z.isFinite().arraySync(), [true, false, false, false, false]);
      assert.deepEqual(z.equal(z).arraySync(), [true, false, false, true, false]);
      assert.deepEqual(z.notEqual(z).arraySync(), [false, true, true, false, true]);
      assert.deepEqual(z.isClose(z, { equalNaN: true }).arraySync(), [true, true, true, true, true]);
      assert.equal(
        z
          .at(0)
          .allClose({ re: 1 + 1e-7, im: 2 })
          .itemSync(),
        true,
      );
      assert.equal(z.at(0).allClose({ re: 1, im: 2.1 }).itemSync(), false);
    }
  });
});

describe("powers and fusion", { skip }, () => {
  test("whole powers are products: exact where these are, 1 for 0, the reciprocal for negative ones", () => {
    const values = [
      { re: 1, im: 1 },
      { re: -2, im: 1 },
      { re: 0, im: 3 },
      { re: 2, im: 0 },
    ];
    const product = (a: Complex, b: Complex): Complex => ({
      re: a.re * b.re - a.im * b.im,
      im: a.re * b.im + a.im * b.re,
    });
    for (const device of devices) {
      for (const dtype of dtypes) {
        const z = tensor(values, { dtype, device });
        for (const exponent of [0, 1, 2, 3, 5, 8]) {
          const want = values.map((value) => {
            let power: Complex = { re: 1, im: 0 };
            for (let i = 0; i < exponent; i++) power = product(power, value);
            return power;
          });
          const same: readonly Scalar[] = [exponent, BigInt(exponent), { re: exponent, im: 0 }];
          const got = complexNumbers(z.pow(same[exponent % 3]!));
          got.forEach(({ re, im }, i) => {
            assert.deepEqual([re + 0, im + 0], [want[i]!.re + 0, want[i]!.im + 0], `${exponent} on ${device}`);
          });
        }
        assert.deepEqual(
          complexNumbers(z.pow(-2)).map(({ re }) => re),
          complexNumbers(z.square().reciprocal()).map(({ re }) => re),
        );
        assert.deepEqual(complexNumbers(tensor([0, 0, 0], { dtype, device }).pow(tensor([2, 0, -1], { device }))), [
          { re: 0, im: 0 },
          { re: 1, im: 0 },
          { re: Number.NaN, im: Number.NaN },
        ]);
      }
    }
  });

  test("different powers of one number in one expression stay different", () => {
    for (const device of devices) {
      const z = tensor({ re: 1, im: 2 }, { dtype: "c128", device });
      assert.deepEqual(z.pow(2).add(z.pow(3)).sub(z.pow(1)).itemSync(), { re: -15, im: 0 });
    }
  });

  test("exp(iπ) = -1, i² = -1, |exp(ix)| = 1 and log(exp(z)) = z", () => {
    for (const device of devices) {
      const i = tensor({ re: 0, im: 1 }, { dtype: "c128", device });
      assert.deepEqual(i.square().itemSync(), { re: -1, im: 0 });
      const euler = i.mul(Math.PI).exp().itemSync();
      assert.ok(euler.re === -1 && Math.abs(euler.im) < 1e-15);
      const x = tensor([0.1, 1, -2, 30], { dtype: "f64", device });
      for (const size of x.mul({ re: 0, im: 1 }).exp().abs().dataSync()) assert.ok(Math.abs(size - 1) < 1e-15);
      const z = complex(x, x.neg().mul(0.1));
      for (const off of z.exp().log().sub(z).abs().dataSync()) assert.ok(off < 1e-14);
    }
  });

  test("chains of operations fuse, and long ones are computed on the way", () => {
    for (const device of devices) {
      const turn = { re: Math.cos(0.1), im: Math.sin(0.1) };
      let z = tensor({ re: 1, im: 0 }, { dtype: "c128", device }) as Tensor;
      for (let i = 0; i < 60; i++) z = z.mul(turn);
      const { re, im } = z.itemSync() as Complex;
      assert.ok(Math.hypot(re - Math.cos(6), im - Math.sin(6)) < 1e-13, `${re} ${im}`);
      let constant = tensor({ re: 1, im: 0 }, { dtype: "c64", device }).mul(0) as Tensor;
      for (let i = 0; i < 300; i++) constant = constant.add({ re: 0.5, im: -1 });
      assert.deepEqual(constant.itemSync(), { re: 150, im: -300 });
    }
  });
});

test("the cases are read as they were written", () => {
  assert.deepEqual(numbersIn("1 -0 NaN Infinity"), [1, -0, Number.NaN, Infinity]);
});
