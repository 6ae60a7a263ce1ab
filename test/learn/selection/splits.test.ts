/** Splits against scikit-learn's positions, and what random ones must hold. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  groupKFold,
  groupShuffleSplit,
  kFold,
  leaveOneGroupOut,
  leaveOneOut,
  predefinedSplit,
  repeatedKFold,
  repeatedStratifiedKFold,
  type Splitter,
  shuffleSplit,
  stratifiedGroupKFold,
  stratifiedKFold,
  stratifiedShuffleSplit,
  timeSeriesSplit,
} from "../../../src/learn/index.js";
import { learnCases } from "../../support/learn-cases.js";

const MAKERS: Readonly<Record<string, (folds: number) => Splitter>> = {
  kFold,
  stratifiedKFold,
  groupKFold,
  timeSeriesSplit,
  stratifiedGroupKFold,
  leaveOneGroupOut: () => leaveOneGroupOut(),
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

test("random splits of groups tear none apart, and test on the asked share of them", () => {
  const groups = [..."aabbbcdddeeeffghij"];
  const splits = groupShuffleSplit(4, { testSize: 0.3, seed: 2 }).split({ samples: groups.length, groups });
  for (const { train, test } of splits) {
    const [fitted, tested] = [train, test].map((part) => new Set([...part].map((i) => groups[i])));
    assert.equal(tested!.size, 3);
    assert.ok([...tested!].every((group) => !fitted!.has(group)));
    assert.equal(train.length + test.length, groups.length);
  }
  assert.notDeepEqual(splits[0], splits[1]);
});

test("random splits of labels keep each class in its share, the same ones for the same seed", () => {
  const labels = Array.from({ length: 40 }, (_, i) => (i % 4 === 0 ? "rare" : "common"));
  const splits = () => stratifiedShuffleSplit(3, { testSize: 0.2, seed: 4 }).split({ samples: 40, labels });
  for (const { train, test } of splits()) {
    assert.deepEqual([test.length, train.length], [8, 32]);
    assert.equal([...test].filter((i) => labels[i] === "rare").length, 2);
  }
  assert.deepEqual(splits(), splits());
  assert.notDeepEqual(splits()[0], splits()[1]);
});

test("repeated folds test every sample once in each repeat, in other folds", () => {
  const labels = Array.from({ length: 12 }, (_, i) => i % 2);
  for (const rule of [repeatedKFold(3, { repeats: 2, seed: 1 }), repeatedStratifiedKFold(3, { repeats: 2, seed: 1 })]) {
    const splits = rule.split({ samples: 12, labels });
    assert.equal(splits.length, 6);
    for (const repeat of [splits.slice(0, 3), splits.slice(3)]) {
      const tested = repeat.flatMap(({ test }) => [...test]).sort((a, b) => a - b);
      assert.deepEqual(tested, [...labels.keys()]);
    }
    assert.notDeepEqual(splits[0], splits[3]);
  }
});

test("splits that are told, with samples that are never tested; a limit of what is fitted to in time", () => {
  const splits = predefinedSplit([0, 1, -1, 1, 4]).split({ samples: 5 });
  const parts = splits.map(({ train, test }) => [[...train], [...test]]);
  assert.deepEqual(parts, [[[1, 2, 3, 4], [0]], [[0, 2, 4], [1, 3]], [[0, 1, 2, 3], [4]]]); // biome-ignore format: a matrix
  assert.throws(() => predefinedSplit([0, 1]).split({ samples: 3 }), /tells of 2 samples, and there are 3/);
  const last = timeSeriesSplit(3, { maxTrainSize: 4 }).split({ samples: 20 }).at(-1)!;
  assert.deepEqual([...last.train], [11, 12, 13, 14]);
});
