/** Rows that a training takes inside its step: the same bits as batches that were read, and no reading where nothing is to be read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tree } from "../../../src/index.js";
import { DRAW, type Drawn, rowsAt } from "../../../src/nn/data/drawn.js";
import {
  activations,
  type Batches,
  dense,
  loader,
  losses,
  optimizers,
  sequential,
  train,
} from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

type XY = { readonly x: Tensor; readonly y: Tensor };
type MaybeDrawn = Batches<XY> & { [DRAW]?(epoch: number, from: number): AsyncIterable<Drawn> };

/** The same batches, as they are read. */
const read = ({ batchesPerEpoch, epoch }: Batches<XY>): Batches<XY> => ({ batchesPerEpoch, epoch });

const gathered = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
};

describeOnTensorDevices("batches of tensors", (device) => {
  const data = () => ({
    x: random.randint(random.key(1, { device }), [13, 6], 0, 256).cast("u8").realize() as Tensor,
    y: random.normal(random.key(2, { device }), [13, 1]).realize() as Tensor,
  });

  test("are drawn in the order in which they are read, from anywhere in an epoch", async () => {
    for (const options of [
      { batchSize: 5 },
      { batchSize: 5, dropLast: true },
      { batchSize: 4, shuffle: random.key(3) },
    ]) {
      const batches = loader(data(), options) as unknown as MaybeDrawn;
      for (const [epoch, from] of [
        [0, 0],
        [1, 0],
        [1, 1],
      ] as const) {
        const was = await gathered(batches.epoch(epoch, from));
        const is = await gathered(batches[DRAW]?.(epoch, from) as AsyncIterable<Drawn>);
        const rows = is.map(({ whole, places }) => rowsAt(whole, places) as XY);
        assert.deepEqual(
          rows.map(({ x, y }) => [x.dtype, numbersOf(x), numbersOf(y)]),
          was.map(({ x, y }) => [x.dtype, numbersOf(x), numbersOf(y)]),
        );
      }
    }
  });

  test("that are filled up, mapped, or of other sources are read", () => {
    const filled = loader(data(), { batchSize: 4, padLast: true });
    const mapped = loader(data(), { batchSize: 4, map: ({ x }: XY) => ({ x }) });
    const others = loader({ count: 3, example: (i: number) => ({ x: [i] }) }, { batchSize: 2 });
    for (const each of [filled, mapped, others]) assert.ok(!(DRAW in each));
  });

  test("train a model to the same bits as those that are read", async () => {
    const whole = data();
    const model = sequential((x: Tensor) => x.cast("f32").div(255), dense(4), activations.tanh, dense(1));
    const trained = async (batches: Batches<XY>) => {
      const { params, history } = await train(model, {
        data: batches,
        loss: losses.meanSquaredError,
        metrics: ["meanAbsoluteError"],
        optimizer: optimizers.adam(1e-2),
        epochs: 3,
        seed: 5,
        progress: false,
      });
      return [tree.leaves(params).map(numbersOf), history.map(({ metrics }) => metrics)];
    };
    const batches = loader(whole, { batchSize: 5, shuffle: random.key(4, { device }) }) as unknown as Batches<XY>;
    assert.ok(DRAW in batches);
    assert.deepEqual(await trained(batches), await trained(read(batches)));
    assert.equal(numbersOf(whole.x).length, 78, "the data are still there");
  });
});
