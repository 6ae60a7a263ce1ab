/** The Schur form: Z T Zᴴ is the matrix, Z is unitary, and the diagonal of T has the eigenvalues. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { schurForm } from "../../../../src/graph/primitives/linalg/schur.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { eye, Tensor } from "../../../../src/index.js";
import { adjoint, normals } from "../../../linalg/accuracy.js";
import { describeOnTensorDevices } from "../../../support/tensors.js";

const largest = (x: Tensor): number => x.abs().max().itemSync() as number;

describeOnTensorDevices("Schur forms", (device) => {
  test("of real and complex matrices", () => {
    const isCpu = device === "cpu";
    for (const [dtype, n] of [
      ["f64", 17],
      ["c128", 6],
      ...(isCpu
        ? ([
            ["f64", 1],
            ["f64", 2],
            ["f64", 7],
          ] as const)
        : []),
    ] as const) {
      const a = normals([2, n, n], dtype, n);
      const form = schurForm(g, a.node, true);
      const [t, z] = [form.t, form.z!].map((x) => new Tensor(g.slice(x, [0, 0, 0], [2, n, n]))) as [Tensor, Tensor];
      const wide = a.cast("c128");
      assert.ok(largest(z.matmul(t).matmul(adjoint(z)).sub(wide)) < 1e-14 * n, `${dtype} ${n}`);
      assert.ok(
        largest(
          adjoint(z)
            .matmul(z)
            .sub(eye(n, { dtype: "c128" })),
        ) <
          1e-14 * n,
      );
      assert.ok(largest(t.tril(-1)) < 1e-14 * n);
      const values = new Tensor(g.slice(form.values, [0, 0], [2, n]));
      assert.ok(largest(values.sub(t.diagonal())) < 1e-14 * n);
      assert.deepEqual(new Tensor(form.hasFailed).arraySync(), [false, false]);
      const alone = new Tensor(g.slice(schurForm(g, a.node, false).values, [0, 0], [2, n]));
      assert.ok(largest(alone.sub(values)) < 1e-13 * n);
    }
  });
});

test("eigenvalues of real matrices are real or conjugate to a neighbour, exactly", () => {
  const n = 12;
  const form = schurForm(g, normals([1, n, n], "f64", 3).node, false);
  const values = new Tensor(g.slice(form.values, [0, 0], [1, n])).arraySync() as { re: number; im: number }[][];
  const isSecond = new Tensor(g.slice(form.isSecond!, [0, 0], [1, n])).arraySync() as boolean[][];
  let pairs = 0;
  values[0]!.forEach(({ re, im }, i) => {
    if (im === 0) return;
    if (im > 0) assert.deepEqual(values[0]![i + 1], { re, im: -im });
    assert.equal(isSecond[0]![i], im < 0);
    pairs++;
  });
  assert.ok(pairs > 0);
});
