/** An attention as its kernels see it: extents, and which keys and queries see one another, against the definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import {
  type AttentionProblem,
  declareInputs,
  declareRest,
  problemOf,
  Visibility,
} from "../../../../src/compiler/routines/attention/problem.js";
import type { DType } from "../../../../src/core/dtype.js";
import { attention } from "../../../../src/graph/primitives/attention.js";
import { laneValues } from "../../../support/lane-values.js";
import { make, storedAs } from "../../../support/nodes.js";

interface Choice {
  readonly left?: number;
  readonly right?: number;
  readonly hasBias?: boolean;
  readonly hasMask?: boolean;
  readonly hasLength?: boolean;
}

const [QUERIES, KEYS] = [6, 8];

function problem(choice: Choice, dtype: DType = "f32"): AttentionProblem {
  const { left = Infinity, right = Infinity, hasBias = false, hasMask = false, hasLength = false } = choice;
  const inputs = [
    storedAs(dtype, 2, 4, QUERIES, 10),
    storedAs(dtype, 2, 2, KEYS, 10),
    storedAs(dtype, 2, 2, KEYS, 12),
    ...(hasBias ? [storedAs("f32", 1, 1, QUERIES, KEYS)] : []),
    ...(hasMask ? [storedAs("bool", 1, 1, 1, KEYS)] : []),
    ...(hasLength ? [storedAs("i32", 2)] : []),
  ];
  const params = { scale: 0.5, left, right, hasBias, hasMask, hasLength, emptyRow: 0, outputs: [] };
  return problemOf(make(attention, inputs, params));
}

test("extents and dtypes come from the inputs", () => {
  const { batch, heads, keyHeads, queries, keys, depth, width, dtype, type, bias, mask } = problem({ hasMask: true });
  assert.deepEqual([batch, heads, keyHeads, queries, keys, depth, width], [2, 4, 2, QUERIES, KEYS, 10, 12]);
  assert.deepEqual([dtype, type], ["f32", "f32"]);
  assert.equal(bias, null);
  assert.deepEqual(mask?.shape, [1, 1, 1, KEYS]);
  assert.equal(problem({}, "bf16").type, "f32");
  assert.equal(problem({}, "f64").type, "f64");
});

test("buffers are declared in the order of the inputs, those that are there alone", () => {
  const declared = (choice: Choice) => {
    const k = new KernelBuilder("inputs", 1);
    const own = problem(choice, "f16");
    const { bias, mask, length } = declareInputs(k, own);
    const { ct, logs, delta } = declareRest(k, own);
    const { buffers } = k.finish();
    const dtypeOf = (buffer: number | null) => buffer !== null && buffers[buffer]!.dtype;
    return [bias, mask, length, ct, logs, delta].map(dtypeOf);
  };
  assert.deepEqual(declared({}), [false, false, false, "f16", "f32", "f32"]);
  assert.deepEqual(declared({ hasBias: true, hasLength: true }), ["f32", false, "i32", "f16", "f32", "f32"]);
  assert.deepEqual(declared({ hasMask: true }), [false, "bool", false, "f16", "f32", "f32"]);
});

const LENGTHS = [KEYS, 5];
const isHidden = (key: number) => key % 3 === 1;
const biasAt = (i: number, j: number) => i - 2 * j;

const choices: Choice[] = [
  {},
  { right: 0 },
  { left: 2, right: 0 },
  { left: 1, right: 3 },
  { left: 0, right: 0 },
  { hasLength: true, right: 0 },
  { hasMask: true },
  { hasBias: true, left: 3, hasMask: true, hasLength: true },
];

/** What a kernel computes of the visibility in the member 1, given the elements of the optional inputs. */
function seen(choice: Choice, lanes: number, write: (k: KernelBuilder, v: Visibility) => readonly Value[]): number[][] {
  const own = problem(choice);
  const optional = [
    ...(choice.hasBias
      ? [
          {
            dtype: "f32" as const,
            values: Array.from({ length: QUERIES * KEYS }, (_, at) => biasAt(Math.floor(at / KEYS), at % KEYS)),
          },
        ]
      : []),
    ...(choice.hasMask
      ? [{ dtype: "bool" as const, values: Array.from({ length: KEYS }, (_, j) => Number(!isHidden(j))) }]
      : []),
    ...(choice.hasLength ? [{ dtype: "i32" as const, values: LENGTHS }] : []),
  ];
  return laneValues({ lanes, inputs: optional }, (k) => {
    let next = 0;
    const numbered = (isThere = false) => (isThere ? next++ : null);
    const buffers = {
      ...{ q: 0, k: 0, v: 0 },
      bias: numbered(choice.hasBias),
      mask: numbered(choice.hasMask),
      length: numbered(choice.hasLength),
    };
    return write(k, new Visibility(k, own, buffers, k.constant("i32", 1), k.constant("i32", 0)));
  });
}

/** Whether a query may see a key, the mask aside. */
const mayMeet = ({ left = Infinity, right = Infinity, hasLength }: Choice, i: number, j: number): boolean =>
  j >= i - left && j <= i + right && j < (hasLength ? LENGTHS[1]! : KEYS);

test("the keys of some queries are all that one of them may see, and no more than their window", () => {
  for (const choice of choices) {
    for (const count of [1, 2, 3]) {
      const [from, to] = seen(choice, QUERIES, (k, v) => {
        const range = v.keysOf(k.lane, count);
        return [range.from, range.to];
      }) as [number[], number[]];
      for (let first = 0; first + count <= QUERIES; first++) {
        const met = [...new Array(KEYS).keys()].filter((j) =>
          [...new Array(count).keys()].some((at) => mayMeet(choice, first + at, j)),
        );
        if (met.length === 0) assert.ok(to[first]! <= from[first]!);
        else
          assert.deepEqual([from[first], to[first]], [met[0], met.at(-1)! + 1], `${JSON.stringify(choice)} ${first}`);
      }
    }
  }
});

test("the queries of some keys are all that may see one of them", () => {
  for (const choice of choices) {
    for (const count of [1, 2]) {
      const [from, to] = seen(choice, KEYS, (k, v) => {
        const range = v.queriesOf(k.lane, count);
        return [range.from, range.to];
      }) as [number[], number[]];
      for (let first = 0; first + count <= KEYS; first++) {
        for (let i = 0; i < QUERIES; i++) {
          const isMet = [...new Array(count).keys()].some((at) => mayMeet(choice, i, first + at));
          const isIn = i >= from[first]! && i < to[first]!;
          assert.ok(isIn || !isMet, `${JSON.stringify(choice)}: query ${i}, keys from ${first} on`);
        }
        const isNone = choice.hasLength && first >= LENGTHS[1]!;
        if (isNone) assert.ok(to[first]! <= from[first]!, "keys that do not count meet nobody");
      }
    }
  }
});

test("scores are products scaled and biased, -inf where the key is not seen; whole tiles as well as cut ones", () => {
  // A lane has the tile of 2 queries and 2 keys from its place on; some reach beyond the ends.
  const [down, aside] = [QUERIES / 2 + 1, KEYS / 2 + 1];
  for (const choice of choices) {
    const found = [...new Array(down).keys()].flatMap((r) =>
      [...new Array(aside).keys()].map((c) =>
        seen(choice, 1, (k, v) => {
          const i = (value: number) => k.constant("i32", value);
          const [firstQuery, firstKey] = [i(2 * r), i(2 * c)];
          const queries = { first: firstQuery, count: 2, at: (at: number) => i(2 * r + (at >> 1)) };
          const keys = { first: firstKey, count: 2, at: (at: number) => i(2 * c + (at & 1)) };
          const products = [3, 5, 7, 9].map((x) => k.constant("f32", x));
          return v.scores(products, [queries, keys], 4);
        }).map(([x]) => x!),
      ),
    );
    found.forEach((scores, tile) => {
      scores.forEach((score, at) => {
        const [i, j] = [2 * Math.floor(tile / aside) + (at >> 1), 2 * (tile % aside) + (at & 1)];
        const isSeen = i < QUERIES && mayMeet(choice, i, j) && !(choice.hasMask && isHidden(j));
        const biased = [3, 5, 7, 9][at]! * 0.5 + (choice.hasBias ? biasAt(i, j) : 0);
        assert.equal(score, isSeen ? 4 * biased : -Infinity, `${JSON.stringify(choice)}: query ${i}, key ${j}`);
      });
    });
  }
});
