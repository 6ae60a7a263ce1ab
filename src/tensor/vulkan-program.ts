/**
 * A prepared program on a Vulkan device: its dispatches and barriers are recorded once, in a command buffer that each run
 * replays. What changes from run to run (where the arguments and results lie, numbers) stands in a small block of memory
 * that the host writes and the kernels read. As runs overlap, there are several such blocks, each with a recording of its
 * own; they take turns.
 */
import { inPlaceOf } from "../compiler/in-place.js";
import { bytesOf, type MemoryPlan } from "../compiler/memory-plan.js";
import type { Program, Slot, Step } from "../compiler/program.js";
import { INLINE_BUFFERS } from "../compiler/spirv/emit-kernel.js";
import type { DeviceBuffer } from "../engines/vulkan/buffer.js";
import type { ArgumentBlock, VulkanDevice } from "../engines/vulkan/device.js";
import type { Pipeline } from "../engines/vulkan/kernels.js";
import type { Allocation } from "../engines/vulkan/memory.js";
import { type RecordedDispatch, Recording } from "../engines/vulkan/recording.js";
import type { Argument, Prepared } from "./backend.js";

/** Runs that may be under way at once; further ones wait for the first. */
const MAX_TURNS = 16;
/** A vector's bytes: numbers are kept this far apart. */
const SCALAR_STRIDE = 16;

interface Turn {
  readonly block: ArgumentBlock;
  readonly dispatches: readonly RecordedDispatch[];
  readonly recording: Recording;
  /** The timeline value after which the block may be written again. */
  value: number;
}

/** A place in the block that holds the address of an argument or a result. */
interface Pointer {
  readonly offset: number;
  readonly isRoot: boolean;
  readonly index: number;
}

export class VulkanProgram implements Prepared<DeviceBuffer> {
  readonly inPlace: readonly number[];
  private readonly arena: DeviceBuffer | null;
  private readonly steps: readonly Step<Pipeline>[];
  private readonly roots: readonly number[];
  /** By leaf: which of the memory, or of the numbers, of a run it is. */
  private readonly memoryOf: readonly number[];
  private readonly pointers: Pointer[] = [];
  private readonly tables: readonly number[];
  private readonly scalarsAt: number;
  private readonly blockBytes: number;
  private readonly turns: Turn[] = [];
  private readonly name: string;

  constructor(
    private readonly device: VulkanDevice,
    readonly program: Program<Pipeline>,
    readonly plan: MemoryPlan,
    private readonly args: readonly Argument<DeviceBuffer>[],
    private readonly gridOf: (step: Step<Pipeline>) => readonly [number, number, number],
  ) {
    this.steps = program.steps.filter(({ kernel }) => kernel.rows > 0);
    const rootCount = program.made.reduce((count, { root }) => Math.max(count, root + 1), 0);
    this.roots = Array.from({ length: rootCount }, (_, root) => program.made.findIndex((value) => value.root === root));
    this.inPlace = inPlaceOf(
      { ...program, steps: this.steps },
      rootCount,
      program.leaves.map((leaf, i) => (args[i].kind === "memory" ? bytesOf(leaf) : -1)),
    );
    this.arena = plan.arenaBytes > 0 ? device.allocUninitialized(plan.arenaBytes) : null;
    this.name = `jit of ${this.steps.length} kernels`;

    let count = 0;
    this.memoryOf = args.map(({ kind }) => (kind === "memory" ? count++ : -1));
    args.forEach(({ kind }, index) => {
      if (kind === "memory") this.pointers.push({ offset: 8 * this.pointers.length, isRoot: false, index });
    });
    this.roots.forEach((_, index) => {
      this.pointers.push({ offset: 8 * this.pointers.length, isRoot: true, index });
    });
    let offset = 8 * this.pointers.length;
    this.tables = this.steps.map(({ slots }) => {
      const at = offset;
      if (slots.length > INLINE_BUFFERS) offset += 8 * slots.length;
      return at;
    });
    this.scalarsAt = Math.ceil(offset / SCALAR_STRIDE) * SCALAR_STRIDE;
    this.blockBytes = this.scalarsAt + SCALAR_STRIDE * args.filter(({ kind }) => kind === "scalar").length;
  }

  run(memory: readonly DeviceBuffer[], scalars: readonly number[], isDonated: readonly boolean[]): DeviceBuffer[] {
    const { device, args } = this;
    const { stream } = device;
    const reads = memory.map((buffer) => buffer.contents("jit"));
    const results = this.roots.map((index, root) => {
      const given = this.inPlace[root];
      const donated = given >= 0 && isDonated[this.memoryOf[given]] ? memory[this.memoryOf[given]] : null;
      return donated ?? device.allocUninitialized(bytesOf(this.program.made[index]));
    });
    const writes = results.map((buffer) => buffer.contents("jit"));
    if (this.arena) writes.push(this.arena.contents("jit"));
    if (this.steps.length === 0) return results;
    const turn = this.takeTurn();
    const { view } = turn.block;
    const addressAt = ({ isRoot, index }: Pointer): bigint => {
      const { block, offset } = isRoot ? writes[index] : reads[this.memoryOf[index]];
      return block.address + BigInt(offset);
    };
    for (const pointer of this.pointers) view.setBigUint64(pointer.offset, addressAt(pointer), true);
    this.steps.forEach(({ slots }, i) => {
      if (slots.length > INLINE_BUFFERS) this.writeTable(turn.block, i, slots, addressAt);
    });
    scalars.forEach((value, i) => {
      view.setFloat32(this.scalarsAt + SCALAR_STRIDE * i, value, true);
    });
    const fixed = args.flatMap((arg) => (arg.kind === "fixed" ? [arg.memory.contents("jit")] : []));
    if (stream.clock) this.dispatchOneByOne(turn, [...reads, ...fixed], writes);
    else stream.replay(turn.recording, [...reads, ...fixed], writes);
    turn.value = stream.recordedValue;
    return results;
  }

  /** For profiles, which want to see each kernel. */
  private dispatchOneByOne(turn: Turn, reads: readonly Allocation[], writes: readonly Allocation[]): void {
    const { stream } = this.device;
    for (const { kernel, push, groups } of turn.dispatches) {
      push.forEach((word, i) => {
        stream.push.view.setBigUint64(8 * i, word, true);
      });
      stream.dispatch(kernel, reads, writes, ...groups);
    }
  }

  // ------------------------------------------------------------------------------------------------ turns

  private takeTurn(): Turn {
    const { stream } = this.device;
    const { timeline } = stream;
    const done = timeline.poll();
    const free = this.turns.find(({ value }) => value <= done);
    if (free) return free;
    if (this.turns.length < MAX_TURNS) {
      const turn = this.makeTurn();
      this.turns.push(turn);
      return turn;
    }
    const oldest = this.turns.reduce((a, b) => (b.value < a.value ? b : a));
    stream.flush();
    timeline.waitSync(oldest.value);
    return oldest;
  }

  private makeTurn(): Turn {
    const { device } = this;
    const block = device.argumentBlock(this.blockBytes);
    const dispatches = this.record(block);
    const recording = new Recording(this.name, device, dispatches);
    const turn: Turn = { block, dispatches, recording, value: 0 };
    device.hold(this, () => {
      block.free();
      device.stream.whenDone(() => recording.destroy());
    });
    return turn;
  }

  private record(block: ArgumentBlock): RecordedDispatch[] {
    const since = new Touched(this.plan, this.program, this.inPlace);
    return this.steps.map((step, i) => {
      const { kernel, code, slots } = step;
      const isAfterBarrier = since.add(slots, kernel.buffers);
      const push =
        slots.length > INLINE_BUFFERS
          ? [block.address + BigInt(this.tables[i])]
          : slots.map((slot) => this.addressOf(slot, block));
      return { kernel: code, push, groups: this.gridOf(step), isAfterBarrier };
    });
  }

  /** What a kernel is told of a buffer: its address, or where its address stands. */
  private addressOf({ from, index }: Slot, block: ArgumentBlock): bigint {
    if (from === "made") {
      const { root } = this.program.made[index];
      if (root < 0) return (this.arena as DeviceBuffer).address + BigInt(this.plan.offsets[index]);
      return this.pointerTo(true, root, block);
    }
    const arg = this.args[index];
    if (arg.kind === "fixed") return arg.memory.address;
    if (arg.kind === "memory") return this.pointerTo(false, index, block);
    const before = this.args.slice(0, index).filter(({ kind }) => kind === "scalar").length;
    return block.address + BigInt(this.scalarsAt + SCALAR_STRIDE * before);
  }

  private pointerTo(isRoot: boolean, index: number, block: ArgumentBlock): bigint {
    const pointer = this.pointers.find((each) => each.isRoot === isRoot && each.index === index) as Pointer;
    return block.address + BigInt(pointer.offset);
  }

  private writeTable(
    block: ArgumentBlock,
    step: number,
    slots: readonly Slot[],
    addressAt: (pointer: Pointer) => bigint,
  ): void {
    slots.forEach((slot, i) => {
      const { from, index } = slot;
      const root = from === "made" ? this.program.made[index].root : -1;
      const isMoving = root >= 0 || (from === "leaf" && this.args[index].kind === "memory");
      const address = isMoving
        ? addressAt({ offset: 0, isRoot: root >= 0, index: root >= 0 ? root : index })
        : this.addressOf(slot, block);
      block.view.setBigUint64(this.tables[step] + 8 * i, address, true);
    });
  }
}

/** What kernels have touched since the last barrier: whether the next one needs another. */
class Touched {
  private reads: string[] = [];
  private writes: string[] = [];
  private arenaReads: (readonly [number, number])[] = [];
  private arenaWrites: (readonly [number, number])[] = [];

  constructor(
    private readonly plan: MemoryPlan,
    private readonly program: Program<unknown>,
    private readonly inPlace: readonly number[],
  ) {}

  /** Notes a kernel's buffers; true when what came before must be finished first. */
  add(slots: readonly Slot[], buffers: readonly { readonly isWritten: boolean }[]): boolean {
    const isConflict = slots.some((slot, i) => this.meets(slot, buffers[i].isWritten));
    if (isConflict) {
      this.reads = [];
      this.writes = [];
      this.arenaReads = [];
      this.arenaWrites = [];
    }
    slots.forEach((slot, i) => {
      const range = this.rangeOf(slot);
      if (range) (buffers[i].isWritten ? this.arenaWrites : this.arenaReads).push(range);
      else (buffers[i].isWritten ? this.writes : this.reads).push(this.nameOf(slot));
    });
    return isConflict;
  }

  private meets(slot: Slot, isWritten: boolean): boolean {
    const range = this.rangeOf(slot);
    if (range) {
      const overlaps = ([start, end]: readonly [number, number]) => start < range[1] && range[0] < end;
      return this.arenaWrites.some(overlaps) || (isWritten && this.arenaReads.some(overlaps));
    }
    const name = this.nameOf(slot);
    return this.writes.includes(name) || (isWritten && this.reads.includes(name));
  }

  private rangeOf({ from, index }: Slot): readonly [number, number] | null {
    if (from === "leaf" || this.program.made[index].root >= 0) return null;
    const start = this.plan.offsets[index];
    return [start, start + Math.max(1, bytesOf(this.program.made[index]))];
  }

  /** A result that may be written over an argument goes under the argument's name. */
  private nameOf({ from, index }: Slot): string {
    if (from === "leaf") return `leaf ${index}`;
    const { root } = this.program.made[index];
    return this.inPlace[root] >= 0 ? `leaf ${this.inPlace[root]}` : `root ${root}`;
  }
}
