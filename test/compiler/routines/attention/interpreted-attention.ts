/**
 * Kernels of attention run by the interpreter, which finds missing barriers and indices outside memory; their results against
 * plain loops. A check takes the kernel as a function of the problem, so that each file under test passes its own.
 */
import assert from "node:assert/strict";
import type { Kernel } from "../../../../src/compiler/ir/ir.js";
import { type AttentionProblem, problemOf } from "../../../../src/compiler/routines/attention/problem.js";
import type { MatrixAttentionTile } from "../../../../src/compiler/target/tile-profile.js";
import { DTYPES, type DType } from "../../../../src/core/dtype.js";
import { dataOf, elementAt, encodeValues } from "../../../../src/core/storage.js";
import type { Node } from "../../../../src/graph/node.js";
import {
  type AttentionChoices,
  type AttentionShapes,
  bools,
  caseOf,
  sample,
} from "../../../support/attention-cases.js";
import {
  type AttentionCase,
  attentionGradients,
  attentionLogs,
  attentionOf,
} from "../../../support/attention-oracle.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { type Plain, plainOf } from "../../../support/tensors.js";

/** Attention of these shapes as its kernels take it, without a device. */
export function problem(shapes: AttentionShapes, choices: AttentionChoices, dtype: DType = "f32"): AttentionProblem {
  const { before = Infinity, behind = Infinity, scale, bias, mask, lengths, q, k, v } = caseOf(shapes, choices, 1);
  const node = (plain: Plain, dtype: string) => ({ shape: plain.shape, dtype });
  const optional = [
    bias && node(bias, "f32"),
    mask && node(mask, "bool"),
    lengths && { shape: [shapes.batch], dtype: "i32" },
  ];
  return problemOf({
    inputs: [...[q, k, v].map((each) => node(each, dtype)), ...optional.filter(Boolean)],
    params: {
      ...{ scale: scale ?? 1 / Math.sqrt(shapes.widths[0]), left: before, right: behind, emptyRow: 0 },
      ...{ hasBias: !!bias, hasMask: !!mask, hasLength: !!lengths },
    },
  } as unknown as Node);
}

/** One attention: shapes, options, and what differs from the numbers that `caseOf` draws. */
export interface Trial {
  readonly shapes: AttentionShapes;
  readonly choices?: AttentionChoices;
  readonly dtype?: DType;
  readonly change?: Partial<AttentionCase>;
}

/** A tile for matrix units of 16×16×16. */
export const matrixTile = (
  operand: "f16" | "bf16",
  subgroupSize: number,
  rows = 32,
  columns = 32,
  pairs = false,
): MatrixAttentionTile => ({
  ...{ kind: "matrix", rows, columns, subgroupSize },
  fragment: { operand, rows: 16, columns: 16, depth: 16, pairs },
});

const shapes: AttentionShapes = { batch: 1, heads: [2, 1], tokens: [20, 45], widths: [16, 24] };

/** What kernels on matrix units must compute, forward and back: a tile and an attention each, by what they show. */
export const MATRIX_TRIALS: Readonly<Record<string, readonly (readonly [MatrixAttentionTile, Trial])[]>> = {
  "every dtype and size of subgroups, with edges inside tiles and units": [
    [matrixTile("f16", 32), { shapes, choices: { causal: true } }],
    [matrixTile("bf16", 32), { shapes }],
    [matrixTile("f16", 8), { shapes: { ...shapes, tokens: [18, 40] }, choices: { causal: true } }],
    [matrixTile("bf16", 64, 16), { shapes: { ...shapes, tokens: [20, 33] }, choices: { causal: true } }],
    [matrixTile("f16", 16, 16, 16), { shapes: { ...shapes, tokens: [17, 33], widths: [24, 8] } }],
  ],
  "values wider than a tile has columns": [
    [
      matrixTile("f16", 32, 16, 16),
      { shapes: { ...shapes, tokens: [16, 30], widths: [8, 40] }, choices: { causal: true } },
    ],
  ],
  "windows, lengths, masks and biases; queries that see nothing": [
    [matrixTile("f16", 32), { shapes, choices: { window: [20, 3] } }],
    [matrixTile("f16", 32), { shapes, choices: { bias: sample([1, 2, 1, 45], 4), mask: bools([1, 1, 20, 45], 5) } }],
    [matrixTile("f16", 32), { shapes: { ...shapes, batch: 2 }, choices: { lengths: [0, 40], causal: true } }],
  ],
};

/** Scores that rise from tile to tile by about `step`, in powers of two, in half of the rows. */
export const risingTrial = (step: number): Trial => ({
  shapes: { batch: 1, heads: [1, 1], tokens: [16, 96], widths: [16, 16] },
  choices: { scale: 0.25 },
  change: {
    q: plainOf([1, 1, 16, 16], ([, , i, c]) => (c === 0 ? (i! % 2) * 4 : 0)),
    k: plainOf([1, 1, 96, 16], ([, , j, c]) => (c === 0 ? Math.floor(j! / 32) * step : 0)),
  },
});

/** One query's scores rise from the third tile of 32 keys on; those of two others, which a lane may hold beside it, are NaN. */
export const spoiltTrial: Trial = {
  shapes: { batch: 1, heads: [1, 1], tokens: [16, 96], widths: [16, 16] },
  choices: { scale: 0.25 },
  change: {
    q: plainOf([1, 1, 16, 16], ([, , i, c]) => (i === 7 || i === 11 ? Number.NaN : i === 3 && c === 0 ? 4 : 0)),
    k: plainOf([1, 1, 96, 16], ([, , j, c]) => (c === 0 && j! >= 64 ? 200 : 0)),
  },
};

const givenOf = ({ shapes, choices = {}, change }: Trial): AttentionCase => ({
  ...caseOf(shapes, choices, 1),
  ...change,
});

/** The numbers of the operands, in the order in which kernels declare them. */
function inputsOf(trial: Trial): (readonly number[])[] {
  const { q, k, v, bias, mask, lengths } = givenOf(trial);
  const optional = [bias?.values, mask?.values, lengths].flatMap((values) => (values ? [values] : []));
  return [q.values, k.values, v.values, ...optional];
}

/** Runs a kernel on the numbers of its inputs; returns the numbers it wrote. */
function interpreted(kernel: Kernel, inputs: readonly (readonly number[])[], sizes: readonly number[]): number[][] {
  const memory = kernel.buffers.map(({ dtype, isWritten }, i) =>
    isWritten
      ? new Uint8Array(DTYPES[dtype].bytes * sizes[i - inputs.length]!)
      : encodeValues(inputs[i]!, dtype, "test"),
  );
  interpretKernel(kernel, memory);
  return memory.slice(inputs.length).map((bytes, at) => {
    const { dtype } = kernel.buffers[inputs.length + at]!;
    const data = dataOf(bytes, dtype);
    return Array.from({ length: sizes[at]! }, (_, i) => Number(elementAt(data, dtype, i)));
  });
}

/** Each number within so much of the one wanted, relative to numbers above 1. Infinities and NaN are equal or not. */
function expectAll(got: readonly number[], want: readonly number[], what: string, within: number): void {
  assert.equal(got.length, want.length, what);
  got.forEach((x, i) => {
    const isNear =
      x === want[i] || Object.is(x, want[i]) || Math.abs(x - want[i]!) <= within * (1 + Math.abs(want[i]!));
    assert.ok(isNear, `${what} ${i}: ${x}, not ${want[i]}`);
  });
}

const textOf = ({ shapes, choices = {}, dtype = "f32" }: Trial): string =>
  JSON.stringify({ dtype, ...shapes, ...choices, bias: choices.bias?.shape, mask: choices.mask?.shape });

/** Output and logarithms of the sums. With values of 1 the logarithms alone say whether the weights add up. */
export function checkForward(write: (problem: AttentionProblem) => Kernel, trial: Trial, within = 1e-5): void {
  const { shapes, choices = {}, dtype = "f32" } = trial;
  const given = givenOf(trial);
  const rows = shapes.batch * shapes.heads[0] * shapes.tokens[0];
  const kernel = write(problem(shapes, choices, dtype));
  const [out, logs] = interpreted(kernel, inputsOf(trial), [rows * shapes.widths[1], rows]);
  expectAll(out!, attentionOf(given).values, `output of ${textOf(trial)}`, within);
  expectAll(logs!, attentionLogs(given), `logarithms of ${textOf(trial)}`, Math.min(within, 1e-4));
}

/** The gradients of q, k and v. Logarithms and sums that the kernels are given come from the loops, not from a kernel. */
export function checkBackward(
  write: { queries(problem: AttentionProblem): Kernel; keys(problem: AttentionProblem): Kernel },
  trial: Trial,
  within = 1e-5,
): void {
  const { shapes, choices = {}, dtype = "f32" } = trial;
  const given = givenOf(trial);
  const out = attentionOf(given);
  const ct = sample(out.shape, 5, 1);
  const logs = attentionLogs(given);
  const width = shapes.widths[1];
  const delta = logs.map((_, row) => {
    const line = ct.values.slice(row * width, (row + 1) * width);
    return line.reduce((sum, x, c) => sum + x * out.values[row * width + c]!, 0);
  });
  const inputs = [...inputsOf(trial), ct.values, logs, delta];
  const own = problem(shapes, choices, dtype);
  const [ofQ, ofK, ofV] = attentionGradients(given, ct).map(({ values }) => values) as [number[], number[], number[]];
  const [q] = interpreted(write.queries(own), inputs, [ofQ.length]);
  expectAll(q!, ofQ, `gradient of q, ${textOf(trial)}`, within);
  const [k, v] = interpreted(write.keys(own), inputs, [ofK.length, ofV.length]);
  expectAll(k!, ofK, `gradient of k, ${textOf(trial)}`, within);
  expectAll(v!, ofV, `gradient of v, ${textOf(trial)}`, within);
}
