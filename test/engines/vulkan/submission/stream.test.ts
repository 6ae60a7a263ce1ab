/**
 * Barriers of the stream, without a driver: the function table is a fake that keeps the order of commands. Drivers that run
 * commands in order hide a missing barrier, so this is where one is noticed.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DeviceFunction, FunctionTable } from "../../../../src/engines/vulkan/driver/api.js";
import type { Allocation } from "../../../../src/engines/vulkan/memory/memory-pool.js";
import type { DescriptorSets } from "../../../../src/engines/vulkan/pipelines/descriptors.js";
import { type Dispatchable, Stream } from "../../../../src/engines/vulkan/submission/stream.js";
import { randomFrom } from "../../../support/random.js";

/** A stream whose driver only writes down which commands it is given. */
function recordingStream() {
  const commands: string[] = [];
  const calls = new Proxy({} as FunctionTable<DeviceFunction>, {
    get: (_, name: string) => () => {
      if (name.startsWith("vkCmd")) commands.push(name);
      return 0;
    },
  });
  const owner = { calls, handle: 0, queue: 0, queueFamily: 0, isSoftware: true };
  const decisions = { assertAlive: () => {}, collect: () => false, copyKernel: () => null };
  const descriptors = { recycle: () => {} } as unknown as DescriptorSets;
  return { stream: new Stream({ ...owner, ...decisions }, descriptors), commands };
}

const buffer = (): Allocation =>
  ({ block: { buffer: 0, address: 0n }, offset: 0, size: 16, readEpoch: 0, writeEpoch: 0 }) as unknown as Allocation;

const kernel: Dispatchable = { name: "kernel", pipeline: 1, layout: 1, pushBytes: 0 };

interface Command {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

/** Whether a barrier stands before each command, the first included: every batch begins with one. */
function barriersBefore(sequence: readonly Command[]): boolean[] {
  const { stream, commands } = recordingStream();
  const buffers = Array.from({ length: 4 }, buffer);
  return sequence.map(({ reads, writes }) => {
    const from = commands.length;
    const pick = (indices: readonly number[]) => indices.map((i) => buffers[i]!);
    stream.dispatch(kernel, pick(reads), pick(writes), 1, 1, 1);
    return commands.slice(from).includes("vkCmdPipelineBarrier");
  });
}

describe("a barrier stands between two kernels", () => {
  const rows: [claim: string, first: Command, second: Command, isExpected: boolean][] = [
    ["when the second reads what the first wrote", { reads: [], writes: [0] }, { reads: [0], writes: [1] }, true],
    ["when the second writes what the first read", { reads: [0], writes: [1] }, { reads: [], writes: [0] }, true],
    ["when both write the same memory", { reads: [], writes: [0] }, { reads: [], writes: [0] }, true],
    ["when the second updates what the first read", { reads: [0], writes: [1] }, { reads: [0], writes: [0] }, true],
    ["but not when both read", { reads: [0], writes: [1] }, { reads: [0], writes: [2] }, false],
    ["but not when they share nothing", { reads: [0], writes: [1] }, { reads: [2], writes: [3] }, false],
  ];
  for (const [claim, first, second, isExpected] of rows) {
    test(claim, () => assert.deepEqual(barriersBefore([first, second]), [true, isExpected]));
  }
});

test("a barrier orders everything before it: what met it needs no second one", () => {
  const write = { reads: [], writes: [0] };
  const read = { reads: [0], writes: [1] };
  const other = { reads: [0], writes: [2] };
  assert.deepEqual(barriersBefore([write, read, other]), [true, true, false]);
});

test("copies and fills are ordered like kernels, whichever way the data goes", () => {
  const { stream, commands } = recordingStream();
  const [a, b] = [buffer(), buffer()];
  stream.fill(a, 16);
  stream.copy(a, 0, b, 0, 16); // reads what was filled
  stream.fill(a, 16); // writes what was copied
  stream.upload(null, buffer(), b, 0, 16); // writes another that was written
  const names = commands.map((name) => name.replace("vkCmd", ""));
  const [barrier, fill, copy] = ["PipelineBarrier", "FillBuffer", "CopyBuffer"];
  assert.deepEqual(names, [barrier, fill, barrier, copy, barrier, fill, copy]);
});

test("on random sequences there is a barrier exactly where accesses since the last one conflict", () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = randomFrom(seed);
    const some = () => [0, 1, 2, 3].filter(() => random.below(4) === 0);
    const sequence = Array.from({ length: 12 }, () => ({ reads: some(), writes: some() }));
    let since: Command[] = [];
    const expected = sequence.map((command, i) => {
      const meets = (x: readonly number[], y: readonly number[]) => x.some((buffer) => y.includes(buffer));
      const isConflict = since.some(
        ({ reads, writes }) =>
          meets(command.reads, writes) || meets(command.writes, writes) || meets(command.writes, reads),
      );
      since = isConflict ? [command] : [...since, command];
      return isConflict || i === 0;
    });
    assert.deepEqual(barriersBefore(sequence), expected, `seed ${seed}`);
  }
});
