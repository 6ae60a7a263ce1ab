/** Epochs of failed commands: memory last written in them throws until it is reallocated. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DeviceError } from "../../../../src/core/errors.js";
import { LostEpochs } from "../../../../src/engines/vulkan/submission/lost-epochs.js";

const why = new DeviceError("no memory to submit");
const written = (writeEpoch: number) => ({ writeEpoch });

test("memory of other epochs is fine, that of a lost one throws, and says why", () => {
  const lost = new LostEpochs();
  lost.check([written(0), written(5)]);
  lost.add(4, 6, why);
  lost.check([written(3), written(7)]);
  for (const epoch of [4, 5, 6]) {
    assert.throws(
      () => lost.check([written(1), written(epoch)]),
      (error: Error) => error instanceof DeviceError && /contents .* lost.*no memory/.test(error.message),
    );
  }
});

test("every failure is remembered", () => {
  const lost = new LostEpochs();
  lost.add(2, 2, why);
  lost.add(9, 10, why);
  for (const epoch of [2, 9, 10]) assert.throws(() => lost.check([written(epoch)]));
});

test("reallocated memory is forgiven, other memory keeps its epoch", () => {
  const lost = new LostEpochs();
  lost.add(4, 6, why);
  const [bad, good] = [written(5), written(8)];
  lost.forget(bad);
  lost.forget(good);
  lost.check([bad, good]);
  assert.deepEqual([bad.writeEpoch, good.writeEpoch], [0, 8]);
});
