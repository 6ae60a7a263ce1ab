/** A column on a GPU, interpreted: its reflection, the matrix changed by the reflection before, and its product with the new vector. */
import { test } from "node:test";
import { stepKernel } from "../../../../../src/compiler/routines/linalg/eigen/tridiagonal-step.js";
import { interpretKernel } from "../../../../support/kernel-interpreter.js";
import { assertNear, decoded, KINDS, PROFILES, product, settings, transposed } from "../matrices.js";
import { behind, columnCase, cornerBehind, SIZES } from "./tridiagonal-cases.js";

for (const [name, profile] of Object.entries(PROFILES)) {
  if (profile.maxLanes === 1) continue;
  test(`Hᴴ A H of the reflection before, the reflection of its column, and the product with that; ${name}`, () => {
    for (const kind of [KINDS.f64, KINDS.c128]) {
      for (const [n, step] of SIZES) {
        const { size, buffers, room, found } = columnCase(kind, n, step);
        const { padded } = size;
        const [to, y] = [room(padded * padded), room(padded)];
        interpretKernel(stepKernel(size, kind, profile, settings), [...buffers, to, y]);
        const [changed, products] = [decoded(to, kind, padded, padded), decoded(y, kind, 1, padded)];
        found().forEach(({ expected, vector }, at) => {
          const what = `${n}, step ${step}, matrix ${at}`;
          assertNear(cornerBehind(changed[at]!, step, n), cornerBehind(expected, step, n), kind, what, 100);
          const made = product(expected, transposed([vector]));
          const y = transposed(products[at]!);
          assertNear(behind(y, step, n), behind(made, step, n), kind, `${what}: the product`, 500);
        });
      }
    }
  });
}
