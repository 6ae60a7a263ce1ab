/** Surveys a kernel's accesses to memory, on which the declarations of buffers and arrays depend. */
import { type CombineOp, type IRType, type Kernel, walkStatements } from "../../ir/ir.js";

interface Accesses {
  /** Buffers updated by compare-and-exchange, which works on integers only. */
  readonly exchanged: ReadonlySet<number>;
  /** Buffers through which lanes exchange data. */
  readonly sharedByLanes: ReadonlySet<number>;
  /** The vector width of each array: the number of neighbours accessed at once. */
  readonly widths: readonly number[];
  /** Buffers that are read as words. */
  readonly inWords: ReadonlySet<number>;
}

export function surveyAccesses(kernel: Kernel, atomicFloats: readonly IRType[]): Accesses {
  const exchanged = new Set<number>();
  const sharedByLanes = new Set<number>();
  const widths = kernel.arrays.map(() => 1);
  const inWords = new Set<number>();
  walkStatements(kernel.body, (statement) => {
    if (statement.kind === "atomic") {
      if (isExchanged(statement.op, statement.value.type, atomicFloats)) exchanged.add(statement.buffer);
    } else if (statement.kind === "loadWords") inWords.add(statement.buffer);
    else if (statement.kind === "read" && statement.from === "buffer") {
      if (kernel.lanes > 1) sharedByLanes.add(statement.memory);
    } else if (statement.kind === "read" || statement.kind === "write") {
      const [array, count] =
        statement.kind === "read"
          ? [statement.memory, statement.results.length]
          : [statement.array, statement.values.length];
      const width = widths[array] as number;
      if (width !== count && width > 1 && count > 1) {
        throw new Error(`emitSpirv: neighbours of array ${array} are accessed by ${width} and by ${count}`);
      }
      widths[array] = Math.max(width, count);
    }
  });
  return { exchanged, sharedByLanes, widths, inWords };
}

/** Whether an atomic has no instruction of its own and becomes a compare-and-exchange loop. */
function isExchanged(op: CombineOp, type: IRType, atomicFloats: readonly IRType[]): boolean {
  const isFloat = type === "f32" || type === "f64";
  return op === "mul" || (isFloat && !(op === "add" && atomicFloats.includes(type)));
}
