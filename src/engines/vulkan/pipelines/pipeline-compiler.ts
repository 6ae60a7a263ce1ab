/**
 * Compiles SPIR-V to pipelines. A module is read, checked against the device's plan and compiled once per (module, entry
 * point, specialisation), under the SHA-256 of those. A pipeline lives as long as someone holds it.
 */
import { createHash } from "node:crypto";
import { ArgumentError, UnsupportedError } from "../../../core/errors.js";
import { type Binding, type EntryInterface, type ModuleInterface, reflect } from "../../../spirv/read/reflect.js";
import { debug, debugText, showsStatistics } from "../../debug.js";
import { KEPT_KERNELS, KernelCache } from "../../kernel-cache.js";
import type { CompileSpan } from "../../profile.js";
import { type DeviceFunction, type FunctionTable, type Handle, ShaderStageCompute } from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { addressOf, MAX_CALLS_AHEAD } from "../driver/native.js";
import { check } from "../driver/results.js";
import { Arena, handleAt } from "../driver/structs.js";
import type { DevicePlan, PhysicalDevice } from "../plan.js";
import type { Dispatchable } from "../submission/stream.js";
import { capabilityName, refuseCapability } from "./capability-features.js";
import type { DescriptorSets } from "./descriptors.js";
import { CAPTURE_STATISTICS, executableStatistics } from "./executable-statistics.js";
import { PipelineAhead } from "./pipeline-ahead.js";
import type { PipelineCacheFile } from "./pipeline-cache.js";
import { checkSpecialization, packSpecialization, type SpecializationValue } from "./specialization.js";

/** Options of `device.kernel`. */
export interface KernelOptions {
  /** Entry point; "main" unless told. */
  readonly entry?: string;
  /** Values by constant id. */
  readonly specialization?: Readonly<Record<number, SpecializationValue>>;
  /** Name for errors, profiles and debug output. */
  readonly name?: string;
  /** Subgroup size to insist on, where the device can choose. */
  readonly subgroupSize?: number;
  /**
   * Have Khronos' spirv-val judge the module before the driver sees it, for code from elsewhere. It must be installed, and takes
   * some milliseconds each time. It makes crashes of the driver rarer; code that must not be trusted belongs in a process of its own.
   */
  readonly validate?: boolean;
  /** Let another thread make it, and wait for it at its first use. */
  readonly ahead?: boolean;
}

/** The handle is destroyed with this object: a recording that uses the handle must hold the object, or a `renamed` one. */
export interface Pipeline extends Dispatchable, EntryInterface {
  readonly pushBytes: number;
  readonly key: string;
}

/** A pipeline that the driver may still be compiling. */
interface PendingPipeline {
  readonly value: Handle;
  /** Ends the compilation where nobody needs it; returns the handle to destroy, or null. */
  giveUp(): Handle | null;
}

/** Pipelines that other threads are making, on all devices: calls that koffi has not yet reported back. */
let callsAhead = 0;

export class PipelineCompiler {
  private readonly pipelines = new KernelCache<Pipeline, PendingPipeline>((pipeline) =>
    this.whenUnused(() => this.destroyPipeline(pipeline)),
  );
  /** Interfaces of recently compiled modules: another specialisation of one need not read it again. */
  private readonly modules = new Map<string, ModuleInterface>();
  compiled = 0;
  /** While a profile is open: where compilations are noted. */
  watched: CompileSpan[] | null = null;

  constructor(
    private readonly calls: FunctionTable<DeviceFunction>,
    private readonly device: Handle,
    private readonly physical: PhysicalDevice,
    private readonly plan: DevicePlan,
    private readonly descriptors: DescriptorSets,
    private readonly cache: PipelineCacheFile,
    /** Runs an action once the GPU has finished everything recorded so far. */
    private readonly whenUnused: (action: () => void) => void,
  ) {}

  get size(): number {
    return this.pipelines.size;
  }

  private get hasStatistics(): boolean {
    return showsStatistics && this.plan.features.includes("pipelineExecutableInfo");
  }

  compile(words: Uint32Array, options: KernelOptions = {}): Pipeline {
    const entry = options.entry ?? "main";
    const specialization = new Map(
      Object.entries(options.specialization ?? {}).map(([id, value]) => [Number(id), value] as const),
    );
    const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    const moduleKey = createHash("sha256").update(bytes).digest("hex");
    const settings = [entry, options.subgroupSize ?? 0, ...[...specialization].sort((a, b) => a[0] - b[0]).flat()];
    const key = `${moduleKey}:${settings.map((value) => (Object.is(value, -0) ? "-0" : String(value))).join(",")}`;
    const known = this.pipelines.find(key);
    if (known) return options.name === undefined ? known : renamed(known, options.name);

    let module = this.modules.get(moduleKey);
    if (!module) {
      module = reflect(words);
      this.checkModule(module);
      this.modules.set(moduleKey, module);
      if (this.modules.size > KEPT_KERNELS) this.modules.delete(this.modules.keys().next().value as string);
    }
    const shape = this.checkEntry(module, entry, specialization);
    if (options.subgroupSize !== undefined) this.checkSubgroupSize(options.subgroupSize);
    const name = options.name ?? `${entry}@${moduleKey.slice(0, 8)}`;
    const layout = this.descriptors.layoutFor(shape.bindings.length, shape.pushBytes);
    const start = performance.now();
    const pipeline = this.create(words, entry, module, specialization, layout, options, this.noting(name));
    debug(2, () => `compiled ${name} in ${(performance.now() - start).toFixed(1)} ms`);
    if (this.hasStatistics) {
      debugText("statistics", name, () => executableStatistics(this.calls, this.device, pipeline.value).join("\n"));
    }
    this.compiled++;
    this.cache.changed();
    const made: Pipeline = {
      ...shape,
      name,
      layout,
      key,
      get pipeline() {
        return pipeline.value;
      },
    };
    this.pipelines.add(key, made, pipeline);
    return made;
  }

  /** Starts timing a compilation, for a profile. Call the result when the pipeline is there; calling it again is harmless. */
  private noting(name: string): () => void {
    const { watched } = this;
    const start = performance.now();
    let isNoted = watched === null;
    return () => {
      if (!isNoted) watched?.push({ name, by: "engine", start, end: performance.now() });
      isNoted = true;
    };
  }

  /** Destroys pipelines that nobody holds, once the GPU has passed them. */
  sweep(): void {
    this.pipelines.sweep();
  }

  /** Destroys all. The GPU must be idle or lost. */
  destroy(): void {
    for (const pipeline of this.pipelines.resources) this.destroyPipeline(pipeline);
    this.pipelines.close();
  }

  private destroyPipeline(pipeline: PendingPipeline): void {
    const handle = pipeline.giveUp();
    if (handle !== null) this.calls.vkDestroyPipeline(this.device, handle, 0);
  }

  // ---------------------------------------------------------------------------------------------- checks

  private checkModule(module: ModuleInterface): void {
    const { plan, physical } = this;
    const [major, minor] = module.version;
    if (major !== 1 || minor > plan.spirv[1]) {
      throw new UnsupportedError(
        `The kernel is SPIR-V ${major}.${minor}; ${physical.name} takes up to ${plan.spirv.join(".")}. Compile it for an earlier target.`,
      );
    }
    for (const capability of module.capabilities) {
      const refusal = refuseCapability(capability, physical, plan);
      if (refusal) throw new UnsupportedError(`The kernel needs ${capabilityName(capability)}, ${refusal}.`);
    }
  }

  private checkEntry(
    module: ModuleInterface,
    entry: string,
    specialization: ReadonlyMap<number, SpecializationValue>,
  ): EntryInterface {
    const { limits } = this.plan;
    const ids = module.specConstants.map((constant) => constant.constantId).sort((a, b) => a - b);
    for (const [id, value] of specialization) {
      if (!Number.isInteger(id)) {
        const known = ids.join(", ") || "none";
        throw new ArgumentError(`Specialisation constants go by number, as { 0: value }; the kernel has ${known}.`);
      }
      const constant = module.specConstants.find((candidate) => candidate.constantId === id);
      if (!constant) {
        throw new ArgumentError(
          `The kernel has no specialisation constant ${id}; it has ${ids.length ? ids.join(", ") : "none"}.`,
        );
      }
      checkSpecialization(constant, value);
    }
    const shape = module.entry(entry, specialization);
    if (!shape) {
      const names = module.entryPoints;
      throw new ArgumentError(
        `The module has no compute entry point "${entry}"; it has ${names.length ? names.map((n) => `"${n}"`).join(", ") : "none"}.`,
      );
    }
    for (const { set, binding, kind } of shape.bindings) {
      if (kind !== "storage buffer") {
        throw new UnsupportedError(
          `The kernel binds something other than a storage buffer at set ${set}, binding ${binding}; only storage buffers are supported.`,
        );
      }
      if (set !== 0) {
        throw new ArgumentError(
          `The kernel's buffers must be at set 0; it uses ${shape.bindings.map((b) => `(${b.set}, ${b.binding})`).join(", ")}.`,
        );
      }
    }
    const atMost = (what: string, value: number, limit: number, unit = "") => {
      if (value > limit) {
        throw new ArgumentError(
          `The kernel's ${what} is ${value}${unit}; ${this.physical.name} allows ${limit}${unit}.`,
        );
      }
    };
    const bindings = 1 + Math.max(-1, ...shape.bindings.map(({ binding }) => binding));
    atMost("number of storage buffers", bindings, limits.maxPerStageDescriptorStorageBuffers);
    atMost("push block", shape.pushBytes, limits.maxPushConstantsSize, " bytes");
    atMost("shared memory", shape.sharedBytes, limits.maxComputeSharedMemorySize, " bytes");
    const [x, y, z] = shape.localSize;
    if (Math.min(x, y, z) < 1) throw new ArgumentError(`The kernel's workgroup size is ${x}×${y}×${z}.`);
    shape.localSize.forEach((n, axis) => {
      atMost(`workgroup size along ${"xyz"[axis]}`, n, limits.maxComputeWorkGroupSize[axis] as number);
    });
    atMost("number of threads in a workgroup", x * y * z, limits.maxComputeWorkGroupInvocations);
    return { ...shape, bindings: withUnused(shape.bindings, bindings) };
  }

  private checkSubgroupSize(size: number): void {
    const { min, max } = this.physical.subgroup;
    const isPowerOfTwo = size > 0 && (size & (size - 1)) === 0;
    if (!this.plan.subgroupSizeControl || !isPowerOfTwo || size < min || size > max) {
      throw new UnsupportedError(
        this.plan.subgroupSizeControl
          ? `Subgroups of ${size} were asked for; ${this.physical.name} offers powers of two from ${min} to ${max}.`
          : `Subgroups of ${size} were asked for; ${this.physical.name} does not let the size be chosen (it is ${this.physical.subgroup.size}).`,
      );
    }
  }

  // ---------------------------------------------------------------------------------------------- creation

  private create(
    words: Uint32Array,
    entry: string,
    module: ModuleInterface,
    specialization: ReadonlyMap<number, SpecializationValue>,
    layout: Handle,
    { subgroupSize, ahead }: KernelOptions,
    noteMade: () => void,
  ): PendingPipeline {
    const { calls, device, cache } = this;
    const given = this.describe(words, entry, module, specialization, layout, subgroupSize);
    const { info, out, shader } = given;
    // The driver reads and writes this memory by address until the pipeline is made.
    const inUse: unknown[] = [given];
    const done = () => {
      calls.vkDestroyShaderModule(device, shader, 0);
      inUse.length = 0;
      noteMade();
    };
    const makeNow = (): Handle => {
      const result = calls.vkCreateComputePipelines(device, cache.handle, 1, info, 0, out.address);
      check("vkCreateComputePipelines", result, `entry point "${entry}"`);
      return handleAt(out.view, 0);
    };
    const later = calls.vkCreateComputePipelines.async;
    if (ahead && later) {
      const start = async () => {
        const untilHere = [...inUse];
        callsAhead++;
        try {
          await later(device, cache.handle, 1, info, 0, out.address);
        } finally {
          callsAhead--;
          untilHere.length = 0;
        }
        noteMade();
      };
      return new PipelineAhead(out.view, callsAhead < MAX_CALLS_AHEAD ? start : null, makeNow, done);
    }
    try {
      const value = makeNow();
      return { value, giveUp: () => value };
    } finally {
      done();
    }
  }

  /** The description of a pipeline in memory, its shader module, and room for its handle. */
  private describe(
    words: Uint32Array,
    entry: string,
    module: ModuleInterface,
    specialization: ReadonlyMap<number, SpecializationValue>,
    layout: Handle,
    subgroupSize: number | undefined,
  ) {
    const { calls, device } = this;
    const arena = new Arena(4096 + 4 * entry.length + 64 * specialization.size);
    const out = addressOf(8);
    const code = addressOf(words.byteLength);
    code.u8.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
    const moduleInfo = arena.pack(L.VkShaderModuleCreateInfo, { codeSize: words.byteLength, pCode: code.address });
    check("vkCreateShaderModule", calls.vkCreateShaderModule(device, moduleInfo, 0, out.address));
    const shader = handleAt(out.view, 0);
    const required =
      subgroupSize === undefined
        ? 0
        : arena.pack(L.VkPipelineShaderStageRequiredSubgroupSizeCreateInfo, { requiredSubgroupSize: subgroupSize });
    const info = arena.pack(L.VkComputePipelineCreateInfo, {
      flags: this.hasStatistics ? CAPTURE_STATISTICS : 0,
      stageSType: 18,
      stageNext: required,
      stage: ShaderStageCompute,
      module: shader,
      pName: arena.cString(entry),
      pSpecializationInfo: packSpecialization(arena, module.specConstants, specialization),
      layout,
      basePipelineIndex: -1,
    });
    return { info, out, shader, arena, code };
  }
}

/** The same pipeline under another name. It inherits from the original, which it keeps alive; its handle may still be pending. */
function renamed(pipeline: Pipeline, name: string): Pipeline {
  return Object.create(pipeline, { name: { value: name, enumerable: true } }) as Pipeline;
}

/** Adds the bindings of unused buffers: optimisers remove them but keep the numbers of the others. */
function withUnused(used: readonly Binding[], count: number): Binding[] {
  const unused = { set: 0, kind: "storage buffer", isReadOnly: true } as const;
  return Array.from(
    { length: count },
    (_, binding) => used.find((candidate) => candidate.binding === binding) ?? { ...unused, binding },
  );
}
