/** Loaders: every source gives its rows once an epoch, the same for the same numbers, whatever was read before. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { inspect } from "node:util";
import { arange, random, type Tensor, tensor } from "../../../src/index.js";
import { type Batches, type LoaderOptions, loader } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const all = async <B>(batches: AsyncIterable<B>): Promise<B[]> => {
  const found: B[] = [];
  for await (const batch of batches) found.push(batch);
  return found;
};
const xs = async (batches: AsyncIterable<unknown>): Promise<number[][]> =>
  (await all(batches)).map((batch) => numbersOf((batch as { x: Tensor }).x));

describeOnTensorDevices("loader", (device) => {
  const count = 11;
  const key = random.key(4, { device });
  const x = arange(count, undefined, 1, { device }) as Tensor;
  const y = x.mul(2).reshape([count, 1]).broadcastTo([count, 3]) as Tensor;
  async function* stream() {
    for (let i = 0; i < count; i++) {
      if (i % 4 === 0) await wait(0);
      yield { x: i, y: Float32Array.of(2 * i, 2 * i, 2 * i) };
    }
  }
  /** The same rows from every kind of source. */
  const sources: Readonly<Record<string, () => unknown>> = {
    tensors: () => ({ x, y }),
    "lists and typed arrays": () => ({
      x: Float32Array.from({ length: count }, (_, i) => i),
      y: Array.from({ length: count }, (_, i) => [2 * i, 2 * i, 2 * i]),
    }),
    "a list of examples": () => Array.from({ length: count }, (_, i) => ({ x: i, y: [2 * i, 2 * i, 2 * i] })),
    "examples by number": () => ({
      count,
      example: (i: number) => ({ x: i, y: Float32Array.of(2 * i, 2 * i, 2 * i) }),
    }),
    "examples by number, awaited, of tensors": () => ({
      count,
      example: async (i: number) => ({ x: tensor(i, { device }), y: tensor([2 * i, 2 * i, 2 * i], { device }) }),
    }),
    "an async generator function": () => stream,
    "a generator function": () =>
      function* () {
        for (let i = 0; i < count; i++) yield { x: i, y: [2 * i, 2 * i, 2 * i] };
      },
    "an iterable": () => new Set(Array.from({ length: count }, (_, i) => ({ x: i, y: [2 * i, 2 * i, 2 * i] }))),
  };

  for (const [title, source] of Object.entries(sources)) {
    test(`${title}: rows in order, by batch, and shuffled by a key`, async () => {
      const plain = loader(source() as { x: Tensor; y: Tensor }, { batchSize: 4, device });
      const batches = (await all(plain)) as { x: Tensor; y: Tensor }[];
      assert.deepEqual(
        batches.map((batch) => numbersOf(batch.x)),
        [
          [0, 1, 2, 3],
          [4, 5, 6, 7],
          [8, 9, 10],
        ],
      );
      assert.deepEqual(numbersOf(batches[1]!.y), [8, 8, 8, 10, 10, 10, 12, 12, 12, 14, 14, 14]);
      assert.deepEqual(batches[2]!.y.shape, [3, 3]);
      assert.equal(batches[0]!.x.device, x.device);

      const mixed = loader(source(), {
        batchSize: 4,
        shuffle: key,
        shuffleBuffer: 6,
        device,
      }) as unknown as Batches<unknown>;
      const [first, second] = [await xs(mixed.epoch(0)), await xs(mixed.epoch(1))];
      for (const epoch of [first, second]) {
        assert.deepEqual(
          epoch.map((batch) => batch.length),
          [4, 4, 3],
        );
        assert.deepEqual(
          epoch.flat().sort((a, b) => a - b),
          Array.from({ length: count }, (_, i) => i),
        );
        assert.notDeepEqual(
          epoch.flat(),
          Array.from({ length: count }, (_, i) => i),
        );
      }
      assert.notDeepEqual(first, second);
      // A loader made again begins anywhere with the batches that it would have given.
      const again = loader(source(), {
        batchSize: 4,
        shuffle: key,
        shuffleBuffer: 6,
        device,
      }) as unknown as Batches<unknown>;
      assert.deepEqual(await xs(again.epoch(1, 1)), second.slice(1));
      assert.deepEqual(await xs(again.epoch(0)), first);
      assert.deepEqual(await xs(again.epoch(0, 3)), []);
    });
  }

  test("the last batch is kept, left out, or filled with a mask", async () => {
    const counts = (options: Partial<LoaderOptions>) => loader({ x, y }, { batchSize: 4, ...options }).batchesPerEpoch;
    assert.deepEqual([counts({}), counts({ dropLast: true }), counts({ padLast: true })], [3, 2, 3]);
    assert.deepEqual(await xs(loader({ x, y }, { batchSize: 4, dropLast: true })), [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
    assert.deepEqual(await xs(loader(stream, { batchSize: 4, dropLast: true, device })), [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
    for (const source of [{ x, y }, stream]) {
      const padded = (await all(
        loader(source as { x: Tensor }, { batchSize: 4, padLast: true, device }),
      )) as unknown as { x: Tensor; mask: Tensor }[];
      assert.deepEqual(numbersOf(padded[2]!.x), [8, 9, 10, 10]);
      assert.deepEqual(await padded[2]!.mask.array(), [true, true, true, false]);
      assert.deepEqual(await padded[0]!.mask.array(), [true, true, true, true]);
    }
    assert.equal(loader(stream, { batchSize: 4 }).batchesPerEpoch, null);
    assert.equal(loader({ x }, { batchSize: 4 }).count, count);
  });

  test("map runs on the device, with a key for each batch, the same when the epoch begins later", async () => {
    const noisy = () =>
      loader(
        { x, y },
        { batchSize: 4, shuffle: key, map: (batch, own) => ({ x: batch.x.add(random.uniform(own, batch.x.shape)) }) },
      );
    const [first, second] = [await xs(noisy().epoch(0)), await xs(noisy().epoch(1))];
    assert.deepEqual(await xs(noisy().epoch(1, 2)), second.slice(2));
    const fractions = [...first, ...second].flat().map((value) => value % 1);
    assert.equal(new Set(fractions).size, fractions.length);
  });

  test("several epochs come one after the other", async () => {
    const found = await xs(loader({ x }, { batchSize: 6, epochs: 2 }));
    assert.deepEqual(
      found.map((batch) => batch.length),
      [6, 5, 6, 5],
    );
  });
});

describe("reading ahead", () => {
  const source = (made: number[]) => ({
    count: 10,
    example: async (i: number) => {
      made.push(i);
      return { x: i };
    },
  });

  test("makes so many batches before they are asked for, and stops when nobody asks", async () => {
    for (const prefetch of [0, 1, 3]) {
      const made: number[] = [];
      const batches = loader(source(made), { batchSize: 1, prefetch, device: "cpu" }).epoch(0)[Symbol.asyncIterator]();
      await batches.next();
      await wait(20);
      assert.equal(made.length, 1 + prefetch);
      await batches.next();
      await wait(20);
      assert.equal(made.length, 2 + prefetch);
      await batches.return?.();
      await wait(20);
      assert.ok(made.length <= 3 + prefetch);
    }
  });

  test("an error of the source is thrown where its batch would come", async () => {
    const failing = { count: 4, example: (i: number) => (i < 2 ? { x: i } : assert.fail("broken")) };
    const found: number[][] = [];
    await assert.rejects(async () => {
      for await (const batch of loader(failing as { count: number; example(i: number): { x: number } }, {
        batchSize: 1,
        prefetch: 3,
        device: "cpu",
      })) {
        found.push(numbersOf(batch.x));
      }
    }, /broken/);
    assert.deepEqual(found, [[0], [1]]);
  });
});

describe("loader refuses", () => {
  const x = arange(4, undefined, 1, { device: "cpu" }) as Tensor;
  const once = (function* () {
    yield { x: 1 };
  })();
  const read = (source: unknown, options: object) =>
    all(loader(source as never, { batchSize: 2, device: "cpu", ...options }));
  // biome-ignore format: rows read best
  const cases: [string, () => unknown, RegExp][] = [
    ["what is no source", () => read(3, {}), /loader: 3 is no source of data/],
    ["a batch size that is none", () => read({ x }, { batchSize: 0 }), /the option batchSize is a whole number from 1 on/],
    ["an option that is not known", () => read({ x }, { shufle: 1 }), /there is no option "shufle"/],
    ["a key that is none", () => read({ x }, { shuffle: true }), /key/],
    ["tensors of different counts", () => read({ x, y: x.at(":3") }, {}), /tensors of \[4\] and \[3\]; all have one first extent/],
    ["a scalar", () => read({ x: tensor(1, { device: "cpu" }) }, {}), /all have one first extent/],
    ["dropping and filling", () => read({ x }, { dropLast: true, padLast: true }), /exclude each other/],
    ["a mask where there is no object", () => read(x, { padLast: true, batchSize: 3 }), /padLast adds `mask` to batches that are objects/],
    ["a map that takes a key without one", () => read({ x }, { map: (batch: unknown, _key: unknown) => batch }), /the function of map takes a key; give the option key/],
    ["examples of different forms", () => read([{ x: [1, 2] }, { x: [1] }], {}), /an example\.x differs in its form/],
    ["examples that lack a member", () => read([{ x: 1, y: 2 }, { x: 1 }], {}), /an example has no y/],
    ["examples of texts", () => read([{ x: "a" }, { x: "b" }], {}), /an example\.x is "a"; examples are numbers/],
    ["a function that makes no stream", () => read(() => 3, {}), /the function gave 3; it gives an iterable/],
    ["a negative epoch", () => loader({ x }, { batchSize: 2 }).epoch(-1), /the number of an epoch is a whole number from 0 on/],
    ["a generator for a second epoch", async () => { await read(once, {}); await read(once, {}); }, /a generator gives its values once; give the generator function/],
  ];
  for (const [title, run, message] of cases) {
    test(title, async () => assert.rejects(async () => run(), message));
  }
});

test("a loader prints its examples and batches", () => {
  const x = tensor([1, 2, 3, 4, 5], { device: "cpu" });
  assert.equal(String(loader({ x }, { batchSize: 2 })), "loader(5 examples in 3 batches of 2)");
  const shuffle = random.key(0, { device: "cpu" });
  assert.equal(inspect(loader([1, 2], { batchSize: 1, shuffle })), "loader(2 examples in 2 batches of 1, shuffled)");
});

test("an order that is no key is refused by the option's name", () => {
  assert.throws(() => loader([1, 2], { batchSize: 1, shuffle: true as never }), {
    name: "ArgumentError",
    message: /loader: the option shuffle is a key, as random\.key\(seed\) makes, not true/,
  });
});
