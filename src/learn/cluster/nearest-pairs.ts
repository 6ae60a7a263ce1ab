/**
 * Nearest pairs of clusters that merge, for linkages by centroids (the generic algorithm of Müllner 2011). Each cluster has a guess of its
 * nearest among later ones, with a lower bound of that distance; a heap has the least bound on top, and a bound that is too low is mended
 * when it gets there.
 */

/** A pair of clusters: x is dropped and y becomes both. */
interface Pair {
  readonly x: number;
  readonly y: number;
  readonly between: number;
}

/** Pairs by condensed distances, which the caller changes along with the sizes. A size of 0 is a cluster that is gone. */
export class NearestPairs {
  private readonly nearest: Int32Array;
  private readonly bounds: LeastFirst;

  constructor(
    private readonly pairs: Float64Array,
    private readonly starts: Int32Array,
    private readonly sizes: Int32Array,
  ) {
    const count = sizes.length;
    this.nearest = new Int32Array(count - 1);
    const bounds = new Float64Array(count - 1);
    for (let x = 0; x < count - 1; x++) {
      const { y, between } = this.search(x);
      this.nearest[x] = y;
      bounds[x] = between;
    }
    this.bounds = new LeastFirst(bounds);
  }

  /** Removes the nearest pair. */
  take(): Pair {
    const { pairs, starts, nearest, bounds } = this;
    for (;;) {
      const x = bounds.first;
      const y = nearest[x] as number;
      const between = bounds.of(x);
      if (between === pairs[(starts[x] as number) + y]) {
        bounds.removeFirst();
        return { x, y, between };
      }
      const found = this.search(x);
      nearest[x] = found.y;
      bounds.change(x, found.between);
    }
  }

  /** Takes note of new distances of y, which now is x and y. */
  merged(x: number, y: number): void {
    const { pairs, starts, sizes, nearest, bounds } = this;
    for (let z = 0; z < x; z++) if ((sizes[z] as number) > 0 && nearest[z] === x) nearest[z] = y;
    for (let z = 0; z < y; z++) {
      if (sizes[z] === 0) continue;
      const distance = pairs[(starts[z] as number) + y] as number;
      if (distance >= bounds.of(z)) continue;
      nearest[z] = y;
      bounds.change(z, distance);
    }
    if (y === sizes.length - 1) return;
    const found = this.search(y);
    if (found.y < 0) return;
    nearest[y] = found.y;
    bounds.change(y, found.between);
  }

  /** The nearest among later clusters; -1 where there is none. */
  private search(x: number): Pair {
    const { pairs, starts, sizes } = this;
    const start = starts[x] as number;
    let [y, between] = [-1, Number.POSITIVE_INFINITY];
    for (let i = x + 1; i < sizes.length; i++) {
      if ((sizes[i] as number) > 0 && (pairs[start + i] as number) < between) {
        [y, between] = [i, pairs[start + i] as number];
      }
    }
    return { x, y, between };
  }
}

/** A heap of keys by their values. */
class LeastFirst {
  private readonly keys: Int32Array;
  private readonly places: Int32Array;
  private size: number;

  constructor(private readonly values: Float64Array) {
    this.size = values.length;
    this.keys = Int32Array.from({ length: this.size }, (_, i) => i);
    this.places = this.keys.slice();
    for (let place = (this.size >> 1) - 1; place >= 0; place--) this.sink(place);
  }

  /** The key with the least value. */
  get first(): number {
    return this.keys[0] as number;
  }

  of(key: number): number {
    return this.values[key] as number;
  }

  removeFirst(): void {
    this.size--;
    this.swap(0, this.size);
    this.sink(0);
  }

  change(key: number, value: number): void {
    const isLess = value < (this.values[key] as number);
    this.values[key] = value;
    if (isLess) this.rise(this.places[key] as number);
    else this.sink(this.places[key] as number);
  }

  private at(place: number): number {
    return this.values[this.keys[place] as number] as number;
  }

  private swap(a: number, b: number): void {
    const { keys, places } = this;
    const [keyA, keyB] = [keys[a] as number, keys[b] as number];
    keys[a] = keyB;
    keys[b] = keyA;
    places[keyA] = b;
    places[keyB] = a;
  }

  private rise(from: number): void {
    for (let place = from; place > 0; ) {
      const parent = (place - 1) >> 1;
      if (this.at(parent) <= this.at(place)) return;
      this.swap(place, parent);
      place = parent;
    }
  }

  private sink(from: number): void {
    for (let place = from; ; ) {
      let child = 2 * place + 1;
      if (child >= this.size) return;
      if (child + 1 < this.size && this.at(child + 1) < this.at(child)) child++;
      if (this.at(place) <= this.at(child)) return;
      this.swap(place, child);
      place = child;
    }
  }
}
