/**
 * Compiled kernels by key, for both engines. A program holds its kernels, the cache does not: a kernel that nobody holds any
 * more is given back, so that a program called with ever new shapes does not pile them up. The last few asked for stay
 * whoever holds them, because code that asks anew for each run (the catalogue of `pumice/vulkan` does) should not compile
 * after every garbage collection.
 */
import { type Lease, Leases } from "./leases.js";

/** How many of the kernels last asked for are kept in any case. */
export const KEPT_KERNELS = 64;
/**
 * V8 does not see what a kernel costs the driver, so beyond this many new ones, and as many as there were, garbage is
 * collected here. That takes about as long as compiling ten kernels.
 */
const COLLECT_AFTER = 256;

interface Entry<K extends object, R> {
  readonly kernel: WeakRef<K>;
  readonly resource: R;
  readonly lease: Lease;
}

/** `K`: what users of a kernel hold. `R`: what is given back when none does; it must not hold the kernel. */
export class KernelCache<K extends object, R> {
  private readonly entries = new Map<string, Entry<K, R>>();
  /** In the order of their last use. */
  private readonly recent = new Map<string, K>();
  private readonly leases = new Leases();
  private collectAt = COLLECT_AFTER;

  constructor(private readonly release: (resource: R) => void) {}

  get size(): number {
    return this.entries.size;
  }

  /** What has not been given back. */
  get resources(): R[] {
    return [...this.entries.values()].map(({ resource }) => resource);
  }

  find(key: string): K | undefined {
    const kernel = this.entries.get(key)?.kernel.deref();
    if (kernel) this.touch(key, kernel);
    return kernel;
  }

  add(key: string, kernel: K, resource: R): void {
    if (this.size >= this.collectAt) {
      this.leases.collect();
      this.collectAt = 2 * this.size + COLLECT_AFTER;
    }
    // One that is gone, and that no sweep has come upon yet.
    const gone = this.entries.get(key);
    if (gone) this.leases.end(gone.lease);
    const lease = this.leases.add(kernel, () => {
      this.entries.delete(key);
      this.release(resource);
    });
    this.entries.set(key, { kernel: new WeakRef(kernel), resource, lease });
    this.touch(key, kernel);
  }

  /** Gives back what belongs to kernels that have been collected. */
  sweep(): void {
    this.leases.sweep();
  }

  /** Forgets all without giving anything back: whoever closes the device does. */
  close(): void {
    this.leases.close();
    this.recent.clear();
    this.entries.clear();
  }

  private touch(key: string, kernel: K): void {
    this.recent.delete(key);
    this.recent.set(key, kernel);
    if (this.recent.size > KEPT_KERNELS) this.recent.delete(this.recent.keys().next().value as string);
  }
}
