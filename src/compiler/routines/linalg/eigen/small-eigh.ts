/**
 * Eigenvalues and eigenvectors of small Hermitian matrices, one matrix to a few lanes, in shared memory: thousands at a time. The
 * matrix is reduced to real tridiagonal form (small-tridiagonal.ts), which sweeps of rotations make diagonal (ql-sweeps.ts). On an
 * H200 that takes about a sixth of the arithmetic of Jacobi's method, and lanes rarely wait for each other.
 */
import { productOf } from "../../../../core/shape.js";
import type { Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import type { Routine } from "../../../target/routine.js";
import { bytesOf, Field, kindOf, shapeOf } from "../field.js";
import { SOFTWARE_LANES } from "../matrix-kernel.js";
import { quickDivision } from "../panel.js";
import {
  arrayBytes,
  arrayWorkspace,
  bufferWorkspace,
  eachByLane,
  epsilonOf,
  overLanes,
  powerOfTwo,
  type Workspace,
} from "../workspace.js";
import { qlSweeps } from "./ql-sweeps.js";
import type { SmallProblem } from "./small-problem.js";
import { AT_ONCE, smallTridiagonal } from "./small-tridiagonal.js";

const LANES = 32;
/** Lines of numbers beside the two matrices in shared memory. */
const LINES = 12;

/** Inputs: Hermitian matrices [.., n, n]. Results: eigenvalues [.., n], rising, and eigenvectors, [.., n, n], as rows. */
export const smallEighRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const shape = shapeOf(node.inputs[0], kind.isComplex);
  const n = shape.at(-1) as number;
  const batch = productOf(shape.slice(0, -2));
  const padded = AT_ONCE * Math.ceil(n / AT_ONCE);
  const words = padded * padded;
  const room = arrayBytes(profile) - LINES * padded * bytesOf(kind);
  const fitting = Math.floor(room / (words * bytesOf(kind)));
  const k = new KernelBuilder(`smallEigh[${shape.join("×")}]`, n === 0 ? 0 : batch, lanesFor(n, profile));
  const field = new Field(k, kind, quickDivision(settings, profile));
  const source = field.buffer(false);
  const [values, vectors] = [k.buffer(kind.type, true), field.buffer(true)];
  // Arrays that do not fit go to buffers: the vectors first.
  const outside = Array.from({ length: Math.max(0, 2 - fitting) }, () => field.buffer(true));
  const place = (which: number): Workspace => {
    const buffer = which < fitting ? undefined : outside[which - fitting];
    if (buffer === undefined) return arrayWorkspace(field, words);
    return bufferWorkspace(k, field, buffer, k.binary("mul", k.row, k.constant("i32", words)));
  };
  if (n > 0) solve({ k, field, n, padded, a: place(0), z: place(1) }, source, values, vectors);
  const parts = kind.isComplex ? [2] : [];
  return {
    temporaries: outside.map(() => ({ dtype: kind.type, shape: [batch, words, ...parts] })),
    steps: [
      {
        kernel: k.finish(),
        buffers: [
          { kind: "input", index: 0 },
          { kind: "result", part: 0 },
          { kind: "result", part: 1 },
          ...outside.map((_, index) => ({ kind: "temporary", index }) as const),
        ],
        formula: ([a, w, v]) => `${w}, ${v} = eigenvalues of ${a} and their vectors, by tridiagonal form`,
      },
    ],
  };
};

/** Software ends the loops of a lane after some rounds, so that lanes have a row each there. */
function lanesFor(n: number, { maxLanes, hasSlowBarriers }: TargetProfile): number {
  return Math.min(maxLanes, hasSlowBarriers ? Math.max(SOFTWARE_LANES, powerOfTwo(n)) : LANES);
}

type Memory = Omit<SmallProblem, "diagonal" | "beside" | "lost">;

function solve(memory: Memory, source: number, values: number, vectors: number): void {
  const { k, field, n, padded } = memory;
  const first = k.binary("mul", k.row, k.constant("i32", n * n));
  const squares = k.combineLanes("add", load(memory, source, first));
  const lost = k.binary("mul", field.sqrtReal(squares), k.constant(field.type, epsilonOf(field.type) / (8 * n)));
  const [diagonal, beside] = [k.array(field.type, padded), k.array(field.type, padded)];
  const problem = { ...memory, diagonal, beside, lost };
  k.barrier();
  smallTridiagonal(problem);
  qlSweeps(problem);
  store(problem, first, values, vectors);
}

/** Fills both matrices, with zeros beyond the given one. The sum of squares of the elements of this lane. */
function load({ k, field, n, padded, a, z }: Memory, source: number, first: Value): Value {
  const i = (value: number) => k.constant("i32", value);
  const [sum] = overLanes(k, field, padded * padded, [field.zero], (item, [before]) => {
    const [column, row] = [k.binary("idiv", item, i(padded)), k.binary("irem", item, i(padded))];
    const isThere = k.binary("and", k.compare("lt", row, i(n)), k.compare("lt", column, i(n)));
    // Row `column`, turned around, is the column.
    const place = k.select(isThere, k.binary("add", k.binary("mul", column, i(n)), row), i(0));
    const loaded = field.conj(field.load(source, k.binary("add", first, place)));
    const isDiagonal = k.compare("eq", row, column);
    const x = field.select(isThere, field.select(isDiagonal, field.real(loaded.re), loaded), field.zero);
    a.set(item, x);
    z.set(item, field.select(isDiagonal, field.one, field.zero));
    return [field.add(before, field.real(field.squared(x)))];
  });
  return sum.re;
}

/** Writes values and vectors in rising order. */
function store(
  { k, field, n, padded, z, diagonal }: SmallProblem,
  first: Value,
  values: number,
  vectors: number,
): void {
  const i = (value: number) => k.constant("i32", value);
  const order = k.array("i32", n);
  eachByLane(k, n, (which) => {
    const own = k.get(diagonal, which);
    const [rank] = k.loop(n, [i(0)], (other, [before]) => {
      const its = k.get(diagonal, other);
      const isSame = k.binary("and", k.unary("not", k.compare("lt", own, its)), k.compare("lt", other, which));
      const isBefore = k.binary("or", k.compare("lt", its, own), isSame);
      return [k.binary("add", before, k.select(isBefore, i(1), i(0)))];
    });
    k.set(order, which, rank);
    k.store(values, k.binary("add", k.binary("mul", k.row, i(n)), rank), own, k.lanes === 1);
  });
  k.barrier();
  eachByLane(k, n * n, (item) => {
    const [which, row] = [k.binary("idiv", item, i(n)), k.binary("irem", item, i(n))];
    const to = k.binary("add", k.binary("mul", k.get(order, which), i(n)), row);
    const from = k.binary("add", k.binary("mul", which, i(padded)), row);
    field.store(vectors, k.binary("add", first, to), z.get(from));
  });
}
