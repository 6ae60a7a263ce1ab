import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { assertPlain, keptOf, norm, type PlainLeaf, paramsOn } from "./trajectories.js";

const { adafactor } = optimizers;

/** Squares as adafactor estimates them: of the matrix by rows and columns. */
function estimate(leaf: PlainLeaf, newest: number): number[] {
  const squares = leaf.g.map((g) => g * g);
  const toward = (kept: number[], now: readonly number[]) =>
    now.forEach((value, i) => {
      kept[i]! += newest * (value - kept[i]!);
    });
  if (leaf.name !== "w") {
    const all = keptOf(leaf, "all");
    toward(all, squares);
    return [...all];
  }
  leaf.kept.rows ??= [0, 0, 0];
  leaf.kept.columns ??= [0, 0, 0, 0];
  const { rows, columns } = leaf.kept as { rows: number[]; columns: number[] };
  toward(
    rows,
    rows.map((_, r) => columns.reduce((sum, _, c) => sum + squares[4 * r + c]!, 0) / 4),
  );
  toward(
    columns,
    columns.map((_, c) => rows.reduce((sum, _, r) => sum + squares[4 * r + c]!, 0) / 3),
  );
  const mean = rows.reduce((sum, value) => sum + value, 0) / 3;
  return squares.map((_, i) => (rows[Math.floor(i / 4)]! * columns[i % 4]!) / mean);
}

describeOnTensorDevices("adafactor", (device) => {
  test("follows the written-out rule", () =>
    assertPlain(
      adafactor(0.5, { decay: -0.6, clip: 0.5, weightDecay: 0.1 }),
      (leaf, count) => {
        const squares = estimate(leaf, count ** -0.6);
        const rms = (values: readonly number[]) => norm(values) / Math.sqrt(values.length);
        const direction = leaf.g.map((g, i) => g / Math.sqrt(squares[i]!));
        const length = Math.max(1e-3, rms(leaf.p)) * Math.min(0.5, 1 / Math.sqrt(count));
        const excess = Math.max(1, rms(direction) / 0.5);
        leaf.p.forEach((p, i) => {
          leaf.p[i] = p * (1 - 0.5 * 0.1) - (length / excess) * direction[i]!;
        });
      },
      device,
    ));
});

test("a matrix of 3 by 4 is kept as 3 and 4 numbers", () => {
  const state = adafactor().init(paramsOn("cpu", "f32")) as never as Record<"rows" | "columns", Record<string, Tensor>>;
  assert.deepEqual(
    [state.rows.w!.shape, state.columns.w!.shape],
    [
      [3, 1],
      [1, 4],
    ],
  );
  assert.deepEqual([state.rows.b!.shape, state.columns.b!.shape], [[3], []]);
  assert.throws(() => adafactor(0.1, { epsilons: [-1, 1] }), { message: /adafactor: the option epsilons/ });
});
