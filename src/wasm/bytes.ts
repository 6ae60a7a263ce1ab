/**
 * A growing run of bytes with the encodings of the WebAssembly binary format: LEB128 integers, little-endian floats,
 * length-prefixed names. Every section and function body is built in one.
 */
const encoder = new TextEncoder();
const scratch = new DataView(new ArrayBuffer(8));

export class ByteStream {
  length = 0;
  private bytes: Uint8Array;

  constructor(capacity = 64) {
    this.bytes = new Uint8Array(capacity);
  }

  /** The bytes written so far; a view, valid until the next write. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.grow(1);
    this.bytes[this.length++] = value;
  }

  append(more: Uint8Array): void {
    this.grow(more.length);
    this.bytes.set(more, this.length);
    this.length += more.length;
  }

  /** Unsigned LEB128 of a number below 2^32. */
  unsigned(value: number): void {
    let rest = value >>> 0;
    while (rest > 0x7f) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  /** Signed LEB128 of a 32-bit integer. */
  signed(value: number): void {
    let rest = value | 0;
    while (rest < -64 || rest > 63) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>= 7;
    }
    this.byte(rest & 0x7f);
  }

  /** Signed LEB128 of a 64-bit integer. */
  signed64(value: bigint): void {
    let rest = BigInt.asIntN(64, value);
    while (rest < -64n || rest > 63n) {
      this.byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.byte(Number(rest & 0x7fn));
  }

  f32(value: number): void {
    // One NaN, whatever bits the engine happens to hold, so that equal modules have equal bytes.
    scratch.setUint32(0, 0x7fc00000, true);
    if (!Number.isNaN(value)) scratch.setFloat32(0, value, true);
    this.scratchBytes(4);
  }

  f64(value: number): void {
    scratch.setBigUint64(0, 0x7ff8000000000000n, true);
    if (!Number.isNaN(value)) scratch.setFloat64(0, value, true);
    this.scratchBytes(8);
  }

  name(text: string): void {
    const bytes = encoder.encode(text);
    this.unsigned(bytes.length);
    this.append(bytes);
  }

  /** The length of the content in bytes, then its bytes. */
  sized(content: ByteStream): void {
    this.unsigned(content.length);
    this.append(content.view());
  }

  /** Forgets what was written after `length`. */
  truncate(length: number): void {
    this.length = length;
  }

  /** Replaces a byte already written. */
  patch(at: number, value: number): void {
    this.bytes[at] = value;
  }

  private scratchBytes(count: number): void {
    for (let i = 0; i < count; i++) this.byte(scratch.getUint8(i));
  }

  private grow(extra: number): void {
    const needed = this.length + extra;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
