/** Discrete Fourier transforms as nodes: their kinds against the definition, transposes, batches, shapes and dtypes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuProfile } from "../../../src/compiler/target/profile.js";
import { DTypeError } from "../../../src/core/errors.js";
import { type DftKind, planDft } from "../../../src/graph/dft-plan.js";
import { dftTable } from "../../../src/graph/dft-table.js";
import type { Node } from "../../../src/graph/node.js";
import { type DftParams, dft, dftExtents, dftFloat } from "../../../src/graph/primitives/dft.js";
import { g } from "../../../src/graph/vocabulary.js";
import { dftByDefinition } from "../../support/dft-oracle.js";
import { checkBatches, checkDerivatives, given, input, valuesOf } from "../../support/node-rules.js";
import { make, storedAs } from "../../support/nodes.js";

function transformed(x: Node, kind: DftKind, axis: number, length: number, sign: 1 | -1 = -1, scale = 1): Node {
  const plan = planDft(kind, length, "f64", cpuProfile.fft);
  const table = given({ shape: [plan.table.size, 2], values: [...dftTable(plan, "f64")] });
  const isOfComplex = x.dtype === "c128";
  return g.move(dft, [x, table], { kind, axis, length, sign, scale, isOfComplex });
}

/** Real and imaginary parts as inputs and as results, because derivatives are checked in real numbers. */
const ofParts =
  (kind: DftKind, axis: number, length: number, sign: 1 | -1 = -1, scale = 1) =>
  (re: Node, im: Node): readonly Node[] => {
    const y = transformed(g.complex(re, im), kind, axis, length, sign, scale);
    return kind === "half" ? [y] : [g.real(y), g.imag(y)];
  };
const ofReal =
  (kind: DftKind, axis: number, length: number) =>
  (x: Node): readonly Node[] => {
    const y = transformed(x, kind, axis, length);
    return [g.real(y), g.imag(y)];
  };

const near = (got: readonly number[], want: ArrayLike<number>) =>
  assert.ok(got.length === want.length && got.every((x, i) => Math.abs(x - want[i]!) < 1e-12), `${got}`);

test("complex numbers in both directions, real numbers to half a spectrum and back", () => {
  for (const length of [1, 2, 6, 7, 8]) {
    const [re, im] = [input([length]), input([length], undefined)];
    for (const sign of [1, -1] as const) {
      const want = dftByDefinition({ re: Float64Array.from(re.values), im: Float64Array.from(im.values) }, sign);
      const [real, imaginary] = valuesOf(ofParts("complex", 0, length, sign), [re, im]);
      near(real!, want.re);
      near(imaginary!, want.im);
    }
    const want = dftByDefinition({ re: Float64Array.from(re.values), im: new Float64Array(length) }, -1);
    const half = Math.floor(length / 2) + 1;
    const [real, imaginary] = valuesOf(ofReal("real", 0, length), [re]);
    near(real!, want.re.slice(0, half));
    near(imaginary!, want.im.slice(0, half));
    const back = valuesOf(ofParts("half", 0, length, 1, 1 / length), [input([half], real), input([half], imaginary)]);
    near(back[0]!, re.values);
  }
});

test("an axis is cut to the length, or filled with zeros", () => {
  const whole = valuesOf(ofReal("complex", 0, 4), [input([4], [1, 2, 3, 4])]);
  assert.deepEqual(valuesOf(ofReal("complex", 0, 4), [input([6], [1, 2, 3, 4, 99, 99])]), whole);
  const filled = valuesOf(ofReal("complex", 0, 4), [input([4], [1, 2, 0, 0])]);
  assert.deepEqual(valuesOf(ofReal("complex", 0, 4), [input([2], [1, 2])]), filled);
});

test("derivatives of every kind, for even and odd lengths, cut and filled", () => {
  for (const length of [4, 5]) {
    for (const extent of [length - 1, length, length + 2]) {
      const pair = [input([extent, 2]), input([extent, 2], undefined)];
      checkDerivatives(ofParts("complex", 0, length, 1, 0.5), pair);
      checkDerivatives(ofReal("complex", 0, length), [input([extent])]);
      checkDerivatives(ofReal("real", 1, length), [input([2, extent])]);
    }
    const half = Math.floor(length / 2) + 1;
    checkDerivatives(ofParts("half", 0, length), [input([half]), input([half], undefined)]);
  }
});

test("batches along any axis", () => {
  checkBatches(ofReal("real", 0, 5), [input([5, 2])]);
  checkBatches(ofParts("half", 1, 4), [input([2, 3]), input([2, 3])]);
});

test("extents, dtypes, and numbers that a kind does not take", () => {
  const extents = (kind: DftKind, length: number) => dftExtents({ kind, length } as DftParams);
  assert.deepEqual(extents("complex", 7), { taken: 7, given: 7 });
  assert.deepEqual(extents("real", 7), { taken: 7, given: 4 });
  assert.deepEqual(extents("half", 8), { taken: 5, given: 8 });
  assert.equal(dftFloat(storedAs("c64", 1)), "f32");
  const params = { axis: 0, length: 4, sign: 1, scale: 1 };
  const table = storedAs("f32", 4, 2);
  const spectrum = make(dft, [storedAs("f32", 4, 3), table], { ...params, kind: "real", isOfComplex: false });
  assert.deepEqual([spectrum.shape, spectrum.dtype], [[3, 3], "c64"]);
  for (const [kind, dtype] of [
    ["real", "c64"],
    ["half", "f32"],
    ["complex", "i32"],
    ["complex", "f64"],
  ] as const) {
    const given = { ...params, kind, isOfComplex: dtype === "c64" };
    assert.throws(() => make(dft, [storedAs(dtype, 4), table], given), DTypeError);
  }
});
