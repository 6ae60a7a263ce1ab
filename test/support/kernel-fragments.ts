/** The fragments of an interpreted kernel (kernel-interpreter.ts): small matrices that the lanes of a subgroup hold together. */
import assert from "node:assert/strict";
import type { FragmentPlace, FragmentStatement, Kernel } from "../../src/compiler/ir/ir.js";
import { DTYPES } from "../../src/core/dtype.js";
import { encodeValues } from "../../src/core/storage.js";
import { type ArrayMemory, numberAt } from "./kernel-memory.js";
import type { Scalar } from "./kernel-operations.js";
import type { Visitor } from "./kernel-races.js";

type FragmentMove = Extract<FragmentStatement, { kind: "loadFragment" | "storeFragment" }>;

export class FragmentMemory {
  /** By subgroup and number; row by row. */
  private readonly held: Float64Array[][];
  private readonly size: number;

  constructor(
    private readonly kernel: Kernel,
    private readonly arrays: readonly ArrayMemory[],
  ) {
    this.size = kernel.subgroupSize ?? kernel.lanes;
    this.held = Array.from({ length: kernel.subgroupSize ? kernel.lanes / kernel.subgroupSize : 0 }, () =>
      (kernel.fragments ?? []).map(({ rows, columns }) => new Float64Array(rows * columns).fill(Number.NaN)),
    );
  }

  fill(subgroup: number, fragment: number, value: number): void {
    this.held[subgroup]![fragment]!.fill(value);
  }

  add(subgroup: number, to: number, from: number): void {
    const [sum, other] = [this.held[subgroup]![to]!, this.held[subgroup]![from]!];
    for (let i = 0; i < sum.length; i++) sum[i]! += other[i]!;
  }

  /** Place `at` of those that a lane holds. */
  get(fragment: number, lane: number, at: number): number {
    return this.heldBy(fragment, lane)[this.element(fragment, lane, at)]!;
  }

  set(fragment: number, lane: number, at: number, value: number): void {
    this.heldBy(fragment, lane)[this.element(fragment, lane, at)] = value;
  }

  multiply(subgroup: number, left: number, right: number, sum: number): void {
    const held = this.held[subgroup]!;
    const { rows, columns: depth } = this.kernel.fragments![left]!;
    const { columns } = this.kernel.fragments![right]!;
    const isFloat = this.kernel.fragments![sum]!.dtype === "f32";
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        let total = held[sum]![r * columns + c]!;
        for (let d = 0; d < depth; d++) total += held[left]![r * depth + d]! * held[right]![d * columns + c]!;
        held[sum]![r * columns + c] = isFloat ? Math.fround(total) : total | 0;
      }
    }
  }

  /** Between a fragment and an array. `index`: the place as the lanes of the kernel see it. */
  move({ fragment, kind, ...place }: FragmentMove, index: readonly Scalar[], visitor: Visitor): void {
    const { array, pitch, isByColumns }: FragmentPlace = place;
    const { rows, columns, dtype } = this.kernel.fragments![fragment]!;
    const { subgroup } = visitor;
    const isStore = kind === "storeFragment";
    const held = this.held[subgroup]![fragment]!;
    const lanes = index.slice(subgroup * this.size, (subgroup + 1) * this.size);
    const start = Number(lanes[0]);
    assert.ok(
      lanes.every((at) => at === start),
      "lanes of a subgroup do not agree on a fragment's place",
    );
    assert.ok(start % 4 === 0 && pitch % 4 === 0, `a fragment at word ${start}, ${pitch} apart`);
    const memory = this.arrays[array]!;
    const bytes = new Uint8Array(memory.words.buffer);
    const width = DTYPES[dtype].bytes;
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        const [line, along] = isByColumns ? [c, r] : [r, c];
        const byte = 4 * (start + line * pitch) + along * width;
        memory.touch(Math.floor(byte / 4), visitor, isStore ? "write" : "read");
        const at = r * columns + c;
        if (isStore) bytes.set(encodeValues([held[at]!], dtype, "fragment"), byte);
        else held[at] = numberAt(bytes.subarray(byte, byte + width), dtype);
      }
    }
  }

  private heldBy(fragment: number, lane: number): Float64Array {
    return this.held[Math.floor(lane / this.size)]![fragment]!;
  }

  /**
   * The element of a fragment that a lane holds in a place. Kernels may rely on pairs of neighbours only where they say so; else
   * elements are scattered as no device does it.
   */
  private element(fragment: number, lane: number, at: number): number {
    const { rows, columns, pairs } = this.kernel.fragments![fragment]!;
    const inSubgroup = lane % this.size;
    if (pairs) return 2 * (inSubgroup + (at >> 1) * this.size) + (at & 1);
    return (13 * (inSubgroup + at * this.size) + 5) % (rows * columns);
  }
}
