/**
 * Transfers between host and device through staging memory, in pieces: while one piece crosses the bus, the host copies the
 * next. The caller may change its bytes as soon as an upload returns; a download sees the buffer as it was at the call.
 */

import { ArgumentError } from "../../../core/errors.js";
import { addressOfView, threadedCopy } from "../driver/native.js";
import type { Stream } from "../submission/stream.js";
import type { Allocation, MemoryPool } from "./memory-pool.js";

const MiB = 1024 * 1024;
export const PIECE = 16 * MiB;
const MAX_STAGED = 4 * PIECE;
/** For fewer bytes, the calling thread finishes the copy before other threads would wake. */
const THREADED_FROM = 2 * MiB;
const COPY_THREADS = 4;

export class Transfers {
  /** Timeline values of upload pieces in flight, oldest first. */
  private readonly staged: number[] = [];

  constructor(
    private readonly stream: Stream,
    private readonly pools: { readonly device: MemoryPool; readonly upload: MemoryPool; readonly readback: MemoryPool },
  ) {}

  upload(bytes: Uint8Array, to: Allocation, toOffset: number): void {
    for (let at = 0; at < bytes.byteLength; at += PIECE) {
      const piece = bytes.subarray(at, Math.min(at + PIECE, bytes.byteLength));
      this.makeRoom();
      const staging = this.pools.upload.allocate(piece.byteLength);
      (staging.block.mapped as Uint8Array).set(piece, staging.offset);
      this.stream.upload(this.pools.upload, staging, to, toOffset + at, piece.byteLength);
      if (bytes.byteLength > PIECE) this.staged.push(this.stream.flush());
    }
  }

  /** Bounds the staging memory of a long upload by waiting for its oldest piece. */
  private makeRoom(): void {
    while (this.staged.length * PIECE >= MAX_STAGED) this.stream.timeline.waitSync(this.staged.shift() as number);
  }

  downloadSync(from: Allocation, fromOffset: number, into: Uint8Array): void {
    const pending: { staging: Allocation; value: number; at: number; length: number }[] = [];
    const finish = () => {
      const piece = pending.shift();
      if (!piece) return;
      try {
        this.stream.timeline.waitSync(piece.value);
        this.copyOut(piece.staging, into, piece.at, piece.length);
      } finally {
        this.release(piece.staging);
      }
    };
    try {
      for (let at = 0; at < into.byteLength; at += PIECE) {
        const length = Math.min(PIECE, into.byteLength - at);
        if (pending.length >= 4) finish();
        pending.push({ ...this.start(from, fromOffset + at, length), at, length });
      }
      while (pending.length > 0) finish();
    } finally {
      for (const { staging } of pending) this.release(staging);
    }
  }

  async download(from: Allocation, fromOffset: number, into: Uint8Array, isPrivate: boolean): Promise<void> {
    if (into.byteLength > MAX_STAGED) return this.downloadLarge(from, fromOffset, into, isPrivate);
    const pieces: { staging: Allocation; value: number; at: number; length: number }[] = [];
    try {
      for (let at = 0; at < into.byteLength; at += PIECE) {
        const length = Math.min(PIECE, into.byteLength - at);
        pieces.push({ ...this.start(from, fromOffset + at, length), at, length });
      }
      for (const piece of pieces) {
        await this.stream.timeline.wait(piece.value);
        await this.copyOutThreaded(piece.staging, into, piece.at, piece.length, isPrivate);
      }
    } finally {
      for (const { staging } of pieces) this.release(staging);
    }
  }

  /**
   * A download larger than the staging memory: its pieces are recorded over time, so they are read from a copy on the device,
   * which costs thousandths of the transfer. Otherwise a write recorded meanwhile would show in later pieces.
   */
  private async downloadLarge(
    from: Allocation,
    fromOffset: number,
    into: Uint8Array,
    isPrivate: boolean,
  ): Promise<void> {
    const snapshot = this.pools.device.allocate(into.byteLength);
    const pending: { staging: Allocation; value: number; at: number; length: number }[] = [];
    try {
      this.stream.copy(from, fromOffset, snapshot, 0, into.byteLength);
      let at = 0;
      while (at < into.byteLength || pending.length > 0) {
        while (at < into.byteLength && pending.length < 4) {
          const length = Math.min(PIECE, into.byteLength - at);
          pending.push({ ...this.start(snapshot, at, length), at, length });
          at += length;
        }
        const piece = pending[0] as (typeof pending)[0];
        await this.stream.timeline.wait(piece.value);
        await this.copyOutThreaded(piece.staging, into, piece.at, piece.length, isPrivate);
        pending.shift();
        this.release(piece.staging);
      }
    } finally {
      for (const { staging } of pending) this.release(staging);
      this.pools.device.free(snapshot);
    }
  }

  private start(from: Allocation, fromOffset: number, length: number): { staging: Allocation; value: number } {
    const staging = this.pools.readback.allocate(length);
    try {
      this.stream.download(from, fromOffset, staging, 0, length);
      return { staging, value: this.stream.flush() };
    } catch (error) {
      this.release(staging);
      throw error;
    }
  }

  /** Frees staging memory after the GPU is done with it: it may still be writing, even if the reader gave up. */
  private release(staging: Allocation): void {
    this.stream.whenDone(() => this.pools.readback.free(staging));
  }

  private copyOut(staging: Allocation, into: Uint8Array, at: number, length: number): void {
    assertHolds(into, at + length);
    const mapped = staging.block.mapped as Uint8Array;
    into.set(mapped.subarray(staging.offset, staging.offset + length), at);
  }

  /**
   * Other threads copy only to memory that the caller does not have yet: an array of the caller could be resized, or
   * transferred to a worker and dropped, while they write.
   */
  private async copyOutThreaded(
    staging: Allocation,
    into: Uint8Array,
    at: number,
    length: number,
    isPrivate: boolean,
  ): Promise<void> {
    const copy = isPrivate && length >= THREADED_FROM ? threadedCopy() : null;
    if (!copy) return this.copyOut(staging, into, at, length);
    assertHolds(into, at + length);
    const source = addressOfView(staging.block.mapped as Uint8Array) + staging.offset;
    const target = addressOfView(into) + at;
    const part = Math.ceil(length / COPY_THREADS / 4096) * 4096;
    const parts: Promise<void>[] = [];
    for (let start = 0; start < length; start += part) {
      parts.push(copy(target + start, source + start, Math.min(part, length - start)));
    }
    await Promise.all(parts);
  }
}

/** Throws if the target was transferred or resized while its read was pending. */
function assertHolds(into: Uint8Array, bytes: number): void {
  if (into.byteLength >= bytes) return;
  throw new ArgumentError("read: the array to read into was transferred or shrunk before the contents arrived.");
}
