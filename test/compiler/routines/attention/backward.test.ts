/** The kernels of attention's gradients, interpreted with tiles of shared memory and of vectors, against plain loops. */
import { describe, test } from "node:test";
import type { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { keyKernel, queryKernel } from "../../../../src/compiler/routines/attention/backward.js";
import type { AttentionProblem } from "../../../../src/compiler/routines/attention/problem.js";
import { SharedTiles } from "../../../../src/compiler/routines/attention/shared-tiles.js";
import { VECTOR_LANES, VECTOR_ROWS } from "../../../../src/compiler/routines/attention/vector-tiles.js";
import { type AttentionShapes, bools, sample } from "../../../support/attention-cases.js";
import { checkBackward } from "./interpreted-attention.js";
import { WaitingTiles } from "./tile-checks.js";

const settings = { division: "native" } as const;
const tile = { kind: "shared", rows: 4, columns: 4, lanes: [4, 4] } as const;
const shared = (k: KernelBuilder) => new SharedTiles(k, tile, "f32");
const vectors = (k: KernelBuilder) => new WaitingTiles(k);

const forms = {
  "shared memory": {
    queries: (own: AttentionProblem) => queryKernel(own, settings, { rows: 4, lanes: 16, tiles: shared }),
    keys: (own: AttentionProblem) => keyKernel(own, settings, { rows: 4, lanes: 16, tiles: shared }),
  },
  vectors: {
    queries: (own: AttentionProblem) =>
      queryKernel(own, settings, { rows: VECTOR_ROWS, lanes: VECTOR_LANES, tiles: vectors }),
    keys: (own: AttentionProblem) =>
      keyKernel(own, settings, { rows: VECTOR_ROWS, lanes: VECTOR_LANES, tiles: vectors }),
  },
};

for (const [name, form] of Object.entries(forms)) {
  describe(`gradients in tiles of ${name}`, () => {
    // Two heads of queries share the keys: their gradients are sums over both.
    const shapes: AttentionShapes = { batch: 1, heads: [2, 1], tokens: [6, 9], widths: [5, 3] };

    test("extents that nothing divides", () => {
      checkBackward(form, { shapes });
      checkBackward(form, { shapes: { ...shapes, batch: 2, heads: [2, 2], tokens: [9, 5], widths: [3, 6] } });
    });

    test("keys that are hidden behind a query, before and behind a window, or by a mask", () => {
      checkBackward(form, { shapes, choices: { causal: true } });
      checkBackward(form, { shapes, choices: { window: [2, 1] } });
      checkBackward(form, { shapes, choices: { mask: bools([1, 1, 6, 9], 5), bias: sample([1, 2, 1, 9], 4) } });
    });

    test("a query that sees no key has no gradient, and gives none", () => {
      checkBackward(form, { shapes: { ...shapes, batch: 2 }, choices: { lengths: [0, 4], causal: true } });
    });

    test("the scale of the scores counts in q and k, and not in v", () => {
      checkBackward(form, { shapes, choices: { scale: 1.75 } }, 2e-5);
    });
  });
}
