/**
 * CRC-32 as zip files use it (polynomial 0xEDB88320), eight bytes at a time by eight tables. Node has one of its own
 * only in later versions of 20. the zip files call this.
 */
import { setImmediate } from "node:timers/promises";

const TABLES = makeTables();

/** Bytes between turns of the event loop: some milliseconds. */
const BYTES_A_TURN = 4 * 1024 * 1024;

/** Table k gives the effect of a byte with k more bytes after it. */
function makeTables(): Int32Array[] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb88320 : 0);
    return remainder;
  });
  const tables = [first];
  for (let k = 1; k < 8; k++) tables.push(tables[k - 1].map((entry) => (entry >>> 8) ^ first[entry & 255]));
  return tables;
}

/** The same for long contents: the event loop turns meanwhile. */
export async function crc32GivingWay(bytes: Uint8Array, before = 0): Promise<number> {
  let crc = before;
  for (let at = 0; at < bytes.length; at += BYTES_A_TURN) {
    if (at > 0) await setImmediate();
    crc = crc32(bytes.subarray(at, at + BYTES_A_TURN), crc);
  }
  return crc;
}

/** The checksum of `bytes`; given the checksum of the bytes before them, of all together. */
export function crc32(bytes: Uint8Array, before = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES;
  let crc = ~before;
  let i = 0;
  for (const end = bytes.length - 7; i < end; i += 8) {
    crc ^= bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
    crc =
      t7[crc & 255] ^
      t6[(crc >>> 8) & 255] ^
      t5[(crc >>> 16) & 255] ^
      t4[crc >>> 24] ^
      t3[bytes[i + 4]] ^
      t2[bytes[i + 5]] ^
      t1[bytes[i + 6]] ^
      t0[bytes[i + 7]];
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[i]) & 255];
  return ~crc >>> 0;
}
