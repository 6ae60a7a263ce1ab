/** A kernel around one part of small-eigh.ts: it loads the memory that the part works on, and stores it again. */
import { KernelBuilder } from "../../../../../src/compiler/ir/kernel-builder.js";
import type { SmallProblem } from "../../../../../src/compiler/routines/linalg/eigen/small-problem.js";
import { AT_ONCE } from "../../../../../src/compiler/routines/linalg/eigen/small-tridiagonal.js";
import { Field, type NumberKind } from "../../../../../src/compiler/routines/linalg/field.js";
import { arrayWorkspace, eachByLane, epsilonOf } from "../../../../../src/compiler/routines/linalg/workspace.js";
import { interpretRoutine } from "../../../../support/interpreted-routine.js";
import { bytesFor, decoded, encoded, type Matrix, numbersIn, settings, transposed } from "../matrices.js";

interface Result {
  readonly diagonal: number[];
  readonly beside: number[];
  readonly z: Matrix;
}

/** A part run by so many lanes on a matrix A, Z the identity; its diagonal and what is above it are there beforehand. */
export function solved(part: (problem: SmallProblem) => void, a: Matrix, kind: NumberKind, lanes: number): Result {
  const n = a.length;
  const padded = AT_ONCE * Math.ceil(n / AT_ONCE);
  const k = new KernelBuilder("part", 1, lanes);
  const field = new Field(k, kind, settings);
  const from = field.buffer(false);
  const [ofDiagonal, ofBeside] = [k.buffer(kind.type, true), k.buffer(kind.type, true)];
  const to = field.buffer(true);
  const i = (value: number) => k.constant("i32", value);
  const problem = {
    ...{ k, field, n, padded },
    ...{ a: arrayWorkspace(field, padded * padded), z: arrayWorkspace(field, padded * padded) },
    ...{ diagonal: k.array(kind.type, padded), beside: k.array(kind.type, padded) },
    lost: k.constant(kind.type, epsilonOf(kind.type) / (8 * n)),
  };
  eachByLane(k, padded * padded, (item) => {
    const [column, row] = [k.binary("idiv", item, i(padded)), k.binary("irem", item, i(padded))];
    const isThere = k.binary("and", k.compare("lt", row, i(n)), k.compare("lt", column, i(n)));
    const place = k.select(isThere, k.binary("add", k.binary("mul", row, i(n)), column), i(0));
    const x = field.select(isThere, field.load(from, place), field.zero);
    problem.a.set(item, x);
    problem.z.set(item, field.select(k.compare("eq", row, column), field.one, field.zero));
    k.set(problem.diagonal, row, x.re, k.compare("eq", row, column));
    k.set(problem.beside, row, x.re, k.compare("eq", column, k.binary("add", row, i(1))));
  });
  k.barrier();
  part(problem);
  k.barrier();
  eachByLane(k, n, (at) => {
    k.store(ofDiagonal, at, k.get(problem.diagonal, at));
    k.store(ofBeside, at, k.get(problem.beside, at));
  });
  eachByLane(k, n * n, (item) => {
    const [column, row] = [k.binary("idiv", item, i(n)), k.binary("irem", item, i(n))];
    field.store(to, item, problem.z.get(k.binary("add", k.binary("mul", column, i(padded)), row)));
  });
  const buffers = [
    { kind: "input", index: 0 } as const,
    ...[0, 1, 2].map((part) => ({ kind: "result", part }) as const),
  ];
  const plan = { temporaries: [], steps: [{ kernel: k.finish(), buffers, formula: () => "" }] };
  const sizes = [...[0, 1].map(() => bytesFor(n, { ...kind, isComplex: false })), bytesFor(n * n, kind)];
  const [d, e, z] = interpretRoutine(plan, [encoded([a], kind)], sizes) as [Uint8Array, Uint8Array, Uint8Array];
  return {
    diagonal: numbersIn(d, kind.type),
    beside: numbersIn(e, kind.type),
    z: transposed(decoded(z, kind, n, n)[0]!),
  };
}

/** The tridiagonal matrix with this diagonal, and these numbers beside it. */
export const tridiagonalOf = (diagonal: readonly number[], beside: readonly number[]): Matrix =>
  diagonal.map((d, i) =>
    diagonal.map((_, j) => [i === j ? d : Math.abs(i - j) === 1 ? beside[Math.min(i, j)]! : 0, 0] as const),
  );
