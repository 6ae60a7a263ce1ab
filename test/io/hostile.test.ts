/**
 * Files that were damaged or made to do harm: whatever the bytes, a decoder returns tensors whose bytes lie inside the
 * file and fill their shapes, or throws a FormatError (a DTypeError for a dtype that Pumice lacks). Every fixture is
 * cut at every byte, and changed at every byte and by seeded chance.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DTYPES } from "../../src/core/dtype.js";
import { DTypeError, FormatError } from "../../src/core/errors.js";
import { sizeOf } from "../../src/core/shape.js";
import { decodeNpy, rowMajor } from "../../src/io/npy.js";
import { encodeNpz } from "../../src/io/npz.js";
import type { RawTensor } from "../../src/io/raw-tensor.js";
import { randomFrom } from "../support/random.js";
import { decodeNpz, decodeSafetensors } from "./decoding.js";
import { fixture } from "./fixtures.js";

type Decode = (bytes: Uint8Array) => Iterable<RawTensor>;

/** Archives with the 64-bit records, which NumPy writes only where they are needed. */
const wide = (compress: boolean): Uint8Array =>
  encodeNpz(decodeNpz(fixture("stored.npz")), { compress, zip64: "always" });

const bytesOf = (name: string): Uint8Array =>
  name.startsWith("zip64") ? wide(name === "zip64 deflated.npz") : fixture(name);

// biome-ignore format: rows read best
const decoders: [format: string, decode: Decode, files: string[]][] = [
  ["npy", (bytes) => [rowMajor(decodeNpy(bytes))],
    ["f32.npy", "fortran-c128.npy", "f64-big-endian.npy", "version-3.npy", "bool.npy", "scalar.npy"]],
  ["npz", (bytes) => decodeNpz(bytes, { maxBytes: 1e6 }).values(), ["stored.npz", "deflated.npz", "streamed.npz", "zip64 stored.npz", "zip64 deflated.npz"]],
  ["safetensors", (bytes) => decodeSafetensors(bytes).tensors.values(), ["all-types.safetensors"]],
];

/** Runs a decoder on bytes surrounded by a guard, and checks all it may do. True when it accepted them. */
function survives(decode: Decode, bytes: Uint8Array, context: string): boolean {
  const guarded = new Uint8Array(bytes.length + 128).fill(0xa5);
  guarded.set(bytes, 64);
  const file = guarded.subarray(64, 64 + bytes.length);
  let unpacked = 0;
  try {
    for (const { dtype, shape, bytes: data } of decode(file)) {
      unpacked += data.length;
      assert.ok(unpacked <= 1e6, `${context}: ${unpacked} bytes of a file of ${bytes.length}`);
      assert.equal(data.length, sizeOf(shape) * DTYPES[dtype].bytes, context);
      if (data.buffer === guarded.buffer) {
        assert.ok(
          data.byteOffset >= 64 && data.byteOffset + data.length <= 64 + bytes.length,
          `${context}: an over-read`,
        );
      }
    }
    return true;
  } catch (error) {
    if (error instanceof FormatError || error instanceof DTypeError) return false;
    throw new Error(`${context}: ${error}`, { cause: error });
  }
}

for (const [format, decode, files] of decoders) {
  describe(format, () => {
    for (const name of files) {
      const whole = bytesOf(name);

      test(`${name} is accepted as it is`, () => {
        assert.ok(survives(decode, whole, name));
      });

      test(`${name}, cut at any byte, is refused`, () => {
        for (let length = 0; length < whole.length; length++) {
          assert.ok(!survives(decode, whole.subarray(0, length), `${name} cut to ${length}`), `cut to ${length}`);
        }
      });

      test(`${name}, with any byte changed, is read or refused`, () => {
        for (let at = 0; at < whole.length; at++) {
          for (const flip of [1, 4, 0x20, 0x80, 0xff]) {
            const damaged = whole.slice();
            damaged[at] ^= flip;
            survives(decode, damaged, `${name} byte ${at} ^ ${flip}`);
          }
        }
      });

      test(`${name}, damaged in many places, is read or refused`, () => {
        for (let seed = 0; seed < 1000; seed++) {
          const random = randomFrom(seed);
          const damaged = whole.slice();
          for (let n = 1 + random.below(8); n > 0; n--) {
            const at = random.below(damaged.length);
            const span = random.pick([1, 1, 2, 4, 8]);
            damaged.set(
              random
                .pick([random.bytes(span), new Uint8Array(span), new Uint8Array(span).fill(255)])
                .subarray(0, damaged.length - at),
              at,
            );
          }
          survives(
            decode,
            damaged.subarray(0, damaged.length - (random.below(4) === 0 ? random.below(damaged.length) : 0)),
            `${name} seed ${seed}`,
          );
        }
      });
    }

    test("pieces of one file in the place of others are read or refused", () => {
      const [first = "", ...others] = files;
      for (let seed = 0; seed < 1000; seed++) {
        const random = randomFrom(seed);
        const damaged = bytesOf(first).slice();
        const source = bytesOf(random.pick([first, ...others]));
        const length = 1 + random.below(64);
        const from = random.below(Math.max(1, source.length - length));
        const to = random.below(Math.max(1, damaged.length - length));
        damaged.set(source.subarray(from, from + length).subarray(0, damaged.length - to), to);
        survives(decode, damaged, `${first} with bytes ${from} … at ${to}, seed ${seed}`);
      }
    });

    test("noise is refused", () => {
      for (let seed = 0; seed < 300; seed++) {
        const random = randomFrom(seed);
        assert.ok(!survives(decode, random.bytes(random.below(300)), `seed ${seed}`));
      }
    });
  });
}

test("a wrong digit in a size or an offset of a safetensors header never passes unnoticed", () => {
  const whole = fixture("all-types.safetensors");
  const end = 8 + Number(new DataView(whole.buffer).getBigUint64(0, true));
  for (let at = 8; at < end; at++) {
    const isDigit = whole[at] >= 0x30 && whole[at] <= 0x39;
    // Only digits that stand alone: those of names ("t.U8") and dtypes ("U8") may change into others.
    if (!isDigit || /[A-Za-z]/.test(String.fromCharCode(whole[at - 1], whole[at - 2]))) continue;
    for (let digit = 0x30; digit <= 0x39; digit++) {
      if (digit === whole[at]) continue;
      const damaged = whole.slice();
      damaged[at] = digit;
      const accepted = survives((bytes) => decodeSafetensors(bytes).tensors.values(), damaged, `byte ${at}`);
      // The one size that may differ: an empty tensor is empty whatever its other axis.
      assert.ok(!accepted || Buffer.from(whole.subarray(at - 4, at + 1)).toString() === "[0, 4", `byte ${at}`);
    }
  }
});
