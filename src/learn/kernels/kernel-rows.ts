/**
 * Rows of a kernel's matrix on the host, for solvers that ask for one after the other and cannot know which is next. The device computes
 * them in blocks; those least recently used make room where not all fit.
 */
import type { Tensor } from "../../tensor/index.js";
import type { KernelFunction } from "./pairwise.js";

/** Similarities that a block has, about: large enough for the device to be busy. */
const BLOCK = 1 << 20;
/** Similarities that are kept: 512 MB of doubles. */
const KEPT = 1 << 26;
/** Samples of a square along the diagonal. */
const SQUARE = 256;

type Row = Float32Array | Float64Array;

export class KernelRows {
  readonly count: number;
  readonly #perBlock: number;
  readonly #blocks = new Map<number, Row>();
  readonly #compute: (from: number, to: number) => Tensor;
  readonly #square: (from: number) => Tensor;

  /** Without a kernel the samples are similarities already. */
  constructor(
    x: Tensor,
    kernel: KernelFunction | null,
    readonly signal: AbortSignal | undefined,
  ) {
    this.count = x.shape[0] as number;
    this.#perBlock = Math.min(this.count, Math.max(1, Math.floor(BLOCK / this.count)));
    this.#compute = (from, to) => {
      const band = x.at(`${from}:${to}`) as Tensor;
      return kernel ? kernel(band, x) : band;
    };
    this.#square = (from) => {
      const [samples, end] = [x.at(`${from}:`), Math.min(this.count, from + SQUARE)];
      if (!kernel) return samples.at(`:${end - from}`, `${from}:${end}`) as Tensor;
      const some = samples.at(`:${end - from}`) as Tensor;
      return kernel(some, some);
    };
  }

  /** A row that is here; undefined for one to be fetched. */
  known(i: number): Row | undefined {
    const place = Math.floor(i / this.#perBlock);
    const block = this.#blocks.get(place);
    if (!block) return undefined;
    if (this.#perBlock < this.count) {
      this.#blocks.delete(place);
      this.#blocks.set(place, block);
    }
    const from = (i - place * this.#perBlock) * this.count;
    return block.subarray(from, from + this.count);
  }

  /** A row, computed with its neighbours. */
  async fetch(i: number): Promise<Row> {
    this.signal?.throwIfAborted();
    const place = Math.floor(i / this.#perBlock);
    const from = place * this.#perBlock;
    const rows = this.#compute(from, Math.min(this.count, from + this.#perBlock));
    const most = Math.max(2, Math.floor(KEPT / (this.#perBlock * this.count)));
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size < most) break;
      this.#blocks.delete(oldest);
    }
    this.#blocks.set(place, (await rows.data()) as Row);
    return this.known(i) as Row;
  }

  /** The similarity of each sample to itself. Where not all rows fit, small squares along the diagonal are computed for it. */
  async diagonal(): Promise<Float64Array> {
    const values = new Float64Array(this.count);
    const isWhole = this.count * this.count <= KEPT;
    for (let i = 0; i < this.count; i++) {
      if (isWhole) values[i] = ((this.known(i) ?? (await this.fetch(i))) as Row)[i] as number;
      else if (i % SQUARE === 0) values.set((await this.#square(i).diagonal().data()) as Row, i);
    }
    return values;
  }
}
