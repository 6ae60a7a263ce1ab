/**
 * A recorded program on a Vulkan device: each run replays a command buffer of dispatches and barriers. Arguments, results and
 * numbers change from run to run: the host writes their addresses and values to a small block of memory that the kernels
 * read. Runs overlap, so there are several blocks, each with a recording of its own, used in turn.
 */
import type { KernelInterface } from "../../../core/encoded-kernel.js";
import type { BufferPlace, RecordableProgram, RecordedProgram } from "../../engine.js";
import { memoryPositions, SCALAR_STRIDE, scalarBytes, writeScalars } from "../../scalar-arguments.js";
import type { VulkanDevice } from "../device.js";
import type { DeviceBuffer } from "../memory/buffer.js";
import type { ArgumentBlock } from "../memory/device-memory.js";
import { type Allocation, putAddress } from "../memory/memory-pool.js";
import type { LoadedPipeline } from "../pipelines/loaded-pipeline.js";
import { BarrierPlanner } from "./barrier-planner.js";
import { type RecordedDispatch, Recording } from "./recording.js";

/** Runs in flight at once; further runs wait for the oldest. Short programs have more, to keep the device busy. */
const [MIN_TURNS, MAX_TURNS, BATCH] = [16, 32, 128];

interface Turn {
  readonly block: ArgumentBlock;
  readonly dispatches: readonly RecordedDispatch[];
  readonly recording: Recording;
  /** The timeline value after which the block may be written again. */
  value: number;
}

/** A buffer whose memory changes from run to run: an argument or a result, from an offset on. */
interface MovingBuffer {
  readonly from: "argument" | "result";
  readonly index: number;
  readonly offset: number;
}

interface Pointer extends MovingBuffer {
  /** The offset of its address in the block. */
  readonly at: number;
}

interface Dispatch {
  readonly kernel: LoadedPipeline;
  readonly shape: KernelInterface;
  readonly places: readonly BufferPlace[];
}

export class VulkanProgram implements RecordedProgram<DeviceBuffer> {
  private readonly arena: DeviceBuffer | null;
  private readonly dispatches: readonly Dispatch[];
  /** For each argument, its index among the memory given with a run. */
  private readonly memoryOf: readonly number[];
  private readonly pointers = new Map<string, Pointer>();
  /** The offset of a dispatch's address table in the block, if it has one. */
  private readonly tables: readonly number[];
  private readonly scalarsAt: number;
  private readonly blockBytes: number;
  /** A ring in the order of last use; `next` is the oldest. */
  private readonly turns: Turn[] = [];
  private next = 0;
  private readonly maxTurns: number;
  private readonly fixed: readonly Allocation[];
  /** Dispatches with an address table. */
  private readonly tabled: readonly number[];
  private readonly name: string;

  constructor(
    private readonly device: VulkanDevice,
    private readonly program: RecordableProgram<DeviceBuffer, LoadedPipeline>,
  ) {
    const { arenaBytes, arguments: args } = program;
    const dispatches: Dispatch[] = [];
    for (const { kernel, shape, buffers } of program.dispatches()) dispatches.push({ kernel, shape, places: buffers });
    this.dispatches = dispatches;
    this.arena = arenaBytes > 0 ? device.allocUninitialized(arenaBytes) : null;
    this.name = `jit of ${dispatches.length} kernels`;
    this.maxTurns = Math.min(MAX_TURNS, Math.max(MIN_TURNS, Math.ceil(BATCH / Math.max(1, dispatches.length))));
    this.fixed = args.flatMap((arg) => (arg.kind === "fixed" ? [arg.memory.contents("jit")] : []));
    this.tabled = dispatches.flatMap(({ kernel }, i) => (kernel.isTabled ? [i] : []));
    this.memoryOf = memoryPositions(args);
    for (const { places } of dispatches) for (const place of places) this.notePointer(place);
    let offset = 8 * this.pointers.size;
    this.tables = dispatches.map(({ kernel, places }) => {
      const at = offset;
      if (kernel.isTabled) offset += 8 * places.length;
      return at;
    });
    this.scalarsAt = Math.ceil(offset / SCALAR_STRIDE) * SCALAR_STRIDE;
    this.blockBytes = this.scalarsAt + scalarBytes(args);
  }

  /** The place as a buffer whose memory changes from run to run; null if its address is fixed. */
  private movingAt(place: BufferPlace): MovingBuffer | null {
    if (place.from === "arena") return null;
    const isMoving = place.from === "result" || this.program.arguments[place.index].kind === "memory";
    return isMoving ? place : null;
  }

  private notePointer(place: BufferPlace): void {
    const moving = this.movingAt(place);
    if (!moving) return;
    const key = pointerKey(moving);
    if (!this.pointers.has(key)) this.pointers.set(key, { at: 8 * this.pointers.size, ...moving });
  }

  run(memory: readonly DeviceBuffer[], scalars: readonly number[], isDonated: readonly boolean[]): DeviceBuffer[] {
    const { device, program } = this;
    const { stream } = device;
    const reads = memory.map((buffer) => buffer.contents("jit"));
    const results = program.results.map(({ byteLength, inPlace }) => {
      const given = inPlace >= 0 ? this.memoryOf[inPlace] : -1;
      return given >= 0 && isDonated[given] ? memory[given] : device.allocUninitialized(byteLength);
    });
    const writes = results.map((buffer) => buffer.contents("jit"));
    if (this.arena) writes.push(this.arena.contents("jit"));
    if (this.dispatches.length === 0) return results;
    const turn = this.takeTurn();
    const { view } = turn.block;
    const allocationOf = ({ from, index }: MovingBuffer): Allocation =>
      from === "result" ? writes[index] : reads[this.memoryOf[index]];
    for (const pointer of this.pointers.values()) putAddress(view, pointer.at, allocationOf(pointer), pointer.offset);
    for (const dispatch of this.tabled) this.writeTable(turn.block, dispatch, allocationOf);
    writeScalars(view, this.scalarsAt, scalars, program.arguments);
    reads.push(...this.fixed);
    if (stream.clock) this.dispatchOneByOne(turn, reads, writes);
    else stream.replay(turn.recording, reads, writes);
    turn.value = stream.recordedValue;
    return results;
  }

  /** For profiles, which time each kernel. */
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
      // The value of a failed submission is never reached: wait no further than what was submitted.
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
    const barriers = new BarrierPlanner(this.program.results.map(({ inPlace }) => inPlace));
    return this.dispatches.map(({ kernel, shape, places }, i) => {
      const isAfterBarrier = barriers.add(places, shape.buffers);
      const push = kernel.isTabled
        ? [block.address + BigInt(this.tables[i])]
        : places.map((place) => this.addressOf(place, block));
      return { kernel: kernel.pipeline, push, groups: kernel.groups, isAfterBarrier };
    });
  }

  /** The push word of a buffer: its address, or the address of its address. */
  private addressOf(place: BufferPlace, block: ArgumentBlock): bigint {
    const moving = this.movingAt(place);
    if (moving) return block.address + BigInt((this.pointers.get(pointerKey(moving)) as Pointer).at);
    if (place.from === "arena") return (this.arena as DeviceBuffer).address + BigInt(place.start + place.offset);
    const { index, offset } = place;
    const arg = this.program.arguments[index];
    if (arg.kind === "fixed") return arg.memory.address + BigInt(offset);
    const before = scalarBytes(this.program.arguments.slice(0, index));
    return block.address + BigInt(this.scalarsAt + before);
  }

  private writeTable(block: ArgumentBlock, dispatch: number, allocationOf: (moving: MovingBuffer) => Allocation): void {
    this.dispatches[dispatch].places.forEach((place, i) => {
      const at = this.tables[dispatch] + 8 * i;
      const moving = this.movingAt(place);
      if (moving) putAddress(block.view, at, allocationOf(moving), moving.offset);
      else block.view.setBigUint64(at, this.addressOf(place, block), true);
    });
  }
}

const pointerKey = ({ from, index, offset }: MovingBuffer): string => `${from} ${index} ${offset}`;
