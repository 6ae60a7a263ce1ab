/** The forward kernel of attention whose rows lie in subgroups, interpreted: outputs and logarithms against plain loops. */
import { test } from "node:test";
import type { AttentionProblem } from "../../../../src/compiler/routines/attention/problem.js";
import { sharedForwardKernel } from "../../../../src/compiler/routines/attention/shared-forward.js";
import type { SharedAttentionTile } from "../../../../src/compiler/target/tile-profile.js";
import { type AttentionShapes, bools, sample } from "../../../support/attention-cases.js";
import { checkForward, risingTrial, spoiltTrial } from "./interpreted-attention.js";

const tileOf = (
  rows: number,
  columns: number,
  lanes: readonly [number, number],
  subgroupSize: number,
): SharedAttentionTile => ({ kind: "shared", rows, columns, lanes, subgroupSize });

/** Its weights lie where its keys did. */
const tight = (...sizes: Parameters<typeof tileOf>): SharedAttentionTile => ({ ...tileOf(...sizes), isTight: true });

const written = (tile: SharedAttentionTile) => (problem: AttentionProblem) =>
  sharedForwardKernel(problem, { division: "native" }, tile);

const shapes: AttentionShapes = { batch: 1, heads: [2, 1], tokens: [20, 45], widths: [16, 24] };

test("tiles and subgroups of several sizes, with edges inside tiles", () => {
  checkForward(written(tileOf(16, 16, [8, 8], 32)), { shapes, choices: { causal: true } });
  checkForward(written(tileOf(8, 16, [4, 8], 8)), { shapes: { ...shapes, widths: [5, 7] } });
  checkForward(written(tileOf(8, 8, [8, 4], 16)), { shapes, choices: { causal: true } });
  checkForward(written(tileOf(16, 32, [8, 8], 64)), { shapes: { ...shapes, tokens: [17, 70] } });
  checkForward(written(tight(16, 32, [8, 8], 8)), { shapes, choices: { causal: true } });
  checkForward(written(tight(8, 64, [8, 16], 32)), { shapes: { ...shapes, tokens: [17, 150], widths: [35, 7] } });
});

for (const tile of [tileOf(8, 16, [4, 8], 16), tight(16, 32, [8, 8], 16)]) {
  const write = written(tile);
  const form = tile.isTight ? ", where memory is tight" : "";

  test(`windows, lengths, masks and biases; queries that see nothing${form}`, () => {
    checkForward(write, { shapes, choices: { window: [20, 3] } });
    checkForward(write, { shapes, choices: { bias: sample([1, 2, 1, 45], 4), mask: bools([1, 1, 20, 45], 5) } });
    checkForward(write, { shapes: { ...shapes, batch: 2 }, choices: { lengths: [0, 40], causal: true } });
  });

  test(`scores that rise from tile to tile scale the sums, or stay below the limit and do not${form}`, () => {
    for (const step of [2, 7, 9, 40]) checkForward(write, risingTrial(step));
  });

  test(`a query whose scores are NaN gives NaN, and no other does${form}`, () => {
    // Lanes hold two rows.
    checkForward(write, spoiltTrial);
  });
}
