/** Pairs and rotations of Jacobi's methods: every row meets every other once, and a rotation makes its matrix diagonal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pairAt, rotated, rotationOf } from "../../../../../src/compiler/routines/linalg/eigen/jacobi-pairs.js";
import { Field, type NumberKind } from "../../../../../src/compiler/routines/linalg/field.js";
import { laneValues } from "../../../../support/lane-values.js";
import { adjoint, assertNear, type C, conj, identity, KINDS, type Matrix, product, settings } from "../matrices.js";

test("in each turn every row has one partner, and after all turns each has met all others once", () => {
  for (const players of [2, 4, 6, 10]) {
    const met = new Set<string>();
    for (let turn = 0; turn < players - 1; turn++) {
      const [one, other] = laneValues({ lanes: players / 2 }, (k) =>
        pairAt(k, players, k.constant("i32", turn), k.lane),
      );
      assert.deepEqual(
        [...one!, ...other!].sort((a, b) => a - b),
        Array.from({ length: players }, (_, row) => row),
      );
      for (const [pair, p] of one!.entries()) met.add([p, other![pair]!].sort((a, b) => a - b).join());
    }
    assert.equal(met.size, (players * (players - 1)) / 2);
  }
});

/** The rotation of [[first, between], [conj(between), second]] as a matrix. */
function rotationMatrix(kind: NumberKind, first: number, second: number, between: C, isActive = true): Matrix {
  const found = laneValues({}, (k) => {
    const f = new Field(k, kind, settings);
    const c = (value: number) => k.constant(kind.type, value);
    const number = ([re, im]: C) => ({ re: c(re), im: kind.isComplex ? c(im) : null });
    const condition = k.compare("eq", k.lane, k.constant("i32", isActive ? 0 : 1));
    const rotation = rotationOf(k, f, [c(first), c(second)], number(between), condition);
    const columns = [[f.one, f.zero], [f.zero, f.one]].map(([p, q]) => rotated(k, f, p!, q!, rotation)); // biome-ignore format: one line
    return columns.flat().flatMap(({ re, im }) => [re, im ?? c(0)]);
  }).map(([value]) => value!);
  const at = (place: number): C => [found[2 * place]!, found[2 * place + 1]!];
  return [[at(0), at(2)], [at(1), at(3)]]; // biome-ignore format: one line
}

test("a rotation is unitary and makes the element between zero", () => {
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const [first, second, re, im] of [
      [1, 2, 0.5, 0.25],
      [2, 1, -0.5, 3],
      [1, 1, 0.125, -0.5],
      [-3, 5, 1e-9, 1e-9],
      [0, 0, 1, 1],
    ] as const) {
      const between: C = [re, kind.isComplex ? im : 0];
      const a: Matrix = [[[first, 0], between], [conj(between), [second, 0]]]; // biome-ignore format: one line
      const turn = rotationMatrix(kind, first, second, between);
      const what = `${first}, ${second}, ${between}`;
      assertNear(product(turn, adjoint(turn)), identity(2), kind, what, 4);
      const [[, above], [below]] = product(product(turn, a), adjoint(turn)) as [[C, C], [C, C]];
      assertNear([[above, below]], [[[0, 0], [0, 0]]], kind, what, 16); // biome-ignore format: one line
    }
  }
});

test("where it is not active it changes nothing; far apart, and with squares beyond the numbers, it is still unitary", () => {
  for (const kind of Object.values(KINDS)) {
    const between: C = [3, kind.isComplex ? 4 : 0];
    const still = rotationMatrix(kind, 1, 2, between, false);
    assertNear(still, identity(2), kind, "still", 0);
    const far = kind.type === "f64" ? 1e200 : 1e25;
    const wide = rotationMatrix(kind, -far, far, between);
    assertNear(product(wide, adjoint(wide)), identity(2), kind, "far", 4);
    assert.ok(Math.abs(wide[0]![1]![0]) < 1e-20);
    const tiny = kind.type === "f64" ? 1e-161 : 1e-22;
    const small: C = [3 * tiny, kind.isComplex ? 4 * tiny : 0];
    const turn = rotationMatrix(kind, tiny, 2 * tiny, small);
    assertNear(product(turn, adjoint(turn)), identity(2), kind, "tiny", 8);
  }
});
