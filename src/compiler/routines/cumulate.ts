/**
 * Running totals, in time proportional to the number of elements and always in the same order, so that a result is the
 * same in every run. This file plans the kernels; cumulate-kernel.ts writes them.
 *
 * The axis is cut into chunks. Each chunk's total is found, the totals are cumulated, and each chunk is then cumulated
 * starting from the total before it: the elements are read twice and written once. A workgroup that has a chunk adds up the
 * totals before it by itself, where their order does not matter. Where there are enough rows to keep
 * the device busy, a row is one chunk and is read once.
 */
import type { DType } from "../../core/dtype.js";
import type { Node } from "../../graph/node.js";
import { type CumulateOp, runningTotal } from "../../graph/primitives/cumulate.js";
import { computeType, type ElementSettings } from "../elements/elements.js";
import { axisNames } from "../print/formula.js";
import type { TargetProfile } from "../target/profile.js";
import type { Routine, RoutineBuffer, RoutinePlan, RoutineStep } from "../target/routine.js";
import { type Cumulation, type Cut, cumulateKernel, PER_LANE, type Role, sizesOf } from "./cumulate-kernel.js";

/** Rows along memory shorter than this are one thread's work. */
const MIN_LANE_ROW = 48;

export const cumulateRoutine: Routine = (node, profile, settings) => {
  const [x, segments] = node.inputs as readonly [Node, Node | undefined];
  const task: Cumulation = {
    op: node.params.op as CumulateOp,
    dtype: x.dtype,
    shape: x.shape,
    axis: node.params.axis as number,
    isReverse: node.params.isReverse === true,
    isExclusive: node.params.isExclusive === true,
    hasSegments: segments !== undefined,
  };
  return planCumulate(task, profile, settings);
};

export function planCumulate(task: Cumulation, profile: TargetProfile, settings: ElementSettings): RoutinePlan {
  const cut = cutInto(task, profile);
  const input: RoutineBuffer[] = [{ kind: "input", index: 0 }];
  if (task.hasSegments) input.push({ kind: "input", index: 1 });
  const result: RoutineBuffer = { kind: "result" };
  const { identity, neutral, combineOp } = runningTotal(task.op);
  // Without the element itself, the first total is shown as it is.
  const nothing = task.isExclusive ? identity(task.dtype) : neutral(task.dtype);
  if (cut.chunks === 1) {
    const role: Role = { stores: "elements", startsFrom: null, nothing };
    const step = { kernel: cumulateKernel(task, cut, role, settings), formula: formulaOf(task, cut, role) };
    return { temporaries: [], steps: [{ ...step, buffers: [...input, result] }] };
  }
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index });
  const wide = computeType(task.dtype);
  const shape = task.shape.map((extent, axis) => (axis === task.axis ? cut.chunks : extent));
  // Each chunk's total and the total before it; with segments also the segment of each.
  const kinds: DType[] = task.hasSegments ? [wide, "i32"] : [wide];
  const temporaries = [...kinds, ...kinds].map((dtype) => ({ dtype, shape }));
  const totals = kinds.map((_, i) => temporary(i));
  const before = kinds.map((_, i) => temporary(kinds.length + i));
  // The totals lie in the order in which the chunks are cumulated.
  const ofTotals: Cumulation = { ...task, dtype: wide, shape, isReverse: false, isExclusive: true };
  const tile = cut.lanes === 1 ? 1 : cut.lanes * PER_LANE;
  const whole: Cut = { ...cut, chunks: 1, chunkLength: Math.ceil(cut.chunks / tile) * tile };
  const step = (of: Cumulation, by: Cut, role: Role, buffers: readonly RoutineBuffer[]): RoutineStep => ({
    kernel: cumulateKernel(of, by, role, settings),
    buffers,
    formula: formulaOf(of, by, role),
  });
  const first = step(task, cut, { stores: "totals", startsFrom: null, nothing: neutral(task.dtype) }, [
    ...input,
    ...totals,
  ]);
  // Lanes that share a chunk combine the totals before it themselves, which takes less time than a kernel in between.
  if (cut.lanes > 1 && !task.hasSegments && combineOp) {
    const role: Role = { stores: "elements", startsFrom: "totals", nothing };
    return { temporaries: [temporaries[0]], steps: [first, step(task, cut, role, [...input, ...totals, result])] };
  }
  return {
    temporaries,
    steps: [
      first,
      step(ofTotals, whole, { stores: "totalsSoFar", startsFrom: null, nothing }, [...totals, ...before]),
      step(task, cut, { stores: "elements", startsFrom: "before", nothing }, [...input, ...before, result]),
    ],
  };
}

function cutInto(task: Cumulation, { maxLanes }: TargetProfile): Cut {
  const { outer, extent, inner } = sizesOf(task);
  const isShared = maxLanes > 1 && inner === 1 && extent >= MIN_LANE_ROW;
  if (isShared) {
    let lanes = 32;
    while (lanes < maxLanes && lanes * PER_LANE < extent) lanes *= 2;
    const tile = lanes * PER_LANE;
    const chunks = Math.max(1, Math.min(Math.ceil(extent / (4 * tile)), Math.floor(4096 / Math.max(1, outer))));
    const chunkLength = Math.ceil(extent / chunks / tile) * tile;
    return { lanes, chunkLength, chunks: Math.max(1, Math.ceil(extent / chunkLength)) };
  }
  const [threads, shortest] = maxLanes > 1 ? [65536, 64] : [64, 16384];
  const rows = Math.max(1, outer * inner);
  const chunks = Math.max(1, Math.min(512, Math.floor(threads / rows), Math.floor(extent / shortest)));
  const chunkLength = Math.max(1, Math.ceil(extent / chunks));
  return { lanes: 1, chunkLength, chunks: Math.max(1, Math.ceil(extent / chunkLength)) };
}

/** The kernel's formula, as `out[i, j] = sum over k <= j of a[i, k]`. Chunks run in the direction of the totals. */
function formulaOf(task: Cumulation, { chunkLength }: Cut, role: Role): RoutineStep["formula"] {
  const { op, axis, shape, isReverse, isExclusive, hasSegments } = task;
  const axes = axisNames(shape.length);
  const [own, counter] = [axes[axis], axisNames(shape.length + 1)[shape.length]];
  const at = (place: string) => `[${axes.map((name, i) => (i === axis ? place : name)).join(", ")}]`;
  const last = shape[axis] - 1;
  const over = `${counter} ${isReverse ? ">" : "<"}${isExclusive ? "" : "="} ${own}`;
  if (role.stores !== "elements") {
    const inChunk = isReverse
      ? `${last} - ${chunkLength} * ${own} - ${counter}`
      : `${chunkLength} * ${own} + ${counter}`;
    const [rounds, place] = role.stores === "totals" ? [`${counter} < ${chunkLength}`, inChunk] : [over, counter];
    return (names) => {
      const [to, segment] = names.slice(hasSegments ? 2 : 1);
      const which = segment ? `, of the last segment there, ${segment}${at(own)}` : "";
      return `${to}${at(own)} = ${op} over ${rounds} of ${names[0]}${at(place)}${which}`;
    };
  }
  const position = `${isReverse ? `(${last} - ${own})` : own} / ${chunkLength}`;
  const chunk = at(position);
  return (names) => {
    const [a, ...rest] = names.slice(0, -1);
    const segments = hasSegments ? rest.shift() : null;
    const [before, itsSegment] = rest;
    const same = segments ? ` with ${segments}[${counter}] == ${segments}[${own}]` : "";
    const where = itsSegment ? ` where ${itsSegment}${chunk} == ${segments}[${own}]` : "";
    const total =
      role.startsFrom === "totals"
        ? `${op} over ${counter} < ${position} of ${before}${at(counter)}`
        : `${before}${chunk}`;
    const start = before ? `, from ${total} on${where}` : "";
    return `${names.at(-1)}${at(own)} = ${op} over ${over}${same} of ${a}${at(counter)}${start}`;
  };
}
