/** Splits against scikit-learn's positions, and what random ones must hold. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  groupKFold,
  kFold,
  leaveOneOut,
  type Splitter,
  shuffleSplit,
  stratifiedKFold,
  timeSeriesSplit,
} from "../../../src/learn/index.js";
import { learnCases } from "../../support/learn-cases.js";

const MAKERS: Readonly<Record<string, (folds: number) => Splitter>> = {
  kFold,
  stratifiedKFold,
  groupKFold,
  timeSeriesSplit,
};

for (const [kind, { samples, folds, labels, groups, tests }] of Object.entries(learnCases().splits)) {
  test(`${kind} tests on the same samples as scikit-learn's`, () => {
    const splits = MAKERS[kind]!(folds).split({ samples, labels, groups });
    assert.deepEqual(
      splits.map(({ test }) => [...test]),
      tests,
    );
    for (const { train, test } of splits) assert.equal(new Set([...train, ...test]).size, train.length + test.length);
  });
}

test("mixed folds test every sample once, the same ones for the same seed", () => {
  const tests = kFold(4, { seed: 3 })
    .split({ samples: 23 })
    .map(({ test }) => [...test]);
  assert.deepEqual(
    tests.flat().sort((a, b) => a - b),
    Array.from({ length: 23 }, (_, i) => i),
  );
  assert.deepEqual(
    tests,
    kFold(4, { seed: 3 })
      .split({ samples: 23 })
      .map(({ test }) => [...test]),
  );
  assert.notDeepEqual(
    tests,
    kFold(4, { seed: 4 })
      .split({ samples: 23 })
      .map(({ test }) => [...test]),
  );
});

test("mixed stratified folds keep the shares of the classes", () => {
  const labels = Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? "a" : "b"));
  for (const { test } of stratifiedKFold(5, { seed: 1 }).split({ samples: 60, labels })) {
    assert.equal([...test].filter((i) => labels[i] === "a").length, 4);
  }
});

test("one is left out at a time", () => {
  const splits = leaveOneOut().split({ samples: 3 });
  assert.deepEqual(
    splits.map(({ train, test }) => [[...train], [...test]]),
    [
      [[1, 2], [0]],
      [[0, 2], [1]],
      [[0, 1], [2]],
    ],
  );
});

test("random splits are drawn anew and have the asked size", () => {
  const splits = shuffleSplit(3, { testSize: 0.3, seed: 5 }).split({ samples: 10 });
  assert.deepEqual(
    splits.map(({ train, test }) => [train.length, test.length]),
    [
      [7, 3],
      [7, 3],
      [7, 3],
    ],
  );
  assert.notDeepEqual([...splits[0]!.test], [...splits[1]!.test]);
});

test("impossible splits say what is missing", () => {
  assert.throws(() => kFold(5).split({ samples: 3 }), /5 folds and 3 samples/);
  assert.throws(() => kFold(1).split({ samples: 3 }), /2 or more/);
  assert.throws(() => stratifiedKFold(2).split({ samples: 4 }), /needs labels/);
  assert.throws(() => stratifiedKFold(3).split({ samples: 4, labels: [0, 0, 1, 1] }), /no class has 3 samples/);
  assert.throws(() => groupKFold(2).split({ samples: 4 }), /needs groups/);
  assert.throws(() => shuffleSplit(1, { testSize: 10 }).split({ samples: 10 }), /both parts/);
  assert.throws(() => timeSeriesSplit(3, { gap: 30 }).split({ samples: 20 }), /too few/);
});
