/**
 * The state of a chain inside the kernel: its numbers in cells, its vectors in places, the numbers of the dispatch; and how all
 * that is loaded from buffers at the beginning and stored at the end. Every other part of the kernel is a function of it.
 */
import {
  arrayPlace,
  columnPlace,
  computeType,
  type KernelBuilder,
  type Place,
  shifted,
  type Value,
} from "../../../compiler/inline/kernel-language.js";
import type { FloatDType } from "../../target/target.js";
import { type Arithmetic, arithmeticOf, type Cell } from "../arithmetic.js";
import type { ChainBuilder, ChainDensity } from "../density.js";
import {
  BUFFERS,
  DISPATCH_INTS,
  INTS,
  type NutsOptions,
  PHASE,
  REALS,
  RUN_REALS,
  VECTORS,
  vectorSlots,
} from "../layout.js";

/** Bytes of a chain that may be kept in memory shared by its lanes: thirty chains still fit on a processor. */
const MAX_NEAR_BYTES = 4096;

export class NutsState {
  readonly k: KernelBuilder;
  readonly ops: Arithmetic;
  readonly type: FloatDType;
  readonly energy: FloatDType;
  readonly dim: number;
  readonly buffers: Readonly<Record<(typeof BUFFERS)[number], number>>;
  readonly ints: Readonly<Record<(typeof INTS)[number], Cell>>;
  readonly reals: Readonly<Record<(typeof REALS)[number], Cell>>;
  /** Vectors that change with every step are in memory of the row. */
  readonly hot: Readonly<Record<"q" | "p" | "g" | "sum", Place>>;
  readonly rhos: readonly Place[];
  /** The diagonal of the metric, which every step needs. */
  readonly diagonal: Place | null;
  /** All vectors, where lanes have memory that they share and it is enough; otherwise they are in the buffer. */
  private readonly near: Place | null;

  constructor(
    readonly builder: ChainBuilder,
    density: ChainDensity,
    readonly options: NutsOptions,
  ) {
    const { k, scratch } = builder;
    this.k = k;
    this.ops = arithmeticOf(k, builder.settings);
    this.type = density.dtype;
    this.energy = options.energyDType;
    this.dim = density.dim;
    const { type, energy, dim } = this;
    const dtypes = {
      dispatchInts: "i32",
      key: "u32",
      schedule: "i32",
      runReals: energy,
      vectors: type,
      reals: energy,
      ints: "i32",
      metric: type,
      factor: type,
      draws: type,
      noted: energy,
    } as const;
    const readOnly = new Set(["dispatchInts", "key", "schedule", "runReals"]);
    this.buffers = Object.fromEntries(
      BUFFERS.map((name) => [name, k.buffer(dtypes[name], !readOnly.has(name))]),
    ) as NutsState["buffers"];
    this.ints = Object.fromEntries(INTS.map((name) => [name, this.ops.cell("i32")])) as NutsState["ints"];
    this.reals = Object.fromEntries(REALS.map((name) => [name, this.ops.cell(energy)])) as NutsState["reals"];
    const [q, p, g, sum] = [0, 1, 2, 3].map(() => scratch.place(type, dim));
    this.hot = { q, p, g, sum };
    this.rhos = options.isDense ? [0, 1, 2].map(() => scratch.place(type, dim)) : [];
    const elements = vectorSlots(options) * dim;
    const isNear = k.lanes > 1 && elements * (type === "f64" ? 8 : 4) <= MAX_NEAR_BYTES;
    this.near = isNear ? arrayPlace(k, computeType(type), elements) : null;
    this.diagonal = options.isDense ? null : scratch.place(type, dim);
  }

  // ------------------------------------------------------------------------------------------------ what was told

  dispatchInt(name: (typeof DISPATCH_INTS)[number]): Value {
    return this.k.load(this.buffers.dispatchInts, this.ops.i(DISPATCH_INTS.indexOf(name)), "i32");
  }

  runReal(name: (typeof RUN_REALS)[number]): Value {
    return this.k.load(this.buffers.runReals, this.ops.i(RUN_REALS.indexOf(name)), this.energy);
  }

  // ------------------------------------------------------------------------------------------------ places

  column(buffer: "vectors" | "draws" | "metric" | "factor", first: Value): Place {
    return columnPlace(this.k, this.buffers[buffer], computeType(this.type), first);
  }

  vector(name: (typeof VECTORS)[number]): Place {
    return this.vectorsFrom(this.ops.i(VECTORS.indexOf(name) * this.dim));
  }

  private vectorsFrom(first: Value): Place {
    return this.near ? shifted(this.k, this.near, first) : this.column("vectors", first);
  }

  /** Part of a record of the tree: the first momentum, the one before it, the sum before it. */
  record(level: Value, part: "p" | "before" | "sum"): Place {
    const { ops, dim } = this;
    const at = ops.add(
      ops.mul(level, ops.i(3 * dim)),
      ops.i((VECTORS.length + ["p", "before", "sum"].indexOf(part)) * dim),
    );
    return this.vectorsFrom(at);
  }

  copy(from: Place, to: Place, elements = this.dim): void {
    this.ops.each(elements, (d) => to.store(d, from.load(d)));
  }

  /** The point the chain is at becomes an end of its trajectory. */
  keepEnd(side: "Left" | "Right"): void {
    for (const letter of ["q", "p", "g"] as const) this.copy(this.hot[letter], this.vector(`${letter}${side}`));
  }

  // ------------------------------------------------------------------------------------------------ from and to buffers

  restore(): void {
    const { k, ops, buffers } = this;
    INTS.forEach((name, slot) => {
      this.ints[name].set(columnPlace(k, buffers.ints, "i32", ops.i(slot)).load(ops.i(0)));
    });
    REALS.forEach((name, slot) => {
      this.reals[name].set(columnPlace(k, buffers.reals, this.energy, ops.i(slot)).load(ops.i(0)));
    });
    const vectors = this.column("vectors", ops.i(0));
    if (this.near) this.copy(vectors, this.near, vectorSlots(this.options) * this.dim);
    if (this.diagonal) this.copy(this.column("metric", ops.i(0)), this.diagonal);
    k.barrier();
    for (const name of ["q", "p", "g", "sum"] as const) this.copy(this.vector(name), this.hot[name]);
    k.barrier();
  }

  save(): void {
    const { k, ops, buffers } = this;
    k.barrier();
    const isFirst = k.lanes > 1 ? k.compare("eq", k.lane, ops.i(0)) : null;
    INTS.forEach((name, slot) => {
      columnPlace(k, buffers.ints, "i32", ops.i(slot)).store(ops.i(0), this.ints[name].get(), isFirst);
    });
    REALS.forEach((name, slot) => {
      columnPlace(k, buffers.reals, this.energy, ops.i(slot)).store(ops.i(0), this.reals[name].get(), isFirst);
    });
    for (const name of ["q", "p", "g", "sum"] as const) this.copy(this.hot[name], this.vector(name));
    k.barrier();
    if (this.near) this.copy(this.near, this.column("vectors", ops.i(0)), vectorSlots(this.options) * this.dim);
  }

  // ------------------------------------------------------------------------------------------------ words

  isPhase(phase: keyof typeof PHASE): Value {
    return this.k.compare("eq", this.ints.phase.get(), this.ops.i(PHASE[phase]));
  }

  isSet(cell: Cell): Value {
    return this.k.compare("ne", cell.get(), this.ops.i(0));
  }

  toEnergy(x: Value): Value {
    return this.k.convert(this.energy, x);
  }
}
