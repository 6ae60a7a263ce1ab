/** Elementwise entries at work: their values on lists of operands, and their slopes against difference quotients. */
import { test } from "node:test";
import type { DType } from "../../../../src/core/dtype.js";
import type { Node } from "../../../../src/graph/node.js";
import type { ElementwiseEntry } from "../../../../src/graph/primitives/elementwise.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, given, input, numbers, valuesOf } from "../../../support/node-rules.js";

type Entry = ElementwiseEntry;

export const apply =
  (entry: Entry, params = {}) =>
  (...nodes: Node[]) =>
    g.move(entry, nodes, params);

/** The results of an operation on columns of operands. */
export function results(entry: Entry, dtype: DType, rows: readonly (readonly number[])[], params = {}): number[] {
  const columns = rows[0]!.map((_, i) =>
    input(
      [rows.length],
      rows.map((row) => row[i]!),
      dtype,
    ),
  );
  return valuesOf(apply(entry, params), columns)[0]!;
}

/** The slopes at one point, one for each operand. */
export function slopesAt(entry: Entry, ...operands: number[]): (number | null | undefined)[] {
  const nodes = operands.map((x) => given(input([], [x])));
  return g.pullBack([apply(entry)(...nodes)], [given(input([], [1]))], nodes).map((ct) => (ct ? numbers(ct)[0] : null));
}

/** Points inside the domain of each function, away from its kinks. */
function operandsOf({ arity, domain = [-3, 3], name }: Entry) {
  const [low, high] = [Math.max(domain[0], -3), Math.min(domain[1], 3)];
  const places = [0.23, 0.41, 0.62, 0.87].map((part) => low + part * (high - low));
  const positive = name === "pow" || name === "rem";
  return Array.from({ length: arity }, (_, i) =>
    input(
      [4],
      places.map((x, k) => (positive ? 0.4 + Math.abs(x) : x) + 0.11 * i * (k % 2 ? 1 : -1)),
    ),
  );
}

/** Entries of a file that have slopes of real numbers. */
const differentiable = (entries: readonly unknown[]): Entry[] =>
  (entries as readonly Entry[]).filter(
    ({ kind, kinds, slopes, jvp, name }) =>
      kind === "elementwise" &&
      kinds.includes("float") &&
      (slopes || jvp) &&
      !["where", "cast", "complex", "bitcast"].includes(name) &&
      !/Equal|equal|less|greater|is(Nan|Inf)/.test(name),
  );

/** A test for each entry of a file with slopes. */
export function testSlopes(entries: Readonly<Record<string, unknown>>): void {
  for (const entry of differentiable(Object.values(entries))) {
    test(`${entry.name}: slopes and batches`, () => {
      const operands = operandsOf(entry);
      checkDerivatives(apply(entry), operands, 2e-6);
      checkBatches(apply(entry), operands, (each, m) => ({
        ...each,
        values: each.values.map((x) => x * (1 - m / 64)),
      }));
    });
  }
}
