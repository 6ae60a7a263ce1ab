/** Kernels as text, for people: what `explain` and `PUMICE_DEBUG=loops` show. */
import type { KernelOutline, Statement, Value } from "../ir/ir.js";

export function printKernel(kernel: KernelOutline): string {
  const lines = [`kernel ${kernel.name}: ${kernel.rows} rows × ${kernel.lanes} lanes`];
  kernel.buffers.forEach(({ dtype, isWritten }, i) => {
    lines.push(`  b${i}: ${dtype}${isWritten ? ", written" : ""}`);
  });
  kernel.arrays.forEach(({ type, size }, i) => {
    lines.push(`  a${i}: ${type}[${size}]`);
  });
  if (kernel.gate) lines.push(`  only if b${kernel.gate.buffer}[0] is ${kernel.gate.value}`);
  const name = (value: Value): string =>
    value.op === "constant"
      ? String(value.attribute)
      : value.op === "row" || value.op === "lane"
        ? value.op
        : `%${value.id}`;
  const print = (statements: readonly Statement[], indent: string) => {
    for (const statement of statements) {
      switch (statement.kind) {
        case "let": {
          const { value } = statement;
          const args = value.args.map(name).join(", ");
          const head = value.op === "load" ? `load b${value.attribute}[${args}]` : `${value.op} ${args}`;
          const tail = value.op === "combineLanes" || value.op === "signExtend" ? ` (${value.attribute})` : "";
          lines.push(`${indent}%${value.id}: ${value.type} = ${head}${tail}`);
          break;
        }
        case "loop": {
          const carried = statement.accumulators
            .map(({ value, initial }) => `%${value.id} = ${name(initial)}`)
            .join(", ");
          const how = statement.isLaneLoop ? "lane loop" : "loop";
          lines.push(
            `${indent}${how} %${statement.index.id} < ${statement.extent}${carried ? ` with ${carried}` : ""}`,
          );
          print(statement.body, `${indent}  `);
          for (const { next, result } of statement.accumulators)
            lines.push(`${indent}  → ${name(next)} as %${result.id}`);
          if (statement.exit) lines.push(`${indent}  exit if ${name(statement.exit)}`);
          break;
        }
        case "branch": {
          lines.push(`${indent}if ${name(statement.condition)}`);
          print(statement.whenTrue, `${indent}  `);
          if (statement.whenFalse.length > 0) {
            lines.push(`${indent}else`);
            print(statement.whenFalse, `${indent}  `);
          }
          for (const { value, whenTrue, whenFalse } of statement.results) {
            lines.push(`${indent}→ ${name(whenTrue)} or ${name(whenFalse)} as %${value.id}`);
          }
          break;
        }
        case "barrier":
          lines.push(`${indent}barrier`);
          break;
        case "read": {
          const { from, memory, index, results } = statement;
          const to = results.map(({ id, type }) => `%${id}: ${type}`).join(", ");
          lines.push(`${indent}${to} = read ${from === "buffer" ? "b" : "a"}${memory}[${name(index)}]`);
          break;
        }
        case "write": {
          const { array, index, values, gate } = statement;
          const when = gate ? ` if ${name(gate)}` : "";
          lines.push(`${indent}write a${array}[${name(index)}] = ${values.map(name).join(", ")}${when}`);
          break;
        }
        case "count": {
          const { array, index, value, gate } = statement;
          const when = gate ? ` if ${name(gate)}` : "";
          lines.push(`${indent}count a${array}[${name(index)}] += ${name(value)}${when} (each lane)`);
          break;
        }
        case "store":
        case "atomic": {
          const { buffer, index, value, gate } = statement;
          const how = statement.kind === "store" ? "store" : `atomic ${statement.op}`;
          const each = statement.kind === "store" && statement.isOnce ? "" : " (each lane)";
          const when = gate ? ` if ${name(gate)}` : "";
          lines.push(`${indent}${how} b${buffer}[${name(index)}] = ${name(value)}${when}${each}`);
          break;
        }
      }
    }
  };
  if (kernel.body) print(kernel.body, "  ");
  else lines.push("  its code was read from a file; what it computes is not known");
  return lines.join("\n");
}
