/**
 * The laws that the table of reductions states, for every entry and every dtype it takes, against loops over plain values:
 * the compiler counts on each of them somewhere.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DTYPE_NAMES, DTYPES, type DType, isFloat } from "../../src/core/dtype.js";
import type { ElementOps } from "../../src/graph/element-ops.js";
import {
  asCombineOp,
  type PlainScalar,
  REDUCE_OPS,
  type ReductionEntry,
  reductionBy,
  reductionOf,
} from "../../src/graph/reduction.js";
import { elementOracle, type Value } from "../support/element-oracle.js";
import { randomFrom } from "../support/random.js";
import { anyValue, specialValues } from "../support/sweep-samples.js";

const realDTypesOf = ({ kinds }: ReductionEntry): DType[] =>
  DTYPE_NAMES.filter((dtype) => DTYPES[dtype].kind !== "complex" && kinds.includes(DTYPES[dtype].kind));

const isWide = (dtype: DType): boolean => dtype === "i64" || dtype === "u64";

/** A value of the table as the oracles have it: bool is 0 or 1, integers of 64 bits are bigints. */
const asValue = (value: PlainScalar, dtype: DType): Value => (isWide(dtype) ? BigInt(value) : Number(value));
const asPlain = (value: Value, dtype: DType): PlainScalar => (dtype === "bool" ? value !== 0 : value);

/** Special values, and a few of any bits. */
function samples(dtype: DType): Value[] {
  const random = randomFrom(7);
  return [...specialValues(dtype), ...Array.from({ length: 8 }, () => anyValue(dtype, random))];
}

const combineOf = ({ elementwise }: ReductionEntry, dtype: DType) =>
  elementOracle(elementwise, [dtype, dtype], dtype) as (a: Value, b: Value) => Value;

/** Every entry with every real dtype it takes. */
const cases = REDUCE_OPS.flatMap((op) => realDTypesOf(reductionOf(op)).map((dtype) => ({ op, dtype })));

function eachCase(title: string, check: (entry: ReductionEntry, dtype: DType) => void): void {
  for (const op of REDUCE_OPS) {
    test(`${op}: ${title}`, () => {
      for (const dtype of realDTypesOf(reductionOf(op))) check(reductionOf(op), dtype);
    });
  }
}

describe("the table of reductions", () => {
  test("has entries that each take some dtype, which their elementwise operation takes as well", () => {
    assert.ok(cases.length > 0);
    for (const op of REDUCE_OPS) {
      const { kinds, elementwise } = reductionOf(op);
      assert.ok(kinds.length > 0, op);
      for (const kind of kinds) assert.ok(elementwise.kinds.includes(kind), `${op} of ${kind}`);
    }
  });

  test("names for elements the operation that it names for tensors", () => {
    for (const op of REDUCE_OPS) {
      const { combine, elementwise } = reductionOf(op);
      const called: string[] = [];
      const recorder = new Proxy({} as ElementOps<string>, {
        get: (_, name) => (a: string, b: string) => {
          called.push(`${String(name)}(${a}, ${b})`);
          return "result";
        },
      });
      assert.equal(elementwise.lower(recorder, ["a", "b"], {}, "i32"), "result");
      assert.deepEqual(called, [`${combine}(a, b)`], op);
    }
  });

  test("finds an entry by its combining operation, and entries that share one agree on its laws", () => {
    for (const op of REDUCE_OPS) {
      const entry = reductionOf(op);
      const found = reductionBy(entry.combine);
      assert.equal(asCombineOp(entry.combine), entry.combine);
      assert.equal(found.elementwise, entry.elementwise, op);
      assert.equal(found.copies, entry.copies, op);
      assert.equal(found.isSymmetric, entry.isSymmetric, op);
      for (const dtype of realDTypesOf(entry)) assert.equal(found.identity(dtype), entry.identity(dtype), op);
    }
    assert.equal(asCombineOp("sub"), null);
    assert.equal(asCombineOp("shl"), null);
  });
});

describe("laws of reductions", () => {
  eachCase("the identity changes no value, but for the sign of a zero", (entry, dtype) => {
    const combine = combineOf(entry, dtype);
    const identity = asValue(entry.identity(dtype), dtype);
    for (const x of samples(dtype)) {
      for (const got of [combine(identity, x), combine(x, identity)]) {
        assert.ok(got === x || Object.is(got, x), `${dtype}: ${identity} with ${x} is ${got}`);
      }
    }
  });

  eachCase("what is neutral changes no bit", (entry, dtype) => {
    const combine = combineOf(entry, dtype);
    const neutral = asValue(entry.neutral(dtype), dtype);
    for (const x of samples(dtype)) {
      assert.ok(Object.is(combine(neutral, x), x), `${dtype}: ${neutral} with ${x} is ${combine(neutral, x)}`);
    }
  });

  eachCase("copies of a value come to what a loop over them does", (entry, dtype) => {
    const combine = combineOf(entry, isFloat(dtype) ? "f64" : dtype);
    const round = (x: Value) => combineOf(entry, dtype)(asValue(entry.neutral(dtype), dtype), x);
    for (const x of samples(dtype)) {
      let total = x;
      for (let count = 1; count <= 9; total = combine(total, x), count++) {
        const got = asValue(entry.copies.ofValue(asPlain(x, dtype), count, dtype), dtype);
        const want = round(total);
        // A loop of doubles rounds each time, the rule once.
        const isNear = isFloat(dtype) && Math.abs(Number(got) - Number(want)) <= 1e-14 * Math.abs(Number(want));
        assert.ok(Object.is(got, want) || got === want || isNear, `${dtype}: ${count} of ${x} are ${got}, not ${want}`);
      }
    }
  });

  eachCase("copies of many wrap around like the loop", (entry, dtype) => {
    if (isFloat(dtype)) return;
    const combine = combineOf(entry, dtype);
    for (const x of samples(dtype).slice(0, 4)) {
      let total = x;
      for (let i = 1; i < 1000; i++) total = combine(total, x);
      assert.equal(asValue(entry.copies.ofValue(asPlain(x, dtype), 1000, dtype), dtype), total, `${dtype}: ${x}`);
    }
  });

  eachCase("is symmetric, bit for bit, where it says so", (entry, dtype) => {
    const combine = combineOf(entry, dtype);
    if (!entry.isSymmetric) return;
    for (const a of samples(dtype)) {
      for (const b of samples(dtype)) assert.ok(Object.is(combine(a, b), combine(b, a)), `${dtype}: ${a}, ${b}`);
    }
  });

  eachCase(
    "is exact, where it says so: what it makes of values of a narrow dtype is one without rounding",
    (entry, dtype) => {
      if (!entry.isExact || dtype === "bool") return;
      const wide = isFloat(dtype) ? "f64" : DTYPES[dtype].kind === "int" ? "i64" : "u64";
      const exact = combineOf(entry, wide);
      const own = combineOf(entry, dtype);
      const widened = (x: Value) => (isWide(wide) ? BigInt(x) : x);
      for (const a of samples(dtype)) {
        for (const b of samples(dtype)) {
          const got = exact(widened(a), widened(b));
          assert.ok(got === widened(own(a, b)) || Number.isNaN(got), `${dtype}: ${a}, ${b}`);
        }
      }
    },
  );
});
