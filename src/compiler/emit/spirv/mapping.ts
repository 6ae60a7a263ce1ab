/**
 * The mapping of rows and lanes to workgroups. The emitter and the dispatch must agree on it.
 *
 * With one lane per row, each thread has a row. If the lanes of a row fit into a subgroup, which needs no barriers, several
 * rows share a workgroup; otherwise a row has a workgroup of its own.
 */
import { innerLists, type Kernel, type Statement, walkStatements } from "../../ir/ir.js";

interface Mapping {
  readonly threads: number;
  readonly rowsPerGroup: number;
}

/** Threads of a workgroup for many rows, and for few, which are better spread over the device. */
const MANY_THREADS = 256;
const FEW_THREADS = 64;
const FEW_ROWS = 1 << 15;

/** `subgroupSize` is 0 where lanes cannot read from one another. */
export function mappingOf(kernel: Kernel, subgroupSize: number): Mapping {
  const { lanes, rows } = kernel;
  const threads = rows * lanes < FEW_ROWS ? FEW_THREADS : MANY_THREADS;
  if (lanes === 1) return { threads, rowsPerGroup: threads };
  if (lanes > subgroupSize || lanes > threads || needsBarriers(kernel)) return { threads: lanes, rowsPerGroup: 1 };
  const full = Math.max(threads, subgroupSize);
  return { threads: full, rowsPerGroup: full / lanes };
}

/**
 * Whether the kernel has barriers or exchanges through shared memory. The emitter puts barriers before branches and rounds
 * in which lanes combine values; rows that branch, or leave a loop, each in its own way would not meet there.
 */
function needsBarriers(kernel: Kernel): boolean {
  let isFound = kernel.arrays.length > 0;
  walkStatements(kernel.body, (statement) => {
    const isUneven = statement.kind === "branch" || (statement.kind === "loop" && statement.exit !== null);
    if (statement.kind === "barrier" || statement.kind === "ticket" || (isUneven && combines(statement)))
      isFound = true;
  });
  return isFound;
}

/** Whether lanes combine values inside a statement. */
function combines(statement: Statement): boolean {
  let isFound = false;
  for (const list of innerLists(statement)) {
    walkStatements(list, (inner) => {
      if (inner.kind === "let" && inner.value.op === "combineLanes") isFound = true;
    });
  }
  return isFound;
}
