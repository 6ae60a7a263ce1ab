/**
 * Commands recorded once and replayed many times: a secondary command buffer of dispatches and barriers. The stream runs
 * it like one big command (`Stream.replay`), any number of times, also while earlier replays are still under way.
 */
import {
  Access,
  BindPointCompute,
  type DeviceFunction,
  type FunctionTable,
  type Handle,
  PipelineStage,
  ShaderStageCompute,
} from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { addressOf } from "../driver/native.js";
import { check, resultError } from "../driver/results.js";
import { Arena } from "../driver/structs.js";
import type { Dispatchable } from "./stream.js";

export interface RecordedDispatch {
  readonly kernel: Dispatchable;
  /** The addresses of its buffers, or of their table. */
  readonly push: readonly bigint[];
  readonly groups: readonly [number, number, number];
  /** Whether a barrier comes before it. */
  readonly isAfterBarrier: boolean;
}

interface RecordingOwner {
  readonly calls: FunctionTable<DeviceFunction>;
  readonly handle: Handle;
  readonly queueFamily: number;
}

const SECONDARY = 1;
const SIMULTANEOUS_USE = 4;

export class Recording {
  readonly commands: Handle;
  /** The number of dispatches. */
  readonly length: number;
  readonly barriers: number;
  private readonly pool: Handle;

  constructor(
    readonly name: string,
    private readonly owner: RecordingOwner,
    dispatches: readonly RecordedDispatch[],
  ) {
    const { calls, handle, queueFamily } = owner;
    const arena = new Arena(1024);
    const out = arena.room(8);
    const poolInfo = arena.pack(L.VkCommandPoolCreateInfo, { flags: 0, queueFamilyIndex: queueFamily });
    check("vkCreateCommandPool", calls.vkCreateCommandPool(handle, poolInfo, 0, out));
    this.pool = arena.handle(out);
    try {
      const info = arena.pack(L.VkCommandBufferAllocateInfo, {
        commandPool: this.pool,
        level: SECONDARY,
        commandBufferCount: 1,
      });
      check("vkAllocateCommandBuffers", calls.vkAllocateCommandBuffers(handle, info, out));
      this.commands = arena.handle(out);
      this.write(dispatches, arena);
    } catch (error) {
      this.destroy();
      throw error;
    }
    this.length = dispatches.length;
    this.barriers = dispatches.filter(({ isAfterBarrier }) => isAfterBarrier).length;
  }

  private write(dispatches: readonly RecordedDispatch[], arena: Arena): void {
    const { calls } = this.owner;
    const { commands } = this;
    const push = addressOf(256);
    const barrier = arena.pack(L.VkMemoryBarrier, {
      srcAccessMask: Access.shaderWrite,
      dstAccessMask: Access.shaderRead | Access.shaderWrite,
    });
    const begin = arena.pack(L.VkCommandBufferBeginInfo, {
      flags: SIMULTANEOUS_USE,
      pInheritanceInfo: arena.pack(L.VkCommandBufferInheritanceInfo, {}),
    });
    check("vkBeginCommandBuffer", calls.vkBeginCommandBuffer(commands, begin));
    let bound: Handle = 0;
    for (const { kernel, push: words, groups, isAfterBarrier } of dispatches) {
      if (isAfterBarrier) {
        const { compute } = PipelineStage;
        calls.vkCmdPipelineBarrier(commands, compute, compute, 0, 1, barrier, 0, 0, 0, 0);
      }
      if (bound !== kernel.pipeline) calls.vkCmdBindPipeline(commands, BindPointCompute, kernel.pipeline);
      bound = kernel.pipeline;
      words.forEach((word, i) => {
        push.view.setBigUint64(8 * i, word, true);
      });
      if (kernel.pushBytes > 0) {
        calls.vkCmdPushConstants(commands, kernel.layout, ShaderStageCompute, 0, kernel.pushBytes, push.address);
      }
      calls.vkCmdDispatch(commands, ...groups);
    }
    const result = calls.vkEndCommandBuffer(commands);
    if (result < 0) throw resultError("vkEndCommandBuffer", result);
  }

  /** The GPU must have passed its last replay. */
  destroy(): void {
    this.owner.calls.vkDestroyCommandPool(this.owner.handle, this.pool, 0);
  }
}
