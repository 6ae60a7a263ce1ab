/**
 * The accuracy the library claims, measured: f32 against JavaScript's f64 functions at arguments spread over all bit
 * patterns, f64 against mpmath (references.json).
 *
 *   PUMICE_ACCURACY=full        millions of arguments a function instead of a hundred thousand of f32 and some of f64, which
 *                               takes Python with NumPy and mpmath
 *   PUMICE_WRITE_ACCURACY=1     writes docs/accuracy.md
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { mathFunctions } from "../../../src/compiler/math/library.js";
import type { FloatType } from "../../../src/compiler/math/scalar-ops.js";
import { randomFloats, spacing, ulpsFrom } from "../../support/floats.js";
import { randomFrom } from "../../support/random.js";
import {
  compiled,
  extendedValues,
  f32Oracles,
  interesting,
  type MathFunctionName,
  moreReferences,
  names,
  recordingOf,
  references,
  stratified,
  ulpsFromReference,
} from "./math-cases.js";
import { operationCount } from "./recorder.js";

const isFull = process.env.PUMICE_ACCURACY === "full";
const COUNT = isFull ? 4_000_000 : 100_000;
const WIDE_COUNT = 20_000;
const more = isFull ? moreReferences(WIDE_COUNT) : null;
const wideCount = more ? WIDE_COUNT : 160;
/** f64 arguments compared with the C library's extended precision, where it has the function. */
const EXTENDED_COUNT = isFull ? 8_000_000 : 2_000;

interface Worst {
  ulps: number;
  args: readonly number[];
  got: number;
}

const measured = new Map<string, Worst>();
/** Those whose f64 was compared with extended precision, too. */
const extended = new Set<MathFunctionName>();

function note(name: MathFunctionName, type: FloatType, ulps: number, args: readonly number[], got: number): void {
  const key = `${name} ${type}`;
  const worst = measured.get(key);
  if (!worst || ulps > worst.ulps || Number.isNaN(ulps)) measured.set(key, { ulps, args, got });
}

function holdsClaim(name: MathFunctionName, type: FloatType): void {
  const worst = measured.get(`${name} ${type}`);
  assert(worst, "nothing was measured");
  const { ulps, args, got } = worst;
  const claim = mathFunctions[name].ulp[type];
  assert(
    ulps <= claim,
    `${name}(${args.join(", ")}) in ${type} gave ${got}, ${ulps.toFixed(3)} ulp off; claimed ${claim}`,
  );
}

/** lgamma and digamma cross zero between the poles left of zero, where only the absolute error is small. */
const isClaimed = (name: MathFunctionName, x: number) => !((name === "lgamma" || name === "digamma") && x < 0);

describe("f32 is as accurate as the library claims", () => {
  for (const name of names) {
    test(name, () => {
      const f = compiled(name, "f32");
      const oracle = f32Oracles[name];
      const [low, high] = interesting[name];
      const random = randomFrom(name.length * 1000 + name.charCodeAt(0));
      const within = () => Math.fround(low + (high - low) * (random.below(2 ** 30) / 2 ** 30));
      const { arity } = mathFunctions[name];
      const offset = random.below(2 ** 16);
      for (let i = 0; i < COUNT; i++) {
        const isSpread = i % 2 === 0;
        const x = isSpread ? stratified(i, COUNT, offset) : within();
        if (!isClaimed(name, x)) continue;
        const args = arity === 1 ? [x] : [x, isSpread ? stratified(random.below(COUNT), COUNT, offset) : within()];
        // A power is interesting where it neither overflows nor vanishes.
        if (name === "pow" && i % 4 === 1)
          args[1] = Math.fround(((random.below(2 ** 30) / 2 ** 30) * 200 - 104) / Math.log(x));
        const got = f(...args);
        note(name, "f32", ulpsFrom("f32", got, { high: oracle(...args), low: 0 }), args, got);
      }
      for (const row of references.f32[name] ?? []) {
        const args = row.slice(0, arity);
        const got = f(...args);
        note(name, "f32", ulpsFromReference("f32", got, row), args, got);
      }
      holdsClaim(name, "f32");
    });
  }
});

test("the long form has its references", { skip: !isFull && "only with PUMICE_ACCURACY=full" }, () => {
  assert(more, "python3 with mpmath is needed: pip install mpmath");
});

/** Worse than what chance finds here: from searches of narrower stretches. */
const WORST_KNOWN: Partial<Record<MathFunctionName, number>> = {
  atanh: 0.1221315338380514,
  expm1: -0.38685330407273505,
};

/** A quarter of any bits, a quarter of the sizes around 1, half where the function does its work; the second of two, too. */
function wideArguments(name: MathFunctionName, count: number): Float64Array {
  const random = randomFloats("f64", name.length * 1000 + name.charCodeAt(0));
  const [low, high] = interesting[name];
  const { arity } = mathFunctions[name];
  const args = new Float64Array(arity * count);
  for (let i = 0; i < args.length; i++) {
    const kind = Math.floor(i / arity) % 4;
    args[i] = kind === 0 ? random.any() : kind === 1 ? random.scaled(-8, 4) : random.between(low, high);
  }
  args[0] = WORST_KNOWN[name] ?? args[0];
  // A power is interesting where it neither overflows nor vanishes.
  if (name === "pow") {
    for (let i = 0; i < count; i += 3) {
      const x = Math.abs(args[2 * i] as number);
      args[2 * i] = x;
      args[2 * i + 1] = random.between(-740, 709) / Math.log(x);
    }
  }
  return args;
}

/** Extended precision has 11 bits more than f64, of which its functions lose a few. */
const EXTENDED_ERROR = 0.01;

/** Functions that NumPy has not. */
const UNEXTENDED: ReadonlySet<string> = new Set(["erf", "erfc", "erfInv", "lgamma", "digamma", "trigamma"]);

/** What extended precision says of a function's references, and of wide arguments. */
interface Extended {
  readonly ofReferences: Float64Array;
  readonly wide: Float64Array;
  readonly ofWide: Float64Array;
}

const finiteReferences = (name: MathFunctionName) =>
  (references.f64[name] ?? []).filter((row) => Number.isFinite(row.at(-2)));

const known = new Map<MathFunctionName, Extended | null>();

/** Python starts once for all functions; in the long form for each, because the values are many. */
function extendedOf(name: MathFunctionName): Extended | null {
  if (UNEXTENDED.has(name)) return null;
  if (!known.has(name)) {
    const asked = isFull ? [name] : names.filter((each) => !UNEXTENDED.has(each));
    const given = asked.flatMap((each) => {
      const { arity } = mathFunctions[each];
      const rows = Float64Array.from(finiteReferences(each).flatMap((row) => row.slice(0, arity)));
      return [rows, wideArguments(each, EXTENDED_COUNT)].map((args) => [each, args] as const);
    });
    const values = extendedValues(given);
    asked.forEach((each, i) => {
      const [ofReferences, ofWide] = values?.slice(2 * i, 2 * i + 2) ?? [];
      known.set(each, ofReferences && ofWide ? { ofReferences, wide: given[2 * i + 1]![1], ofWide } : null);
    });
  }
  return known.get(name) ?? null;
}

describe("extended precision is an oracle: next to mpmath's values it is a hundredth of an ulp off at most", () => {
  for (const name of names.filter((each) => !UNEXTENDED.has(each))) {
    test(name, (context) => {
      const { arity } = mathFunctions[name];
      const values = extendedOf(name)?.ofReferences;
      if (!values) return context.skip("needs Python with NumPy, and floats of more than 64 bits");
      finiteReferences(name).forEach((row, i) => {
        const [near, fraction] = values.subarray(2 * i) as unknown as [number, number];
        const [result, exactly] = row.slice(-2) as [number, number];
        const off = Math.abs((near - result) / spacing("f64", result) + fraction - exactly);
        assert(off <= EXTENDED_ERROR, `${name}(${row.slice(0, arity)}): ${off} ulp`);
      });
    });
  }
});

describe("f64 is as accurate as the library claims", () => {
  for (const name of names) {
    test(name, () => {
      const f = compiled(name, "f64");
      const rows = [...(references.f64[name] ?? []), ...(more?.f64[name] ?? [])];
      assert(rows.length > 100, "no references: run make-references.py");
      for (const row of rows) {
        const args = row.slice(0, mathFunctions[name].arity);
        const got = f(...args);
        note(name, "f64", ulpsFromReference("f64", got, row), args, got);
      }
      const { arity } = mathFunctions[name];
      const { wide, ofWide: values } = extendedOf(name) ?? {};
      for (let i = 0; wide && values && i < EXTENDED_COUNT; i++) {
        const args = [...wide.subarray(arity * i, arity * (i + 1))];
        const got = f(...args);
        const row = [...args, values[2 * i] as number, values[2 * i + 1] as number] as const;
        note(name, "f64", ulpsFromReference("f64", got, row), args, got);
      }
      if (values) extended.add(name);
      holdsClaim(name, "f64");
    });
  }
});

describe("left of zero, errors are small next to the two terms of the reflection formula", () => {
  const reflections = {
    lgamma: (x: number) => [Math.log(Math.abs(x * Math.sin(Math.PI * (x - Math.round(x)))) / Math.PI), -x],
    digamma: (x: number) => [Math.PI / Math.tan(Math.PI * (x - Math.round(x))), 1 - x],
  } as const;
  for (const name of ["lgamma", "digamma"] as const) {
    for (const type of ["f64", "f32"] as const) {
      test(`${name} in ${type}`, () => {
        const f = compiled(name, type);
        const f64 = compiled(name, "f64");
        for (const [argument, reference] of references.left[name] ?? []) {
          const x = type === "f32" ? Math.fround(argument) : argument;
          const exact = type === "f32" ? f64(x) : reference;
          const [term, positive] = reflections[name](x);
          const unit = spacing(type, Math.abs(term) + Math.abs(f64(positive)));
          const ulps = Math.abs(f(x) - exact) / unit;
          assert(ulps <= 4, `${name}(${x}) in ${type} gave ${f(x)}, not ${exact}: ${ulps} ulp of the terms`);
        }
      });
    }
  }
});

after(() => {
  if (process.env.PUMICE_WRITE_ACCURACY !== "1") return;
  const cell = (name: MathFunctionName, type: FloatType) => measured.get(`${name} ${type}`)?.ulps.toFixed(2) ?? "–";
  const count = (name: MathFunctionName, type: FloatType, inexactDivision: boolean) =>
    operationCount(recordingOf(name, type, { inexactDivision }));
  const counts = (name: MathFunctionName, type: FloatType) => {
    const [exact, refined] = [count(name, type, false), count(name, type, true)];
    return exact === refined ? `${exact}` : `${exact} (${refined})`;
  };
  const rows = names.map((name) => {
    const { f32, f64 } = mathFunctions[name].ulp;
    const cells = [cell(name, "f32"), f32, cell(name, "f64"), f64, counts(name, "f32"), counts(name, "f64")];
    return `| ${name} | ${cells.join(" | ")} |`;
  });
  const few = names.filter((name) => !extended.has(name));
  // test/tensor/complex-accuracy.test.ts writes what follows.
  const [, complex = ""] = /(\n## Complex numbers\n.*)/s.exec(readFileSync("docs/accuracy.md", "utf8")) ?? [];
  const text = `${accuracyIntroduction.replace("FEW", few.join(", "))}\n${rows.join("\n")}\n`;
  writeFileSync("docs/accuracy.md", text + complex);
});

const accuracyIntroduction = `# Accuracy of the math functions

This page lists the measured error and the cost of each elementary function. Pumice computes these functions itself, with
the same operations in the same order on every device, so all devices give the same bits. (A quotient that is rounded correctly
may come about in other ways: on NVIDIA's GPUs some f64 ones do by fused multiply-adds.) Denormals are the exception. Pumice
asks a GPU to keep them; one that does not offer this may take them for zeros. \`test/compiler/math/device.test.ts\` compares each
Vulkan device it finds with JavaScript. Sums and products of tensors are not among these functions: their order, and with it
their last bits, may differ from device to device. On the CPU matrix products and convolutions fuse multiply-adds where the
engine can (relaxed SIMD: Node 22 and newer), which rounds once instead of twice in every step.

\`test/compiler/math/accuracy.test.ts\` writes this page (set \`PUMICE_WRITE_ACCURACY=1\`, and \`PUMICE_ACCURACY=full\` for more
arguments). The columns:

- *measured*: the largest error found, in units in the last place (ulp) of the exact result. Perfect rounding would show
  0.50.
  - f32 was compared with JavaScript's f64 functions at ${COUNT.toLocaleString("en")} arguments spread over the whole range, denormals included.
  - f64 was compared with 80-digit values of mpmath at some ${wideCount.toLocaleString("en")} arguments, chosen to be hard. It was also compared with
    the C library's extended precision at ${EXTENDED_COUNT.toLocaleString("en")} arguments of all sizes. Extended precision is itself within 0.01 ulp of
    mpmath's values. NumPy lacks FEW. For these, f64 was compared with mpmath only.
- *claimed*: the largest error the tests allow. lgamma and digamma are measured for positive arguments. For negative
  arguments, next to their zeros between the poles, only their absolute error is small.
- *operations*: the number of arithmetic instructions per call, rarely taken paths included. In parentheses: the number on a
  device whose division and square root do not round correctly (Vulkan requires only 2.5 ulp in f32). Pumice corrects the
  rounding there.

| function | f32 measured | claimed | f64 measured | claimed | f32 operations | f64 operations |
|---|---|---|---|---|---|---|`;
