/** A recorded program on the CPU: its kernels one after another. All addresses but those of arguments are known. */
import type { BufferPlace, ProgramDispatch, RecordableProgram, RecordedProgram } from "../engine.js";
import { memoryPositions, SCALAR_STRIDE, scalarBytes, writeScalars } from "../scalar-arguments.js";
import type { HostAllocation } from "./allocation.js";
import type { HostDevice } from "./device.js";
import type { LoadedHostKernel } from "./loaded-kernel.js";

/** Dispatches that are kept in a list. */
const FEW = 1024;

export class HostProgram implements RecordedProgram<HostAllocation> {
  private readonly arena: HostAllocation | null;
  private readonly scalars: HostAllocation | null;
  private readonly memoryOf: readonly number[];
  private readonly few: readonly ProgramDispatch<LoadedHostKernel>[] | null;

  constructor(
    private readonly device: HostDevice,
    private readonly program: RecordableProgram<HostAllocation, LoadedHostKernel>,
  ) {
    const { arenaBytes, arguments: args } = program;
    this.arena = arenaBytes > 0 ? device.allocUninitialized(arenaBytes) : null;
    const bytes = scalarBytes(args);
    this.scalars = bytes > 0 ? device.allocUninitialized(bytes) : null;
    this.memoryOf = memoryPositions(args);
    this.few = few(program.dispatches());
  }

  run(memory: readonly HostAllocation[], scalars: readonly number[], isDonated: readonly boolean[]): HostAllocation[] {
    const { device, program } = this;
    if (device.queue.hasLost) for (const each of memory) each.assertNotLost();
    const results = program.results.map(({ byteLength, inPlace }) => {
      const given = inPlace >= 0 ? this.memoryOf[inPlace] : -1;
      return given >= 0 && isDonated[given] ? memory[given] : device.allocUninitialized(byteLength);
    });
    if (this.scalars) {
      const bytes = new Uint8Array(this.scalars.byteLength);
      writeScalars(new DataView(bytes.buffer), 0, scalars, program.arguments);
      this.scalars.put(this.scalars.address, bytes);
    }
    const addresses = this.argumentAddresses(memory);
    const arena = this.arena?.address ?? 0;
    const addressOf = (place: BufferPlace): number => {
      if (place.from === "arena") return arena + place.start + place.offset;
      const start = place.from === "argument" ? addresses[place.index] : results[place.index].address;
      return start + place.offset;
    };
    this.submit(addressOf);
    if (!device.queue.isEmpty) this.mark(memory, results);
    return results;
  }

  /** A short program queues its kernels one by one; a long one is one entry, which runs them when its turn comes. */
  private submit(addressOf: (place: BufferPlace) => number): void {
    const { queue, scratch } = this.device;
    const { address } = scratch;
    if (this.few) {
      for (const { kernel, buffers } of this.few) {
        queue.submit(kernel, kernel.wordsFor(buffers.map(addressOf), address));
      }
      return;
    }
    const { program } = this;
    const calls = function* () {
      for (const { kernel, buffers } of program.dispatches()) {
        yield { kernel, words: kernel.wordsFor(buffers.map(addressOf), address) };
      }
    };
    queue.inPieces(calls());
  }

  /** Notes which memory the waiting kernels use. */
  private mark(memory: readonly HostAllocation[], results: readonly HostAllocation[]): void {
    for (const each of memory) each.mark(false);
    for (const arg of this.program.arguments) if (arg.kind === "fixed") arg.memory.mark(false);
    for (const each of results) each.mark(true);
    this.scalars?.mark(false);
  }

  private argumentAddresses(memory: readonly HostAllocation[]): number[] {
    let scalar = 0;
    return this.program.arguments.map((arg, i) => {
      if (arg.kind === "memory") return memory[this.memoryOf[i]].address;
      if (arg.kind === "fixed") return arg.memory.address;
      return (this.scalars as HostAllocation).address + SCALAR_STRIDE * scalar++;
    });
  }
}

/** The dispatches as a list; null where they are too many. */
function few<K>(dispatches: Iterable<ProgramDispatch<K>>): readonly ProgramDispatch<K>[] | null {
  const all: ProgramDispatch<K>[] = [];
  for (const dispatch of dispatches) {
    if (all.length === FEW) return null;
    all.push(dispatch);
  }
  return all;
}
