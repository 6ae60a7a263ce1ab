/** Checksums at the end of files. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FormatError } from "../../src/core/errors.js";
import { checkSeal, SEAL_BYTES, sealed } from "../../src/io/seal.js";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "pumice-seal-"));
});
after(() => rm(folder, { recursive: true }));

const whole = async (...pieces: readonly Uint8Array[]): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  const given = async function* () {
    yield* pieces;
  };
  for await (const part of sealed(given())) parts.push(part);
  return Buffer.concat(parts);
};

test("the checksum is SHA-256, whatever the pieces", async () => {
  const abc = Buffer.from("abc");
  const known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  assert.equal((await whole(abc)).subarray(3).toString("hex"), known);
  assert.deepEqual(await whole(abc.subarray(0, 1), abc.subarray(1)), await whole(abc));
});

test("a file passes as it was written, and not with a bit changed or a byte less", async () => {
  const path = join(folder, "file");
  // Longer than a piece of those that are read.
  await writeFile(path, await whole(Buffer.alloc(5 * 2 ** 20, 7)));
  await checkSeal("test", path);
  const bytes = await readFile(path);
  for (const place of [0, 2 ** 22 + 1, bytes.length - SEAL_BYTES, bytes.length - 1]) {
    const damaged = Buffer.from(bytes);
    damaged[place]! ^= 4;
    await writeFile(path, damaged);
    await assert.rejects(
      () => checkSeal("test", path),
      /test: .*file is damaged: its checksum is not that of its bytes/,
    );
  }
  for (const length of [bytes.length - 1, SEAL_BYTES, 5, 0]) {
    await writeFile(path, bytes.subarray(0, length));
    await assert.rejects(() => checkSeal("test", path), FormatError);
  }
});
