/** What a value would run as: `console.log(explain(x))`. */
import { printKernel } from "../compiler/ir.js";
import { DTYPES } from "../core/dtype.js";
import { backendOf } from "./build.js";
import type { Tensor } from "./tensor.js";

/** The kernels that computing a tensor would run, with the memory each moves. `{ verbose: true }` shows their loops. */
export function explain(x: Tensor, options: { readonly verbose?: boolean } = {}): string {
  const { node } = x;
  if (node.storage) return `${x.toString()} is computed already: nothing would run.`;
  const { steps, made } = backendOf(node).plan([node]);
  const lines = steps.map(({ kernel, slots }, i) => {
    const bytes = kernel.buffers.map(({ dtype }, k) => {
      const slot = slots[k];
      const shape = slot.from === "made" ? made[slot.index].shape : null;
      return { text: `${dtype}${shape ? `[${shape.join(", ")}]` : ""}`, width: DTYPES[dtype].bytes };
    });
    const reads = bytes.filter((_, k) => !kernel.buffers[k].isWritten).map(({ text }) => text);
    const writes = bytes.filter((_, k) => kernel.buffers[k].isWritten).map(({ text }) => text);
    const how = kernel.lanes > 1 ? `${kernel.rows} rows of ${kernel.lanes} lanes` : `${kernel.rows} rows`;
    const head = `${i + 1}. ${kernel.name}: ${how}, ${kernel.size} values; reads ${reads.join(", ") || "nothing"}; writes ${writes.join(", ")}`;
    return options.verbose ? `${head}\n${printKernel(kernel)}` : head;
  });
  const count = steps.length === 1 ? "1 kernel" : `${steps.length} kernels`;
  return [`${x.toString()} on ${x.device}: ${count}`, ...lines].join("\n");
}
