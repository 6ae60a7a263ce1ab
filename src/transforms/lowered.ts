/** A compiled form of a jitted function, for people: `f.lower(...)` shows its graph, its kernels and its memory. */
import { bytesOf } from "../core/bytes.js";
import type { DType } from "../core/dtype.js";
import { formatShape } from "../core/shape.js";
import type { Node } from "../graph/node.js";
import { printGraph } from "../graph/print.js";
import type { Backend } from "../runtime/backend.js";
import type { Prepared } from "../runtime/prepared.js";
import { printProgram } from "../runtime/print-program.js";

/** A compiled form of a function. */
export interface Lowered {
  /** The graph, one line per operation; the bodies of loops and branches are indented. */
  readonly graph: string;
  /** The kernels in order, as `explain` shows them. */
  readonly kernels: string;
  readonly memory: { readonly arenaBytes: number; readonly withoutSharingBytes: number; readonly resultBytes: number };
  readonly traceMilliseconds: number;
  readonly compileMilliseconds: number;
  toString(): string;
}

/** A compiled form, as far as it can be shown. */
export interface Describable {
  /**
   * The program to replay. Null for a function with while loops, of which nobody knows how often they run: a call builds its
   * graph on the arguments, and whoever awaits a result lets the event loop turn meanwhile (runtime/awaited-loops.ts).
   */
  readonly prepared: Prepared | null;
  /** The same for people who ask: compiled where there is none to replay. */
  readonly prepare: () => Prepared;
  readonly backend: Backend;
  readonly outputs: readonly { readonly shape: readonly number[]; readonly dtype: DType }[];
  readonly roots: readonly Node[];
  /** Whether an argument of the graph is a number. */
  readonly isNumber: (argument: Node) => boolean;
  readonly traceMilliseconds: number;
  readonly compileMilliseconds: number;
}

/** The description that `lower` returns for a compiled form. */
export function lowered(compiled: Describable): Lowered {
  const { backend, roots, isNumber, outputs, traceMilliseconds } = compiled;
  const began = performance.now();
  const prepared = compiled.prepare();
  const compileMilliseconds = compiled.prepared ? compiled.compileMilliseconds : performance.now() - began;
  const { program } = prepared;
  const memory = describeMemory(prepared);
  const graph = printGraph(roots, isNumber);
  const kernels = printProgram(program, (step) => backend.mappingOf(step));
  const how = prepared.isFromDisk ? "read from disk" : "compiled";
  const text = () =>
    [
      `graph (traced in ${traceMilliseconds.toFixed(1)} ms):`,
      graph,
      `kernels (${how} in ${compileMilliseconds.toFixed(1)} ms):`,
      kernels,
      `memory: results ${memory.resultBytes} bytes; intermediates share an arena of ${memory.arenaBytes} bytes ` +
        `(${memory.withoutSharingBytes} without sharing)`,
      `results: ${outputs.map(({ shape, dtype }) => `${dtype}${formatShape(shape)}`).join(", ")}`,
    ].join("\n");
  return {
    graph,
    kernels,
    memory,
    traceMilliseconds,
    compileMilliseconds,
    toString: text,
    [Symbol.for("nodejs.util.inspect.custom")]: text,
  } as Lowered;
}

function describeMemory({ plan, program }: Prepared): Lowered["memory"] {
  const resultBytes = program.made.reduce((sum, value) => (value.root < 0 ? sum : sum + bytesOf(value)), 0);
  return { arenaBytes: plan.arenaBytes, withoutSharingBytes: plan.sumOfBytes, resultBytes };
}
