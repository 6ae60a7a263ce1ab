/**
 * Fourier transforms along one axis (graph/primitives/dft.ts), any length. graph/dft-plan.ts says in which passes a length is
 * computed; here each becomes a kernel, with the memory it reads and writes.
 *
 * Between passes numbers keep their places: pass q transforms digit q of the position, counted from the highest. The last
 * pass writes them where they belong, with the digits in reverse order.
 */
import { productOf } from "../../../core/shape.js";
import { Node } from "../../../graph/node.js";
import type { Params } from "../../../graph/primitive.js";
import { type DftParams, dft, dftExtents, dftParams } from "../../../graph/primitives/dft.js";
import type { Kernel } from "../../ir/ir.js";
import type { TargetProfile } from "../../target/profile.js";
import type { Routine, RoutineBuffer, RoutineStep } from "../../target/routine.js";
import { joinedHalvesKernel } from "./joined-halves.js";
import type { Digit, Factor, Pass, Reading, Writing } from "./pass.js";
import { rowsAndColumnsKernel } from "./rows-and-columns.js";
import { sharedRowsKernel } from "./shared-rows.js";
import { type Memory, nearAxis, resultOf, sourceOf, type Transforms, temporaryOf, transformsOf } from "./transforms.js";
import { vectorRowsKernel } from "./vector-rows.js";

export const dftRoutine: Routine = (node, profile, settings) =>
  dftParams(node).rows ? rowsFirst(node, profile, settings) : ofOneAxis(node, profile, settings);

const ofOneAxis: Routine = (node, profile) => {
  const transforms = transformsOf(node, profile.fft);
  const passes = passesOf(transforms);
  const { plan, params, batch, type } = transforms;
  const last = passes.length - 1;
  // Neighbouring passes use different memory.
  const temporary = (number: number): RoutineBuffer => ({ kind: "temporary", index: number % 2 });
  const between = { dtype: type, shape: [...batch.map(({ extent }) => extent), plan.computed, 2] };
  return {
    temporaries: Array.from({ length: Math.min(2, last) }, () => between),
    steps: passes.map((pass, number) => ({
      kernel: kernelOf(pass, profile),
      buffers: [
        number === 0 ? { kind: "input", index: 0 } : temporary(number - 1),
        { kind: "input", index: 1 },
        number === last ? { kind: "result" } : temporary(number),
        ...(pass.reading.isWindowed ? [{ kind: "input", index: 2 } as const] : []),
      ],
      formula: ([from, table, to, window]) => {
        const which = last === 0 ? "" : `, pass ${number + 1} of ${last + 1}`;
        const seen = window === undefined ? from : `${from} · ${window}`;
        return `${to} = Fourier transform of ${seen} along axis ${params.axis}${which}, with constants of ${table}`;
      },
    })),
  };
};

/** The transform of columns of what a transform of rows gives: both in two kernels, or three where workgroups are small. */
const rowsFirst: Routine = (node, profile, settings) => {
  const { rows, ...params } = dftParams(node) as DftParams & { readonly rows: DftParams };
  const [x, table, rowTable] = node.inputs;
  const { dtype, device } = node;
  const shape = [...x.shape.slice(0, -1), dftExtents(rows).given, 2];
  const between = new Node(dft, rows as unknown as Params, [x, rowTable], shape, dtype, device);
  const columns = new Node(dft, params as unknown as Params, [between, table], node.shape, dtype, device);
  const plan = ofOneAxis(columns, profile, settings);
  const [pass, behind] = [between, columns].map((each) => passesOf(transformsOf(each, profile.fft))[0]);
  const [input, ofColumns, ofRows] = [0, 1, 2].map((index): RoutineBuffer => ({ kind: "input", index }));
  const [first, ...others] = plan.steps;
  const what = (to: string, from: string, constants: string) =>
    `${to} = Fourier transform of ${from} along axis ${rows.axis}, with constants of ${constants}`;
  const kernel = rowsAndColumnsKernel(pass, behind, profile);
  if (kernel) {
    const joined: RoutineStep = {
      kernel,
      buffers: [input, ofColumns, ofRows, { kind: "temporary", index: 0 }],
      formula: ([from, own, ofLines, to]) =>
        `${what(to, from, ofLines)}, then pass 1 of 2 along axis ${params.axis}, with constants of ${own}`,
    };
    return { ...plan, steps: [joined, ...others] };
  }
  const stored: RoutineBuffer = { kind: "temporary", index: plan.temporaries.length };
  const alone: RoutineStep = {
    kernel: kernelOf(pass, profile),
    buffers: [input, ofRows, stored],
    formula: ([from, constants, to]) => what(to, from, constants),
  };
  return {
    temporaries: [...plan.temporaries, { dtype, shape }],
    steps: [alone, { ...first, buffers: [stored, ...first.buffers.slice(1)] }, ...others],
  };
};

function kernelOf(pass: Pass, profile: TargetProfile): Kernel {
  if (pass.isJoining) return joinedHalvesKernel(pass, profile);
  return profile.maxLanes > 1 ? sharedRowsKernel(pass, profile) : vectorRowsKernel(pass);
}

/** One end of a series of passes: the memory, and what its numbers are. */
interface End<As> {
  readonly memory: Memory;
  readonly as: As;
}

/** The passes in order; of a convolution that takes several, those there and those back. */
function passesOf(transforms: Transforms): Pass[] {
  const { params, plan } = transforms;
  const { isChirp, passes, table, computed } = plan;
  const { sign } = params;
  const factor = (start: number): Factor => ({ start, isConjugate: sign === 1 });
  const chirp = isChirp ? factor(table.chirp) : null;
  const source = { memory: sourceOf(transforms), as: readingOf(transforms, chirp) };
  const result = { memory: resultOf(transforms), as: writingOf(transforms, chirp) };
  const memory = temporaryOf(transforms);
  if (result.as.kind === "halved" && passes.length > 1) {
    const pairs = { memory, as: keptAs(computed) };
    return [
      ...transform(transforms, sign, source, pairs, null),
      joining(transforms, { memory, as: readingAll(computed) }, result),
    ];
  }
  if (!isChirp || passes.length === 1) {
    return transform(transforms, sign, source, result, isChirp ? factor(table.filter) : null);
  }
  const filtered: Writing = { kind: "complex", extent: computed, factor: factor(table.filter), scale: 1 };
  const back = sign === 1 ? -1 : 1;
  return [
    ...transform(transforms, sign, source, { memory, as: filtered }, null),
    ...transform(transforms, back, { memory, as: readingAll(computed) }, result, null),
  ];
}

const keptAs = (computed: number): Writing => ({ kind: "complex", extent: computed, factor: null, scale: 1 });

const readingAll = (computed: number): Reading => ({
  kind: "complex",
  extent: computed,
  positions: computed,
  factor: null,
  isWindowed: false,
});

function readingOf({ params, plan, extent }: Transforms, factor: Factor | null): Reading {
  const { kind, isOfComplex, isWindowed = false } = params;
  const rest = { extent, positions: plan.length, factor, isWindowed };
  if (kind === "half") return { kind: plan.isHalved ? "joined" : "mirrored", ...rest };
  if (kind === "real") return { kind: plan.isHalved ? "pairs" : "real", ...rest };
  return { kind: isOfComplex ? "complex" : "real", ...rest };
}

function writingOf({ params, plan }: Transforms, factor: Factor | null): Writing {
  const { kind, scale } = params;
  const rest = { extent: dftExtents(params).given, factor, scale };
  if (kind === "half") return { kind: plan.isHalved ? "pairs" : "real", ...rest };
  return { kind: kind === "real" && plan.isHalved ? "halved" : "complex", ...rest };
}

/** The passes of one transform of the computed length. */
function transform(
  transforms: Transforms,
  sign: 1 | -1,
  source: End<Reading>,
  result: End<Writing>,
  convolved: Factor | null,
): Pass[] {
  const { passes, radices, computed, table } = transforms.plan;
  const last = passes.length - 1;
  const memory = temporaryOf(transforms);
  return passes.map((length, number) => {
    const isLast = number === last;
    const behind = productOf(passes.slice(number + 1));
    const from = number === 0 ? source : { memory, as: readingAll(computed) };
    const to = isLast ? result : { memory, as: keptAs(computed) };
    const factor = table.order / (length * behind);
    return {
      ...ofWhole(transforms, last === 0 ? "" : ` ${number + 1} of ${last + 1}`, sign),
      length,
      radices: radices.get(length) as readonly number[],
      digits: digitsOf(transforms, number, from.memory, to.memory),
      fromStep: behind,
      toStep: isLast ? computed / length : behind,
      ...betweenEnds(from, to),
      roots: table.roots.get(length) as number,
      twiddle: isLast ? null : { digit: nearAxis(transforms) ? 1 : 0, factor },
      convolved,
    };
  });
}

/** The pass that joins the transform of pairs to half a spectrum. */
function joining(transforms: Transforms, from: End<Reading>, to: End<Writing>): Pass {
  const { plan, params, batch } = transforms;
  return {
    ...ofWhole(transforms, ", joined", params.sign),
    length: plan.computed,
    radices: [],
    digits: batch.map((_, axis) => lineDigit(transforms, axis, from.memory, to.memory)),
    fromStep: 1,
    toStep: 1,
    ...betweenEnds(from, to),
    roots: 0,
    twiddle: null,
    convolved: null,
    isJoining: true,
  };
}

/** The fields of a pass that all passes of a transform share. */
function ofWhole({ plan, params, type, batch }: Transforms, which: string, sign: 1 | -1) {
  const { computed, length: whole, table } = plan;
  const { fine, coarse, step, halves } = table;
  const shape = [...[...batch].reverse().map(({ extent }) => extent), params.length];
  return { name: `dft${which}[${shape.join("×")}]`, type, computed, whole, sign, halves, long: { fine, coarse, step } };
}

const betweenEnds = (from: End<Reading>, to: End<Writing>) => ({
  start: from.memory.start,
  fromApart: from.memory.apart,
  toApart: to.memory.apart,
  reading: from.as,
  writing: to.as,
});

/** The digit of an axis of the batch. */
function lineDigit({ batch }: Transforms, axis: number, from: Memory, to: Memory): Digit {
  return { extent: batch[axis].extent, from: from.axes[axis], to: to.axes[axis], fromPosition: 0, toPosition: 0 };
}

/** The digits that number the transforms of a pass: neighbours in memory, digits of the position, other lines along the axis. */
function digitsOf(transforms: Transforms, number: number, from: Memory, to: Memory): Digit[] {
  const { plan, batch } = transforms;
  const { passes, computed } = plan;
  const still = { from: 0, to: 0 };
  const before = productOf(passes.slice(0, number));
  const behind = productOf(passes.slice(number + 1));
  const own = computed / before;
  const within: Digit[] =
    number < passes.length - 1
      ? [
          { extent: behind, ...still, fromPosition: 1, toPosition: 1 },
          { extent: before, ...still, fromPosition: own, toPosition: own },
        ]
      : passes.slice(0, -1).map((extent, at) => {
          const toPosition = productOf(passes.slice(0, at));
          return { extent, ...still, fromPosition: computed / (toPosition * extent), toPosition };
        });
  const lines = batch.map((_, axis) => lineDigit(transforms, axis, from, to));
  const near = nearAxis(transforms) ? 1 : 0;
  return [...lines.slice(0, near), ...within, ...lines.slice(near)].filter(({ extent }) => extent !== 1);
}
