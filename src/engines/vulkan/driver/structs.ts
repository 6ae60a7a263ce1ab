/**
 * The C structs the runtime passes to Vulkan, described as data and packed by hand.
 *
 * A layout is written as in the header ("flags:u32 size:u64 …"); offsets follow C's alignment rules. A layout with a
 * structure type starts with `sType` and `pNext`, which `Arena.pack` fills in. The tests compare sizes and offsets with
 * those a C compiler printed for the Vulkan headers.
 */
import { addressOf, type Bytes } from "./native.js";

type Scalar = "u8" | "i32" | "u32" | "f32" | "u64";
const scalarSize: Record<Scalar, number> = {
  u8: 1,
  i32: 4,
  u32: 4,
  f32: 4,
  u64: 8,
};

interface Field {
  readonly type: Scalar;
  readonly offset: number;
  readonly count: number;
}

export interface Layout {
  readonly sType: number | undefined;
  readonly size: number;
  readonly fields: ReadonlyMap<string, Field>;
}

/** Parses "name:type name:type[count] …". A lone `|` aligns to 8: the start of a nested struct with 64-bit members. */
export function layout(sType: number | undefined, members: string): Layout {
  const text = sType === undefined ? members : `sType:u32 pNext:u64 ${members}`;
  const fields = new Map<string, Field>();
  let offset = 0;
  let alignment = 1;
  for (const member of text.split(/\s+/).filter(Boolean)) {
    if (member === "|") {
      offset = alignUp(offset, 8);
      alignment = 8;
      continue;
    }
    const match = /^(\w+):(u8|i32|u32|f32|u64)(?:\[(\d+)\])?$/.exec(member);
    if (!match) throw new Error(`layout: cannot read member "${member}"`);
    const type = match[2] as Scalar;
    const count = match[3] ? Number(match[3]) : 1;
    const size = scalarSize[type];
    offset = alignUp(offset, size);
    alignment = Math.max(alignment, size);
    fields.set(match[1] as string, { type, offset, count });
    offset += size * count;
  }
  return { sType, size: alignUp(offset, alignment), fields };
}

const alignUp = (n: number, a: number) => Math.ceil(n / a) * a;

type FieldValue = number | bigint | boolean | ArrayLike<number> | undefined;

/**
 * Scratch memory for one round of driver calls: structs are packed one after another, each at a known address, and
 * stay valid until `reset`. The backing store is off the JavaScript heap, so addresses do not move.
 */
export class Arena {
  private readonly bytes: Bytes;
  private used = 0;

  constructor(capacity = 64 * 1024) {
    this.bytes = addressOf(capacity);
  }

  reset(): void {
    this.used = 0;
  }

  /** Zeroed room for `size` bytes; returns its address. */
  room(size: number): number {
    const start = alignUp(this.used, 16);
    if (start + size > this.bytes.u8.length) throw new Error(`Arena: ${size} bytes asked, arena full`);
    this.used = start + size;
    this.bytes.u8.fill(0, start, start + size);
    return this.bytes.address + start;
  }

  /** Packs a struct and returns its address. Fields not named are zero. */
  pack(shape: Layout, values: Readonly<Record<string, FieldValue>>, next = 0): number {
    const at = this.room(shape.size);
    if (shape.sType !== undefined) {
      this.put(at, shape.fields.get("sType") as Field, shape.sType);
      if (next) this.put(at, shape.fields.get("pNext") as Field, next);
    }
    for (const name of Object.keys(values)) {
      const field = shape.fields.get(name);
      if (!field) throw new Error(`pack: the struct has no member ${name}`);
      const value = values[name];
      if (value !== undefined) this.put(at, field, value);
    }
    return at;
  }

  /** Packs structs side by side, as C arrays are. */
  packArray(shape: Layout, items: readonly Readonly<Record<string, FieldValue>>[]): number {
    const at = this.room(shape.size * items.length);
    items.forEach((values, i) => {
      const base = at + i * shape.size;
      if (shape.sType !== undefined) this.put(base, shape.fields.get("sType") as Field, shape.sType);
      for (const name of Object.keys(values)) this.put(base, shape.fields.get(name) as Field, values[name]);
    });
    return at;
  }

  private put(base: number, field: Field, value: FieldValue): void {
    const at = base - this.bytes.address + field.offset;
    if (typeof value === "object") {
      for (let i = 0; i < field.count; i++) this.putScalar(at + i * scalarSize[field.type], field.type, value[i] ?? 0);
    } else this.putScalar(at, field.type, value);
  }

  private putScalar(at: number, type: Scalar, value: number | bigint | boolean | undefined): void {
    const view = this.bytes.view;
    const n = value === true ? 1 : value === false || value === undefined ? 0 : value;
    if (type === "u64") view.setBigUint64(at, BigInt(n), true);
    else if (type === "f32") view.setFloat32(at, Number(n), true);
    else if (type === "u8") view.setUint8(at, Number(n));
    else if (type === "i32") view.setInt32(at, Number(n), true);
    else view.setUint32(at, Number(n), true);
  }

  /** Reads one member; 64-bit members come back as numbers where exact, else as bigints. */
  get(shape: Layout, address: number, name: string, index = 0): number | bigint {
    const field = shape.fields.get(name);
    if (!field) throw new Error(`get: the struct has no member ${name}`);
    const at = address - this.bytes.address + field.offset + index * scalarSize[field.type];
    const view = this.bytes.view;
    switch (field.type) {
      case "u8":
        return view.getUint8(at);
      case "i32":
        return view.getInt32(at, true);
      case "u32":
        return view.getUint32(at, true);
      case "f32":
        return view.getFloat32(at, true);
      case "u64":
        return handleAt(view, at);
    }
  }

  number(shape: Layout, address: number, name: string, index = 0): number {
    return Number(this.get(shape, address, name, index));
  }

  /** A char array member up to its NUL. */
  text(shape: Layout, address: number, name: string): string {
    const raw = this.raw(shape, address, name);
    const end = raw.indexOf(0);
    return Buffer.from(raw.subarray(0, end < 0 ? raw.length : end)).toString("utf8");
  }

  /** The bytes of an array member, copied. */
  raw(shape: Layout, address: number, name: string): Uint8Array {
    const field = shape.fields.get(name) as Field;
    const at = address - this.bytes.address + field.offset;
    return this.bytes.u8.slice(at, at + field.count * scalarSize[field.type]);
  }

  /** A NUL-terminated UTF-8 string; returns its address. */
  cString(text: string): number {
    const encoded = Buffer.from(text, "utf8");
    const at = this.room(encoded.length + 1);
    this.bytes.u8.set(encoded, at - this.bytes.address);
    return at;
  }

  /** A copy of some bytes; returns its address. */
  copy(bytes: Uint8Array): number {
    const at = this.room(Math.max(1, bytes.byteLength));
    this.bytes.u8.set(bytes, at - this.bytes.address);
    return at;
  }

  /** An array of C string pointers, or 0 when there are none. */
  cStrings(texts: readonly string[]): number {
    if (texts.length === 0) return 0;
    const pointers = texts.map((text) => this.cString(text));
    return this.u64s(pointers);
  }

  u64s(values: readonly Handle64[]): number {
    const at = this.room(8 * Math.max(1, values.length));
    values.forEach((value, i) => {
      this.bytes.view.setBigUint64(at - this.bytes.address + 8 * i, BigInt(value), true);
    });
    return at;
  }

  u32s(values: readonly number[]): number {
    const at = this.room(4 * Math.max(1, values.length));
    values.forEach((value, i) => {
      this.bytes.view.setUint32(at - this.bytes.address + 4 * i, value, true);
    });
    return at;
  }

  u32(address: number): number {
    return this.bytes.view.getUint32(address - this.bytes.address, true);
  }

  setU32(address: number, value: number): void {
    this.bytes.view.setUint32(address - this.bytes.address, value, true);
  }

  setU64(address: number, value: Handle64): void {
    putU64(this.bytes.view, address - this.bytes.address, value);
  }

  /** A handle or 64-bit number at an address handed out by `room`. */
  handle(address: number): Handle64 {
    return handleAt(this.bytes.view, address - this.bytes.address);
  }

  bytesAt(address: number, length: number): Uint8Array {
    return this.bytes.u8.slice(address - this.bytes.address, address - this.bytes.address + length);
  }
}

type Handle64 = number | bigint;

/** Writes a 64-bit value as two words: several times faster than going through a bigint. */
export function putU64(view: DataView, at: number, value: Handle64): void {
  if (typeof value === "number") {
    view.setUint32(at, value % 0x100000000, true);
    view.setUint32(at + 4, value / 0x100000000, true);
  } else view.setBigUint64(at, value, true);
}

export function handleAt(view: DataView, at: number): Handle64 {
  const high = view.getUint32(at + 4, true);
  if (high >= 0x200000) return view.getBigUint64(at, true);
  return high * 0x100000000 + view.getUint32(at, true);
}
