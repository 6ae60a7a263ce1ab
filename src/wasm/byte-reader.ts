/** Reads the encodings of the binary format, and refuses to read past the end: the bytes may come from anywhere. */
import { FormatError } from "../core/errors.js";

const decoder = new TextDecoder("utf-8", { fatal: false });

export class ByteReader {
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array,
    public at = 0,
    readonly end = bytes.length,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  byte(what: string): number {
    this.need(1, what);
    return this.bytes[this.at++] as number;
  }

  /** The bytes up to `count` further on. */
  take(count: number, what: string): Uint8Array {
    this.need(count, what);
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  /** A reader of the next `count` bytes, which this one skips. */
  part(count: number, what: string): ByteReader {
    this.need(count, what);
    this.at += count;
    return new ByteReader(this.bytes, this.at - count, this.at);
  }

  unsigned(what: string): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte(what);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (value < 2 ** 32) return value;
        break;
      }
    }
    throw this.error(`${what}: not a 32-bit number`);
  }

  signed(bits: 32 | 64, what: string): bigint {
    let value = 0n;
    for (let shift = 0n; shift < bits + 7; shift += 7n) {
      const byte = this.byte(what);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        const extended = BigInt.asIntN(Number(shift) + 7, value);
        if (BigInt.asIntN(bits, extended) === extended) return extended;
        break;
      }
    }
    throw this.error(`${what}: not a ${bits}-bit number`);
  }

  f32(what: string): number {
    this.need(4, what);
    this.at += 4;
    return this.view.getFloat32(this.at - 4, true);
  }

  f64(what: string): number {
    this.need(8, what);
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }

  name(what: string): string {
    return decoder.decode(this.take(this.unsigned(what), what));
  }

  /** A count, then as many items; a count that the remaining bytes cannot hold is refused before reading any. */
  vector<T>(what: string, read: (index: number) => T): T[] {
    const count = this.unsigned(what);
    if (count > this.end - this.at) throw this.error(`${what}: ${count} of them in ${this.end - this.at} bytes`);
    return Array.from({ length: count }, (_, i) => read(i));
  }

  error(message: string): FormatError {
    return new FormatError(`WebAssembly: byte ${this.at}: ${message}`);
  }

  private need(count: number, what: string): void {
    if (count <= this.end - this.at) return;
    throw this.error(`${what} needs ${count} bytes where ${this.end - this.at} are left`);
  }
}
