/** Kernels as text, for people: `explain` and `PUMICE_DEBUG=loops` show them. */
import type { KernelOutline, Statement, Value } from "../ir/ir.js";

export function printKernel(kernel: KernelOutline): string {
  const lines = [
    `kernel ${kernel.name}: ${kernel.rows} rows × ${kernel.lanes} lanes`,
    ...kernel.buffers.map(({ dtype, isWritten }, i) => `  b${i}: ${dtype}${isWritten ? ", written" : ""}`),
    ...kernel.arrays.map(({ type, size }, i) => `  a${i}: ${type}[${size}]`),
    ...(kernel.fragments ?? []).map(
      ({ use, dtype, rows, columns }, i) => `  m${i}: ${use} fragment, ${dtype}[${rows}×${columns}]`,
    ),
  ];
  if (kernel.gate) lines.push(`  only if b${kernel.gate.buffer}[0] is ${kernel.gate.value}`);
  if (kernel.body) lines.push(...linesOf(kernel.body, "  "));
  else lines.push("  its code was read from a file; what it computes is not known");
  return lines.join("\n");
}

function linesOf(statements: readonly Statement[], indent: string): string[] {
  return statements.flatMap((statement) => {
    if (statement.kind === "loop") return linesOfLoop(statement, indent);
    if (statement.kind === "branch") return linesOfBranch(statement, indent);
    return [`${indent}${lineOf(statement)}`];
  });
}

function linesOfLoop(loop: Extract<Statement, { kind: "loop" }>, indent: string): string[] {
  const carried = loop.accumulators.map(({ value, initial }) => `%${value.id} = ${nameOf(initial)}`).join(", ");
  const how = loop.isLaneLoop ? "lane loop" : "loop";
  return [
    `${indent}${how} %${loop.index.id} < ${loop.extent}${carried ? ` with ${carried}` : ""}`,
    ...linesOf(loop.body, `${indent}  `),
    ...loop.accumulators.map(({ next, result }) => `${indent}  → ${nameOf(next)} as %${result.id}`),
    ...(loop.exit ? [`${indent}  exit if ${nameOf(loop.exit)}`] : []),
  ];
}

function linesOfBranch(branch: Extract<Statement, { kind: "branch" }>, indent: string): string[] {
  const otherwise = branch.whenFalse.length > 0 ? [`${indent}else`, ...linesOf(branch.whenFalse, `${indent}  `)] : [];
  return [
    `${indent}if ${nameOf(branch.condition)}`,
    ...linesOf(branch.whenTrue, `${indent}  `),
    ...otherwise,
    ...branch.results.map(
      ({ value, whenTrue, whenFalse }) => `${indent}→ ${nameOf(whenTrue)} or ${nameOf(whenFalse)} as %${value.id}`,
    ),
  ];
}

function lineOf(statement: Exclude<Statement, { kind: "loop" | "branch" }>): string {
  const when = "gate" in statement && statement.gate ? ` if ${nameOf(statement.gate)}` : "";
  switch (statement.kind) {
    case "let": {
      const { value } = statement;
      const args = value.args.map(nameOf).join(", ");
      const head = value.op === "load" ? `load b${value.attribute}[${args}]` : `${value.op} ${args}`;
      const tail = value.op === "combineLanes" || value.op === "signExtend" ? ` (${value.attribute})` : "";
      return `%${value.id}: ${value.type} = ${head}${tail}`;
    }
    case "barrier":
      return statement.scope === "row" ? "barrier" : "barrier of the subgroup";
    case "read": {
      const { from, memory, index, results } = statement;
      const to = results.map(({ id, type }) => `%${id}: ${type}`).join(", ");
      return `${to} = read ${from === "buffer" ? "b" : "a"}${memory}[${nameOf(index)}]`;
    }
    case "observe":
      return `%${statement.result.id}: u32 = observe b${statement.buffer}[${nameOf(statement.index)}]`;
    case "ticket":
      return `%${statement.result.id}: i32 = ticket of b${statement.buffer}[${nameOf(statement.index)}]`;
    case "loadWords": {
      const { buffer, index, results } = statement;
      return `${results.map(({ id }) => `%${id}`).join(", ")} = words of b${buffer}[${nameOf(index)}]`;
    }
    case "fillFragment":
      return `m${statement.fragment} = ${statement.value}`;
    case "loadFragment":
    case "storeFragment": {
      const { fragment, array, index, pitch, isByColumns } = statement;
      const place = `a${array}[${nameOf(index)}, ${pitch} words from ${isByColumns ? "column to column" : "row to row"}]`;
      return statement.kind === "loadFragment" ? `m${fragment} = ${place}` : `${place} = m${fragment}`;
    }
    case "multiplyFragments":
      return `m${statement.sum} += m${statement.left} × m${statement.right}`;
    case "addFragments":
      return `m${statement.to} += m${statement.from}`;
    case "getElements":
      return `${statement.results.map(({ id }) => `%${id}`).join(", ")} = elements of m${statement.fragment}`;
    case "setElements":
      return `elements of m${statement.fragment} = ${statement.values.map(nameOf).join(", ")}`;
    case "write": {
      const { array, index, values } = statement;
      return `write a${array}[${nameOf(index)}] = ${values.map(nameOf).join(", ")}${when}`;
    }
    case "count": {
      const { array, index, value } = statement;
      return `count a${array}[${nameOf(index)}] += ${nameOf(value)}${when} (each lane)`;
    }
    case "store":
    case "atomic": {
      const { buffer, index, value } = statement;
      const how = statement.kind === "store" ? "store" : `atomic ${statement.op}`;
      const each = statement.kind === "store" && statement.isOnce ? "" : " (each lane)";
      return `${how} b${buffer}[${nameOf(index)}] = ${nameOf(value)}${when}${each}`;
    }
  }
}

function nameOf(value: Value): string {
  if (value.op === "constant") return String(value.attribute);
  return value.op === "row" || value.op === "lane" ? value.op : `%${value.id}`;
}
