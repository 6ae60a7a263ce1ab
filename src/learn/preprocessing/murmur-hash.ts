/** MurmurHash3 of 32 bits (Appleby): what scikit-learn hashes terms with, so that columns are the same. */

const turned = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
const mixed = (block: number): number => Math.imul(turned(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
const encoder = new TextEncoder();

/** The hash of a text's UTF-8 bytes, with the sign of 32 bits. */
export function murmurHash(text: string, seed = 0): number {
  const bytes = encoder.encode(text);
  const whole = bytes.length & ~3;
  const byte = (i: number): number => bytes[i] ?? 0;
  const block = (i: number): number => byte(i) | (byte(i + 1) << 8) | (byte(i + 2) << 16) | (byte(i + 3) << 24);
  let hash = seed;
  for (let i = 0; i < whole; i += 4) hash = (Math.imul(turned(hash ^ mixed(block(i)), 13), 5) + 0xe6546b64) | 0;
  // What is left is a block with zeros after it; zeros alone change nothing.
  hash ^= mixed(block(whole)) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
