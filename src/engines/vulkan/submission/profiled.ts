/** Takes a profile of a device: runs some work with a clock in its stream (command-clock.ts) and a list of compilations. */
import { ArgumentError, UnsupportedError } from "../../../core/errors.js";
import { type CompileSpan, Profile } from "../../profile.js";
import type { DeviceFunction, FunctionTable, Handle } from "../driver/api.js";
import type { PipelineCompiler } from "../pipelines/pipeline-compiler.js";
import type { DevicePlan } from "../plan.js";
import { CommandClock } from "./command-clock.js";
import type { Stream } from "./stream.js";

/** The parts of a device that a profile watches. */
interface Profiled {
  readonly name: string;
  readonly calls: FunctionTable<DeviceFunction>;
  readonly handle: Handle;
  readonly plan: DevicePlan;
  readonly stream: Stream;
  readonly pipelines: PipelineCompiler;
}

/** Runs `work` and measures the GPU time of its commands. */
export async function profiled(device: Profiled, work: () => unknown): Promise<Profile> {
  const { plan, stream, pipelines } = device;
  if (plan.timestampMask === 0n) throw new UnsupportedError(`profile: ${device.name} has no timestamps.`);
  if (stream.clock) throw new ArgumentError("profile: a profile is being taken already.");
  stream.flush();
  const clock = new CommandClock(device.calls, device.handle, 256, {
    nsPerTick: plan.limits.timestampPeriod,
    mask: plan.timestampMask,
  });
  const compiled: CompileSpan[] = [];
  const began = performance.now();
  stream.clock = clock;
  pipelines.watched = compiled;
  try {
    await work();
    await stream.timeline.wait(stream.flush());
    return new Profile(clock.events(), compiled, { on: "GPU", began, firstCommand: clock.firstCommand });
  } finally {
    stream.clock = null;
    pipelines.watched = null;
    try {
      stream.flush();
    } catch {
      // using the results reports the error
    }
    stream.whenDone(() => clock.destroy());
  }
}
