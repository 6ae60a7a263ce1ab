/** Printing, against what NumPy printed for the same bytes (make-format-cases.py wrote them down). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { roundTo } from "../../src/core/cast.js";
import type { DType } from "../../src/core/dtype.js";
import { formatArray, shownIndices } from "../../src/core/format.js";
import { sizeOf } from "../../src/core/shape.js";
import { dataOf, elementAt } from "../../src/core/storage.js";

interface Case {
  readonly dtype: DType;
  readonly shape: number[];
  readonly bytes: string;
  readonly text: string;
  readonly options?: Parameters<typeof formatArray>[3];
}

const cases: Case[] = JSON.parse(
  readFileSync(new URL("../../../test/core/format-cases.json", import.meta.url), "utf8"),
);

function valuesOf({ bytes, dtype }: Case): (position: number) => ReturnType<typeof elementAt> {
  if (bytes === "arange") return (position) => position;
  const data = dataOf(Uint8Array.from(Buffer.from(bytes, "base64")), dtype);
  return (position) => elementAt(data, dtype, position);
}

for (const dtype of new Set(cases.map((each) => each.dtype))) {
  test(`${dtype} prints as in NumPy`, () => {
    for (const each of cases.filter((other) => other.dtype === dtype)) {
      assert.equal(formatArray(valuesOf(each), each.shape, dtype, each.options), each.text, JSON.stringify(each));
    }
  });
}

describe("beyond NumPy", () => {
  test("bf16 shows the digits that tell its numbers apart", () => {
    const values = [0.1, 1 / 3, -2, 100].map((x) => roundTo("bf16", x));
    assert.equal(
      formatArray((i) => values[i], [4], "bf16"),
      "[  0.1     0.334  -2.    100.   ]",
    );
  });

  test("0.0001 in f32 is not yet scientific, as in NumPy 2", () => {
    assert.equal(
      formatArray(() => Math.fround(0.0001), [1], "f32"),
      "[0.0001]",
    );
  });

  test("only what is shown is asked for", () => {
    const asked: number[] = [];
    const shape = [1000, 1000, 1000];
    formatArray((position) => asked.push(position), shape, "i32");
    assert.equal(asked.length, 6 ** 3);
    const [planes, rows, columns] = shownIndices(shape);
    assert.deepEqual(planes, [0, 1, 2, 997, 998, 999]);
    assert.equal(asked[7], planes[0] * 1e6 + rows[1] * 1e3 + columns[1]);
    assert.equal(asked.at(-1), sizeOf(shape) - 1);
  });

  test("small arrays are shown whole, however long an axis", () => {
    assert.deepEqual(shownIndices([2, 500]), [[0, 1], Array.from({ length: 500 }, (_, i) => i)]);
  });
});
