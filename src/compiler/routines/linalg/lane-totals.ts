/**
 * Sums over all lanes of a workgroup of several numbers at once, through shared memory: each lane writes its parts, a lane for each number
 * and share of the lanes adds some of them, and then a lane for each number adds the rest. Two barriers and the one that
 * readers need. The panels of qr-panel.ts use it for products with all columns.
 */
import type { Num } from "./field.js";
import type { MatrixKernel } from "./matrix-kernel.js";

/** Numbers that lie side by side. */
const QUAD = 4;
/** Numbers between the parts of one quad and the next, so that lanes which read them use different banks. */
const GAP = 8;

export class LaneTotals {
  private readonly parts;
  private readonly shares;
  private readonly totals;
  /** Lanes whose parts a lane adds, and how many such shares there are. */
  private readonly shareCount: number;
  private readonly pitch: number;

  constructor(
    private readonly kernel: MatrixKernel,
    private readonly count: number,
  ) {
    const { k, f } = kernel;
    // A power of two, as the number of lanes is.
    this.shareCount = Math.min(16, 2 ** Math.floor(Math.log2(Math.max(1, k.lanes / count))));
    this.pitch = k.lanes * QUAD + GAP;
    this.parts = f.array(Math.ceil(count / QUAD) * this.pitch);
    this.shares = f.array(this.shareCount * count);
    this.totals = f.array(Math.ceil(count / QUAD) * QUAD);
  }

  /** The sums of each number; all lanes take part, and get them all. */
  of(numbers: readonly Num[]): Num[] {
    const { kernel, count, shareCount } = this;
    const { k, f } = kernel;
    for (let first = 0; first < count; first += QUAD) {
      const quad = Array.from({ length: QUAD }, (_, i) => numbers[first + i] ?? f.zero);
      f.setMany(this.parts, kernel.add(kernel.mul(k.lane, QUAD), (first / QUAD) * this.pitch), quad);
    }
    k.barrier();
    kernel.when(kernel.less(k.lane, shareCount * count), () => {
      const [which, share] = [k.binary("irem", k.lane, kernel.i(count)), k.binary("idiv", k.lane, kernel.i(count))];
      const quad = kernel.mul(k.binary("idiv", which, kernel.i(QUAD)), this.pitch);
      const base = kernel.add(quad, kernel.add(k.binary("irem", which, kernel.i(QUAD)), kernel.mul(share, QUAD)));
      const terms = Array.from({ length: k.lanes / shareCount }, (_, turn) =>
        f.get(this.parts, kernel.add(base, turn * shareCount * QUAD)),
      );
      f.set(this.shares, k.lane, this.sum(terms));
    });
    k.barrier();
    kernel.when(kernel.less(k.lane, count), () => {
      const terms = Array.from({ length: shareCount }, (_, share) =>
        f.get(this.shares, kernel.add(k.lane, share * count)),
      );
      f.set(this.totals, k.lane, this.sum(terms));
    });
    k.barrier();
    return this.read();
  }

  private read(): Num[] {
    const { kernel, count } = this;
    const found: Num[] = [];
    for (let first = 0; first < count; first += QUAD) {
      found.push(...kernel.f.getMany(this.totals, kernel.i(first), QUAD));
    }
    return found.slice(0, count);
  }

  /** In pairs, so that additions do not wait for one another. */
  private sum(terms: readonly Num[]): Num {
    const { f } = this.kernel;
    let rest = [...terms];
    while (rest.length > 1) {
      rest = rest.flatMap((x, i) => (i % 2 === 1 ? [] : i + 1 < rest.length ? [f.add(x, rest[i + 1])] : [x]));
    }
    return rest[0];
  }
}

/** Numbers in shared memory that it takes, at most. */
export const totalNumbers = (lanes: number, count: number): number =>
  Math.ceil(count / QUAD) * (lanes * QUAD + GAP) + 17 * count + QUAD;
