/** Movements at work: elements by index arithmetic written out beside each case, derivatives and batches. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Node } from "../../../../src/graph/node.js";
import type { MovementPrimitive, Params } from "../../../../src/graph/primitive.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, given, type Input, valuesOf } from "../../../support/node-rules.js";
import { indicesOf, read } from "../../../support/tensors.js";

export interface Case {
  readonly primitive: MovementPrimitive;
  readonly params: Params;
  readonly inputs: readonly Input[];
  readonly shape: readonly number[];
  /** The element of the result at an index. */
  readonly at: (
    index: readonly number[],
    x: (...index: number[]) => number,
    second: (...index: number[]) => number,
  ) => number;
}

/** Positions outside an axis stand for its ends. */
export const clamp = (a: number, n: number) => Math.min(Math.max(a, 0), n - 1);

export function testCases(cases: Readonly<Record<string, Case>>): void {
  for (const [title, { primitive, params, inputs, shape, at }] of Object.entries(cases)) {
    describe(title, () => {
      const f = (...nodes: Node[]) => g.move(primitive, nodes, params);
      test("has its shape and its elements", () => {
        assert.deepEqual(f(...inputs.map(given)).shape, shape);
        const reader =
          (i: number) =>
          (...index: number[]) =>
            read(inputs[i] as { shape: number[]; values: number[] }, index);
        const want = indicesOf(shape).map((index) => at(index, reader(0), reader(1)));
        assert.deepEqual(valuesOf(f, inputs)[0], want);
      });
      test("derivatives", () => checkDerivatives(f, inputs));
      test("batches", () => checkBatches(f, inputs));
    });
  }
}
