/**
 * Eigenvalues and eigenvectors of diag(d) + ρ z zᵀ, the step that joins two halves of a tridiagonal matrix (Cuppen 1981). Four
 * kernels: a workgroup sorts and deflates (deflation.ts); then for each eigenvalue one finds the root of the secular equation
 * 1 + ρ Σ zⱼ² / (dⱼ - λ) (secular.ts); then z is computed again, so that the roots are exact for it (Gu and Eisenstat 1994):
 * without that the vectors would not be orthogonal where roots are close; then the vectors.
 *
 * The parts of d that count, `live` of them in rising order, lie before those that were deflated.
 */
import { productOf } from "../../../../core/shape.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { Routine, RoutineBuffer } from "../../../target/routine.js";
import { Field } from "../field.js";
import { arrayBytes, arrayWorkspace, bufferWorkspace, eachByLane, powerOfTwo } from "../workspace.js";
import { deflationKernel } from "./deflation.js";
import { both, memberOf, overAll, type RankOne } from "./rank-one-problem.js";
import { secularKernel } from "./secular.js";

/**
 * Inputs: d [.., m], whose halves rise; z [.., m] of length 1; ρ [..], not negative. Results: eigenvalues [.., m], rising, and
 * eigenvectors as rows [.., m, m].
 */
export const rankOneRoutine: Routine = (node, profile, settings) => {
  const [{ shape, dtype }] = node.inputs;
  const m = shape.at(-1) as number;
  const type = dtype as "f32" | "f64";
  const lanes = profile.maxLanes === 1 ? 1 : Math.min(64, profile.maxLanes, Math.max(32, powerOfTwo(m / 8)));
  const problem: RankOne = { batch: productOf(shape.slice(0, -1)), m, type, lanes };
  const { batch } = problem;
  const line = { dtype: type, shape: [batch, m] };
  const places = { dtype: "i32", shape: [batch, m] } as const;
  const isInside = m * (type === "f64" ? 8 : 4) <= arrayBytes(profile) / 2;
  const temporaries = [
    ...Array.from({ length: 7 }, () => line),
    ...Array.from({ length: 5 }, () => places),
    { dtype: "i32", shape: [batch, 2] } as const,
    ...(isInside ? [] : [{ dtype: type, shape: [batch, m, m] }]),
  ];
  const memory = temporaries.map((_, index): RoutineBuffer => ({ kind: "temporary", index }));
  const [d, z, cosines, sines, shifts, exact, roots, order, origin, index, first, second, counts, ...row] = memory;
  const given = [0, 1, 2].map((at): RoutineBuffer => ({ kind: "input", index: at }));
  return {
    temporaries,
    steps: [
      {
        kernel: deflationKernel(problem, profile, settings),
        buffers: [...given, order, d, z, index, first, second, cosines, sines, counts],
        formula: ([from, , , , to]) => `${to} = ${from} in rising order, without what is deflated`,
      },
      {
        kernel: secularKernel(problem, settings),
        buffers: [given[2], d, z, counts, shifts, origin, roots],
        formula: ([rho, diagonal, vector, , , , found]) =>
          `${found} = roots of 1 + ${rho} Σ ${vector}² / (${diagonal} - root)`,
      },
      {
        kernel: weightKernel(problem, settings),
        buffers: [d, z, counts, shifts, origin, exact],
        formula: ([, vector, , , , made]) => `${made} = ${vector}, so that the roots are exact`,
      },
      {
        kernel: vectorKernel(problem, settings, isInside),
        buffers: [
          ...[d, exact, counts, shifts, origin, roots, order, index, first, second, cosines, sines],
          { kind: "result", part: 0 },
          { kind: "result", part: 1 },
          ...row,
        ],
        formula: (names) => `${names[12]}, ${names[13]} = eigenvalues and eigenvectors, in rising order`,
      },
    ],
  };
};

/** ẑⱼ² = (λⱼ - dⱼ) Π (λᵢ - dⱼ) / (dᵢ - dⱼ), over i ≠ j. */
function weightKernel(problem: RankOne, settings: ElementSettings): Kernel {
  const { batch, m, type, lanes } = problem;
  const k = new KernelBuilder(`rankOne weights[${batch}×${m}]`, batch * m, lanes);
  const field = new Field(k, { type, isComplex: false }, settings);
  const [d, z, counts] = [k.buffer(type, false), k.buffer(type, false), k.buffer("i32", false)];
  const [shifts, origin, exact] = [k.buffer(type, false), k.buffer("i32", false), k.buffer(type, true)];
  const { live, at, own } = memberOf(k, problem, counts);
  const mine = k.load(d, at(own), type);
  const one = k.constant(type, 1);
  const [product] = overAll(k, m, [one], (index, isInside, [before]) => {
    const isLive = both(k, k.compare("lt", index, live), isInside);
    const from = k.select(isLive, k.load(origin, at(index), "i32"), k.constant("i32", 0));
    const numerator = k.binary(
      "add",
      k.binary("sub", k.load(d, at(from), type), mine),
      k.load(shifts, at(index), type),
    );
    const isOwn = k.compare("eq", index, own);
    const denominator = k.select(isOwn, one, k.binary("sub", k.load(d, at(index), type), mine));
    const safe = k.select(isLive, denominator, one);
    return [k.binary("mul", before, k.select(isLive, field.divReal(numerator, safe), one))];
  });
  const size = field.sqrtReal(k.unary("abs", k.combineLanes("mul", product)));
  const isNegative = k.compare("lt", k.load(z, at(own), type), k.constant(type, 0));
  const isLive = k.compare("lt", own, live);
  const weight = k.select(isNegative, k.unary("neg", size), size);
  k.store(exact, k.row, k.select(isLive, weight, k.constant(type, 0)), true);
  return k.finish();
}

/** The eigenvectors, zⱼ / (dⱼ - λ), turned back by the rotations of the deflation. */
function vectorKernel(problem: RankOne, settings: ElementSettings, isInside: boolean): Kernel {
  const { batch, m, type, lanes } = problem;
  const k = new KernelBuilder(`rankOne vectors[${batch}×${m}]`, batch * m, lanes);
  const field = new Field(k, { type, isComplex: false }, settings);
  const [d, exact, counts] = [k.buffer(type, false), k.buffer(type, false), k.buffer("i32", false)];
  const [shifts, origin, roots] = [k.buffer(type, false), k.buffer("i32", false), k.buffer(type, false)];
  const [order, places, first, second] = Array.from({ length: 4 }, () => k.buffer("i32", false));
  const [cosines, sines] = [k.buffer(type, false), k.buffer(type, false)];
  const [values, vectors] = [k.buffer(type, true), k.buffer(type, true)];
  const i = (value: number) => k.constant("i32", value);
  const { member, live, start, own, at } = memberOf(k, problem, counts);
  const row = isInside
    ? arrayWorkspace(field, m)
    : bufferWorkspace(k, field, k.buffer(type, true), k.binary("mul", k.row, i(m)));
  const root = k.load(roots, at(own), type);
  const [count] = overAll(k, m, [i(0)], (index, isThere, [before]) => {
    const other = k.load(roots, at(index), type);
    const isTie = k.binary("and", k.unary("not", k.compare("lt", root, other)), k.compare("lt", index, own));
    const isBefore = k.binary("or", k.compare("lt", other, root), isTie);
    return [k.binary("add", before, k.select(both(k, isBefore, isThere), i(1), i(0)))];
  });
  const rank = k.binary("min", k.combineLanes("add", count), i(m - 1));
  k.store(values, k.binary("add", start, rank), root, true);
  const isLive = k.compare("lt", own, live);
  const shift = k.load(shifts, at(own), type);
  const base = k.load(d, at(k.select(isLive, k.load(origin, at(own), "i32"), i(0))), type);
  const part = (index: Value, isThere: Value | null): Value => {
    const counts1 = both(k, k.binary("and", isLive, k.compare("lt", index, live)), isThere);
    const distance = k.binary("sub", k.binary("sub", k.load(d, at(index), type), base), shift);
    const safe = k.select(counts1, distance, k.constant(type, 1));
    const own1 = both(k, k.binary("and", k.unary("not", isLive), k.compare("eq", index, own)), isThere);
    const alone = k.select(own1, k.constant(type, 1), k.constant(type, 0));
    return k.select(counts1, field.divReal(k.load(exact, at(index), type), safe), alone);
  };
  const [squares] = overAll(k, m, [k.constant(type, 0)], (index, isThere, [before]) => {
    const x = part(index, isThere);
    return [k.binary("add", before, k.binary("mul", x, x))];
  });
  const length = field.sqrtReal(k.combineLanes("add", squares));
  eachByLane(k, m, (index) => {
    row.set(k.load(places, at(index), "i32"), field.real(field.divReal(part(index, null), length)));
  });
  k.barrier();
  turnBack(k, field, row, { m, at, member, counts, first, second, cosines, sines });
  k.barrier();
  const line = k.binary("mul", k.binary("add", start, rank), i(m));
  eachByLane(k, m, (index) => {
    const to = k.load(order, at(index), "i32");
    k.store(vectors, k.binary("add", line, to), row.get(index).re, k.lanes === 1);
  });
  return k.finish();
}

/** Applies the rotations of the deflation, the last one first: one lane does, because they follow each other. */
function turnBack(
  k: KernelBuilder,
  field: Field,
  row: ReturnType<typeof arrayWorkspace>,
  given: {
    readonly m: number;
    readonly at: (index: Value) => Value;
    readonly member: Value;
    readonly counts: number;
    readonly first: number;
    readonly second: number;
    readonly cosines: number;
    readonly sines: number;
  },
): void {
  const { m, at, member, counts, first, second, cosines, sines } = given;
  const { type } = field;
  const i = (value: number) => k.constant("i32", value);
  const total = k.load(counts, k.binary("add", k.binary("mul", member, i(2)), i(1)), "i32");
  k.when(k.binary("and", k.compare("eq", k.lane, i(0)), k.compare("gt", total, i(0))), () => {
    k.loop(
      m,
      [total],
      (_, [left]) => {
        const which = k.binary("sub", left, i(1));
        const [p, q] = [k.load(first, at(which), "i32"), k.load(second, at(which), "i32")];
        const [c, s] = [k.load(cosines, at(which), type), k.load(sines, at(which), type)];
        const [x, y] = [row.get(p).re, row.get(q).re];
        row.set(p, field.real(k.binary("sub", k.binary("mul", c, x), k.binary("mul", s, y))));
        row.set(q, field.real(k.binary("add", k.binary("mul", s, x), k.binary("mul", c, y))));
        return [which];
      },
      { exitWhen: ([next]) => k.compare("le", next, i(0)) },
    );
    return [];
  });
}
