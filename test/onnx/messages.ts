/** Reads what ONNX's operator tests are made of: models and tensors, as protocol buffers. Only the fields that tests use. */
import type { DType } from "../../src/core/dtype.js";
import { fromBytes, type Tensor } from "../../src/index.js";

type Field = { readonly number: number; readonly value: number | Uint8Array };

/** What a test needs and cannot be had here: tensors of text, sequences, graphs inside nodes. */
export class NotOurs extends Error {}

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Attributes;
}

/** A name of a graph, and the dtype that it declares. */
export interface OnnxValue {
  readonly name: string;
  readonly dtype: DType;
}

export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[];
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly constants: ReadonlyMap<string, Tensor>;
  /** The version of the operators. */
  readonly opset: number;
}

/** Attributes of a node, each with the value that it has unless given. */
export class Attributes {
  constructor(private readonly given: ReadonlyMap<string, unknown>) {}

  has(name: string): boolean {
    return this.given.has(name);
  }

  number(name: string, otherwise = 0): number {
    return (this.given.get(name) as number | undefined) ?? otherwise;
  }

  numbers(name: string): readonly number[] | undefined {
    return this.given.get(name) as readonly number[] | undefined;
  }

  text(name: string, otherwise = ""): string {
    return (this.given.get(name) as string | undefined) ?? otherwise;
  }

  tensor(name: string): Tensor | undefined {
    return this.given.get(name) as Tensor | undefined;
  }
}

/** The dtypes by their number; text has none. */
// biome-ignore format: in the order of their numbers
const DTYPE_OF: readonly (DType | null)[] = [
  null, "f32", "u8", "i8", "u16", "i16", "i32", "i64", null, "bool", "f16", "f64", "u32", "u64", "c64", "c128", "bf16",
];

export const dtypeNumbered = (number: number): DType => {
  const dtype = DTYPE_OF[number];
  if (!dtype) throw new NotOurs(number === 8 ? "tensors of text" : `element type ${number}`);
  return dtype;
};

function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) {
    let key: number;
    [key, at] = varint(bytes, at);
    const [number, kind] = [key >> 3, key & 7];
    if (kind === 0) {
      const [value, next] = varint(bytes, at);
      at = next;
      yield { number, value };
    } else if (kind === 2) {
      const [length, next] = varint(bytes, at);
      at = next + length;
      yield { number, value: bytes.subarray(next, at) };
    } else if (kind === 5) {
      yield { number, value: view.getFloat32(at, true) };
      at += 4;
    } else {
      yield { number, value: view.getFloat64(at, true) };
      at += 8;
    }
  }
}

/** A whole number of seven bits per byte; negative ones take 64 bits. */
function varint(bytes: Uint8Array, from: number): [value: number, next: number] {
  let [value, shift, at] = [0n, 0n, from];
  for (;;) {
    const byte = bytes[at++]!;
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte < 128) return [Number(BigInt.asIntN(64, value)), at];
  }
}

const text = (value: number | Uint8Array): string => new TextDecoder().decode(value as Uint8Array);

/** Whole numbers, one by one or packed. */
function wholeNumbers(value: number | Uint8Array): number[] {
  if (typeof value === "number") return [value];
  const found: number[] = [];
  for (let at = 0; at < value.length; ) {
    const [number, next] = varint(value, at);
    found.push(number);
    at = next;
  }
  return found;
}

const floats = (value: number | Uint8Array): number[] =>
  typeof value === "number" ? [value] : [...new Float32Array(value.slice().buffer)];

export function readTensor(bytes: Uint8Array): Tensor {
  const shape: number[] = [];
  const values: (number | bigint)[] = [];
  let raw: Uint8Array | null = null;
  let dtype: DType | null = null;
  for (const { number, value } of fieldsOf(bytes)) {
    if (number === 1) shape.push(...wholeNumbers(value));
    else if (number === 2) dtype = dtypeNumbered(value as number);
    else if (number === 4) values.push(...floats(value));
    else if (number === 5 || number === 7 || number === 11) values.push(...wholeNumbers(value));
    else if (number === 6) throw new NotOurs("tensors of text");
    else if (number === 9) raw = value as Uint8Array;
    else if (number === 10) values.push(...new Float64Array((value as Uint8Array).slice().buffer));
  }
  if (!dtype) throw new NotOurs("sequences and optional values");
  return fromBytes(raw ?? encoded(values, dtype), shape, dtype);
}

function encoded(values: readonly (number | bigint)[], dtype: DType): Uint8Array {
  const plain = values.map(Number);
  const arrays: Partial<Record<DType, () => ArrayBufferView>> = {
    ...{ f32: () => Float32Array.from(plain), f64: () => Float64Array.from(plain), i32: () => Int32Array.from(plain) },
    ...{ i64: () => BigInt64Array.from(plain.map(BigInt)), u64: () => BigUint64Array.from(plain.map(BigInt)) },
    ...{ u8: () => Uint8Array.from(plain), i8: () => Int8Array.from(plain), bool: () => Uint8Array.from(plain) },
    ...{ u16: () => Uint16Array.from(plain), i16: () => Int16Array.from(plain), u32: () => Uint32Array.from(plain) },
    ...{ f16: () => Uint16Array.from(plain), bf16: () => Uint16Array.from(plain) },
  };
  const view = arrays[dtype]?.();
  if (!view) throw new NotOurs(`values of ${dtype}`);
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

export function readModel(bytes: Uint8Array): OnnxGraph {
  let [graph, opset]: [Uint8Array, number] = [new Uint8Array(), 1];
  for (const { number, value } of fieldsOf(bytes)) {
    if (number === 7) graph = value as Uint8Array;
    if (number !== 8) continue;
    const entry = new Map([...fieldsOf(value as Uint8Array)].map((field) => [field.number, field.value]));
    const domain = entry.get(1);
    if (domain && (domain as Uint8Array).length > 0) throw new NotOurs(`operators of ${text(domain)}`);
    opset = (entry.get(2) as number | undefined) ?? 1;
  }
  const nodes: OnnxNode[] = [];
  const values = { 11: [] as OnnxValue[], 12: [] as OnnxValue[] };
  const constants = new Map<string, Tensor>();
  for (const { number, value } of fieldsOf(graph)) {
    if (number === 1) nodes.push(readNode(value as Uint8Array));
    else if (number === 5) constants.set(nameIn(value as Uint8Array, 8), readTensor(value as Uint8Array));
    else if (number === 11 || number === 12) values[number].push(readValue(value as Uint8Array));
  }
  return { nodes, inputs: values[11], outputs: values[12], constants, opset };
}

const nameIn = (bytes: Uint8Array, which: number): string =>
  text([...fieldsOf(bytes)].find(({ number }) => number === which)?.value ?? new Uint8Array());

const fieldIn = (bytes: Uint8Array, which: number): number | Uint8Array | undefined =>
  [...fieldsOf(bytes)].find(({ number }) => number === which)?.value;

function readValue(bytes: Uint8Array): OnnxValue {
  const type = fieldIn(bytes, 2) as Uint8Array;
  const tensorType = fieldIn(type, 1) as Uint8Array | undefined;
  if (!tensorType) throw new NotOurs("sequences and optional values");
  return { name: nameIn(bytes, 1), dtype: dtypeNumbered(fieldIn(tensorType, 1) as number) };
}

function readNode(bytes: Uint8Array): OnnxNode {
  const [inputs, outputs, attributes]: [string[], string[], Map<string, unknown>] = [[], [], new Map()];
  let op = "";
  for (const { number, value } of fieldsOf(bytes)) {
    if (number === 1) inputs.push(text(value));
    else if (number === 2) outputs.push(text(value));
    else if (number === 4) op = text(value);
    else if (number === 5) {
      const [name, given] = readAttribute(value as Uint8Array);
      attributes.set(name, given);
    }
  }
  return { op, inputs, outputs, attributes: new Attributes(attributes) };
}

function readAttribute(bytes: Uint8Array): [name: string, value: unknown] {
  let [name, one]: [string, unknown] = ["", undefined];
  const many: unknown[] = [];
  let type = 0;
  for (const { number, value } of fieldsOf(bytes)) {
    if (number === 1) name = text(value);
    else if (number === 2 || number === 3) one = value;
    else if (number === 4) one = text(value);
    else if (number === 5) one = readTensor(value as Uint8Array);
    else if (number === 6) throw new NotOurs("graphs inside nodes");
    else if (number === 7) many.push(...floats(value));
    else if (number === 8) many.push(...wholeNumbers(value));
    else if (number === 9) many.push(text(value));
    else if (number === 20) type = value as number;
  }
  // A number of 0 is not written.
  const isOne = type >= 1 && type <= 5;
  return [name, isOne ? (one ?? (type === 3 ? "" : 0)) : many];
}
