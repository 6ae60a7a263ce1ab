/**
 * The writer of the kernels that adapt many chains together, between transitions: the buffers of the chains and of their warmup
 * by name, numbers in the dtype of energies, and sums over chains that lanes share. Step size, trajectory and metric are
 * written with it; `PooledWarmup` runs them.
 */
import { type Kernel, KernelBuilder, type Value } from "../../../compiler/inline/kernel-language.js";
import type { WritingContext } from "../../../runtime/backend.js";
import type { FloatDType } from "../../target/target.js";
import { type Arithmetic, arithmeticOf } from "../arithmetic.js";
import { INTS, POOLED_INTS, POOLED_REALS, REALS, VECTORS } from "../layout.js";
import type { PooledLanes } from "./lanes.js";

export interface PooledOptions {
  readonly chains: number;
  readonly dim: number;
  readonly dtype: FloatDType;
  readonly energyDType: FloatDType;
  readonly isDense: boolean;
  /** Whether the time of trajectories is adapted, as ChEES does. */
  readonly isTimed: boolean;
  readonly lanes: PooledLanes;
}

/** Buffers of the chains that these kernels know. */
export const SHARED = ["dispatchInts", "schedule", "runReals", "vectors", "reals", "ints", "metric", "factor"] as const;
/** Their own buffers: numbers of the warmup, and results that one kernel hands to the next. */
export const OWN = ["pooledInts", "pooledReals", "centres", "changes", "covariance", "root"] as const;
export type PooledBuffer = (typeof SHARED)[number] | (typeof OWN)[number];

export interface WrittenPooled {
  readonly kernel: Kernel;
  /** The buffers it runs on, in this order. */
  readonly buffers: readonly PooledBuffer[];
}

export class PooledWriter {
  readonly k: KernelBuilder;
  readonly ops: Arithmetic;
  readonly energy: FloatDType;
  private readonly slots = new Map<PooledBuffer, number>();
  private readonly writes: ReadonlySet<PooledBuffer>;

  constructor(
    name: string,
    {
      rows,
      lanes,
      writes,
    }: { readonly rows: number; readonly lanes: number; readonly writes: readonly PooledBuffer[] },
    readonly options: PooledOptions,
    { settings }: WritingContext,
  ) {
    this.k = new KernelBuilder(name, rows, lanes);
    this.ops = arithmeticOf(this.k, settings);
    this.energy = options.energyDType;
    for (const buffer of writes) this.slots.set(buffer, this.k.buffer(this.typeOf(buffer), true));
    this.writes = new Set(writes);
  }

  finish(): WrittenPooled {
    return { kernel: this.k.finish(), buffers: [...this.slots.keys()] };
  }

  // ------------------------------------------------------------------------------------------------ memory

  private typeOf(buffer: PooledBuffer): FloatDType | "i32" {
    switch (buffer) {
      case "dispatchInts":
      case "schedule":
      case "ints":
      case "pooledInts":
        return "i32";
      case "vectors":
      case "metric":
      case "factor":
        return this.options.dtype;
      default:
        return this.options.energyDType;
    }
  }

  /** A whole number, or a real one as energies are. */
  load(buffer: PooledBuffer, at: Value): Value {
    const { k } = this;
    const type = this.typeOf(buffer);
    const slot = this.slots.get(buffer) ?? k.buffer(type, false);
    this.slots.set(buffer, slot);
    const found = this.writes.has(buffer) ? k.read(slot, at, type) : k.load(slot, at, type);
    return type === "i32" ? found : k.convert(this.energy, found);
  }

  store(buffer: PooledBuffer, at: Value, value: Value): void {
    this.k.store(this.slots.get(buffer) as number, at, this.k.convert(this.typeOf(buffer), value), false);
  }

  /** Stores a value that all lanes have; one of them writes. */
  storeOnce(buffer: PooledBuffer, at: Value, value: Value): void {
    this.k.store(this.slots.get(buffer) as number, at, this.k.convert(this.typeOf(buffer), value), true);
  }

  /** The index of an element of a chain. */
  at(element: Value, chain: Value): Value {
    const { ops } = this;
    return ops.add(ops.mul(element, ops.i(this.options.chains)), chain);
  }

  int(name: (typeof INTS)[number], chain: Value): Value {
    return this.load("ints", this.at(this.ops.i(INTS.indexOf(name)), chain));
  }

  real(name: (typeof REALS)[number], chain: Value): Value {
    return this.load("reals", this.at(this.ops.i(REALS.indexOf(name)), chain));
  }

  /** The index of an element of a chain's vector. */
  vectorAt(name: (typeof VECTORS)[number], d: Value, chain: Value): Value {
    const { ops } = this;
    return this.at(ops.add(ops.i(VECTORS.indexOf(name) * this.options.dim), d), chain);
  }

  vector(name: (typeof VECTORS)[number], d: Value, chain: Value): Value {
    return this.load("vectors", this.vectorAt(name, d, chain));
  }

  /** The index of a number of the warmup. */
  pooledAt(name: (typeof POOLED_INTS)[number] | (typeof POOLED_REALS)[number]): Value {
    const all: readonly string[] = (POOLED_INTS as readonly string[]).includes(name) ? POOLED_INTS : POOLED_REALS;
    return this.ops.i(all.indexOf(name));
  }

  // ------------------------------------------------------------------------------------------------ over chains

  f(value: number): Value {
    return this.ops.float(this.energy, value);
  }

  sums(terms: number, body: (chain: Value) => readonly Value[]): Value[] {
    return this.ops.sums(this.options.chains, this.energy, terms, body);
  }

  /** The least or the most of whole numbers. */
  extreme(op: "min" | "max", of: (chain: Value) => Value): Value {
    const { k, ops, options } = this;
    const first = ops.i(op === "min" ? 2 ** 31 - 1 : 0);
    const [found] = k.loop(options.chains, [first], (c, [so]) => [k.binary(op, so, of(c))], { isLaneLoop: true });
    return k.combineLanes(op, found);
  }

  /** The chance of the last transition of a chain to be accepted, or its mean over the trajectory. */
  acceptance(chain: Value): Value {
    return this.ops.div(this.real("acceptance", chain), this.k.convert(this.energy, this.int("leapfrogs", chain)));
  }
}
