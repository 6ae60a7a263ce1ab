/**
 * Statistics of a pipeline from the driver's compiler: registers, spilled bytes, shared memory, instructions, as far as the driver
 * tells (VK_KHR_pipeline_executable_properties). `PUMICE_DEBUG=statistics` prints them; pipeline-compiler.ts asks.
 */
import type { DeviceFunction, FunctionTable, Handle } from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { addressOf } from "../driver/native.js";
import { check } from "../driver/results.js";
import { Arena, type Layout } from "../driver/structs.js";

/** VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR */
export const CAPTURE_STATISTICS = 0x40;

const FORMATS = ["bool", "i64", "u64", "f64"] as const;

/** One line per executable of the pipeline: "Register Count 128, Local Memory Size 0 …". The pipeline must capture statistics. */
export function executableStatistics(
  calls: FunctionTable<DeviceFunction>,
  device: Handle,
  pipeline: Handle,
): readonly string[] {
  const arena = new Arena(4096);
  const info = arena.pack(L.VkPipelineInfoKHR, { pipeline });
  const executables = listed(
    calls,
    "vkGetPipelineExecutablePropertiesKHR",
    device,
    info,
    L.VkPipelineExecutablePropertiesKHR,
  );
  return executables.map((_, executableIndex) => {
    const which = arena.pack(L.VkPipelineExecutableInfoKHR, { pipeline, executableIndex });
    const found = listed(
      calls,
      "vkGetPipelineExecutableStatisticsKHR",
      device,
      which,
      L.VkPipelineExecutableStatisticKHR,
    );
    return found.map((view) => `${textAt(view, L.VkPipelineExecutableStatisticKHR)} ${valueAt(view)}`).join(", ");
  });
}

/** The structs that a listing function writes: asked for their number first, then for themselves. */
function listed(
  calls: FunctionTable<DeviceFunction>,
  name: DeviceFunction,
  device: Handle,
  info: number,
  { size, sType }: Layout,
): DataView[] {
  const count = addressOf(4);
  check(name, calls[name](device, info, count.address, 0));
  const length = count.view.getUint32(0, true);
  const room = addressOf(Math.max(1, length) * size);
  const views = Array.from({ length }, (_, i) => new DataView(room.view.buffer, room.view.byteOffset + i * size, size));
  for (const view of views) view.setUint32(0, sType as number, true);
  check(name, calls[name](device, info, count.address, room.address));
  return views;
}

function textAt(view: DataView, { fields }: Layout): string {
  const { offset, count } = fields.get("name") as { offset: number; count: number };
  const bytes = new Uint8Array(view.buffer, view.byteOffset + offset, count);
  return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
}

function valueAt(view: DataView): string {
  const { fields } = L.VkPipelineExecutableStatisticKHR;
  const at = (name: string) => fields.get(name)?.offset as number;
  const value = at("value");
  switch (FORMATS[view.getUint32(at("format"), true)]) {
    case "bool":
      return String(view.getUint32(value, true) !== 0);
    case "i64":
      return String(view.getBigInt64(value, true));
    case "f64":
      return String(view.getFloat64(value, true));
    default:
      return String(view.getBigUint64(value, true));
  }
}
