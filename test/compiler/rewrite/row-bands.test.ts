/** Selection in bands of rows: the same results as from the whole product, which is never in memory. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import { planMemory } from "../../../src/compiler/program/memory-plan.js";
import { selectInBands } from "../../../src/compiler/rewrite/row-bands.js";
import { cpuProfile } from "../../../src/compiler/target/profile.js";
import { makeNode } from "../../../src/graph/build.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { takeAlongAxis } from "../../../src/graph/primitives/movement.js";
import { argsortAt, orderKey } from "../../../src/graph/primitives/order.js";
import { g } from "../../../src/graph/vocabulary.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { tensorOn, withProfile } from "../../support/forced-tiles.js";
import { stored, storedAs } from "../../support/nodes.js";
import { randomFrom } from "../../support/random.js";
import { asKernel, codelessTarget } from "../../support/targets.js";
import { numbersOf, testDevices } from "../../support/tensors.js";

type Pair = { readonly q: Tensor; readonly p: Tensor };

/** Whole numbers, so that every order of a sum gives the same. */
const cases: Record<
  string,
  { readonly shapes: readonly (readonly number[])[]; readonly of: (given: Pair) => Tensor[] }
> = {
  "nearest neighbours, values and indices": {
    shapes: [
      [130, 5],
      [70, 5],
    ],
    of: ({ q, p }) => {
      const near = q
        .square()
        .sum({ axis: 1, keepDims: true })
        .add(p.square().sum({ axis: 1 }));
      const { values, indices } = near.sub(q.matmul(p.T).mul(2)).neg().topK(3);
      return [values, indices];
    },
  },
  "the median of products": {
    shapes: [
      [97, 4],
      [4, 90],
    ],
    of: ({ q, p }) => [q.matmul(p).add(1).median({ axis: 1 })],
  },
  "batches of products, of which each is a band or two": {
    shapes: [
      [7, 20, 3],
      [7, 3, 81],
    ],
    of: ({ q, p }) => [q.matmul(p).topK(2).values],
  },
  "columns of a product": {
    shapes: [
      [90, 4],
      [4, 97],
    ],
    of: ({ q, p }) => [q.matmul(p).topK(2, { axis: 0, largest: false }).indices],
  },
};

for (const device of testDevices()) {
  describe(`selection in bands, ${device}`, () => {
    const random = randomFrom(3);
    // The rewrite is the same for all devices: one case is enough where compiling takes seconds.
    for (const [name, { shapes, of }] of Object.entries(cases).slice(0, device === "cpu" ? undefined : 1)) {
      test(name, () => {
        const given = shapes.map((shape) => ({
          shape: [...shape],
          values: Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random.below(41) - 20),
        }));
        // Bands of several rows, of one row that is larger than a band, and everything at once.
        const sizes = device === "cpu" ? [9000, 64, 1 << 28] : [9000, 1 << 28];
        const results = sizes.map((bandBytes) => {
          const backend = withProfile(device, () => ({ bandBytes }));
          const [q, p] = given.map((plain) => tensorOn(backend, plain, "f32"));
          return of({ q: q!, p: p! }).map((result) => numbersOf(result));
        });
        for (const result of results.slice(1)) assert.deepEqual(results[0], result);
      });
    }
  });
}

/** The k nearest of 2000 points for 1000 queries, as `topK` writes it. */
function neighbours() {
  const [q, p] = [stored(1, 1000, 16), stored(1, 2000, 16)];
  const values = g.neg(g.reshape(g.dot(q, g.permute(p, [0, 2, 1])), [1000, 2000]));
  const keys = makeNode(orderKey, [values], { descending: true }, q.device);
  const indices = makeNode(argsortAt, [keys], { ranks: [0, 1, 2] }, q.device);
  const taken = makeNode(takeAlongAxis, [values, indices], { axis: 1 }, q.device);
  return { q, p, values, keys, indices, taken };
}

const namesBehind = (roots: readonly Node[]): string[] =>
  inputsFirst(roots, ({ storage, inputs }) => (storage ? [] : inputs)).map(({ primitive }) => primitive.name);

test("a program in bands has a fraction of the memory, and computes the product in a loop", () => {
  const bytesWith = (bandBytes: number) => {
    const { q, p, indices, taken } = neighbours();
    const target = codelessTarget({ ...cpuProfile, bandBytes });
    const program = compile([indices, taken], [q, p], target, asKernel);
    assert.equal(
      program.steps.some(({ kind }) => kind === "loop"),
      bandBytes < 8e6,
    );
    return planMemory(program).arenaBytes;
  };
  const [banded, whole] = [bytesWith(1 << 20), bytesWith(1 << 28)];
  assert.ok(whole > 8e6, `${whole} bytes for a product of 8 MB`);
  assert.ok(banded < whole / 4, `${banded} bytes in bands of 1 MiB, ${whole} whole`);
});

test("a product that is needed whole, or small, or that nothing is selected from, stays", () => {
  const loops = (roots: readonly Node[], bandBytes = 1 << 20) =>
    namesBehind(selectInBands(roots, bandBytes)).filter((name) => name === "scan").length;
  const { values, keys, indices, taken } = neighbours();
  assert.equal(loops([indices]), 1);
  assert.equal(loops([indices, keys]), 0);
  // Another one takes values down the columns, and so needs all rows.
  const down = makeNode(takeAlongAxis, [values, storedAs("i32", 3, 2000)], { axis: 0 }, values.device);
  assert.equal(loops([indices, down]), 0);
  assert.equal(loops([indices, taken]), 1);
  assert.equal(loops([indices, values]), 0);
  assert.equal(loops([indices, g.sum(values, [0])]), 0);
  assert.equal(loops([indices], 1 << 24), 0);
  assert.equal(loops([values]), 0);
});

test("what has no product behind it is selected from as it is", () => {
  const x = stored(1000, 2000);
  const keys = makeNode(orderKey, [g.neg(x)], { descending: false }, x.device);
  const indices = makeNode(argsortAt, [keys], { ranks: [0] }, x.device);
  assert.ok(!namesBehind(selectInBands([indices], 1 << 20)).includes("scan"));
});
