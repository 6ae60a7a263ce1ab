/**
 * Recorded programs on a device that only takes notes: the barriers between dispatches, the addresses that kernels get, the
 * memory that a run reads and writes, and turns that wait for the device. No driver is needed.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BufferPlace, ProgramArgument, RecordableProgram } from "../../../../src/engines/engine.js";
import type { VulkanDevice } from "../../../../src/engines/vulkan/device.js";
import type { Handle } from "../../../../src/engines/vulkan/driver/api.js";
import { viewOf } from "../../../../src/engines/vulkan/driver/native.js";
import type { DeviceBuffer } from "../../../../src/engines/vulkan/memory/buffer.js";
import type { LoadedPipeline } from "../../../../src/engines/vulkan/pipelines/loaded-pipeline.js";
import { VulkanProgram } from "../../../../src/engines/vulkan/submission/recorded-program.js";

/** Memory at an address, known by its name. */
function memoryAt(name: string, address: number): DeviceBuffer {
  const allocation = { name, block: { addressLow: address, addressHigh: 0 }, offset: 0 };
  return { address: BigInt(address), contents: () => allocation } as unknown as DeviceBuffer;
}

const BLOCK = 0x1000n;
const ARENA = 0x20000;

/** A device that takes notes. `isProfiled`: dispatches come one by one, with their push words. */
function notingDevice(isProfiled = false) {
  const commands: string[] = [];
  /** The words of the structs that barriers and beginnings name, without their headers. */
  const structs: Record<string, number[]> = {};
  const wordsAt = (address: Handle, count: number) => [...new Uint32Array(viewOf(address, 16 + 4 * count)).subarray(4)];
  const call = (name: string, args: readonly Handle[]): number => {
    commands.push(name);
    if (name === "vkCmdPipelineBarrier") structs[name] = wordsAt(args[5]!, 2);
    if (name === "vkBeginCommandBuffer") structs[name] = wordsAt(args[1]!, 1);
    return 0;
  };
  const calls = new Proxy(
    {},
    {
      get:
        (_, name: string) =>
        (...args: Handle[]) =>
          call(name, args),
    },
  );
  const runs: { readonly reads: string[]; readonly writes: string[] }[] = [];
  const pushed: bigint[][] = [];
  const waits: number[] = [];
  const blocks: DataView[] = [];
  const names = (list: readonly { readonly name?: string }[]) => list.map(({ name }) => String(name));
  const timeline = { completed: 0, poll: () => timeline.completed, waitSync: (value: number) => waits.push(value) };
  const stream = {
    clock: isProfiled ? {} : null,
    timeline,
    recordedValue: 0,
    push: { view: new DataView(new ArrayBuffer(256)) },
    flush: () => stream.recordedValue,
    whenDone: (work: () => void) => work(),
    replay: (_: unknown, reads: [], writes: []) => {
      stream.recordedValue++;
      runs.push({ reads: names(reads), writes: names(writes) });
    },
    dispatch: ({ pushBytes }: { pushBytes: number }) => {
      pushed.push(Array.from({ length: pushBytes / 8 }, (_, i) => stream.push.view.getBigUint64(8 * i, true)));
    },
  };
  const allocated: number[] = [];
  const device = {
    calls,
    handle: 1,
    queueFamily: 0,
    stream,
    hold: () => {},
    allocUninitialized: (byteLength: number) => {
      allocated.push(byteLength);
      return byteLength === ARENA_BYTES ? memoryAt("arena", ARENA) : memoryAt(`new ${byteLength}`, 0x90000);
    },
    argumentBlock: (byteLength: number) => {
      const view = new DataView(new ArrayBuffer(byteLength));
      blocks.push(view);
      return { address: BLOCK, view, free: () => {} };
    },
  } as unknown as VulkanDevice;
  return { device, commands, structs, runs, pushed, waits, blocks, timeline, stream, allocated };
}

const ARENA_BYTES = 4096;

interface Kernel {
  readonly reads?: readonly BufferPlace[];
  readonly writes?: readonly BufferPlace[];
  readonly isTabled?: boolean;
}

function programOf(
  kernels: readonly Kernel[],
  args: readonly ProgramArgument<DeviceBuffer>[] = [memory, memory],
  results: RecordableProgram<DeviceBuffer, LoadedPipeline>["results"] = [{ byteLength: 64, inPlace: -1 }],
): RecordableProgram<DeviceBuffer, LoadedPipeline> {
  const dispatches = kernels.map(({ reads = [], writes = [], isTabled = false }, i) => {
    const buffers = [...reads, ...writes];
    const pipeline = { name: `kernel ${i}`, pipeline: i + 1, layout: 1, pushBytes: isTabled ? 8 : 8 * buffers.length };
    const kernel = { pipeline, groups: [1, 1, 1], isTabled } as unknown as LoadedPipeline;
    const shape = { name: pipeline.name, buffers: buffers.map((_, at) => ({ isWritten: at >= reads.length })) };
    return { kernel, shape, buffers };
  });
  return { arguments: args, results, arenaBytes: ARENA_BYTES, dispatches: () => dispatches };
}

const memory = { kind: "memory", isDonated: true } as const;
const scalar = { kind: "scalar", dtype: "f32" } as const;
const arena = (start: number, offset = 0): BufferPlace => ({ from: "arena", start, byteLength: 64, offset });
const argument = (index: number, offset = 0): BufferPlace => ({ from: "argument", index, offset });
const result = (index: number, offset = 0): BufferPlace => ({ from: "result", index, offset });
const given = [memoryAt("x", 0x50000), memoryAt("y", 0x60000)];

/** The dispatches that a run records, with the barriers between them. */
function recordedOf(kernels: readonly Kernel[], inPlace = -1): string[] {
  const { device, commands } = notingDevice();
  const program = programOf(kernels, [memory, memory], [{ byteLength: 64, inPlace }]);
  new VulkanProgram(device, program).run(given, [], [false, false]);
  return commands.flatMap((name) =>
    name === "vkCmdDispatch" ? ["dispatch"] : name === "vkCmdPipelineBarrier" ? ["barrier"] : [],
  );
}

describe("barriers of a recording", () => {
  test("a kernel waits for one that writes what it reads", () => {
    const kernels = [{ writes: [arena(0)] }, { reads: [arena(0)], writes: [result(0)] }];
    assert.deepEqual(recordedOf(kernels), ["dispatch", "barrier", "dispatch"]);
  });

  test("a kernel waits for one that reads what it writes", () => {
    const kernels = [{ reads: [arena(0)], writes: [arena(64)] }, { writes: [arena(0)] }];
    assert.deepEqual(recordedOf(kernels), ["dispatch", "barrier", "dispatch"]);
  });

  test("a kernel whose result may overwrite an argument waits for the readers of that argument, in every run", () => {
    const kernels = [
      { reads: [argument(0)], writes: [arena(0)] },
      { reads: [argument(1)], writes: [result(0)] },
    ];
    assert.deepEqual(recordedOf(kernels, 0), ["dispatch", "barrier", "dispatch"]);
    assert.deepEqual(recordedOf(kernels, -1), ["dispatch", "dispatch"]);
  });

  test("kernels that only read the same memory do not wait", () => {
    const kernels = [
      { reads: [argument(0)], writes: [arena(0)] },
      { reads: [argument(0)], writes: [arena(64)] },
    ];
    assert.deepEqual(recordedOf(kernels), ["dispatch", "dispatch"]);
  });
});

test("a barrier makes writes visible to reads and writes, and a recording may be replayed while it runs", () => {
  const { device, structs } = notingDevice();
  const kernels = [{ writes: [arena(0)] }, { writes: [arena(0)] }];
  new VulkanProgram(device, programOf(kernels)).run(given, [], [false, false]);
  const [SHADER_READ, SHADER_WRITE, SIMULTANEOUS_USE] = [0x20, 0x40, 4];
  assert.deepEqual(structs, {
    vkBeginCommandBuffer: [SIMULTANEOUS_USE],
    vkCmdPipelineBarrier: [SHADER_WRITE, SHADER_READ | SHADER_WRITE],
  });
});

test("a pipeline is bound where another one was, and once where kernels in a row share it", () => {
  const { device, commands } = notingDevice();
  const program = programOf([{ writes: [arena(0)] }, { writes: [arena(64)] }]);
  const [first, second] = [...program.dispatches()];
  const dispatches = [first!, first!, second!, first!];
  new VulkanProgram(device, { ...program, dispatches: () => dispatches }).run(given, [], [false, false]);
  const told = commands.filter((name) => /Bind|Dispatch/.test(name)).map((name) => name.slice("vkCmd".length));
  const bound = ["BindPipeline", "Dispatch"];
  assert.deepEqual(told, [...bound, "Dispatch", ...bound, ...bound]);
});

describe("memory of a run", () => {
  const kernels = [{ reads: [argument(0), argument(1)], writes: [result(0)] }];

  test("a run reads its arguments and the memory that stays, and writes its results and the arena", () => {
    const { device, runs } = notingDevice();
    const fixed = { kind: "fixed", memory: memoryAt("table", 0x70000) } as const;
    new VulkanProgram(device, programOf(kernels, [memory, fixed])).run([given[0]!], [], [false]);
    assert.deepEqual(runs, [{ reads: ["x", "table"], writes: ["new 64", "arena"] }]);
  });

  test("a result takes over an argument's memory only in calls that donate it", () => {
    const { device, runs, allocated } = notingDevice();
    const program = new VulkanProgram(device, programOf(kernels, [memory, memory], [{ byteLength: 64, inPlace: 1 }]));
    assert.equal(program.run(given, [], [false, true])[0], given[1]);
    assert.notEqual(program.run(given, [], [true, false])[0], given[1]);
    assert.deepEqual(allocated, [ARENA_BYTES, 64]);
    assert.deepEqual(
      runs.map(({ writes }) => writes[0]),
      ["y", "new 64"],
    );
  });
});

describe("addresses that kernels get", () => {
  /** The push words of each dispatch, and the block of memory that changes from run to run. */
  function addressesOf(kernels: readonly Kernel[], args: readonly ProgramArgument<DeviceBuffer>[] = [memory, memory]) {
    const { device, pushed, blocks } = notingDevice(true);
    const scalars = args.filter(({ kind }) => kind === "scalar").map((_, i) => i + 0.5);
    const count = args.filter(({ kind }) => kind === "memory").length;
    new VulkanProgram(device, programOf(kernels, args)).run(given.slice(0, count), scalars, []);
    const wordAt = (at: bigint): bigint => blocks[0]!.getBigUint64(Number(at - BLOCK), true);
    return { pushed, wordAt, block: blocks[0]! };
  }

  test("a value between kernels is at its place in the arena, its offset added", () => {
    const { pushed } = addressesOf([{ reads: [arena(128)], writes: [arena(256, 32)] }]);
    assert.deepEqual(pushed, [[BigInt(ARENA + 128), BigInt(ARENA + 288)]]);
  });

  test("arguments and results are found through the block, each offset by a pointer of its own", () => {
    const { pushed, wordAt } = addressesOf([
      { reads: [argument(0), argument(0, 16)], writes: [result(0)] },
      { reads: [argument(1), argument(0)], writes: [result(0, 4)] },
    ]);
    assert.deepEqual(
      pushed.map((words) => words.map(wordAt)),
      [
        [0x50000n, 0x50010n, 0x90000n],
        [0x60000n, 0x50000n, 0x90004n],
      ],
    );
  });

  test("numbers lie in the block, one after another", () => {
    const args = [scalar, memory, scalar];
    const { pushed, block } = addressesOf(
      [{ reads: [argument(0), argument(1), argument(2)], writes: [result(0)] }],
      args,
    );
    const numberAt = (at: bigint): number => block.getFloat32(Number(at - BLOCK), true);
    assert.deepEqual([numberAt(pushed[0]![0]!), numberAt(pushed[0]![2]!)], [0.5, 1.5]);
  });

  test("a kernel with a table gets its address, and tables do not meet", () => {
    const kernel = { reads: [argument(0), arena(64)], writes: [result(0)], isTabled: true };
    const { pushed, wordAt } = addressesOf([kernel, { ...kernel, reads: [argument(1), arena(0)] }]);
    const tables = pushed.map(([at]) => [0n, 8n, 16n].map((offset) => wordAt(at! + offset)));
    assert.deepEqual(tables, [
      [0x50000n, BigInt(ARENA + 64), 0x90000n],
      [0x60000n, BigInt(ARENA), 0x90000n],
    ]);
  });
});

describe("turns", () => {
  const kernels = [{ reads: [argument(0)], writes: [result(0)] }];

  test("a run takes a block that the device has read, else a new one, and waits where there are many", () => {
    const { device, blocks, waits, timeline, stream } = notingDevice();
    const program = new VulkanProgram(device, programOf(kernels));
    const run = () => program.run(given, [], [false, false]);
    for (let i = 0; i < 3; i++) run();
    assert.equal(blocks.length, 3, "none has been read yet");
    timeline.completed = stream.recordedValue;
    for (let i = 0; i < 3; i++) run();
    assert.equal(blocks.length, 3, "all have been read");
    for (let i = 0; i < 29; i++) run();
    assert.deepEqual([blocks.length, waits], [32, []]);
    run();
    assert.deepEqual([blocks.length, waits], [32, [4]], "waits for the run that has the oldest block");
  });
});
