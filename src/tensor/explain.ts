/** What a value would run as: `console.log(explain(x))`. */
import { printKernel } from "../compiler/ir.js";
import { bytesOf } from "../compiler/memory-plan.js";
import type { Program } from "../compiler/program.js";
import { formatShape } from "../core/shape.js";
import { backendOf } from "./build.js";
import type { Tensor } from "./tensor.js";

/** The kernels that computing a tensor would run, with the memory each moves. `{ verbose: true }` shows their loops. */
export function explain(x: Tensor, options: { readonly verbose?: boolean } = {}): string {
  const { node } = x;
  if (node.storage) return `${x.toString()} is computed already: nothing would run.`;
  const program = backendOf(node).plan([node]);
  const count = program.steps.length === 1 ? "1 kernel" : `${program.steps.length} kernels`;
  return [`${x.toString()} on ${x.device}: ${count}`, printProgram(program, options)].join("\n");
}

/** A line per kernel: what it computes, how it is laid out, what it reads and writes. */
export function printProgram(
  { steps, made, leaves }: Program<unknown>,
  options: { readonly verbose?: boolean } = {},
): string {
  return steps
    .map(({ kernel, slots }, i) => {
      const buffers = slots.map(({ from, index }, k) => {
        const value = from === "made" ? made[index] : leaves[index];
        return { value, isWritten: kernel.buffers[k].isWritten, text: `${value.dtype}${formatShape(value.shape)}` };
      });
      const list = (isWritten: boolean) =>
        buffers.flatMap((buffer) => (buffer.isWritten === isWritten ? [buffer.text] : [])).join(", ") || "nothing";
      const bytes = buffers.reduce((sum, { value }) => sum + bytesOf(value), 0);
      const how = kernel.lanes > 1 ? `${kernel.rows} rows of ${kernel.lanes} lanes` : `${kernel.rows} rows`;
      const head = `${i + 1}. ${kernel.name}: ${how}, ${kernel.size} values; reads ${list(false)}; writes ${list(true)}; ${formatBytes(bytes)}`;
      return options.verbose ? `${head}\n${printKernel(kernel)}` : head;
    })
    .join("\n");
}

function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value.toFixed(1)} ${units[unit]}`;
}
