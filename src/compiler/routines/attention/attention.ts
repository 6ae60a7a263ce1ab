/** The routines of attention and of its gradient: their kernels, in the form of tiles that the device likes best. */
import type { Node } from "../../../graph/node.js";
import type { ElementSettings } from "../../elements/elements.js";
import type { Kernel } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Routine, RoutineBuffer } from "../../target/routine.js";
import type { AttentionTile } from "../../target/tile-profile.js";
import { keyKernel, queryKernel } from "./backward.js";
import { forwardKernel } from "./forward.js";
import { matrixKeyKernel, matrixQueryKernel } from "./matrix-backward.js";
import { matrixForwardKernel } from "./matrix-forward.js";
import { type AttentionPass, planAttention } from "./plan.js";
import { type AttentionProblem, problemOf } from "./problem.js";
import { sharedForwardKernel } from "./shared-forward.js";
import { SharedTiles } from "./shared-tiles.js";
import { VECTOR_LANES, VECTOR_ROWS, VectorTiles } from "./vector-tiles.js";

export const attentionRoutine: Routine = (node, { tiles }, settings) => {
  const problem = problemOf(node);
  const tile = planAttention(problem, tiles, "forward") as AttentionTile;
  return {
    temporaries: [],
    steps: [
      {
        kernel: attentionKernel(problem, "forward", tile, settings),
        buffers: [...inputsOf(node), part(0), part(1)],
        formula: (names) => {
          const [out, logs] = names.slice(-2);
          return `${out} = softmax(${scoresText(names, problem)}) · ${names[2]}; ${logs} = log Σ exp of the scores; scores stay on chip`;
        },
      },
    ],
  };
};

export const attentionGradientRoutine: Routine = (node, { tiles }, settings) => {
  const problem = problemOf(node);
  const kernelOf = (pass: "queries" | "keys") =>
    attentionKernel(problem, pass, planAttention(problem, tiles, pass) as AttentionTile, settings);
  const given = inputsOf(node);
  return {
    temporaries: [],
    steps: [
      {
        kernel: kernelOf("queries"),
        buffers: [...given, part(0)],
        formula: (names) => `${names.at(-1)} = dS · ${names[1]}, S = ${scoresText(names, problem)}`,
      },
      {
        kernel: kernelOf("keys"),
        buffers: [...given, part(1), part(2)],
        formula: (names) => {
          const [ofKeys, ofValues] = names.slice(-2);
          const ct = names[given.length - 3];
          return `${ofKeys} = dSᵀ · ${names[0]}; ${ofValues} = Pᵀ · ${ct}, P = softmax(${scoresText(names, problem)})`;
        },
      },
    ],
  };
};

/** @internal for tests: kernels of every tile are interpreted */
export function attentionKernel(
  problem: AttentionProblem,
  pass: AttentionPass,
  tile: AttentionTile,
  settings: ElementSettings,
): Kernel {
  if (tile.kind === "matrix") {
    if (pass === "forward") return matrixForwardKernel(problem, settings, tile);
    return pass === "queries" ? matrixQueryKernel(problem, tile) : matrixKeyKernel(problem, tile);
  }
  const write = { forward: forwardKernel, queries: queryKernel, keys: keyKernel }[pass];
  if (tile.kind === "vectors") {
    const tiles = (k: KernelBuilder) => new VectorTiles(k, problem.type);
    return write(problem, settings, { rows: VECTOR_ROWS, lanes: VECTOR_LANES, tiles });
  }
  if (pass === "forward" && tile.subgroupSize && problem.type === "f32") {
    return sharedForwardKernel(problem, settings, tile);
  }
  // Weights take the place of keys in the forward kernel alone.
  const tiles = (k: KernelBuilder) => new SharedTiles(k, { ...tile, isTight: false }, problem.type);
  return write(problem, settings, { rows: tile.rows, lanes: tile.lanes[0] * tile.lanes[1], tiles });
}

const inputsOf = ({ inputs }: Node): RoutineBuffer[] => inputs.map((_, index) => ({ kind: "input", index }));

const part = (index: number): RoutineBuffer => ({ kind: "result", part: index });

/** The scores as text: which keys a query sees is said behind them. */
function scoresText(names: readonly string[], { params }: AttentionProblem): string {
  const { scale, left, right, hasBias, hasMask, hasLength } = params;
  const optional = names.slice(3);
  const bias = hasBias ? ` + ${optional.shift()}` : "";
  const hidden = [
    ...(hasMask ? [`where ${optional.shift()}`] : []),
    ...(hasLength ? [`keys < ${optional.shift()}`] : []),
    ...(left === Infinity ? [] : [`${left} keys before`]),
    ...(right === 0 ? ["causal"] : right === Infinity ? [] : [`${right} keys behind`]),
  ];
  return `${scale} · ${names[0]} · ${names[1]}ᵀ${bias}${hidden.length > 0 ? `, ${hidden.join(", ")}` : ""}`;
}
