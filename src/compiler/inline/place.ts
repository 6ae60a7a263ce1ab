/**
 * Places: memory for the values of a function inside a larger kernel. A place is an array of the row, a column of a buffer
 * that all rows share, or data that every row reads. `inline` loads its parameters from places and stores its results in
 * places; the kernel around it decides which.
 */
import { DTYPES, type DType, isPacked } from "../../core/dtype.js";
import { UnsupportedError } from "../../core/errors.js";
import { computeType } from "../elements/elements.js";
import type { IRType, Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";

export interface Place {
  /** `since`: the open loops since which nothing has been written here; out of further ones the load may move. */
  load(index: Value, since?: number): Value;
  store(index: Value, value: Value, gate?: Value | null): void;
}

/** A buffer that the kernel only reads, the same for all rows. */
export function dataPlace(k: KernelBuilder, dtype: DType): Place {
  const buffer = k.buffer(dtype, false);
  return {
    load: (index) => k.load(buffer, index, computeType(dtype)),
    store: () => {
      throw new Error("dataPlace: data are only read");
    },
  };
}

/** An array of the row. Bools are kept as whole numbers, which every memory can hold. */
export function arrayPlace(k: KernelBuilder, type: IRType, size: number): Place {
  const array = k.array(type === "bool" ? "i32" : type, size);
  return {
    load: (index, since) => asType(k, type, k.get(array, index, since)),
    store: (index, value, gate = null) => k.set(array, index, asStored(k, value), gate),
  };
}

/** A stretch of a buffer of elements × rows: neighbouring rows have neighbouring memory. */
export function columnPlace(k: KernelBuilder, buffer: number, type: IRType, first: Value): Place {
  const at = (index: Value) =>
    k.binary("add", k.binary("mul", k.binary("add", first, index), k.constant("i32", k.rows)), k.row);
  return {
    load: (index, since) => asType(k, type, k.read(buffer, at(index), type === "bool" ? "i32" : type, since)),
    store: (index, value, gate = null) => k.store(buffer, at(index), asStored(k, value), k.lanes === 1, gate),
  };
}

/** The same place from another element on. A constant is added last, because memory instructions have room for it. */
export function shifted(k: KernelBuilder, place: Place, first: Value): Place {
  const at = (index: Value): Value => {
    const [from, by] = index.args;
    if (index.op !== "add" || by.op !== "constant") return k.binary("add", first, index);
    return k.binary("add", k.binary("add", first, from), by);
  };
  return {
    load: (index, since) => place.load(at(index), since),
    store: (index, value, gate) => place.store(at(index), value, gate),
  };
}

const asStored = (k: KernelBuilder, value: Value): Value =>
  value.type === "bool" ? k.select(value, k.constant("i32", 1), k.constant("i32", 0)) : value;

const asType = (k: KernelBuilder, type: IRType, value: Value): Value =>
  type === "bool" ? k.compare("ne", value, k.constant("i32", 0)) : value;

/** Elements a row may have in an array; what is longer lies in a buffer. A thread of a CPU has its arrays in its cache. */
const MAX_ARRAY = 256;
const MAX_CACHED = 1 << 18;
/** Additions that writing or reading an element costs. */
const ACCESS_COST = 24;
const CACHED_COST = 3;

/** Memory for values that a function keeps while it runs. Buffers are made when they are first needed. */
export class Scratch {
  private readonly found = new Map<IRType, { readonly slot: number; elements: number }>();

  /** `isCached`: arrays of the row lie in a cache of its thread. */
  constructor(
    private readonly k: KernelBuilder,
    readonly isCached = false,
  ) {}

  /** Additions that writing or reading an element costs. */
  get accessCost(): number {
    return this.isCached ? CACHED_COST : ACCESS_COST;
  }

  place(dtype: DType, size: number): Place {
    const { k } = this;
    if (DTYPES[dtype].kind === "complex" || isPacked(dtype))
      throw new UnsupportedError(`${dtype} inside a function of a thread`);
    const type = computeType(dtype);
    if (size <= (this.isCached ? MAX_CACHED : MAX_ARRAY)) return arrayPlace(k, type, Math.max(1, size));
    const kept = type === "bool" ? "i32" : type;
    const known = this.found.get(kept) ?? { slot: k.buffer(kept, true), elements: 0 };
    this.found.set(kept, known);
    const first = k.constant("i32", known.elements);
    known.elements += size;
    return columnPlace(k, known.slot, type, first);
  }

  /** The buffers whoever runs the kernel must lend it: their slots, and elements for every row. */
  get buffers(): readonly { readonly slot: number; readonly dtype: IRType; readonly elements: number }[] {
    return [...this.found].map(([dtype, { slot, elements }]) => ({ slot, dtype, elements }));
  }
}
