/** Rows of files: the right ones, by reads of their own, with memory that does not grow with the file. */
import assert from "node:assert/strict";
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { arange, io, random, type Tensor, tensor } from "../../../src/index.js";
import { encodeNpyHeader } from "../../../src/io/npy.js";
import { loader, openRows } from "../../../src/nn/index.js";
import { runNode } from "../../support/subprocess.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const newFolder = temporaryFolders();

describeOnTensorDevices("openRows", (device) => {
  const folder = newFolder();
  const at = (name: string): string => join(folder, `${device}-${name}`);
  const x = arange(60, undefined, 1, { device }).reshape(20, 3) as Tensor;
  const y = arange(20, undefined, 1, { device }).cast("i64") as Tensor;
  const flag = y.remainder(3).equal(0) as Tensor;

  test("safetensors and npy give the rows that are asked for, in that order", async () => {
    await io.saveSafetensors(at("d.safetensors"), { x, y, flag });
    for (const [name, each] of Object.entries({ x, y, flag })) await io.saveNpy(at(`${name}.npy`), each);
    const npy = Object.fromEntries(["x", "y", "flag"].map((name) => [name, at(`${name}.npy`)]));
    for (const files of [at("d.safetensors"), npy]) {
      await using rows = await openRows(files as string);
      assert.equal(rows.count, 20);
      for (const wanted of [[3], [5, 4, 19, 0], [7, 7], []]) {
        const batch = await rows.read(Int32Array.from(wanted), device);
        assert.deepEqual(batch.x?.shape, [wanted.length, 3]);
        assert.deepEqual(
          numbersOf(batch.x as Tensor),
          wanted.flatMap((row) => [3 * row, 3 * row + 1, 3 * row + 2]),
        );
        assert.deepEqual(await (batch.y as Tensor).array(), wanted.map(BigInt));
        assert.deepEqual(
          await (batch.flag as Tensor).array(),
          wanted.map((row) => row % 3 === 0),
        );
      }
    }
  });

  test("a loader goes through them, shuffled by rows or by blocks", async () => {
    await io.saveSafetensors(at("l.safetensors"), { x, y });
    await using rows = await openRows(at("l.safetensors"));
    const key = random.key(1, { device });
    for (const options of [{}, { shuffle: key }, { shuffle: key, shuffleBlock: 4 }]) {
      const seen: number[] = [];
      for await (const batch of loader(rows, { batchSize: 6, device, ...options })) {
        const [first, labels] = [numbersOf(batch.x as Tensor), numbersOf((batch.y as Tensor).cast("i32") as Tensor)];
        assert.deepEqual(
          first.filter((_, i) => i % 3 === 0),
          labels.map((label) => 3 * label),
        );
        seen.push(...labels);
      }
      assert.deepEqual(
        [...seen].sort((a, b) => a - b),
        Array.from({ length: 20 }, (_, i) => i),
      );
      assert.equal(
        "shuffle" in options,
        seen.some((row, i) => row !== i),
      );
    }
  });
});

describe("files of other programs", () => {
  const folder = newFolder();

  test("big-endian arrays are read", async () => {
    const header = Buffer.from(encodeNpyHeader("f64", [3, 1]));
    header.write("'>f8'", header.indexOf("'<f8'"), "latin1");
    const data = Buffer.alloc(24);
    for (const i of [0, 1, 2]) data.writeDoubleBE(i + 0.5, 8 * i);
    const path = join(folder, "big.npy");
    writeFileSync(path, Buffer.concat([header, data]));
    await using rows = await openRows({ x: path });
    const { x } = await rows.read(Int32Array.of(2, 0), "cpu");
    assert.deepEqual(numbersOf(x), [2.5, 0.5]);
  });

  // biome-ignore format: rows read best
  const cases: [string, () => Promise<unknown>, RegExp][] = [
    ["an array in Fortran's order", async () => {
      const path = join(folder, "fortran.npy");
      writeFileSync(path, Buffer.concat([encodeNpyHeader("f32", [2, 3], true), Buffer.alloc(24)]));
      return openRows({ x: path });
    }, /is in Fortran's order, whose rows lie apart/],
    ["an array that is cut short", async () => {
      const path = join(folder, "short.npy");
      writeFileSync(path, Buffer.concat([encodeNpyHeader("f32", [200, 3]), Buffer.alloc(24)]));
      return openRows({ x: path });
    }, /takes 2400 bytes, but 24 follow the header/],
    ["tensors of different counts", async () => {
      const path = join(folder, "counts.safetensors");
      await io.saveSafetensors(path, { a: tensor([1, 2], { device: "cpu" }), b: tensor([1], { device: "cpu" }) });
      return openRows(path);
    }, /"a" is \[2\] and "b" \[1\]; all have one first extent/],
    ["a .npy file without a name", () => openRows("x.npy"), /needs a name; write openRows\(\{ x: "x\.npy" \}\)/],
    ["a file that is not there", () => openRows({ x: "none.npy" }), /openRows: none\.npy cannot be read/],
    ["a file that was closed", async () => {
      const path = join(folder, "closed.safetensors");
      await io.saveSafetensors(path, { a: tensor([1, 2], { device: "cpu" }) });
      const rows = await openRows(path);
      await rows.close();
      return rows.read(Int32Array.of(0), "cpu");
    }, /openRows: .*closed\.safetensors.* is closed; close it after the last batch/],
  ];
  for (const [title, run, message] of cases) test(`${title}: refused`, async () => assert.rejects(run(), message));
});

test("an epoch over a file of 768 MiB needs a small part of its size in memory", async () => {
  // Rows of 96 KiB that begin with their number; the rest are holes, which take no room on the disk.
  const [count, floats] = [8192, 24 * 1024];
  const path = join(newFolder(), "large.npy");
  const file = openSync(path, "w");
  const header = encodeNpyHeader("f32", [count, floats]);
  writeSync(file, header);
  for (let row = 0; row < count; row++)
    writeSync(file, Buffer.from(Float32Array.of(row).buffer), 0, 4, header.length + row * floats * 4);
  ftruncateSync(file, header.length + count * floats * 4);
  closeSync(file);
  const { code, output } = await runNode(
    `import { jit, random } from "SRC/index.js";
     import { loader, openRows } from "SRC/nn/index.js";
     const rows = await openRows({ x: ${JSON.stringify(path)} });
     const options = { batchSize: 64, shuffle: random.key(0, { device: "cpu" }), device: "cpu" };
     const first = jit((x) => x.at(":", 0).sum());
     let before, sum = 0, batches = 0;
     for await (const { x } of loader(rows, options)) {
       before ??= process.memoryUsage().rss;
       const own = first(x);
       sum += await own.item();
       own.dispose();
       batches++;
       x.dispose();
     }
     console.log(JSON.stringify({ sum, batches, grown: process.resourceUsage().maxRSS * 1024 - before, read: rows.bytesRead }));`,
    { args: ["--max-old-space-size=96"], timeoutMs: 120_000 },
  );
  assert.equal(code, 0, output);
  const { sum, batches, grown, read } = JSON.parse(output.trim().split("\n").at(-1) as string);
  assert.deepEqual([sum, batches], [(count * (count - 1)) / 2, 128]);
  assert.ok(read < 1.1 * count * floats * 4, `${read} bytes were read`);
  assert.ok(grown < 96 * 2 ** 20, `memory grew by ${Math.round(grown / 2 ** 20)} MiB`);
});
