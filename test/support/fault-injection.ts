/**
 * Stands between the runtime and the driver: counts every call, keeps its own list of what the driver has created and
 * not destroyed, and makes the n-th call of a function fail without the driver hearing of it. Calls that would crash
 * the process, because their device is gone, are noted and not passed on.
 */
import {
  deviceSignatures,
  type FunctionName,
  globalSignatures,
  type Handle,
  type Interposer,
  instanceSignatures,
  type VulkanFunction,
} from "../../src/engines/vulkan/driver/api.js";
import { readPointer, viewOf } from "../../src/engines/vulkan/driver/native.js";
import type { TakenBytes } from "./card-count.js";

export interface Fault {
  readonly call: FunctionName;
  readonly result: number;
  /** Which call fails, counted from 1 since the fault was armed. */
  readonly at: number;
  /** How many calls fail from there on; 1 unless told. */
  readonly times?: number;
}

/** Creating functions: the kind of object, and which argument points to the new handle. */
const creators: Partial<Record<FunctionName, { kind: string; out: number }>> = {
  vkCreateInstance: { kind: "instance", out: 2 },
  vkCreateDevice: { kind: "device", out: 3 },
  vkAllocateMemory: { kind: "memory", out: 3 },
  vkCreateBuffer: { kind: "buffer", out: 3 },
  vkCreateSemaphore: { kind: "semaphore", out: 3 },
  vkCreateCommandPool: { kind: "command pool", out: 3 },
  vkCreateShaderModule: { kind: "shader module", out: 3 },
  vkCreateDescriptorSetLayout: { kind: "descriptor set layout", out: 3 },
  vkCreatePipelineLayout: { kind: "pipeline layout", out: 3 },
  vkCreateComputePipelines: { kind: "pipeline", out: 5 },
  vkCreatePipelineCache: { kind: "pipeline cache", out: 3 },
  vkCreateDescriptorPool: { kind: "descriptor pool", out: 3 },
  vkCreateQueryPool: { kind: "query pool", out: 3 },
  vkCreateDebugUtilsMessengerEXT: { kind: "messenger", out: 3 },
};
/** What pipeline-ahead.ts has in place of a handle until there is one. */
const NOT_YET = 2n ** 64n - 1n;
/** Destroying functions: the kind of object, and which argument is the handle. */
const destroyers: Partial<Record<FunctionName, { kind: string; at: number }>> = {
  vkDestroyInstance: { kind: "instance", at: 0 },
  vkDestroyDevice: { kind: "device", at: 0 },
  vkFreeMemory: { kind: "memory", at: 1 },
  vkDestroyBuffer: { kind: "buffer", at: 1 },
  vkDestroySemaphore: { kind: "semaphore", at: 1 },
  vkDestroyCommandPool: { kind: "command pool", at: 1 },
  vkDestroyShaderModule: { kind: "shader module", at: 1 },
  vkDestroyDescriptorSetLayout: { kind: "descriptor set layout", at: 1 },
  vkDestroyPipelineLayout: { kind: "pipeline layout", at: 1 },
  vkDestroyPipeline: { kind: "pipeline", at: 1 },
  vkDestroyPipelineCache: { kind: "pipeline cache", at: 1 },
  vkDestroyDescriptorPool: { kind: "descriptor pool", at: 1 },
  vkDestroyQueryPool: { kind: "query pool", at: 1 },
  vkDestroyDebugUtilsMessengerEXT: { kind: "messenger", at: 1 },
};

const signatures: Record<string, string> = { ...globalSignatures, ...instanceSignatures, ...deviceSignatures };
/** Device functions that do not take the device itself first. */
const takesAnother = /^vk(Cmd|Queue|BeginCommand|EndCommand)/;

const PUSH_DESCRIPTOR_PROPERTIES = 1000080000;
const OUT_OF_DEVICE_MEMORY = -2;
const MEMORY_BUDGET_PROPERTIES = 1000237000;
/** Offsets in VkPhysicalDeviceMemoryProperties2 and in the budget chained to it. */
const [HEAP_COUNT, HEAPS, HEAP_STRIDE, BUDGETS, USAGES] = [276, 280, 16, 16, 144];

/** A pretended card, whose memory the devices of several threads or processes share. */
export interface Card {
  readonly bytes: number;
  readonly taken: TakenBytes;
}

/** The size asked for in a VkMemoryAllocateInfo. */
const allocationSize = (info: Handle): number => Number(new DataView(viewOf(info, 24)).getBigUint64(16, true));

export class FaultyDriver {
  readonly counts = new Map<FunctionName, number>();
  /** What the driver was told that it must not be: a handle destroyed twice, a call on a closed device. */
  readonly violations: string[] = [];
  /** Called before each call that reaches the driver. */
  onCall: ((name: FunctionName, args: readonly Handle[]) => void) | null = null;
  /** How often the armed fault struck. */
  fired = 0;

  private readonly live = new Map<string, { kind: string; parent: string; count: number }>();
  private readonly making = new Set<{ readonly kind: string; readonly parent: Handle; readonly out: Handle }>();
  private fault: Fault | null = null;
  private seen = 0;

  /** Bytes of memory the driver has given out, by handle. */
  private readonly memory = new Map<string, number>();

  constructor(
    private readonly settings: {
      /** Pretend that the driver pushes at most so many descriptors. */
      readonly maxPushDescriptors?: number;
      /** Pretend that the device has so many bytes of memory in all. */
      readonly memoryLimit?: number;
      /** Pretend that the device's memory, all its heaps, is that of a card; the driver's budgets tell of it. */
      readonly card?: Card;
    } = {},
  ) {}

  get memoryBytes(): number {
    return [...this.memory.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Makes a coming call fail. One fault is armed at a time. */
  arm(fault: Fault): void {
    this.fault = fault;
    this.seen = 0;
    this.fired = 0;
  }

  disarm(): void {
    this.fault = null;
  }

  count(name: FunctionName): number {
    return this.counts.get(name) ?? 0;
  }

  /** Objects the driver has made and not destroyed, by kind. */
  get liveObjects(): Record<string, number> {
    const kinds: Record<string, number> = {};
    for (const { kind, count } of this.live.values()) kinds[kind] = (kinds[kind] ?? 0) + count;
    return kinds;
  }

  readonly interpose: Interposer = (name, call) => {
    const isDeviceCall = name in deviceSignatures && !takesAnother.test(name);
    const returns = (signatures[name] as string).split(":")[0];
    /** What to answer without asking the driver, or undefined to ask it. */
    const intercept = (args: readonly Handle[]): number | undefined => {
      this.counts.set(name, this.count(name) + 1);
      if (isDeviceCall && !this.live.has(`device ${args[0]}`)) {
        this.violations.push(`${name} was called on a device that does not exist`);
        return returns === "i32" ? -3 : 0;
      }
      if (name in instanceSignatures && this.liveObjects.instance === undefined) {
        this.violations.push(`${name} was called without an instance`);
        return returns === "i32" ? -3 : 0;
      }
      if (this.fault?.call === name) {
        this.seen++;
        const { at, times = 1, result } = this.fault;
        if (this.seen >= at && this.seen < at + times) {
          this.fired++;
          return result;
        }
      }
      const { memoryLimit } = this.settings;
      if (name === "vkAllocateMemory" && memoryLimit !== undefined) {
        if (this.memoryBytes + allocationSize(args[1] ?? 0) > memoryLimit) return OUT_OF_DEVICE_MEMORY;
      }
      if (name === "vkAllocateMemory" && !this.takeFromCard(allocationSize(args[1] ?? 0))) return OUT_OF_DEVICE_MEMORY;
      this.onCall?.(name, args);
      this.noteDestroyed(name, args);
      return undefined;
    };
    const done = (args: readonly Handle[], result: number): number => {
      const creator = creators[name];
      if (creator && result >= 0) this.noteCreated(creator.kind, args[0] ?? 0, readPointer(args[creator.out] ?? 0));
      if (name === "vkAllocateMemory" && result >= 0) {
        this.memory.set(String(readPointer(args[3] ?? 0)), allocationSize(args[1] ?? 0));
      }
      if (name === "vkGetPhysicalDeviceMemoryProperties2") this.showCard(args[1] ?? 0);
      if (name === "vkGetPhysicalDeviceProperties2") this.limitPushDescriptors(args[1] ?? 0);
      return result;
    };
    const wrapped: VulkanFunction = (...args) => {
      const answer = intercept(args);
      return answer === undefined ? done(args, call(...args)) : answer;
    };
    const later = call.async;
    if (later) {
      wrapped.async = async (...args) => {
        const answer = intercept(args);
        // Whoever waits for the handle to appear in memory may be done with it before this promise is heard of.
        const creator = creators[name];
        const making = creator && { kind: creator.kind, parent: args[0] ?? 0, out: args[creator.out] ?? 0 };
        if (answer !== undefined) {
          // As drivers do that fail.
          if (making) new DataView(viewOf(making.out, 8)).setBigUint64(0, 0n, true);
          return answer;
        }
        if (making) this.making.add(making);
        const result = await later(...args);
        this.noteMade();
        if (making) this.making.delete(making);
        return result;
      };
    }
    return wrapped;
  };

  /** What was begun on another thread and is there by now. */
  private noteMade(): void {
    for (const making of this.making) {
      const handle = readPointer(making.out);
      if (BigInt(handle) === 0n || BigInt(handle) === NOT_YET) continue;
      this.making.delete(making);
      this.noteCreated(making.kind, making.parent, handle);
    }
  }

  private noteCreated(kind: string, parent: Handle, handle: Handle): void {
    const key = `${kind} ${handle}`;
    const known = this.live.get(key);
    if (known) known.count++;
    else this.live.set(key, { kind, parent: `device ${parent}`, count: 1 });
  }

  private noteDestroyed(name: FunctionName, args: readonly Handle[]): void {
    const destroyer = destroyers[name];
    if (!destroyer) return;
    const handle = args[destroyer.at] ?? 0;
    if (Number(handle) === 0) return;
    this.noteMade();
    const key = `${destroyer.kind} ${handle}`;
    if (name === "vkFreeMemory") {
      this.takeFromCard(-(this.memory.get(String(handle)) ?? 0));
      this.memory.delete(String(handle));
    }
    const known = this.live.get(key);
    if (!known) this.violations.push(`${name} of a ${destroyer.kind} that does not exist`);
    else if (--known.count === 0) this.live.delete(key);
    if (name === "vkDestroyDevice") {
      const left = [...this.live.values()].filter(({ parent }) => parent === `device ${handle}`);
      if (left.length > 0) this.violations.push(`the device was destroyed before its ${left.map((l) => l.kind)}`);
    }
  }

  /** False when the card has not so many bytes left. */
  private takeFromCard(bytes: number): boolean {
    const { card } = this.settings;
    if (!card) return true;
    if (card.taken.add(bytes) <= card.bytes) return true;
    card.taken.add(-bytes);
    return false;
  }

  /** Heaps of the card's size, and budgets that leave out what others have taken. */
  private showCard(properties: Handle): void {
    const { card } = this.settings;
    if (!card) return;
    const own = BigInt(this.memoryBytes);
    const budget = BigInt(card.bytes - card.taken.total()) + own;
    const memory = new DataView(viewOf(properties, HEAPS + 16 * HEAP_STRIDE));
    const heaps = memory.getUint32(HEAP_COUNT, true);
    for (let i = 0; i < heaps; i++) memory.setBigUint64(HEAPS + HEAP_STRIDE * i, BigInt(card.bytes), true);
    for (let at = memory.getBigUint64(8, true); at !== 0n; ) {
      const view = new DataView(viewOf(at, 16));
      if (view.getUint32(0, true) === MEMORY_BUDGET_PROPERTIES) {
        const told = new DataView(viewOf(at, USAGES + 8 * 16));
        for (let i = 0; i < heaps; i++) told.setBigUint64(BUDGETS + 8 * i, budget, true);
        for (let i = 0; i < heaps; i++) told.setBigUint64(USAGES + 8 * i, own, true);
      }
      at = view.getBigUint64(8, true);
    }
  }

  /** A driver with few push descriptors, so that small kernels take both ways of binding. */
  private limitPushDescriptors(properties: Handle): void {
    const most = this.settings.maxPushDescriptors;
    if (most === undefined) return;
    for (let at = BigInt(properties); at !== 0n; ) {
      const view = new DataView(viewOf(at, 24));
      if (view.getUint32(0, true) === PUSH_DESCRIPTOR_PROPERTIES) view.setUint32(16, most, true);
      at = view.getBigUint64(8, true);
    }
  }
}
