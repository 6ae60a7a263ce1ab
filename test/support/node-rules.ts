/**
 * The rules of primitives, at work on nodes of the CPU: values, derivatives against difference quotients in f64, and
 * batches against their members one by one.
 */
import assert from "node:assert/strict";
import type { DType } from "../../src/core/dtype.js";
import { encodeValues } from "../../src/core/storage.js";
import { makePlaceholder } from "../../src/graph/function.js";
import type { Node } from "../../src/graph/node.js";
import { g } from "../../src/graph/vocabulary.js";
import { storedNode } from "../../src/tensor/build.js";
import { backendFor, Tensor } from "../../src/tensor/index.js";
import { direction, dotOf } from "./gradient-check.js";
import { count, numbersOf } from "./tensors.js";

/** Elements of an input; `isFixed`: it has no derivative (positions, indices). */
export interface Input {
  readonly shape: readonly number[];
  readonly values: readonly number[];
  readonly dtype?: DType;
  readonly isFixed?: boolean;
}

type Graph = (...inputs: Node[]) => Node | readonly Node[];

/** A tensor of the CPU in memory; f64 unless told. */
export function given({ shape, values, dtype = "f64" }: Input): Node {
  const node = storedNode(backendFor("cpu"), encodeValues([...values], dtype, "test"), shape, dtype);
  // Held, as by a tensor: what nobody holds is freed when the last operation has read it.
  node.handles++;
  return node;
}

/** An input of numbers that repeat nowhere, or of these. */
export const input = (shape: readonly number[], values?: readonly number[], dtype: DType = "f64"): Input => ({
  shape,
  dtype,
  values: values ?? direction(count(shape), 7 + shape.length + count(shape)),
});

/** Whole numbers that have no derivative. */
export const fixed = (shape: readonly number[], values: readonly number[], dtype: DType = "i32"): Input => ({
  ...input(shape, values, dtype),
  isFixed: true,
});

export const numbers = (node: Node): number[] => numbersOf(new Tensor(node));

const listOf = (result: Node | readonly Node[]): readonly Node[] => (Array.isArray(result) ? result : [result as Node]);

/** The elements of the results, one list for each. */
export const valuesOf = (f: Graph, inputs: readonly Input[]): number[][] =>
  listOf(f(...inputs.map(given))).map(numbers);

const STEP = 2 ** -14;

/** Forward and reverse mode against a difference quotient, in a random direction on each side. */
export function checkDerivatives(f: Graph, inputs: readonly Input[], tolerance = 1e-6): void {
  const directions = inputs.map(({ shape, isFixed }, i) => (isFixed ? null : direction(count(shape), 50 + i)));
  const moved = (by: number) =>
    inputs.map((each, i) => {
      const along = directions[i];
      return along ? { ...each, values: each.values.map((x, k) => x + by * along[k]!) } : each;
    });
  const [up, down] = [valuesOf(f, moved(STEP)), valuesOf(f, moved(-STEP))];
  const cotangents = up.map((values, i) => direction(values.length, 90 + i));
  const want = up.reduce(
    (sum, values, i) =>
      sum +
      dotOf(
        values.map((x, k) => (x - down[i]![k]!) / (2 * STEP)),
        cotangents[i]!,
      ),
    0,
  );
  const asNode = (values: readonly number[], { shape }: { readonly shape: readonly number[] }) =>
    given({ shape, values });
  const tangents = inputs.map((each, i) => directions[i] && asNode(directions[i], each));
  // A graph of its own for each mode: a node that was computed has no inputs any more.
  const ahead = inputs.map(given);
  const forward = g
    .pushForward(listOf(f(...ahead)), ahead, tangents)
    .reduce((sum, t, i) => sum + (t ? dotOf(numbers(t), cotangents[i]!) : 0), 0);
  const nodes = inputs.map(given);
  const results = listOf(f(...nodes));
  const seeds = results.map((result, i) => asNode(cotangents[i]!, result));
  const floats = nodes.filter((_, i) => directions[i]);
  const backward = g
    .pullBack(results, seeds, floats)
    .reduce((sum, ct, i) => sum + (ct ? dotOf(numbers(ct), directions.filter((each) => each)[i]!) : 0), 0);
  const scale = 1 + Math.abs(want);
  assert.ok(Math.abs(forward - want) <= tolerance * scale, `forward mode gives ${forward}, the quotient ${want}`);
  assert.ok(Math.abs(backward - want) <= tolerance * scale, `reverse mode gives ${backward}, the quotient ${want}`);
}

const SIZE = 3;

/** Every set of inputs with a batch, against the members one by one. */
export function checkBatches(
  f: Graph,
  inputs: readonly Input[],
  member = (each: Input, i: number) => varied(each, i),
): void {
  for (let set = 1; set < 2 ** inputs.length; set++) {
    const isBatched = inputs.map((_, i) => (set & (2 ** i)) > 0);
    const members = Array.from({ length: SIZE }, (_, m) =>
      inputs.map((each, i) => (isBatched[i] ? member(each, m) : each)),
    );
    const placeholders = inputs.map(({ shape, dtype = "f64" }) =>
      makePlaceholder({ shape, dtype, device: backendFor("cpu") }),
    );
    const whole = inputs.map((each, i) => {
      const values = isBatched[i] ? members.flatMap((list) => list[i]!.values) : each.values;
      return {
        isBatched: isBatched[i]!,
        node: given({ ...each, shape: isBatched[i] ? [SIZE, ...each.shape] : each.shape, values }),
      };
    });
    const made = g.vectorize(listOf(f(...placeholders)), placeholders, whole, SIZE);
    const want = members.map((list) => valuesOf(f, list));
    made.forEach((result, r) => {
      const got = numbers(result.node);
      const each = want[0]![r]!.length;
      for (let m = 0; m < SIZE; m++) {
        const own = result.isBatched ? got.slice(m * each, (m + 1) * each) : got;
        assert.equal(own.length, each);
        own.forEach((value, k) => {
          const right = want[m]![r]![k]!;
          const isNear = Object.is(value, right) || Math.abs(value - right) <= 1e-9 * (1 + Math.abs(right));
          assert.ok(isNear, `batched: ${isBatched}; result ${r} of member ${m} has ${value} at ${k}, not ${right}`);
        });
      }
    });
  }
}

/** Floats become others; whole numbers and bools are turned round, so that they stay in range. */
function varied(each: Input, m: number): Input {
  if (each.isFixed) return { ...each, values: each.values.map((_, k) => each.values[(k + m) % each.values.length]!) };
  return { ...each, values: each.values.map((x, k) => x + 0.25 * m + 0.125 * m * (k % 3)) };
}
