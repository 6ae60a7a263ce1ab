/** Products as users name them to be measured. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { productShapeOf } from "../../../src/compiler/tiles/operand-orders.js";
import { shapeClass } from "../../../src/compiler/tiles/product-shape.js";
import { ArgumentError } from "../../../src/core/errors.js";
import { parseProduct, plainProduct } from "../../../src/runtime/tuning/plain-product.js";
import { nowhere } from "../../support/nodes.js";

test("extents, dtype, precision and transposed operands are read", () => {
  const rest = { batch: 1, precision: undefined, orders: "nn" };
  assert.deepEqual(parseProduct("tune", "3x4x5"), { ...rest, m: 3, k: 4, n: 5, dtype: "f32" });
  assert.deepEqual(parseProduct("tune", "2×3×4×5:bf16:tn"), {
    ...{ batch: 2, m: 3, k: 4, n: 5, dtype: "bf16", precision: undefined, orders: "tn" },
  });
  assert.equal(parseProduct("tune", "3x4x5:f32-high").precision, "high");
});

test("other texts are refused with the form that is right", () => {
  for (const text of [
    "",
    "4096",
    "4x4",
    "4x4x4x4x4",
    "4x4x4:f33",
    "4x4x4:c64",
    "4x4x4:i4",
    "4x4x4:f64-high",
    "4x4x4:f32:xy",
  ]) {
    assert.throws(() => parseProduct("tune", text), ArgumentError, text);
  }
  assert.throws(() => parseProduct("tune", "4096"), /"4096" names no product; give rows, summands and columns/);
});

test("the product that is measured is of the class that was named", () => {
  for (const text of [
    "96x80x64",
    "2x96x80x64:nn",
    "96x80x64:f16:nt",
    "96x80x64:f64:tn",
    "96x80x64:tt",
    "96x80x64:f32-fast",
  ]) {
    const shape = parseProduct("tune", text);
    const { operands } = plainProduct(shape, nowhere);
    const seen = productShapeOf(operands, shape.precision, { note: () => {} });
    assert.equal(shapeClass(seen), shapeClass(shape), text);
  }
});
