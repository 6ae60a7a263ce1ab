/** safetensors files written in pieces are those written at once. */
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DTYPES, isPacked } from "../../src/core/dtype.js";
import { arange, type Tensor } from "../../src/index.js";
import { writeSafetensors } from "../../src/io/safetensors-writer.js";
import { runNode } from "../support/subprocess.js";
import { temporaryFolders } from "../support/temporary-folder.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { encodeSafetensors } from "./decoding.js";

const newFolder = temporaryFolders();

describeOnTensorDevices("writing in pieces", (device) => {
  test("gives the same file as writing at once, for dtypes of all widths and ends of any length", async () => {
    for (const dtype of ["i4", "u2", "bool", "bf16", "f32", "f64", "c128"] as const) {
      const counting = (count: number) =>
        arange(count, undefined, 1, { device })
          .remainder(isPacked(dtype) ? 2 : 100)
          .cast(dtype) as Tensor;
      const tensors: [string, Tensor][] = [
        ["view", counting(30).reshape(5, 6).T],
        ["empty", counting(0)],
        ["long", counting(101)],
        ["even", counting(96)],
        ["scalar", counting(1).reshape([])],
      ];
      // Bytes stand for dtypes that the format lacks.
      const isKnown = DTYPES[dtype].safetensors !== undefined;
      const list = await Promise.all(
        tensors.map(async ([name, x]) => {
          const bytes = await x.bytes();
          return isKnown
            ? { name, x, dtype, shape: [...x.shape], bytes }
            : { name, x, dtype: "u8" as const, shape: [bytes.length], bytes };
        }),
      );
      const wanted = encodeSafetensors(
        list.map((each) => [each.name, each] as const),
        { made: "here" },
      );
      for (const pieceBytes of [40, 2 ** 20]) {
        const path = join(newFolder(), "x");
        await writeSafetensors("save", path, list, { made: "here" }, { pieceBytes });
        assert.deepEqual(
          new Uint8Array(readFileSync(path)),
          new Uint8Array(wanted),
          `${dtype} in pieces of ${pieceBytes}`,
        );
      }
    }
  });
});

test("saving half a gigabyte takes memory for a few pieces only", async () => {
  const path = join(newFolder(), "large.safetensors");
  const { code, output } = await runNode(
    `import { full, io } from "SRC/index.js";
     const tensors = {};
     for (const i of [0, 1]) tensors["x" + i] = full([64, 1024, 1024], i + 0.5, { device: "cpu" }).realize();
     for (const x of Object.values(tensors)) await x.at(63, 1023, 1023).item();
     const before = process.resourceUsage().maxRSS;
     await io.saveSafetensors(${JSON.stringify(path)}, tensors);
     console.log((process.resourceUsage().maxRSS - before) / 1024);`,
    { env: { PUMICE_CACHE: "off" } },
  );
  assert.equal(code, 0, output);
  assert.ok(Number(output) < 192, `memory grew by ${output.trim()} MiB`);
  assert.equal(statSync(path).size > 2 ** 29, true);
});
