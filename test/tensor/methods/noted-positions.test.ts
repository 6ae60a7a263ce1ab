/** The hook that reports positions: within its work alone, the innermost one, also after an error. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { notingPositions, positionsUsed } from "../../../src/tensor/methods/noted-positions.js";
import { numbersOf } from "../../support/tensors.js";

const x = tensor([10, 20, 30], { device: "cpu" });
const positions = tensor([0, 2], { dtype: "i32", device: "cpu" });

test("operations that take positions report them, with the extent of the axis", () => {
  const seen: [string, number[], number][] = [];
  const note = (operation: string, used: typeof positions, extent: number) =>
    seen.push([operation, numbersOf(used), extent]);
  const found = notingPositions(note as never, () => x.take(positions, { axis: 0 }));
  assert.deepEqual(numbersOf(found), [10, 30]);
  assert.deepEqual(seen, [["take", [0, 2], 3]]);
  x.take(positions, { axis: 0 });
  assert.equal(seen.length, 1, "outside nothing is reported");
});

test("hooks nest, and an error restores the outer one", () => {
  const outer: string[] = [];
  const inner: string[] = [];
  notingPositions(
    (operation) => outer.push(operation),
    () => {
      assert.throws(() =>
        notingPositions(
          (operation) => inner.push(operation),
          () => {
            positionsUsed("within", positions, 3);
            throw new Error("stop");
          },
        ),
      );
      positionsUsed("after", positions, 3);
    },
  );
  assert.deepEqual([outer, inner], [["after"], ["within"]]);
});
