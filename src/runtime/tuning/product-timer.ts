/**
 * Times a product of matrices in one tiling after the other, on a device, with numbers that are not zero. It blocks: programs
 * are compiled where results are asked for, and what they need to know is measured there (tuner.ts). Each run is a recorded
 * program that computes the product many times, so that neither submitting nor waiting counts.
 */
import { compile, planProgram } from "../../compiler/compile.js";
import type { Target } from "../../compiler/target/target.js";
import { describeTiling, type ProductShape, type Tiling } from "../../compiler/tiles/product-shape.js";
import { tensorBytes } from "../../core/bytes.js";
import { DTYPES, type DType, isFloat } from "../../core/dtype.js";
import { DeviceLostError } from "../../core/errors.js";
import { dataOf, elementAt, encodeValues } from "../../core/storage.js";
import { debug } from "../../engines/debug.js";
import type { Engine, EngineMemory, LoadedKernel, RecordedProgram } from "../../engines/engine.js";
import { makeNode, remakeNode, sourceOf } from "../../graph/build.js";
import { Node } from "../../graph/node.js";
import { dot } from "../../graph/primitives/dot.js";
import { buffer } from "../../graph/primitives/leaf.js";
import { recordable } from "../prepared.js";

/** A product to be timed: its operands are rearrangements of memory. */
export interface TimedProduct {
  readonly shape: ProductShape;
  readonly operands: readonly [Node, Node];
}

export interface Stopwatch {
  /**
   * Milliseconds of work before the first sample of a tiling. A GPU's clock sinks while its program is compiled: without this,
   * some tilings took three times as long on an H200.
   */
  readonly warmMs: number;
  /** The milliseconds that some work takes. */
  time(work: () => void): number;
}

const wallClock: Stopwatch = {
  warmMs: 80,
  time: (work) => {
    const began = performance.now();
    work();
    return performance.now() - began;
  },
};

/** Milliseconds that a sample should take, and most runs in one. */
const SAMPLE_MS = 10;
const MOST_RUNS = 512;
/** Elements of the result that are compared between tilings, at most. */
const COMPARED = 4096;
/** Numbers that are drawn; larger operands repeat them. */
const DRAWN = 1 << 18;

interface Ready<M> {
  readonly program: RecordedProgram<M>;
  readonly runs: number;
}

export class ProductTimer<M extends EngineMemory, K extends LoadedKernel> {
  private readonly leaves: readonly [Node, Node];
  private readonly memory: readonly [M, M];
  private readonly product: Node;
  private readonly ready = new Map<string, Ready<M> | null>();
  /** The first elements of the first tiling's result: every other one must agree. */
  private expected: readonly number[] | null = null;

  constructor(
    private readonly engine: Engine<M, K>,
    private readonly target: Target,
    private readonly timed: TimedProduct,
    private readonly stopwatch: Stopwatch = wallClock,
  ) {
    const [a, b] = timed.operands.map((operand, seed) => this.drawn(operand, seed));
    this.leaves = [a.leaf, b.leaf];
    this.memory = [a.memory, b.memory];
    const { precision } = timed.shape;
    this.product = makeNode(dot, [a.operand, b.operand], precision ? { precision } : {}, a.leaf.device);
  }

  /** Milliseconds of the product in a tiling, one sample; null where it cannot be run, or gives another result. */
  sample(tiling: Tiling): number | null {
    const name = describeTiling(tiling, this.timed.shape.k);
    const known = this.ready.get(name);
    const ready = known === undefined ? this.prepare(tiling, name) : known;
    if (known === undefined) this.ready.set(name, ready);
    return ready && this.stopwatch.time(() => this.run(ready.program)) / ready.runs;
  }

  dispose(): void {
    for (const memory of this.memory) memory.dispose();
    this.ready.clear();
  }

  /** The product in a tiling, ready to be timed; null where it fails. */
  private prepare(tiling: Tiling, name: string): Ready<M> | null {
    try {
      const record = this.compiled(tiling);
      const once = record(1);
      const result = this.run(once, COMPARED);
      if (this.expected && !agree(this.expected, result, this.timed.shape.dtype)) {
        debug(1, () => `tuning: ${name} gives another result and is left out`);
        return null;
      }
      this.expected ??= result;
      return this.warm({ program: once, runs: 1 }, record);
    } catch (error) {
      if (error instanceof DeviceLostError) throw error;
      debug(1, () => `tuning: ${name} is left out: ${(error as Error).message}`);
      return null;
    }
  }

  /** Records the product in a tiling, so many times in a row. */
  private compiled(tiling: Tiling): (times: number) => RecordedProgram<M> {
    const { engine, target, leaves, memory } = this;
    const parts = Math.ceil(this.timed.shape.k / tiling.length);
    const { note: _, ...tiles } = target.profile.tiles;
    const profile = { ...target.profile, tiles: { ...tiles, forced: { tile: tiling.tile, parts } } };
    const forced: Target = { ...target, profile };
    const isFixedLeaf = [true, true];
    const load = (...kernel: Parameters<Engine<M, K>["load"]>) => engine.load(...kernel);
    const program = compile([this.product], leaves, forced, load, { isFixedLeaf });
    const planned = { ...planProgram(program, forced, [-1, -1]), isFromDisk: false };
    const whole = recordable<M, K>(
      planned,
      memory.map((each) => ({ kind: "fixed", memory: each })),
    );
    const dispatches = [...whole.dispatches()];
    return (times) =>
      engine.record({
        ...whole,
        dispatches: function* () {
          for (let run = 0; run < times; run++) yield* dispatches;
        },
      });
  }

  /** Runs a program and waits for it. Returns the first elements of its result. */
  private run(program: RecordedProgram<M>, count = 1): readonly number[] {
    const { dtype } = this.timed.shape;
    const [result] = program.run([], [], []);
    const byteLength = Math.min(result.byteLength, count * DTYPES[dtype].bytes);
    const first = result.part(0, byteLength);
    const data = dataOf(first.readSync(), dtype);
    first.dispose();
    result.dispose();
    return Array.from({ length: data.length }, (_, i) => Number(elementAt(data, dtype, i)));
  }

  /** A program with as many runs as a sample takes, run until the device's clock has risen. */
  private warm(first: Ready<M>, record: (times: number) => RecordedProgram<M>): Ready<M> {
    let ready = first;
    // Twice: starting and waiting count for much of a single run.
    for (let round = 0; round < 2; round++) {
      const took =
        Math.max(
          this.stopwatch.time(() => this.run(ready.program)),
          1e-3,
        ) / ready.runs;
      const runs = Math.max(1, Math.min(MOST_RUNS, Math.round(SAMPLE_MS / took)));
      if (runs > ready.runs) ready = { program: record(runs), runs };
    }
    for (let spent = 0; spent < this.stopwatch.warmMs; ) spent += wallClock.time(() => this.run(ready.program));
    return ready;
  }

  /** An operand with memory of its own: its rearrangement, the leaf behind it, and drawn numbers. */
  private drawn(operand: Node, seed: number) {
    const source = sourceOf(operand);
    const { shape, dtype, device } = source;
    const memory = this.engine.upload(drawnBytes(tensorBytes(source), dtype, seed));
    const leaf = new Node(buffer, { shape, dtype }, [], shape, dtype, device);
    leaf.realize(memory);
    const rearranged = (node: Node): Node => (node === source ? leaf : remakeNode(node, [rearranged(node.inputs[0])]));
    return { operand: rearranged(operand), leaf, memory };
  }
}

/** Numbers between -1 and 1, or small integers, none of them zero for long. */
function drawnBytes(byteLength: number, dtype: DType, seed: number): Uint8Array {
  const count = Math.min(DRAWN, Math.ceil(byteLength / Math.max(1, DTYPES[dtype].bytes)) * 8);
  let state = (seed + 1) * 0x9e3779b1;
  const values = Array.from({ length: count }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5;
    const unit = ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
    return isFloat(dtype) ? 2 * unit - 1 : Math.floor(2 * unit);
  });
  const block = encodeValues(values, dtype, "tune");
  const bytes = new Uint8Array(byteLength);
  for (let at = 0; at < byteLength; at += block.length) bytes.set(block.subarray(0, byteLength - at), at);
  return bytes;
}

/** Largest difference between two results, relative to their largest element: sums are added in another order. */
const TOLERANCE: Partial<Readonly<Record<DType, number>>> = { f64: 1e-12, f32: 1e-3, f16: 0.02, bf16: 0.05 };

function agree(expected: readonly number[], result: readonly number[], dtype: DType): boolean {
  const tolerance = TOLERANCE[dtype] ?? (isFloat(dtype) ? 0.2 : 0);
  const largest = Math.max(...expected.map(Math.abs));
  return expected.every((value, i) => Math.abs(value - result[i]) <= tolerance * largest);
}
