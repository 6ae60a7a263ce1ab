/**
 * A prepared program on a Vulkan device: its dispatches and barriers are recorded once, in a command buffer that each run
 * replays. What changes from run to run (where the arguments and results lie, numbers) stands in a small block of memory
 * that the host writes and the kernels read. As runs overlap, there are several such blocks, each with a recording of its
 * own; they take turns.
 */

import { INLINE_BUFFERS } from "../compiler/emit/spirv/emit-kernel.js";
import type { MemoryPlan } from "../compiler/program/memory-plan.js";
import { type KernelStep, type Program, rootsOf, type Slot } from "../compiler/program/program.js";
import { resolveSlot, runKernels, runSteps } from "../compiler/program/run-steps.js";
import { bytesOf } from "../core/bytes.js";
import type { DeviceBuffer } from "../engines/vulkan/buffer.js";
import type { ArgumentBlock, VulkanDevice } from "../engines/vulkan/device.js";
import { type Allocation, putAddress } from "../engines/vulkan/memory.js";
import { type RecordedDispatch, Recording } from "../engines/vulkan/recording.js";
import { type Argument, type Prepared, SCALAR_STRIDE, writeScalars } from "./backend.js";
import type { PlannedProgram } from "./program-file.js";
import type { VulkanCode } from "./vulkan-backend.js";

/** Runs that may be under way at once; further ones wait for the first. Short programs have more, to keep the device busy. */
const [MIN_TURNS, MAX_TURNS, BATCH] = [16, 32, 128];

interface Turn {
  readonly block: ArgumentBlock;
  readonly dispatches: readonly RecordedDispatch[];
  readonly recording: Recording;
  /** The timeline value after which the block may be written again. */
  value: number;
}

/** A place in the block that holds the address of an argument or a result, or of a part of it. */
interface Pointer {
  /** Where it stands in the block. */
  readonly at: number;
  readonly isRoot: boolean;
  readonly index: number;
  /** Where in the argument or result the part begins. */
  readonly offset: number;
}

/** A kernel and its memory, loops unrolled. */
interface Dispatch {
  readonly step: KernelStep<VulkanCode>;
  readonly places: readonly Place[];
}

interface Place {
  readonly from: Slot["from"];
  readonly index: number;
  readonly offset: number;
}

export class VulkanProgram implements Prepared<DeviceBuffer> {
  readonly program: Program<VulkanCode>;
  readonly plan: MemoryPlan;
  readonly inPlace: readonly number[];
  readonly isFromDisk: boolean;
  private readonly arena: DeviceBuffer | null;
  private readonly dispatches: readonly Dispatch[];
  private readonly roots: readonly number[];
  /** By leaf: which of the memory of a run it is. */
  private readonly memoryOf: readonly number[];
  private readonly pointers = new Map<string, Pointer>();
  private readonly tables: readonly number[];
  private readonly scalarsAt: number;
  private readonly blockBytes: number;
  /** In the order of their last use, from `next` on and around. */
  private readonly turns: Turn[] = [];
  private next = 0;
  private readonly maxTurns: number;
  private readonly fixed: readonly Allocation[];
  /** Dispatches with so many buffers that their addresses stand in a table. */
  private readonly tabled: readonly number[];
  private readonly name: string;

  constructor(
    private readonly device: VulkanDevice,
    planned: PlannedProgram<VulkanCode>,
    private readonly args: readonly Argument<DeviceBuffer>[],
  ) {
    const { program, plan } = planned;
    this.program = program;
    this.plan = plan;
    this.inPlace = planned.inPlace;
    this.isFromDisk = planned.isFromDisk;
    const dispatches: Dispatch[] = [];
    const visit = (step: KernelStep<VulkanCode>, rounds: Map<number, number>) => {
      const places = step.slots.map((slot) => ({ from: slot.from, ...resolveSlot(slot, rounds) }));
      dispatches.push({ step, places });
    };
    runSteps(program.steps, runKernels(visit));
    this.dispatches = dispatches;
    this.roots = rootsOf(program);
    this.arena = plan.arenaBytes > 0 ? device.allocUninitialized(plan.arenaBytes) : null;
    this.name = `jit of ${dispatches.length} kernels`;
    this.maxTurns = Math.min(MAX_TURNS, Math.max(MIN_TURNS, Math.ceil(BATCH / Math.max(1, dispatches.length))));
    this.fixed = args.flatMap((arg) => (arg.kind === "fixed" ? [arg.memory.contents("jit")] : []));
    this.tabled = dispatches.flatMap(({ places }, i) => (places.length > INLINE_BUFFERS ? [i] : []));
    let count = 0;
    this.memoryOf = args.map(({ kind }) => (kind === "memory" ? count++ : -1));
    for (const { places } of dispatches) for (const place of places) this.notePointer(place);
    let offset = 8 * this.pointers.size;
    this.tables = dispatches.map(({ places }) => {
      const at = offset;
      if (places.length > INLINE_BUFFERS) offset += 8 * places.length;
      return at;
    });
    this.scalarsAt = Math.ceil(offset / SCALAR_STRIDE) * SCALAR_STRIDE;
    this.blockBytes = this.scalarsAt + SCALAR_STRIDE * args.filter(({ kind }) => kind === "scalar").length;
  }

  /** The pointer that a place is reached through: none for memory that stays where it is. */
  private pointerFor({ from, index, offset }: Place): Omit<Pointer, "at"> | null {
    const root = from === "made" ? this.program.made[index].root : -1;
    const isMoving = from === "made" ? root >= 0 : this.args[index].kind === "memory";
    return isMoving ? { isRoot: from === "made", index: from === "made" ? root : index, offset } : null;
  }

  private notePointer(place: Place): void {
    const pointer = this.pointerFor(place);
    if (!pointer) return;
    const key = pointerKey(pointer);
    if (!this.pointers.has(key)) this.pointers.set(key, { at: 8 * this.pointers.size, ...pointer });
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
    if (this.dispatches.length === 0) return results;
    const turn = this.takeTurn();
    const { view } = turn.block;
    const allocationOf = ({ isRoot, index }: Omit<Pointer, "at">): Allocation =>
      isRoot ? writes[index] : reads[this.memoryOf[index]];
    for (const pointer of this.pointers.values()) putAddress(view, pointer.at, allocationOf(pointer), pointer.offset);
    for (const dispatch of this.tabled) this.writeTable(turn.block, dispatch, allocationOf);
    writeScalars(view, this.scalarsAt, scalars, args);
    reads.push(...this.fixed);
    if (stream.clock) this.dispatchOneByOne(turn, reads, writes);
    else stream.replay(turn.recording, reads, writes);
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
    let turn = this.turns[this.next];
    const isFree = turn && (turn.value <= timeline.completed || turn.value <= timeline.poll());
    if (!isFree && this.turns.length < this.maxTurns) {
      turn = this.makeTurn();
      this.turns.splice(this.next, 0, turn);
    } else if (!isFree) {
      // A value that a failed submission never came to is reached by none, and there is nothing to wait for.
      timeline.waitSync(Math.min(turn.value, stream.flush()));
    }
    this.next = (this.next + 1) % this.turns.length;
    return turn;
  }

  private makeTurn(): Turn {
    const { device } = this;
    const block = device.argumentBlock(this.blockBytes);
    const dispatches = this.record(block);
    const recording = this.recordingOf(dispatches, block);
    const turn: Turn = { block, dispatches, recording, value: 0 };
    device.hold(this, () => {
      block.free();
      device.stream.whenDone(() => recording.destroy());
    });
    return turn;
  }

  private recordingOf(dispatches: readonly RecordedDispatch[], block: ArgumentBlock): Recording {
    try {
      return new Recording(this.name, this.device, dispatches);
    } catch (error) {
      block.free();
      throw error;
    }
  }

  private record(block: ArgumentBlock): RecordedDispatch[] {
    const since = new Touched(this.plan, this.program, this.inPlace);
    return this.dispatches.map(({ step, places }, i) => {
      const { kernel, code } = step;
      const isAfterBarrier = since.add(places, kernel.buffers);
      const push =
        places.length > INLINE_BUFFERS
          ? [block.address + BigInt(this.tables[i])]
          : places.map((place) => this.addressOf(place, block));
      return { kernel: code.pipeline, push, groups: code.groups, isAfterBarrier };
    });
  }

  /** What a kernel is told of a buffer: its address, or where its address stands. */
  private addressOf(place: Place, block: ArgumentBlock): bigint {
    const moving = this.pointerFor(place);
    if (moving) return block.address + BigInt((this.pointers.get(pointerKey(moving)) as Pointer).at);
    const { from, index, offset } = place;
    if (from === "made") return (this.arena as DeviceBuffer).address + BigInt(this.plan.offsets[index] + offset);
    const arg = this.args[index];
    if (arg.kind === "fixed") return arg.memory.address + BigInt(offset);
    const before = this.args.slice(0, index).filter(({ kind }) => kind === "scalar").length;
    return block.address + BigInt(this.scalarsAt + SCALAR_STRIDE * before);
  }

  private writeTable(
    block: ArgumentBlock,
    dispatch: number,
    allocationOf: (pointer: Omit<Pointer, "at">) => Allocation,
  ): void {
    this.dispatches[dispatch].places.forEach((place, i) => {
      const at = this.tables[dispatch] + 8 * i;
      const moving = this.pointerFor(place);
      if (moving) putAddress(block.view, at, allocationOf(moving), moving.offset);
      else block.view.setBigUint64(at, this.addressOf(place, block), true);
    });
  }
}

const pointerKey = ({ isRoot, index, offset }: Omit<Pointer, "at">): string => `${isRoot} ${index} ${offset}`;

/** What kernels have touched since the last barrier: whether the next one needs another. */
class Touched {
  private reads: Range[] = [];
  private writes: Range[] = [];

  constructor(
    private readonly plan: MemoryPlan,
    private readonly program: Program<unknown>,
    private readonly inPlace: readonly number[],
  ) {}

  /** Notes a kernel's buffers; true when what came before must be finished first. */
  add(places: readonly Place[], buffers: readonly { readonly isWritten: boolean }[]): boolean {
    const ranges = places.map((place) => this.rangeOf(place));
    const isConflict = ranges.some(
      (range, i) => this.writes.some(meets(range)) || (buffers[i].isWritten && this.reads.some(meets(range))),
    );
    if (isConflict) {
      this.reads = [];
      this.writes = [];
    }
    ranges.forEach((range, i) => {
      (buffers[i].isWritten ? this.writes : this.reads).push(range);
    });
    return isConflict;
  }

  private rangeOf({ from, index }: Place): Range {
    const whole = (memory: string) => ({ memory, start: 0, end: Number.POSITIVE_INFINITY });
    if (from === "leaf") return whole(`leaf ${index}`);
    const value = this.program.made[index];
    if (value.root < 0) {
      const start = this.plan.offsets[index];
      return { memory: "arena", start, end: start + Math.max(1, bytesOf(value)) };
    }
    // A result that may be written over an argument goes under the argument's name.
    const leaf = this.inPlace[value.root];
    return whole(leaf >= 0 ? `leaf ${leaf}` : `root ${value.root}`);
  }
}

interface Range {
  readonly memory: string;
  readonly start: number;
  readonly end: number;
}

const meets =
  (range: Range) =>
  ({ memory, start, end }: Range): boolean =>
    memory === range.memory && start < range.end && range.start < end;
