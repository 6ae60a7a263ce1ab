/** Parts of data: disjoint, complete, of the sizes asked for, also class by class. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { arange, random, type Tensor } from "../../../src/index.js";
import { loader, type Rows, splitData } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

async function rowsOf(rows: Rows<{ readonly x: Tensor }>): Promise<number[]> {
  const found: number[] = [];
  for await (const batch of loader(rows, { batchSize: 7 })) found.push(...numbersOf((batch as { x: Tensor }).x));
  return found;
}

describeOnTensorDevices("splitData", (device) => {
  const key = random.key(9, { device });
  const data = { x: arange(50, undefined, 1, { device }) as Tensor };

  test("parts are disjoint and complete, at random by the key", async () => {
    const split = async (seed: random.Key | undefined) => {
      const { train, validation, test: held } = await splitData(data, { validation: 0.2, test: 0.1, key: seed });
      return Promise.all([train, validation, held].map((part) => rowsOf(part as never)));
    };
    const parts = await split(key);
    assert.deepEqual(
      parts.map((part) => part.length),
      [35, 10, 5],
    );
    assert.deepEqual(
      parts.flat().sort((a, b) => a - b),
      Array.from({ length: 50 }, (_, i) => i),
    );
    assert.deepEqual(await split(key), parts);
    assert.notDeepEqual(await split(random.key(10, { device })), parts);
    assert.deepEqual(
      (await split(undefined))[1],
      Array.from({ length: 10 }, (_, i) => 35 + i),
    );
  });

  test("each class has its share", async () => {
    const labels = data.x.remainder(5).less(1).cast("i32") as Tensor;
    const { train, validation } = await splitData(data, { validation: 0.2, key, stratify: labels });
    const ones = (rows: number[]) => rows.filter((row) => row % 5 === 0).length;
    const [first, second] = [await rowsOf(train as never), await rowsOf(validation as never)];
    assert.deepEqual([first.length, ones(first), second.length, ones(second)], [40, 8, 10, 2]);
    const listed = await splitData(data, { validation: 0.2, key, stratify: numbersOf(labels) });
    assert.deepEqual(await rowsOf(listed.validation as never), second);
  });

  test("a part shuffles by a key as other data do", async () => {
    const { train } = await splitData(data, { validation: 0.5 });
    const shuffled: number[] = [];
    for await (const { x } of loader(train, { batchSize: 10, shuffle: key })) shuffled.push(...numbersOf(x));
    assert.notDeepEqual(
      shuffled,
      Array.from({ length: 25 }, (_, i) => i),
    );
    assert.deepEqual(
      [...shuffled].sort((a, b) => a - b),
      Array.from({ length: 25 }, (_, i) => i),
    );
  });
});

describe("splitData refuses", () => {
  const data = { x: arange(5, undefined, 1, { device: "cpu" }) as Tensor };
  // biome-ignore format: rows read best
  const cases: [string, () => Promise<unknown>, RegExp][] = [
    ["shares above one", () => splitData(data, { validation: 0.6, test: 0.6 }), /shares of 0\.6 and 0\.6/],
    ["a stream", () => splitData(function* () { yield { x: 1 }; }, { validation: 0.1 }), /has no rows to choose from/],
    ["classes of another number", () => splitData(data, { validation: 0.2, stratify: [1, 2] }), /a class for each of the 5 rows/],
  ];
  for (const [title, run, message] of cases) test(title, async () => assert.rejects(run(), message));
});
