/**
 * Copies between a device's buffers and bytes of the host: directly where the device has imported those bytes
 * (`device.hostBuffer`), else through staging memory. Buffers call it by way of their device.
 */

import type { Stream } from "../submission/stream.js";
import type { HostImports } from "./host-buffer.js";
import type { Allocation } from "./memory-pool.js";
import type { Transfers } from "./transfers.js";

export class HostCopies {
  private readonly pendingReads = new Set<Promise<unknown>>();

  constructor(
    private readonly stream: Stream,
    private readonly transfers: Transfers,
    private readonly imports: HostImports,
  ) {}

  upload(to: Allocation, bytes: Uint8Array): void {
    const direct = this.imports.allocationOf(bytes);
    if (direct) {
      // The caller may change its bytes as soon as this returns, so the copy must be done by then.
      this.stream.upload(null, direct, to, 0, bytes.byteLength);
      this.stream.flushAndWait();
    } else this.transfers.upload(bytes, to, 0);
  }

  download(from: Allocation, into: Uint8Array, isPrivate: boolean): Promise<void> {
    const direct = this.imports.allocationOf(into);
    let read: Promise<void>;
    if (direct) {
      this.stream.download(from, 0, direct, 0, into.byteLength);
      read = this.stream.timeline.wait(this.stream.flush());
    } else read = this.transfers.download(from, 0, into, isPrivate);
    const settled = read.then(
      () => {},
      () => {},
    );
    this.pendingReads.add(settled);
    void settled.then(() => this.pendingReads.delete(settled));
    return read;
  }

  downloadSync(from: Allocation, into: Uint8Array): void {
    const direct = this.imports.allocationOf(into);
    if (direct) {
      this.stream.download(from, 0, direct, 0, into.byteLength);
      this.stream.flushAndWait();
    } else this.transfers.downloadSync(from, 0, into);
  }

  /** Waits for all reads that were asked for: they finish before the device goes. */
  async settle(): Promise<void> {
    while (this.pendingReads.size > 0) await Promise.all(this.pendingReads);
  }
}
