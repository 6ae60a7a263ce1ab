/**
 * Descriptor sets for foreign SPIR-V: storage buffers at set 0, bindings 0…n-1. Where the driver has push descriptors
 * the buffers are written straight into the command buffer; elsewhere, and for kernels with more bindings than that
 * allows, sets come from pools that return when their batch is done. Our own kernels use addresses and need none.
 */
import {
  BindPointCompute,
  DescriptorStorageBuffer,
  type DeviceFunction,
  type FunctionTable,
  type Handle,
  ShaderStageCompute,
} from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { addressOf, type Bytes } from "../driver/native.js";
import { check } from "../driver/results.js";
import { Arena, putU64 } from "../driver/structs.js";
import type { Allocation } from "../memory/memory-pool.js";

const SETS_PER_POOL = 64;
const BUFFERS_PER_POOL = 512;

interface SetPool {
  readonly handle: Handle;
  /** Buffers it can hold. */
  readonly capacity: number;
  sets: number;
  buffers: number;
}

interface PipelineLayout {
  readonly layout: Handle;
  readonly setLayout: Handle;
  readonly isPushed: boolean;
}

interface WriteTemplate {
  readonly bytes: Bytes;
  readonly writes: number;
  readonly infos: number;
}

export interface BoundBuffer {
  readonly allocation: Allocation;
  readonly range: number;
}

export class DescriptorSets {
  private readonly layouts = new Map<string, PipelineLayout>();
  private readonly byHandle = new Map<Handle, PipelineLayout>();
  private readonly idle: SetPool[] = [];
  private readonly busy = new Map<Handle, SetPool[]>();
  private readonly templates = new Map<number, WriteTemplate>();
  private readonly arena = new Arena();

  constructor(
    private readonly calls: FunctionTable<DeviceFunction>,
    private readonly device: Handle,
    private readonly maxPushed: number,
  ) {}

  /** The pipeline layout for a number of storage buffers and a push block; made once. */
  layoutFor(bindings: number, pushBytes: number): Handle {
    const key = `${bindings}:${pushBytes}`;
    const known = this.layouts.get(key);
    if (known) return known.layout;
    const { calls, device } = this;
    const arena = new Arena(1024 + bindings * L.VkDescriptorSetLayoutBinding.size);
    const out = arena.room(8);
    const isPushed = bindings > 0 && bindings <= this.maxPushed;
    const list = Array.from({ length: bindings }, (_, binding) => ({
      binding,
      descriptorType: DescriptorStorageBuffer,
      descriptorCount: 1,
      stageFlags: ShaderStageCompute,
    }));
    const setInfo = arena.pack(L.VkDescriptorSetLayoutCreateInfo, {
      flags: isPushed ? 1 : 0,
      bindingCount: bindings,
      pBindings: arena.packArray(L.VkDescriptorSetLayoutBinding, list),
    });
    check("vkCreateDescriptorSetLayout", calls.vkCreateDescriptorSetLayout(device, setInfo, 0, out));
    const setLayout = arena.handle(out);
    const range = arena.pack(L.VkPushConstantRange, { stageFlags: ShaderStageCompute, offset: 0, size: pushBytes });
    const info = arena.pack(L.VkPipelineLayoutCreateInfo, {
      setLayoutCount: 1,
      pSetLayouts: arena.u64s([setLayout]),
      pushConstantRangeCount: pushBytes > 0 ? 1 : 0,
      pPushConstantRanges: range,
    });
    const result = calls.vkCreatePipelineLayout(device, info, 0, out);
    if (result < 0) {
      calls.vkDestroyDescriptorSetLayout(device, setLayout, 0);
      check("vkCreatePipelineLayout", result);
    }
    const made = { layout: arena.handle(out), setLayout, isPushed };
    this.layouts.set(key, made);
    this.byHandle.set(made.layout, made);
    return made.layout;
  }

  /** Binds buffers for the next dispatch in a command buffer. */
  bind(commands: Handle, layout: Handle, bound: readonly BoundBuffer[]): void {
    if (bound.length === 0) return;
    const { setLayout, isPushed } = this.byHandle.get(layout) as PipelineLayout;
    const { calls } = this;
    const template = this.templateFor(bound.length);
    const { view } = template.bytes;
    for (let i = 0, at = template.infos; i < bound.length; i++, at += L.VkDescriptorBufferInfo.size) {
      const { allocation, range } = bound[i] as BoundBuffer;
      putU64(view, at, allocation.block.buffer);
      putU64(view, at + 8, allocation.offset);
      putU64(view, at + 16, range);
    }
    const writes = template.bytes.address + template.writes;
    if (isPushed) calls.vkCmdPushDescriptorSetKHR(commands, BindPointCompute, layout, 0, bound.length, writes);
    else {
      const set = this.allocate(commands, setLayout, bound.length);
      const dstSet = L.VkWriteDescriptorSet.fields.get("dstSet")?.offset ?? 0;
      for (let i = 0; i < bound.length; i++) {
        putU64(view, template.writes + i * L.VkWriteDescriptorSet.size + dstSet, set);
      }
      calls.vkUpdateDescriptorSets(this.device, bound.length, writes, 0, 0);
      calls.vkCmdBindDescriptorSets(commands, BindPointCompute, layout, 0, 1, this.arena.u64s([set]), 0, 0);
    }
  }

  /** Packed writes for n storage buffers, complete but for handles, offsets and ranges. Packing them for each dispatch would cost
   * more than the driver's part of it. */
  private templateFor(count: number): WriteTemplate {
    const known = this.templates.get(count);
    if (known) return known;
    const { VkWriteDescriptorSet: W, VkDescriptorBufferInfo: B } = L;
    const bytes = addressOf(count * (W.size + B.size));
    const template = { bytes, writes: 0, infos: count * W.size };
    const field = (name: string) => W.fields.get(name)?.offset ?? 0;
    for (let i = 0; i < count; i++) {
      const at = i * W.size;
      bytes.view.setUint32(at, W.sType ?? 0, true);
      bytes.view.setUint32(at + field("dstBinding"), i, true);
      bytes.view.setUint32(at + field("descriptorCount"), 1, true);
      bytes.view.setUint32(at + field("descriptorType"), DescriptorStorageBuffer, true);
      putU64(bytes.view, at + field("pBufferInfo"), bytes.address + template.infos + i * B.size);
    }
    this.templates.set(count, template);
    return template;
  }

  /** Takes back the pools a finished batch used. */
  recycle(commands: Handle): void {
    const pools = this.busy.get(commands);
    if (!pools) return;
    this.busy.delete(commands);
    for (const pool of pools) {
      if (this.calls.vkResetDescriptorPool(this.device, pool.handle, 0) < 0) {
        this.calls.vkDestroyDescriptorPool(this.device, pool.handle, 0);
        continue;
      }
      pool.sets = 0;
      pool.buffers = 0;
      this.idle.push(pool);
    }
  }

  destroy(): void {
    const { calls, device } = this;
    for (const pool of [...this.idle, ...[...this.busy.values()].flat()]) {
      calls.vkDestroyDescriptorPool(device, pool.handle, 0);
    }
    for (const { layout, setLayout } of this.layouts.values()) {
      calls.vkDestroyPipelineLayout(device, layout, 0);
      calls.vkDestroyDescriptorSetLayout(device, setLayout, 0);
    }
    this.layouts.clear();
    this.byHandle.clear();
    this.idle.length = 0;
    this.busy.clear();
  }

  private allocate(commands: Handle, setLayout: Handle, buffers: number): Handle {
    let pools = this.busy.get(commands);
    if (!pools) {
      pools = [];
      this.busy.set(commands, pools);
    }
    let pool = pools[pools.length - 1];
    if (!pool || pool.sets >= SETS_PER_POOL || pool.buffers + buffers > pool.capacity) {
      const idle = this.idle.findLastIndex(({ capacity }) => capacity >= buffers);
      pool = this.idle.splice(idle, idle < 0 ? 0 : 1)[0] ?? this.createPool(Math.max(BUFFERS_PER_POOL, buffers));
      pools.push(pool);
    }
    const { arena } = this;
    arena.reset();
    const out = arena.room(8);
    const info = arena.pack(L.VkDescriptorSetAllocateInfo, {
      descriptorPool: pool.handle,
      descriptorSetCount: 1,
      pSetLayouts: arena.u64s([setLayout]),
    });
    check("vkAllocateDescriptorSets", this.calls.vkAllocateDescriptorSets(this.device, info, out));
    pool.sets++;
    pool.buffers += buffers;
    return arena.handle(out);
  }

  private createPool(buffers: number): SetPool {
    const arena = new Arena(1024);
    const out = arena.room(8);
    const size = arena.pack(L.VkDescriptorPoolSize, { type: DescriptorStorageBuffer, descriptorCount: buffers });
    const info = arena.pack(L.VkDescriptorPoolCreateInfo, {
      maxSets: SETS_PER_POOL,
      poolSizeCount: 1,
      pPoolSizes: size,
    });
    check("vkCreateDescriptorPool", this.calls.vkCreateDescriptorPool(this.device, info, 0, out));
    return { handle: arena.handle(out), capacity: buffers, sets: 0, buffers: 0 };
  }
}
