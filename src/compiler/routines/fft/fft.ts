/**
 * Fourier transforms along one axis (graph/primitives/dft.ts), any length. graph/dft-plan.ts says in which passes a length is
 * computed; here each becomes a kernel, with the memory it reads and writes.
 *
 * Between passes numbers keep their places: pass q transforms digit q of the position, counted from the highest. The last
 * pass writes them where they belong, with the digits in reverse order.
 */
import { productOf } from "../../../core/shape.js";
import { type DftFloat, type DftPlan, planDft } from "../../../graph/dft-plan.js";
import type { Node } from "../../../graph/node.js";
import { type DftParams, dftExtents, dftFloat, dftParams } from "../../../graph/primitives/dft.js";
import type { Kernel } from "../../ir/ir.js";
import type { TargetProfile } from "../../target/profile.js";
import type { Routine, RoutineBuffer } from "../../target/routine.js";
import type { Digit, Factor, Pass, Reading, Writing } from "./pass.js";
import { sharedRowsKernel } from "./shared-rows.js";
import { vectorRowsKernel } from "./vector-rows.js";

export const dftRoutine: Routine = (node, profile) => {
  const transforms = transformsOf(node);
  const passes = passesOf(transforms);
  const { plan, outer, inner, params } = transforms;
  const last = passes.length - 1;
  // Neighbouring passes use different memory.
  const temporary = (number: number): RoutineBuffer => ({ kind: "temporary", index: number % 2 });
  const between = { dtype: transforms.type, shape: [outer, plan.computed, inner, 2] };
  return {
    temporaries: Array.from({ length: Math.min(2, last) }, () => between),
    steps: passes.map((pass, number) => ({
      kernel: kernelOf(pass, profile),
      buffers: [
        number === 0 ? { kind: "input", index: 0 } : temporary(number - 1),
        { kind: "input", index: 1 },
        number === last ? { kind: "result" } : temporary(number),
      ],
      formula: ([from, table, to]) => {
        const which = last === 0 ? "" : `, pass ${number + 1} of ${last + 1}`;
        return `${to} = Fourier transform of ${from} along axis ${params.axis}${which}, with constants of ${table}`;
      },
    })),
  };
};

const kernelOf = (pass: Pass, profile: TargetProfile): Kernel =>
  profile.maxLanes > 1 ? sharedRowsKernel(pass, profile) : vectorRowsKernel(pass, profile);

/** A transform to be done: its plan, and the numbers in memory before and behind the axis. */
interface Transforms {
  readonly type: DftFloat;
  readonly params: DftParams;
  readonly plan: DftPlan;
  readonly outer: number;
  readonly inner: number;
  /** Numbers on the axis of the source. */
  readonly extent: number;
}

function transformsOf(node: Node): Transforms {
  const params = dftParams(node);
  const [{ shape }] = node.inputs;
  const type = dftFloat(node);
  const { axis, kind, length, isOfComplex } = params;
  return {
    type,
    params,
    plan: planDft(kind, length, type),
    outer: productOf(shape.slice(0, axis)),
    inner: productOf(shape.slice(axis + 1, isOfComplex ? -1 : undefined)),
    extent: shape[axis],
  };
}

/** The passes in order; of a convolution that takes several, those there and those back. */
function passesOf(transforms: Transforms): Pass[] {
  const { params, plan } = transforms;
  const { isChirp, passes, table, computed } = plan;
  const { sign } = params;
  const factor = (start: number): Factor => ({ start, isConjugate: sign === 1 });
  const chirp = isChirp ? factor(table.chirp) : null;
  const reading = readingOf(transforms, chirp);
  const writing = writingOf(transforms, chirp);
  if (!isChirp || passes.length === 1) {
    return transform(transforms, sign, reading, writing, isChirp ? factor(table.filter) : null);
  }
  const filtered: Writing = { kind: "complex", extent: computed, factor: factor(table.filter), scale: 1 };
  const back = sign === 1 ? -1 : 1;
  return [
    ...transform(transforms, sign, reading, filtered, null),
    ...transform(transforms, back, readingAll(computed), writing, null),
  ];
}

const readingAll = (computed: number): Reading => ({
  kind: "complex",
  extent: computed,
  positions: computed,
  factor: null,
});

function readingOf({ params, plan, extent }: Transforms, factor: Factor | null): Reading {
  const { kind, isOfComplex } = params;
  const rest = { extent, positions: plan.length, factor };
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
  reading: Reading,
  writing: Writing,
  convolved: Factor | null,
): Pass[] {
  const { plan, inner, params, type } = transforms;
  const { passes, computed, table } = plan;
  const last = passes.length - 1;
  return passes.map((length, number) => {
    const isLast = number === last;
    const behind = productOf(passes.slice(number + 1));
    const from = number === 0 ? reading : readingAll(computed);
    const to: Writing = isLast ? writing : { kind: "complex", extent: computed, factor: null, scale: 1 };
    const which = last === 0 ? "" : ` ${number + 1} of ${last + 1}`;
    const { fine, coarse, step } = table;
    const factor = computed / (length * behind);
    return {
      name: `dft${which}[${transforms.outer}×${params.length}×${inner}]`,
      type,
      length,
      computed,
      whole: plan.length,
      sign,
      digits: digitsOf(transforms, number, from.extent, to.extent),
      fromStep: behind,
      toStep: isLast ? computed / length : behind,
      inner,
      reading: from,
      writing: to,
      roots: table.roots.get(length) as number,
      halves: table.halves,
      twiddle: isLast ? null : { digit: inner > 1 ? 1 : 0, factor, fine, coarse, step },
      convolved,
    };
  });
}

/** The digits that number the transforms of a pass: neighbours in memory, digits of the position, lines along the axis. */
function digitsOf({ plan, inner, outer }: Transforms, number: number, fromExtent: number, toExtent: number): Digit[] {
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
  const stay = { fromPosition: 0, toPosition: 0 };
  return [
    { extent: inner, from: 1, to: 1, ...stay },
    ...within,
    { extent: outer, from: fromExtent * inner, to: toExtent * inner, ...stay },
  ].filter(({ extent }) => extent !== 1);
}
