/**
 * A fast 64-bit hash for program keys: feed it what a program consists of, read sixteen hexadecimal digits. Two 32-bit
 * lanes in the manner of MurmurHash3 (Austin Appleby): each step is a bijection of the state, and the lanes feed each
 * other. Values are tagged by type and strings by length, so ("ab", "c") and ("a", "bc"), or 1 and "1", differ.
 * Not for secrets: who chooses the input can make collisions. The scheduler, jit and the on-disk caches call this.
 */
const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

/** Marks what follows; any distinct odd-looking words do. */
const TAG = { int: 0x9e3779b1, double: 0x85ebca77, string: 0xc2b2ae3d, bigint: 0x27d4eb2f, bytes: 0x165667b1 } as const;

const rotate = (x: number, by: number) => (x << by) | (x >>> (32 - by));

export class Hasher {
  #a = 0x2c1b3c6d;
  #b = 0x297a2d39;
  #length = 0;

  /** Any number. 0 and -0 differ, all NaNs are one. */
  number(value: number): this {
    if ((value | 0) === value && !Object.is(value, -0)) {
      this.#word(TAG.int);
      this.#word(value);
      return this;
    }
    double[0] = value;
    // The bits of a NaN are the engine's affair; ours are fixed.
    const hasNoBits = Number.isNaN(value);
    this.#word(TAG.double);
    this.#word(hasNoBits ? 0 : words[0]);
    this.#word(hasNoBits ? 0x7ff80000 : words[1]);
    return this;
  }

  string(value: string): this {
    this.#word(TAG.string);
    this.#word(value.length);
    let i = 0;
    // Two code units make a word.
    for (; i + 1 < value.length; i += 2) this.#word(value.charCodeAt(i) | (value.charCodeAt(i + 1) << 16));
    if (i < value.length) this.#word(value.charCodeAt(i));
    return this;
  }

  bigint(value: bigint): this {
    this.#word(TAG.bigint);
    return this.string(value.toString(36));
  }

  numbers(values: ArrayLike<number>): this {
    this.number(values.length);
    for (let i = 0; i < values.length; i++) this.number(values[i]);
    return this;
  }

  bytes(value: Uint8Array): this {
    this.#word(TAG.bytes);
    this.#word(value.length);
    const whole = value.length & ~3;
    let i = 0;
    for (; i < whole; i += 4) this.#word(value[i] | (value[i + 1] << 8) | (value[i + 2] << 16) | (value[i + 3] << 24));
    let last = 0;
    for (let shift = 0; i < value.length; i++, shift += 8) last |= value[i] << shift;
    if (whole < value.length) this.#word(last);
    return this;
  }

  /** Sixteen hexadecimal digits for all that was fed so far; feeding may go on. */
  hex(): string {
    let a = this.#a ^ this.#length;
    let b = this.#b ^ this.#length;
    a = (a + b) | 0;
    b = (b + a) | 0;
    a = avalanche(a);
    b = avalanche(b);
    a = (a + b) | 0;
    b = (b + a) | 0;
    return hex32(a) + hex32(b);
  }

  #word(word: number): void {
    this.#length = (this.#length + 1) | 0;
    const forA = Math.imul(rotate(Math.imul(word, 0x239b961b), 15), 0xab0e9789);
    const forB = Math.imul(rotate(Math.imul(word, 0x38b34ae5), 16), 0xa1e38b93);
    this.#a = (Math.imul((rotate(this.#a ^ forA, 19) + this.#b) | 0, 5) + 0x561ccd1b) | 0;
    this.#b = (Math.imul((rotate(this.#b ^ forB, 17) + this.#a) | 0, 5) + 0x0bcaa747) | 0;
  }
}

/** MurmurHash3's finaliser: every input bit moves about half of the output bits. */
function avalanche(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function hex32(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}

/** The hash of a few values. */
export function hashOf(...values: (number | string | bigint)[]): string {
  const hasher = new Hasher();
  for (const value of values) {
    if (typeof value === "number") hasher.number(value);
    else if (typeof value === "string") hasher.string(value);
    else hasher.bigint(value);
  }
  return hasher.hex();
}
