/** A consumer's program: data of `pumice/nn`. */
import { io, random, type Tensor, tensor } from "pumice";
import * as nn from "pumice/nn";
import { path } from "./folder.js";
import type { Calls } from "./methods.js";

const key = (): random.Key => random.key(0, { device: "cpu" });
const x = (): Tensor =>
  tensor(
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
    { device: "cpu" },
  );

export const dataCalls: Calls = {
  loader: async () => {
    const options: nn.LoaderOptions = { batchSize: 2, shuffle: key(), padLast: true };
    const batches: nn.Loader<{ readonly x: Tensor }> = nn.loader({ x: x() }, options);
    let rows = 0;
    for await (const batch of batches) rows += batch.x.shape[0] as number;
    return rows;
  },
  openRows: async () => {
    await io.saveNpy(path("rows.npy"), x());
    const rows: nn.FileRows<{ readonly x: Tensor }> = await nn.openRows({ x: path("rows.npy") });
    const batch = await rows.read(Int32Array.of(2, 0), "cpu");
    await rows.close();
    return batch.x;
  },
  splitData: async () => {
    const parts: nn.SplitData<{ readonly x: Tensor }> = await nn.splitData({ x: x() }, { validation: 0.3, key: key() });
    return parts.train.count;
  },
};
