/** An engine that computes nothing and notes what it is asked to do: for tests of what the runtime decides. */
import assert from "node:assert/strict";
import type { EncodedKernel } from "../../src/core/encoded-kernel.js";
import type { Engine, EngineMemory, LoadedKernel } from "../../src/engines/engine.js";
import { Profile } from "../../src/engines/profile.js";

/** Memory without contents. `keptBytes`: those of the allocation that it is a part of. */
export class NotedMemory implements EngineMemory {
  readonly isUnshared = true;
  isDisposed = false;
  readonly copiedFrom: EngineMemory[] = [];
  constructor(
    readonly name: string,
    readonly byteLength: number,
    readonly keptBytes = byteLength,
  ) {}
  part = (offset: number, byteLength: number): NotedMemory =>
    new NotedMemory(`${this.name}[${offset}..${offset + byteLength}]`, byteLength, this.keptBytes);
  copyFrom = (source: EngineMemory): void => {
    this.copiedFrom.push(source);
  };
  read = async () => this.readSync();
  readNow(): boolean {
    return false;
  }

  readSync = () => new Uint8Array(this.byteLength);
  dispose = (): void => {
    this.isDisposed = true;
  };
}

export interface NamedKernel extends LoadedKernel {
  readonly name: string;
}

/** Allocations are named m0, m1 … `failAt`: the dispatch that fails. */
export function notingEngine(failAt = Number.POSITIVE_INFINITY) {
  const allocated: NotedMemory[] = [];
  const uploaded: Uint8Array[] = [];
  const loaded: string[] = [];
  const dispatched: string[] = [];
  const allocUninitialized = (byteLength: number) => {
    const memory = new NotedMemory(`m${allocated.length}`, byteLength);
    allocated.push(memory);
    return memory;
  };
  const upload = (bytes: Uint8Array) => {
    uploaded.push(bytes.slice());
    return allocUninitialized(bytes.byteLength);
  };
  const engine: Engine<NotedMemory, NamedKernel> = {
    hasDoubles: true,
    replaysFaster: false,
    memoryBytes: 2 ** 30,
    alloc: allocUninitialized,
    allocUninitialized,
    upload,
    withBytes: (contents, work) => work(contents.map(upload)),
    load: (_: EncodedKernel, { name }) => {
      loaded.push(name);
      return { name, numbers: [] };
    },
    dispatch: ({ name }, memory, offsets) => {
      if (dispatched.length === failAt) throw new Error("out of memory");
      for (const each of memory) assert.ok(!each.isDisposed, `${name} on freed memory`);
      dispatched.push(`${name}(${memory.map((each, i) => `${each.name}+${offsets[i]}`)})`);
    },
    flagIn: () => assert.fail("no loop"),
    flagNow: () => null,
    giveWay: () => null,
    record: () => assert.fail("nothing is recorded"),
    profile: async (work) => {
      await work();
      return new Profile([]);
    },
  };
  return { engine, allocated, uploaded, loaded, dispatched };
}
