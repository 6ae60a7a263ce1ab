/**
 * Casts between every pair of dtypes, and bitcasts, against src/core/cast.ts: stored, fused behind arithmetic, and there
 * and back within one kernel, where a cast must round although nothing is stored in between.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DTYPES, type DType } from "../../src/core/dtype.js";
import * as E from "../../src/graph/primitives/elementwise.js";
import { castNode, derive } from "../../src/tensor/build.js";
import { Tensor } from "../../src/tensor/index.js";
import { mayFlush } from "../support/denormals.js";
import { castValue, elementOracle, type Value } from "../support/element-oracle.js";
import { tensorOf, valuesOf } from "../support/plain-views.js";
import { randomFrom } from "../support/random.js";
import { anyValue, isDenormal, specialValues, tameValue } from "../support/sweep-samples.js";
import { narrowDTypes, realDTypes, testDevices } from "../support/tensors.js";

const devices = testDevices();
const dtypes: readonly DType[] = ["bool", ...realDTypes, ...narrowDTypes];

/** Values where casts go wrong: the ends of every dtype, halves between floats, one past them. */
function samples(from: DType): Value[] {
  const random = randomFrom(from.length);
  const values = [...specialValues(from)];
  const { kind } = DTYPES[from];
  if (kind !== "bool") {
    for (const dtype of dtypes) {
      for (const end of specialValues(dtype)) {
        if (kind === "float") values.push(castValue(end, dtype, from));
        else if (DTYPES[dtype].kind !== "float") values.push(castValue(end, dtype, from));
      }
    }
    // Halfway between two floats of a narrower dtype, and a little to either side: here rounding twice goes wrong.
    for (const digits of [8, 11, 24]) {
      for (const exponent of [0, 9, 14, 25, 30, 40, 62]) {
        const half = 2n ** 62n + 2n ** (62n - BigInt(digits));
        for (const off of [-1n, 0n, 1n, -(2n ** 32n), 2n ** 32n]) {
          const exact = half + off;
          const shift = 62 - exponent;
          if (kind === "float") values.push(castValue(Number(exact) / 2 ** shift, "f64", from));
          else
            values.push(
              castValue(exact >> BigInt(shift), "i64", from),
              castValue((exact >> BigInt(shift)) | 1n, "i64", from),
            );
        }
      }
    }
    for (let i = 0; i < 50; i++) values.push(anyValue(from, random), tameValue(from, random, [-300, 300]));
  }
  return values;
}

function expectCast(
  x: Tensor,
  values: readonly Value[],
  want: (value: Value) => Value,
  what: string,
  involved: DType[],
) {
  const got = valuesOf(x);
  values.forEach((value, i) => {
    const wanted = want(value);
    if (Object.is(got[i], wanted)) return;
    const isSmall = involved.some((dtype) => isDenormal(value, dtype) || isDenormal(wanted, dtype));
    if (isSmall && mayFlush(x.device, "f32") && got[i] === 0) return;
    assert.fail(`${what}: ${Object.is(value, -0) ? "-0" : value} gives ${got[i]}, not ${wanted}, on ${x.device}`);
  });
}

describe("casts", { skip: devices.length === 0 ? "missing: a device for tensors" : false }, () => {
  for (const from of dtypes) {
    test(`${from} to every dtype`, () => {
      const values = samples(from);
      for (const device of devices) {
        const x = tensorOf(values, [values.length], from, device);
        for (const to of dtypes) {
          expectCast(x.cast(to), values, (value) => castValue(value, from, to), `${from} to ${to}`, [from, to]);
        }
      }
    });
  }

  test("a cast there and back rounds, wraps and saturates within one kernel", () => {
    for (const from of ["f64", "f32", "i64", "i32"] as const) {
      const values = samples(from);
      for (const device of devices) {
        const x = tensorOf(values, [values.length], from, device);
        for (const to of dtypes) {
          if (to === from) continue;
          const there = new Tensor(castNode(castNode(x.node, to), from));
          const want = (value: Value) => castValue(castValue(value, from, to), to, from);
          expectCast(there, values, want, `${from} to ${to} and back`, [from, to]);
        }
      }
    }
  });

  test("bitcasts keep the bits", () => {
    const pairs: [DType, DType][] = [];
    for (const group of [
      ["f32", "i32", "u32"],
      ["f64", "i64", "u64"],
      ["f16", "bf16", "i16", "u16"],
      ["i8", "u8", "f8e4m3", "f8e5m2"],
      ["i4", "u4"],
      ["i2", "u2"],
    ] as const) {
      for (const from of group) for (const to of group) pairs.push([from, to]);
    }
    // Of 16 bits there are few enough to try them all.
    const all = Array.from({ length: 65536 }, (_, i) => i);
    const values16 = (dtype: DType) => all.map((i) => elementOracle(E.bitcast, ["u16"], dtype)(i, 0, 0));
    for (const [from, to] of pairs) {
      const every = DTYPES[from].bits === 16 ? values16(from) : samples(from);
      const values = every.filter((value) => !Number.isNaN(value));
      const oracle = elementOracle(E.bitcast, [from], to) as (x: Value) => Value;
      for (const device of devices) {
        const x = tensorOf(values, [values.length], from, device);
        const y = new Tensor(derive(E.bitcast, x.node, { dtype: to }));
        expectCast(y, values, oracle, `${from} as ${to}`, []);
      }
    }
  });

  // Mesa 22.3 takes a sign-extended number for never less than a constant of 64 bits.
  test("a number cast within a kernel compares with constants as one that was stored", () => {
    const whole = dtypes.filter((dtype) => DTYPES[dtype].kind === "int" || DTYPES[dtype].kind === "uint");
    for (const device of devices) {
      for (const from of whole) {
        const { min, max, signed } = DTYPES[from];
        const values = [0, 1, 5, 100, ...(signed ? [-1, -100] : [])].filter((value) => value >= min && value <= max);
        const x = tensorOf(from.endsWith("64") ? values.map(BigInt) : values, [values.length], from, device);
        for (const to of whole) {
          const cast = values.map((value) => castValue(from.endsWith("64") ? BigInt(value) : value, from, to));
          for (const [limit, how] of [
            [Math.min(5, Number(DTYPES[to].max)), "less"],
            [1, "greaterEqual"],
          ] as const) {
            const want = cast.map((value) => Number(how === "less" ? value < limit : value >= limit));
            assert.deepEqual(valuesOf(x.cast(to)[how](limit)), want, `${from} as ${to} ${how} ${limit} on ${device}`);
          }
        }
      }
    }
  });
});
