/** Relu with trained slopes: numbers against PyTorch by layer-cases.json. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, tensor } from "../../../src/index.js";
import { prelu } from "../../../src/nn/index.js";
import { describeLayerCases } from "../../support/layer-cases.js";

describeLayerCases("prelu");

test("slopes begin at a quarter, one for all or one for each channel", async () => {
  const key = random.key(0, { device: "cpu" });
  const { params } = prelu().init(key, [1, 2]);
  assert.deepEqual(
    await prelu()
      .apply(params, tensor([[-4, 3]], { device: "cpu" }))
      .array(),
    [[-1, 3]],
  );
  const last = prelu({ perChannel: true, channels: "last" });
  const slopes = tensor([0.5, 2], { device: "cpu" });
  assert.deepEqual(
    await last
      .apply(
        { slopes },
        tensor(
          [
            [
              [-1, -1],
              [1, -3],
            ],
          ],
          { device: "cpu" },
        ),
      )
      .array(),
    [
      [
        [-0.5, -2],
        [1, -6],
      ],
    ],
  );
  assert.throws(() => prelu({ slope: 1 } as never), { message: /prelu: there is no option "slope"/ });
  assert.throws(() => prelu({ perChannel: true }).init(key, [3]), { message: /prelu takes/ });
});
