/**
 * The page docs/array-api.md against the standard and the public surface. The names below are those of the standard's
 * edition 2023.12, chapter by chapter, as its index lists them: the page has each of them once, and what it calls them exists.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import * as pumice from "pumice";

// biome-ignore format: chapters
const STANDARD = [
  // creation
  "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid", "ones",
  "ones_like", "tril", "triu", "zeros", "zeros_like",
  // data types
  "astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type",
  // inspection
  "capabilities", "default_device", "default_dtypes", "devices", "dtypes",
  // element by element
  "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_left_shift",
  "bitwise_invert", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign", "cos", "cosh",
  "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite",
  "isinf", "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and", "logical_not",
  "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "not_equal", "positive", "pow", "real",
  "remainder", "round", "sign", "signbit", "sin", "sinh", "square", "sqrt", "subtract", "tan", "tanh", "trunc",
  // indexing
  "take",
  // linear algebra
  "matmul", "matrix_transpose", "tensordot", "vecdot",
  // manipulation
  "broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis", "permute_dims", "repeat", "reshape",
  "roll", "squeeze", "stack", "tile", "unstack",
  // searching
  "argmax", "argmin", "nonzero", "searchsorted", "where",
  // sets
  "unique_all", "unique_counts", "unique_inverse", "unique_values",
  // sorting
  "argsort", "sort",
  // statistics
  "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var",
  // utility
  "all", "any",
];

/** Its extensions. */
const EXTENSIONS = {
  linalg:
    "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer pinv " +
    "qr slogdet solve svd svdvals tensordot trace vecdot vector_norm",
  fft: "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn",
} as const;

/** Attributes and methods of its arrays that are no operators. */
const ATTRIBUTES = ["dtype", "device", "mT", "ndim", "shape", "size", "T", "to_device"];

const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** There is nothing of the kind in JavaScript; the page says so. */
const ABSENT = ["from_dlpack"];

const page = readFileSync(new URL("../../docs/array-api.md", import.meta.url), "utf8");

interface Row {
  readonly standard: string;
  readonly name: string;
  readonly isMethod: boolean;
  readonly also: string;
}

const rows: readonly Row[] = [...page.matchAll(/^\| `(\w+)` \| (?:`(\w+)`( •)?|–) \| (?:`([\w.]+)` )?\|/gm)].map(
  ([, standard = "", name = "", dot, also = ""]) => ({ standard, name, isMethod: dot !== undefined, also }),
);

const surface: Readonly<Record<string, unknown>> = pumice;
const isMember = (name: string): boolean => name in pumice.Tensor.prototype;

describe("docs/array-api.md", () => {
  test("has every function of the standard, once", () => {
    const listed = rows.map(({ standard }) => standard);
    assert.deepEqual(STANDARD.filter((name) => !listed.includes(name)), []); // biome-ignore format: one line
    assert.equal(new Set(listed).size, listed.length);
  });

  test("names functions that exist, under the standard's names in camelCase", () => {
    for (const { standard, name } of rows) {
      if (ABSENT.includes(standard)) continue;
      assert.equal(typeof surface[name], "function", `${standard} as ${name}`);
      assert.equal(name.toLowerCase(), standard.replaceAll("_", ""));
      // "dtype" is written DType here, as in isDType.
      if (standard.includes("_")) assert.equal(name.replace("DType", "Dtype"), camelCase(standard));
    }
    assert.deepEqual(rows.filter(({ name }) => name === "").map(({ standard }) => standard), ABSENT); // biome-ignore format: one line
  });

  test("marks with • what is a method, and nothing else", () => {
    for (const { name, isMethod } of rows) if (name !== "") assert.equal(isMember(name), isMethod, name);
  });

  test("names of Pumice's own exist", () => {
    for (const { also } of rows) {
      if (also.startsWith("x.")) assert.ok(isMember(also.slice(2)), also);
      else if (also !== "") assert.equal(typeof surface[also], "function", also);
    }
  });

  test("has all of the extensions, and they exist", () => {
    for (const [extension, names] of Object.entries(EXTENSIONS)) {
      const [, listed = ""] = new RegExp(`^\\| \`${extension}\` \\| \`([\\w ]+)\``, "m").exec(page) ?? [];
      assert.deepEqual(listed.split(" "), names.split(" ").map(camelCase));
      const space = surface[extension] as Record<string, unknown>;
      for (const name of listed.split(" ")) assert.equal(typeof space[name], "function", `${extension}.${name}`);
    }
  });

  test("tensors have the standard's attributes", () => {
    for (const name of ATTRIBUTES) {
      assert.ok(isMember(camelCase(name)), name);
      assert.ok(page.includes(`\`${camelCase(name)}\``), name);
    }
    const x = pumice.tensor([[1, 2, 3]], { device: "cpu" });
    assert.equal(x.ndim, 2);
    assert.equal(x.toDevice("cpu").device, "cpu");
  });

  test("names beyond the standard are functions, and methods but for creation", () => {
    const [, beyond = ""] = page.split("## Beyond the standard");
    const table = [...beyond.matchAll(/^\| ([\w ,()]+) \| `([\w ]+)`/gm)];
    assert.ok(table.length >= 6);
    for (const [, kind = "", names = ""] of table) {
      for (const name of names.split(" ")) {
        assert.equal(typeof surface[name], "function", name);
        assert.equal(isMember(name), !kind.includes("functions only"), name);
      }
    }
  });
});
