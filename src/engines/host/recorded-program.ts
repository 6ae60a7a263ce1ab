/** A recorded program on the CPU: runs its kernels one after another. All addresses but those of arguments are known. */
import type { BufferPlace, RecordableProgram, RecordedProgram } from "../engine.js";
import { memoryPositions, SCALAR_STRIDE, scalarBytes, writeScalars } from "../scalar-arguments.js";
import type { HostAllocation } from "./allocation.js";
import type { HostDevice } from "./device.js";
import type { LoadedHostKernel } from "./loaded-kernel.js";

export class HostProgram implements RecordedProgram<HostAllocation> {
  private readonly arena: HostAllocation | null;
  private readonly scalars: HostAllocation | null;
  private readonly memoryOf: readonly number[];

  constructor(
    private readonly device: HostDevice,
    private readonly program: RecordableProgram<HostAllocation, LoadedHostKernel>,
  ) {
    const { arenaBytes, arguments: args } = program;
    this.arena = arenaBytes > 0 ? device.allocUninitialized(arenaBytes) : null;
    const bytes = scalarBytes(args);
    this.scalars = bytes > 0 ? device.allocUninitialized(bytes) : null;
    this.memoryOf = memoryPositions(args);
  }

  run(memory: readonly HostAllocation[], scalars: readonly number[], isDonated: readonly boolean[]): HostAllocation[] {
    const { device, program } = this;
    const results = program.results.map(({ byteLength, inPlace }) => {
      const given = inPlace >= 0 ? this.memoryOf[inPlace] : -1;
      return given >= 0 && isDonated[given] ? memory[given] : device.allocUninitialized(byteLength);
    });
    if (this.scalars) {
      const bytes = device.memory.view(this.scalars.address, this.scalars.byteLength);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      writeScalars(view, 0, scalars, program.arguments);
    }
    const addresses = this.argumentAddresses(memory);
    const arena = this.arena?.address ?? 0;
    const addressOf = (place: BufferPlace): number => {
      if (place.from === "arena") return arena + place.start + place.offset;
      const start = place.from === "argument" ? addresses[place.index] : results[place.index].address;
      return start + place.offset;
    };
    program.dispatches((kernel, _, buffers) => kernel.runAt(buffers.map(addressOf)));
    return results;
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
