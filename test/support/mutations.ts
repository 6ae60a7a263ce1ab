/**
 * Files changed by seeded chance, as damage and attackers change them: bits and bytes, spans cut, doubled and moved, numbers made
 * absurd, and words put in that mean something to readers. A failure names its seed.
 */
import type { Random } from "./random.js";

/** Words that have led readers astray. */
const WORDS = [
  ...["__proto__", "constructor", "prototype", "toString", "length", "NaN", "Infinity", "-Infinity", "null", "true"],
  ...["-1", "0", "1e999", "-0", "9007199254740993", "4294967296", "2147483648", "-2147483649", "1e-320", "0x10", "1.5"],
  ...["[", "]", "{", "}", '"', '\\"', "\\", ",", ":", "#", "=", ".", ".1", "\n", "\r", "\0", "\u2028", "é", "\ud800"],
];
const NUMBERS = [0, 1, -1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 0x80000000];

type Mutation = (bytes: Buffer, random: Random) => Uint8Array;

const spanOf = (bytes: Uint8Array, random: Random, most = 64): [number, number] => {
  const start = random.below(bytes.length + 1);
  return [start, Math.min(bytes.length, start + 1 + random.below(most))];
};

const MUTATIONS: readonly Mutation[] = [
  (bytes, random) => {
    for (let n = 1 + random.below(4); n > 0; n--) bytes[random.below(bytes.length)] ^= 1 << random.below(8);
    return bytes;
  },
  (bytes, random) => {
    const [start, end] = spanOf(bytes, random, 16);
    return bytes.fill(random.pick([0, 0x20, 0x30, 0x39, 0xff, random.below(256)]), start, end);
  },
  // A number of the file's own kind, made absurd.
  (bytes, random) => {
    const at = random.below(Math.max(1, bytes.length - 4));
    if (bytes.length >= 4) bytes.writeInt32LE(random.pick(NUMBERS) | 0, at - (random.below(2) ? at % 4 : 0));
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  (bytes, random) => {
    const [start, end] = spanOf(bytes, random);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
  },
  (bytes, random) => {
    const [start, end] = spanOf(bytes, random);
    const times = random.pick([1, 1, 2, 50]);
    const copies = Array.from({ length: times + 1 }, () => bytes.subarray(start, end));
    return Buffer.concat([bytes.subarray(0, start), ...copies, bytes.subarray(end)]);
  },
  (bytes, random) => {
    const [start, end] = spanOf(bytes, random);
    const at = random.below(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(start, end), bytes.subarray(at)]);
  },
  (bytes, random) => {
    const at = random.below(bytes.length);
    const [, end] = [at, at + random.below(8)];
    const word = random.pick(WORDS).repeat(random.pick([1, 1, 1, 40]));
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(word), bytes.subarray(end)]);
  },
  // A word in the place of a word or a number.
  (bytes, random) => {
    const text = bytes.toString("latin1");
    const found = [...text.slice(0, 20_000).matchAll(/[A-Za-z_]+|-?\d+(?:\.\d+)?/g)];
    if (found.length === 0) return bytes;
    const { 0: word, index } = random.pick(found);
    return Buffer.concat([
      bytes.subarray(0, index),
      Buffer.from(random.pick(WORDS)),
      bytes.subarray(index + word.length),
    ]);
  },
];

/** A copy with one to three changes. */
export function mutated(whole: Uint8Array, random: Random): Uint8Array {
  let bytes: Uint8Array = Uint8Array.from(whole);
  for (let n = random.pick([1, 1, 2, 3]); n > 0; n--) {
    if (bytes.length === 0) return bytes;
    bytes = random.pick(MUTATIONS)(Buffer.from(bytes), random);
  }
  return bytes;
}
