/**
 * Expressions of bf16 at all of its numbers: every operation rounds its result, however the kernel rounds, and all devices give
 * the same bits. There are enough elements for vectors of eight.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBf16, encodeBf16 } from "../../src/core/half.js";
import { arange, type Tensor } from "../../src/index.js";
import { mayFlush } from "../support/denormals.js";
import { erf } from "../support/special-functions.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const NUMBERS = 65536;
/** How often the numbers are there: so many elements are computed in vectors of eight. */
const COPIES = 8;

/** The bf16 nearest to a number. A double is rounded once: its f32 decides, unless that lies halfway between two bf16. */
function nearest(exact: number): number {
  const single = Math.fround(exact);
  const rounded = decodeBf16(encodeBf16(single));
  if (single === exact || !Number.isFinite(exact)) return rounded;
  const other = decodeBf16(encodeBf16(Math.fround(single + Math.sign(exact - single) * 2 ** -23 * Math.abs(single))));
  return Math.abs(other - exact) < Math.abs(rounded - exact) ? other : rounded;
}

const constant = nearest;

interface Form {
  tensor(x: Tensor): Tensor;
  number(x: number): number;
}

const forms: Readonly<Record<string, Form>> = {
  "x·½(1 + erf(x/√2))": {
    tensor: (x) => x.mul(x.div(Math.SQRT2).erf().add(1).mul(0.5)),
    number: (x) => nearest(x * nearest(0.5 * nearest(1 + nearest(erf(nearest(x / constant(Math.SQRT2))))))),
  },
  "x² + 1": { tensor: (x) => x.mul(x).add(1), number: (x) => nearest(nearest(x * x) + 1) },
  "(x/3 - 0.1)·(-x)": {
    tensor: (x) => x.div(3).sub(0.1).mul(x.neg()),
    number: (x) => nearest(nearest(nearest(x / 3) - constant(0.1)) * -x),
  },
  "x·1.0078125 + 3x, up to infinity": {
    tensor: (x) => x.mul(1.0078125).add(x.mul(3)),
    number: (x) => nearest(nearest(x * 1.0078125) + nearest(3 * x)),
  },
  "a product that is huge on the way": {
    tensor: (x) => x.mul(1.5 * 2 ** 60).mul(1.25 * 2 ** -61),
    number: (x) => nearest(nearest(x * 1.5 * 2 ** 60) * 1.25 * 2 ** -61),
  },
};

describeOnTensorDevices("expressions of bf16", (device) => {
  const numbers = () =>
    arange(0, COPIES * NUMBERS, 1, { dtype: "i32", device })
      .bitwiseAnd(NUMBERS - 1)
      .cast("u16")
      .bitcast("bf16");
  // The least normal number may be a denormal one rounded up.
  const isTiny = (x: number) => x !== 0 && Math.abs(x) <= 2 ** -126;

  for (const [name, { tensor, number }] of Object.entries(forms)) {
    test(`${name} is rounded after each operation, at every number`, async () => {
      const x = numbers().realize();
      const got = await tensor(x).bitcast("u16").cast("i32").data();
      const flushes = mayFlush(device, "bf16");
      const wrong: string[] = [];
      for (let bits = 0; bits < NUMBERS; bits++) {
        const [value, result] = [decodeBf16(bits), decodeBf16(Number(got[bits]))];
        const wanted = number(value);
        if (flushes && [value, result, wanted].some(isTiny)) continue;
        if (!Object.is(result, wanted)) wrong.push(`${value}: ${result}, not ${wanted}`);
      }
      assert.deepEqual(wrong.slice(0, 5), []);
      for (let i = NUMBERS; i < COPIES * NUMBERS; i++) {
        if (got[i] !== got[i % NUMBERS]) assert.fail(`copies of ${i % NUMBERS} differ: ${got[i]}, ${got[i % NUMBERS]}`);
      }
    });
  }
});
