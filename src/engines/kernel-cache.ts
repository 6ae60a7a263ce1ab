/**
 * Compiled kernels by key, for both engines. Programs hold their kernels, the cache does not: an unreferenced kernel is
 * released, so that kernels of old shapes do not accumulate. The most recently used ones stay in any case, because code that
 * looks its kernel up for each run (the catalogue of `pumice/vulkan`) should not compile after every garbage collection.
 */
import { type Lease, Leases } from "./leases.js";

/** The number of recently used kernels that stay in any case. */
export const KEPT_KERNELS = 64;
/**
 * V8 does not see the driver's memory of a kernel. So garbage is collected after this many new kernels, and as many as were
 * alive. A collection takes about as long as compiling ten kernels.
 */
const COLLECT_AFTER = 256;

interface Entry<K extends object, R> {
  readonly kernel: WeakRef<K>;
  readonly resource: R;
  readonly lease: Lease;
}

/** `K`: the object that users hold. `R`: the resource released when nobody does; it must not refer to the kernel. */
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

  /** Resources that are not released yet. */
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
    // Its object was collected, but no sweep has released it yet.
    const gone = this.entries.get(key);
    if (gone) this.leases.end(gone.lease);
    const lease = this.leases.add(kernel, () => {
      this.entries.delete(key);
      this.release(resource);
    });
    this.entries.set(key, { kernel: new WeakRef(kernel), resource, lease });
    this.touch(key, kernel);
  }

  /** Releases the resources of kernels that have been collected. */
  sweep(): void {
    this.leases.sweep();
  }

  /** Forgets all kernels without releasing: closing the device does that. */
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
