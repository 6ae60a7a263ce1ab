/** Finds the values of a kernel that are the same for all rows, and of a four-lane kernel those that differ from lane to lane. */
import type { Value as IRValue, Kernel } from "../../ir/ir.js";
import { walkStatements } from "../../ir/ir.js";

/** Values that are the same in all lanes, but operands of operations with varying ones. */
export function spreadValues(kernel: Kernel, varying: ReadonlySet<number>): ReadonlySet<number> {
  const spread = new Set<number>();
  if (kernel.lanes === 1) return spread;
  const kept = new Set<number>();
  const keep = (value: IRValue | null) => value && kept.add(value.id);
  walkStatements(kernel.body, (statement) => {
    switch (statement.kind) {
      case "let":
        for (const arg of statement.value.args) (varying.has(statement.value.id) ? spread : kept).add(arg.id);
        break;
      case "read":
        keep(statement.index);
        break;
      case "write":
        for (const value of [statement.index, statement.gate, ...statement.values]) keep(value);
        break;
      case "store":
      case "atomic":
      case "count":
        for (const value of [statement.index, statement.gate, statement.value]) keep(value);
        break;
      case "branch":
        for (const { whenTrue, whenFalse } of statement.results) for (const side of [whenTrue, whenFalse]) keep(side);
        keep(statement.condition);
        break;
      case "loop":
        for (const { initial, next } of statement.accumulators) for (const value of [initial, next]) keep(value);
        keep(statement.exit);
        break;
      case "barrier":
        break;
    }
  });
  for (const id of kept) spread.delete(id);
  return spread;
}

/** Values that may differ between the lanes of a row. */
export function varyingValues(kernel: Kernel): ReadonlySet<number> {
  const varying = new Set<number>();
  if (kernel.lanes === 1) return varying;
  const varies = (value: IRValue) => value.op === "lane" || varying.has(value.id);
  // An accumulator may become varying in a later round, so repeat until nothing changes.
  for (let before = -1; before < varying.size; ) {
    before = varying.size;
    walkStatements(kernel.body, (statement) => {
      if (statement.kind === "let") {
        const { id, op, args } = statement.value;
        if (op !== "combineLanes" && args.some(varies)) varying.add(id);
      } else if (statement.kind === "read") {
        if (varies(statement.index)) for (const { id } of statement.results) varying.add(id);
      } else if (statement.kind === "loop") {
        const { isLaneLoop, exit } = statement;
        if (isLaneLoop) varying.add(statement.index.id);
        const isUneven = isLaneLoop || (exit !== null && varies(exit));
        for (const { value, initial, next, result } of statement.accumulators) {
          if (!isUneven && !varies(initial) && !varies(next)) continue;
          varying.add(value.id);
          varying.add(result.id);
        }
      } else if (statement.kind === "branch") {
        for (const { value, whenTrue, whenFalse } of statement.results) {
          if (varies(whenTrue) || varies(whenFalse)) varying.add(value.id);
        }
      }
    });
  }
  return varying;
}

/** Values outside of loops that are the same for all rows, in order: numbers in memory, and what is computed of them. */
export function valuesOfAllRows({ body, buffers }: Kernel): readonly IRValue[] {
  const found = new Set<IRValue>();
  for (const statement of body) {
    if (statement.kind !== "let") continue;
    const { value } = statement;
    const { op, args, attribute } = value;
    const isSame = args.length > 0 && args.every((arg) => arg.op === "constant" || found.has(arg));
    if (isSame && !(op === "load" && buffers[attribute as number].isWritten)) found.add(value);
  }
  return [...found];
}
