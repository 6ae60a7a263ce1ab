/** Householder's reflection of a column: its adjoint leaves only the head, which is then real and as long as the column was. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Field, type NumberKind } from "../../../../src/compiler/routines/linalg/field.js";
import { reflectionOf } from "../../../../src/compiler/routines/linalg/reflection.js";
import { laneValues } from "../../../support/lane-values.js";
import { adjoint, assertNear, type C, identity, KINDS, type Matrix, product, reflectionsOf, settings, times } from "./matrices.js"; // biome-ignore format: one line

interface Found {
  readonly beta: C;
  readonly tau: C;
  readonly inverse: C;
}

function reflected(kind: NumberKind, head: C, below: readonly C[]): Found {
  const squares = below.reduce((sum, [re, im]) => sum + re * re + im * im, 0);
  const [beta, tau, inverse] = [0, 1, 2].map((which): C => {
    const parts = laneValues({}, (k) => {
      const f = new Field(k, kind, settings);
      const c = (value: number) => k.constant(kind.type, value);
      const made = reflectionOf(k, f, { re: c(head[0]), im: kind.isComplex ? c(head[1]) : null }, c(squares));
      const { re, im } = [made.beta, made.tau, made.inverse][which]!;
      return [re, im ?? c(0)];
    });
    return [parts[0]![0]!, parts[1]![0]!];
  });
  return { beta: beta!, tau: tau!, inverse: inverse! };
}

test("the column becomes its head alone, by a unitary reflection, on the other side of zero", () => {
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const sign of [1, -1]) {
      const head: C = [2 * sign, kind.isComplex ? 1.5 : 0];
      const below: C[] = [[1, kind.isComplex ? -1 : 0], [0.5, 0], [-3, kind.isComplex ? 2 : 0]]; // biome-ignore format: one line
      const { beta, tau, inverse } = reflected(kind, head, below);
      const v: C[] = [[1, 0], ...below.map((x) => times(x, inverse))];
      const h = reflectionsOf([v], [tau]);
      assertNear(product(h, adjoint(h)), identity(4), kind, "unitary", 8);
      const column: Matrix = [head, ...below].map((x) => [x]);
      assertNear(product(adjoint(h), column), [[beta], [[0, 0]], [[0, 0]], [[0, 0]]], kind, "column", 16);
      assert.equal(beta[1], 0);
      assert.equal(Math.sign(beta[0]), -sign);
    }
  }
});

test("a column of zeros below its head needs none; a complex head still becomes real", () => {
  for (const kind of [KINDS.f64, KINDS.c128, KINDS.f32]) {
    const { beta, tau, inverse } = reflected(kind, [3, 0], [[0, 0]]);
    assert.deepEqual([beta, tau, inverse].flat().map(Math.abs), [3, 0, 0, 0, 0, 0]);
  }
  const { beta, tau } = reflected(KINDS.c128, [0, 2], [[0, 0]]);
  assertNear([[beta]], [[[-2, 0]]], KINDS.c128, "beta", 4);
  assert.notDeepEqual(tau, [0, 0]);
});

test("what is too small for its square to have digits counts as zero, and gives no NaN", () => {
  for (const [kind, tiny] of [
    [KINDS.f64, 1e-140],
    [KINDS.f32, 1e-17],
    [KINDS.c128, 1e-140],
  ] as const) {
    // biome-ignore format: one line
    const { beta, tau, inverse } = reflected(kind, [tiny, 0], [[tiny, 0]]);
    assert.ok(Math.abs(beta[0] - tiny) <= 1e-6 * tiny);
    assert.deepEqual([tau, inverse].flat().map(Math.abs), [0, 0, 0, 0]);
  }
});
