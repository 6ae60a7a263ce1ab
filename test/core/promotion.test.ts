/** The promotion lattice: its laws, JAX's published table, and the page that shows it. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { DTYPE_NAMES, DTYPES, type DType } from "../../src/core/dtype.js";
import { DTypeError } from "../../src/core/errors.js";
import { fitsDType, promote, resultType } from "../../src/core/promotion.js";

describe("promotion of two dtypes", () => {
  test("is symmetric, idempotent, and has bool as its neutral element", () => {
    for (const a of DTYPE_NAMES) {
      assert.equal(promote(a, a), a);
      assert.equal(promote("bool", a), a);
      for (const b of DTYPE_NAMES) assert.equal(promote(a, b), promote(b, a));
    }
  });

  test("of several operands does not depend on their order", () => {
    for (const a of DTYPE_NAMES) {
      for (const b of DTYPE_NAMES) {
        for (const c of DTYPE_NAMES) {
          const expected = resultType([a, b, c]);
          assert.equal(resultType([c, a, b]), expected);
          assert.equal(resultType([b, a, c]), expected);
        }
      }
    }
  });

  // The table of https://docs.jax.dev/en/latest/jep/9407-type-promotion.html, with f* as f32.
  // biome-ignore format: a table reads best in rows
  const JAX: [DType, string][] = [
    //      bool  u8   u16  u32  u64  i8   i16  i32  i64  bf16 f16  f32  f64  c64  c128
    ["bool", "bool u8   u16  u32  u64  i8   i16  i32  i64  bf16 f16  f32  f64  c64  c128"],
    ["u8",   "u8   u8   u16  u32  u64  i16  i16  i32  i64  bf16 f16  f32  f64  c64  c128"],
    ["u16",  "u16  u16  u16  u32  u64  i32  i32  i32  i64  bf16 f16  f32  f64  c64  c128"],
    ["u32",  "u32  u32  u32  u32  u64  i64  i64  i64  i64  bf16 f16  f32  f64  c64  c128"],
    ["u64",  "u64  u64  u64  u64  u64  f32  f32  f32  f32  bf16 f16  f32  f64  c64  c128"],
    ["i8",   "i8   i16  i32  i64  f32  i8   i16  i32  i64  bf16 f16  f32  f64  c64  c128"],
    ["i16",  "i16  i16  i32  i64  f32  i16  i16  i32  i64  bf16 f16  f32  f64  c64  c128"],
    ["i32",  "i32  i32  i32  i64  f32  i32  i32  i32  i64  bf16 f16  f32  f64  c64  c128"],
    ["i64",  "i64  i64  i64  i64  f32  i64  i64  i64  i64  bf16 f16  f32  f64  c64  c128"],
    ["bf16", "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32  f32  f64  c64  c128"],
    ["f16",  "f16  f16  f16  f16  f16  f16  f16  f16  f16  f32  f16  f32  f64  c64  c128"],
    ["f32",  "f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c128"],
    ["f64",  "f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128"],
    ["c64",  "c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c128 c64  c128"],
    ["c128", "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128"],
  ];

  test("is the one JAX publishes", () => {
    const published = JAX.map(([name]) => name);
    for (const [a, row] of JAX)
      assert.deepEqual(
        published.map((b) => promote(a, b)),
        row.split(/ +/),
        a,
      );
  });

  test("of integers narrower than a byte is the narrowest that holds both", () => {
    const widths = { u2: ["u2", "u4", "i4", "i4"], u4: ["u4", "u4", "i8", "i8"], i2: ["i4", "i8", "i2", "i4"] };
    for (const [a, row] of Object.entries(widths)) {
      assert.deepEqual(
        (["u2", "u4", "i2", "i4"] as const).map((b) => promote(a as DType, b)),
        row,
        a,
      );
    }
    for (const wide of ["u8", "u32", "i8", "i64", "f8e4m3", "bf16", "f32", "c64"] as const) {
      for (const narrow of ["u2", "u4"] as const) assert.equal(promote(narrow, wide), wide);
    }
    assert.equal(promote("i4", "u8"), "i16");
  });

  test("of an 8-bit float is the wider float; of both kinds it is f16, or the float beside them", () => {
    for (const float of ["f8e4m3", "f8e5m2"] as const) {
      for (const other of ["bool", "u2", "i4", "i64", "u64"] as const) assert.equal(promote(float, other), float);
      for (const other of ["bf16", "f16", "f32", "f64", "c64", "c128"] as const) {
        assert.equal(promote(float, other), other);
      }
      assert.equal(resultType([float, 0.5]), float);
      assert.equal(resultType([float, { re: 1, im: 2 }]), "c64");
    }
    assert.equal(promote("f8e4m3", "f8e5m2"), "f16");
    assert.equal(resultType(["f8e4m3", "f8e5m2", "bf16"]), "bf16");
  });

  test("never loses a range: within a kind the result holds both operands", () => {
    for (const a of DTYPE_NAMES) {
      for (const b of DTYPE_NAMES) {
        const result = promote(a, b);
        const isWhole = ["bool", "int", "uint"].includes(DTYPES[result].kind);
        if (isWhole) assert.ok(DTYPES[a].min >= DTYPES[result].min && DTYPES[a].max <= DTYPES[result].max);
      }
    }
  });
});

describe("promotion with JavaScript values", () => {
  test("a whole number takes the dtype it meets; bool becomes i32", () => {
    for (const dtype of DTYPE_NAMES) assert.equal(resultType([dtype, 1]), dtype === "bool" ? "i32" : dtype);
  });

  test("a fraction, NaN and infinity take a float's dtype and turn integers into f32", () => {
    for (const value of [0.5, Number.NaN, -Infinity]) {
      assert.equal(resultType(["f16", value]), "f16");
      assert.equal(resultType(["bf16", value]), "bf16");
      assert.equal(resultType(["f64", value]), "f64");
      assert.equal(resultType(["i64", value]), "f32");
      assert.equal(resultType(["bool", value]), "f32");
      assert.equal(resultType(["c64", value]), "c64");
    }
  });

  test("a boolean keeps every dtype", () => {
    for (const dtype of DTYPE_NAMES) assert.equal(resultType([dtype, true]), dtype);
  });

  test("a bigint keeps every dtype but bool, which becomes i64", () => {
    for (const dtype of DTYPE_NAMES) assert.equal(resultType([dtype, 1n]), dtype === "bool" ? "i64" : dtype);
  });

  test("a complex value makes c64, or c128 beside f64", () => {
    assert.equal(resultType(["f16", { re: 0, im: 1 }]), "c64");
    assert.equal(resultType(["i32", { re: 0, im: 1 }]), "c64");
    assert.equal(resultType(["f64", { re: 0, im: 1 }]), "c128");
  });

  test("an integer the dtype cannot hold is an error that names operation, value and range", () => {
    assert.throws(() => resultType(["u8", 300], "add"), {
      name: "DTypeError",
      message: "add: 300 does not fit u8 (0 to 255); cast the tensor to a wider dtype first.",
    });
    assert.throws(() => resultType(["u32", -1]), DTypeError);
    assert.throws(() => resultType(["i64", 2n ** 63n]), DTypeError);
    assert.throws(() => resultType(["bool", 2 ** 31]), DTypeError);
    assert.equal(resultType(["u64", 2n ** 64n - 1n]), "u64");
    assert.equal(resultType(["f16", 1e30]), "f16");
  });

  test("values alone have the dtype that tensor() gives them", () => {
    assert.equal(resultType([1, 2]), "f32");
    assert.equal(resultType([true, false]), "bool");
    assert.equal(resultType([1n]), "i64");
    assert.equal(resultType([9007199254740993n, 2]), "i64");
    assert.equal(resultType([2, true, 1n]), "i64");
    assert.throws(
      () => resultType([2n ** 63n, 2], "tensor"),
      /^DTypeError: tensor: 9223372036854775808 does not fit i64 .*; give \{ dtype: "u64" \}\.$/,
    );
    assert.throws(() => resultType([2n ** 64n], "tensor"), /no integer dtype holds it; \{ dtype: "f64" \} rounds it/);
    for (const other of [0.5, Number.NaN, { re: 1, im: 0 }]) {
      const message = /^tensor: bigints beside .*: a float would round them; pass \{ dtype \}/;
      assert.throws(() => resultType([1n, other], "tensor"), { name: "DTypeError", message });
    }
    assert.equal(resultType([{ re: 1, im: 0 }, 1]), "c64");
    assert.throws(() => resultType([], "where"), /^DTypeError: where: needs at least one operand/);
    assert.throws(() => resultType(["float32" as DType]), /"float32" is not a dtype/);
  });

  test("two tensors and a number meet at once", () => {
    assert.equal(resultType(["i64", "u64", "f16"]), "f16");
    assert.equal(resultType(["i64", "u64"]), "f32");
    assert.equal(resultType(["i8", 0.5, "bf16"]), "bf16");
  });
});

test("what fits a dtype", () => {
  assert.ok(fitsDType(-128, "i8") && !fitsDType(-129, "i8") && !fitsDType(0.5, "i8") && !fitsDType(Number.NaN, "i8"));
  assert.ok(fitsDType(2 ** 63, "u64") && !fitsDType(2 ** 64, "u64") && !fitsDType(2 ** 63, "i64"));
  assert.ok(fitsDType(true, "u8") && fitsDType(1, "bool") && !fitsDType(2, "bool"));
  assert.ok(fitsDType({ re: 1, im: 0 }, "c64") && !fitsDType({ re: 1, im: 0 }, "f32"));
});

test("docs/dtypes.md shows this table (set UPDATE_DOCS=1 to rewrite it)", () => {
  const page = new URL("../../../docs/dtypes.md", import.meta.url);
  const text = readFileSync(page, "utf8");
  const [start, end] = ["<!-- promotion table: written by test/core/promotion.test.ts -->\n", "<!-- end -->"];
  const [before, rest] = text.split(start);
  const after = rest.slice(rest.indexOf(end));
  const expected = before + start + promotionTable() + after;
  if (process.env.UPDATE_DOCS) writeFileSync(page, expected);
  else assert.equal(text, expected);
});

function promotionTable(): string {
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const header = row(["", ...DTYPE_NAMES.map((name) => `**${name}**`)]);
  const rule = row(["", ...DTYPE_NAMES].map(() => "---"));
  const rows = DTYPE_NAMES.map((a) => row([`**${a}**`, ...DTYPE_NAMES.map((b) => promote(a, b))]));
  return header + rule + rows.join("");
}
