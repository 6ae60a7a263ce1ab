/** The memory of an interpreted kernel (kernel-interpreter.ts): its buffers, and the arrays of a row, with their logs. */
import assert from "node:assert/strict";
import type { ArrayDeclaration, Kernel } from "../../src/compiler/ir/ir.js";
import { DTYPES, type DType } from "../../src/core/dtype.js";
import { dataOf, elementAt, encodeValues } from "../../src/core/storage.js";
import { bitsOf, numberOf, type Scalar } from "./kernel-operations.js";
import { AccessLog, type Visitor } from "./kernel-races.js";

/** NaN as f32 and, twice, as f64, and a large integer: undefined contents show where they are used. */
export const UNDEFINED_WORD = 0x7ff8_dead;

const VIEWS = { f32: Float32Array, f64: Float64Array, i32: Int32Array, u32: Uint32Array } as const;
type View = InstanceType<(typeof VIEWS)[keyof typeof VIEWS]>;

/** A buffer of the kernel, for all rows. */
export class BufferMemory {
  private readonly view: View | null;
  private readonly log: AccessLog | null;
  private readonly dtype: DType;
  private readonly width: number;

  constructor(
    private readonly kernel: Kernel,
    private readonly number: number,
    readonly bytes: Uint8Array,
  ) {
    const { dtype, isWritten } = kernel.buffers[number]!;
    this.dtype = dtype;
    this.width = DTYPES[dtype].bytes;
    const isViewed = dtype in VIEWS && bytes.byteOffset % this.width === 0;
    this.view = isViewed
      ? new VIEWS[dtype as keyof typeof VIEWS](
          bytes.buffer as ArrayBuffer,
          bytes.byteOffset,
          Math.floor(bytes.length / this.width),
        )
      : null;
    this.log = isWritten ? new AccessLog(`${kernel.name}: buffer ${number}`, kernel.isRepeating) : null;
  }

  /** An element of a buffer that the kernel does not write. */
  load(at: number): number {
    assert.ok(!this.log, `${this.kernel.name}: a load of buffer ${this.number}, which the kernel writes`);
    return this.element(at, "load");
  }

  /** An element, in order with the stores. */
  read(at: number, visitor: Visitor): number {
    const found = this.element(at, "read");
    this.log?.note(at, visitor, "read");
    return found;
  }

  /** An undefined value, read where it does no harm. */
  spare(at: number): number {
    this.check(at, "read");
    return this.dtype.startsWith("f") ? Number.NaN : UNDEFINED_WORD;
  }

  store(at: number, value: Scalar, visitor: Visitor): void {
    assert.ok(this.log, `${this.kernel.name}: a store to buffer ${this.number}, which the kernel does not write`);
    this.check(at, "store");
    if (this.view) this.view[at] = Number(value);
    else this.bytes.set(encodeValues([value], this.dtype, "store"), at * this.width);
    this.log.note(at, visitor, "write", value);
  }

  /** Its words, which atomics update. */
  words(): Uint32Array {
    assert.equal(this.width, 4, "updates of words only");
    return new Uint32Array(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength / 4);
  }

  /** Word `part` of the 16 bytes from an element on. */
  wordAt(at: number, part: number): number {
    const byte = at * this.width;
    assert.ok(
      byte % 16 === 0 && byte >= 0 && byte + 16 <= this.bytes.length,
      `words at byte ${byte} of ${this.bytes.length}`,
    );
    return new DataView(this.bytes.buffer, this.bytes.byteOffset).getUint32(byte + 4 * part, true);
  }

  private element(at: number, what: string): number {
    this.check(at, what);
    return this.view
      ? this.view[at]!
      : numberAt(this.bytes.subarray(at * this.width, (at + 1) * this.width), this.dtype);
  }

  private check(at: number, what: string): void {
    const count = Math.floor(this.bytes.length / this.width);
    assert.ok(
      at >= 0 && at < count,
      `${this.kernel.name}: ${what} at ${at} of ${count} elements of buffer ${this.number}`,
    );
  }
}

/** An array of a row: shared by its lanes, or one for each lane. */
export class ArrayMemory {
  readonly words: Uint32Array;
  private readonly doubles: Float64Array | null;
  private readonly log: AccessLog;
  private readonly size: number;

  constructor(
    { name, lanes }: Kernel,
    number: number,
    private readonly declaration: ArrayDeclaration,
  ) {
    const { type, size, isPrivate } = declaration;
    this.size = size;
    const count = size * (isPrivate ? lanes : 1);
    this.words = new Uint32Array(count * (type === "f64" ? 2 : 1)).fill(UNDEFINED_WORD);
    this.doubles = type === "f64" ? new Float64Array(this.words.buffer) : null;
    this.log = new AccessLog(`${name}: array ${number}`, false);
  }

  get(at: number, visitor: Visitor): number {
    this.touch(at, visitor, "read");
    const place = this.place(at, visitor);
    return this.doubles ? this.doubles[place]! : numberOf(this.declaration.type, this.words[place]!);
  }

  set(at: number, value: Scalar, visitor: Visitor): void {
    this.touch(at, visitor, "write", value);
    const place = this.place(at, visitor);
    if (this.doubles) this.doubles[place] = Number(value);
    else this.words[place] = bitsOf(this.declaration.type, value);
  }

  count(at: number, by: number, visitor: Visitor): void {
    this.touch(at, visitor, "count");
    this.words[this.place(at, visitor)]! += by;
  }

  /** Notes an access by itself: fragments move bytes. */
  touch(at: number, visitor: Visitor, how: "read" | "write" | "count", value: Scalar | null = null): void {
    assert.ok(at >= 0 && at < this.size, `element ${at} of an array of ${this.size}`);
    if (!this.declaration.isPrivate) this.log.note(at, visitor, how, value);
  }

  private place(at: number, { who }: Visitor): number {
    return this.declaration.isPrivate ? who * this.size + at : at;
  }
}

/** The element that bytes hold. */
export const numberAt = (bytes: Uint8Array, dtype: DType): number =>
  Number(elementAt(dataOf(Uint8Array.from(bytes), dtype), dtype, 0));
