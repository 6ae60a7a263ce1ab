/**
 * Hermitian matrices reduced to real tridiagonal form, T = Qᴴ A Q, by Householder reflections from both sides. A column takes
 * two kernels. The first, a workgroup to a matrix, finds the column as the reflections before it leave it, and its own
 * reflection. The second changes the whole matrix by the reflection before, A - v wᴴ - w vᴴ, and multiplies it by the new vector on
 * the way: each element is read and written once for a column. The same kernels serve all columns: they read the number of the
 * column from memory, where the kernel before wrote it.
 */
import { productOf } from "../../../core/shape.js";
import type { ElementSettings } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import type { Routine, RoutineBuffer, RoutineStep } from "../../target/routine.js";
import { Field, kindOf, type Num, type NumberKind, shapeOf } from "./field.js";
import { reflectionOf } from "./reflection.js";
import { arrayWorkspace, eachByLane } from "./workspace.js";

/** Rows and columns are filled up with zeros to a multiple of this: the CPU takes so many at once. */
const BLOCK = 64;
/** Columns of a workgroup: 32 bytes, what memory gives at once. */
const COLUMNS = 8;
/** Rows that a lane loads before it waits. */
const AT_ONCE = 4;
/** Rows of a thread of the CPU. */
const CHUNK = 32;

/**
 * Inputs: Hermitian matrices [.., n, n]. Results: the diagonal [.., n]; what is beside it, [.., n], the last 0; the vectors of the
 * reflections, as rows [.., n, n], and their factors [.., n]. The last reflection is none.
 */
export const tridiagonalRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const shape = shapeOf(node.inputs[0], kind.isComplex);
  const n = shape.at(-1) as number;
  const batch = productOf(shape.slice(0, -2));
  const padded = Math.ceil(n / BLOCK) * BLOCK;
  const size: Size = { n, batch, padded };
  const parts = kind.isComplex ? [2] : [];
  const matrix = { dtype: kind.type, shape: [batch, padded, padded, ...parts] };
  const line = { dtype: kind.type, shape: [batch, padded, ...parts] };
  const counter = { dtype: "i32", shape: [] } as const;
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index });
  const result = (part: number): RoutineBuffer => ({ kind: "result", part });
  const [a, v, count, y, w] = [
    (p: number) => temporary(p % 2),
    (p: number) => temporary(2 + (p % 2)),
    (p: number) => temporary(4 + (p % 2)),
    temporary(6),
    temporary(7),
  ];
  const find = vectorKernel(size, kind, profile, settings);
  const change = productKernel(size, kind, profile, settings);
  const steps: RoutineStep[] = [
    {
      kernel: copyKernel(size, kind, settings),
      buffers: [{ kind: "input", index: 0 }, a(0), v(0), count(0)],
      formula: ([from, to, vector, number]) => `${to} = ${from}, with zeros beyond; ${vector} = 0; ${number} = 0`,
    },
  ];
  for (let j = 0; j < n; j++) {
    steps.push({
      kernel: find,
      buffers: [a(j), y, v(j), v(j + 1), w, count(j), count(j + 1), ...[0, 1, 2, 3].map(result)],
      formula: ([from, , , , , number]) => `the reflection of column ${number} of ${from}`,
    });
    if (j === n - 1) break;
    steps.push({
      kernel: change,
      buffers: [a(j), a(j + 1), v(j), v(j + 1), w, count(j + 1), y],
      formula: ([from, to, before, now, beside, , product]) =>
        `${to} = ${from} - ${before} ${beside}ᴴ - ${beside} ${before}ᴴ; ${product} = ${to} · ${now}`,
    });
  }
  return { temporaries: [matrix, matrix, line, line, counter, counter, line, line], steps };
};

interface Size {
  readonly n: number;
  readonly batch: number;
  readonly padded: number;
}

function copyKernel({ n, batch, padded }: Size, kind: NumberKind, settings: ElementSettings): Kernel {
  const k = new KernelBuilder(`tridiagonal start[${n}]`, batch * padded * padded);
  const field = new Field(k, kind, settings);
  const [from, to, vector] = [false, true, true].map((isWritten) => field.buffer(isWritten));
  const count = k.buffer("i32", true);
  const i = (value: number) => k.constant("i32", value);
  const line = k.binary("idiv", k.row, i(padded));
  const [row, column] = [k.binary("irem", line, i(padded)), k.binary("irem", k.row, i(padded))];
  const member = k.binary("idiv", line, i(padded));
  const isThere = k.binary("and", k.compare("lt", row, i(n)), k.compare("lt", column, i(n)));
  const place = k.binary("add", k.binary("mul", k.binary("add", k.binary("mul", member, i(n)), row), i(n)), column);
  field.store(to, k.row, field.select(isThere, field.load(from, k.select(isThere, place, i(0))), field.zero));
  field.store(vector, k.row, field.zero, k.compare("lt", k.row, i(batch * padded)));
  k.store(count, i(0), i(0), true, k.compare("eq", k.row, i(0)));
  return k.finish();
}

/** The column of this step, as the reflection before leaves it, and its reflection. */
function vectorKernel(
  { n, batch, padded }: Size,
  kind: NumberKind,
  { maxLanes }: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const k = new KernelBuilder(`tridiagonal column[${n}]`, batch, Math.min(maxLanes, 256));
  const field = new Field(k, kind, settings);
  const { type } = kind;
  const [a, y, before, now, w] = [false, false, false, true, true].map((isWritten) => field.buffer(isWritten));
  const [count, next] = [k.buffer("i32", false), k.buffer("i32", true)];
  const [diagonal, beside] = [k.buffer(type, true), k.buffer(type, true)];
  const [vectors, factors] = [field.buffer(true), field.buffer(true)];
  const i = (value: number) => k.constant("i32", value);
  const step = k.load(count, i(0), "i32");
  const start = k.binary("mul", k.row, i(padded));
  const at = (index: Value) => k.binary("add", start, index);
  const own = k.binary("mul", k.row, i(n));
  const isLater = k.compare("gt", step, i(0));
  const earlier = k.binary("max", k.binary("sub", step, i(1)), i(0));
  const tau = field.select(isLater, field.read(factors, k.binary("add", own, earlier)), field.zero);
  const column = arrayWorkspace(field, padded);
  const isFrom = (index: Value) => k.binary("and", k.compare("ge", index, step), k.compare("lt", index, i(n)));
  // x = τ A v, and w = x - ½ τ (xᴴ v) v.
  const [sum] = overLanes(k, field, padded, [field.zero], (index, [total]) => {
    const product = field.mul(field.conj(field.mul(tau, field.load(y, at(index)))), field.load(before, at(index)));
    return [field.add(total, field.select(isFrom(index), product, field.zero))];
  });
  const back = field.scale(field.mul(tau, field.sumLanes(sum)), k.constant(type, -0.5));
  const besideOf = (index: Value): Num => {
    const x = field.mul(tau, field.load(y, at(index)));
    const made = field.add(x, field.mul(back, field.load(before, at(index))));
    return field.select(k.binary("and", isLater, isFrom(index)), made, field.zero);
  };
  const [own1, own2] = [
    field.conj(besideOf(step)),
    field.conj(field.select(isLater, field.load(before, at(step)), field.zero)),
  ];
  const line = k.binary("mul", k.binary("add", start, step), i(padded));
  const [below] = overLanes(k, field, padded, [field.zero], (index, [total]) => {
    const beside = besideOf(index);
    field.store(w, at(index), beside);
    // Row `step`, turned around, is the column, and lies side by side.
    const given = field.conj(field.load(a, k.binary("add", line, index)));
    const v = field.select(isLater, field.load(before, at(index)), field.zero);
    const left = field.sub(field.sub(given, field.mul(v, own1)), field.mul(beside, own2));
    column.set(index, left);
    const isBelow = k.binary("and", k.compare("gt", index, k.binary("add", step, i(1))), k.compare("lt", index, i(n)));
    return [field.add(total, field.select(isBelow, field.real(field.squared(left)), field.zero))];
  });
  const squares = k.combineLanes("add", below.re);
  k.barrier();
  const isLast = k.compare("ge", step, i(n - 1));
  const head = field.select(
    isLast,
    field.zero,
    column.get(k.binary("min", k.binary("add", step, i(1)), i(padded - 1))),
  );
  const { beta, tau: factor, inverse } = reflectionOf(k, field, head, squares);
  const isFirst = k.compare("eq", k.lane, i(0));
  k.store(diagonal, k.binary("add", own, step), column.get(step).re, k.lanes === 1, isFirst);
  k.store(beside, k.binary("add", own, step), beta.re, k.lanes === 1, isFirst);
  field.store(factors, k.binary("add", own, step), factor, isFirst);
  k.store(
    next,
    i(0),
    k.binary("add", step, i(1)),
    k.lanes === 1,
    k.binary("and", isFirst, k.compare("eq", k.row, i(0))),
  );
  const place = k.binary("mul", k.binary("add", own, step), i(n));
  eachByLane(k, padded, (index) => {
    const isOne = k.compare("eq", index, k.binary("add", step, i(1)));
    const isBelow = k.binary("and", k.compare("gt", index, k.binary("add", step, i(1))), k.compare("lt", index, i(n)));
    const v = field.select(isOne, field.one, field.select(isBelow, field.mul(column.get(index), inverse), field.zero));
    const kept = field.select(isLast, field.zero, v);
    field.store(now, at(index), kept);
    field.store(vectors, k.binary("add", place, index), kept, k.compare("lt", index, i(n)));
  });
  return k.finish();
}

/** A loop over positions, shared out among the lanes, that carries numbers. `count` is a multiple of the lanes, or they of it. */
function overLanes(
  k: KernelBuilder,
  field: Field,
  count: number,
  initial: readonly Num[],
  body: (index: Value, carried: readonly Num[]) => readonly Num[],
): Num[] {
  const i = (value: number) => k.constant("i32", value);
  if (k.lanes === 1) return field.loop(count, initial, body);
  return field.loop(Math.ceil(count / k.lanes), initial, (round, carried) => {
    const index = k.binary("add", k.lane, k.binary("mul", round, i(k.lanes)));
    const flat = (numbers: readonly Num[]) => numbers.flatMap(({ re, im }) => (im ? [re, im] : [re]));
    const unflat = (values: readonly Value[]) =>
      field.isComplex
        ? Array.from({ length: values.length / 2 }, (_, at) => ({ re: values[2 * at], im: values[2 * at + 1] }))
        : values.map((re) => ({ re, im: null }));
    const found = k.when(
      k.compare("lt", index, i(count)),
      () => flat(body(index, carried)),
      () => flat(carried),
    );
    return unflat(found);
  });
}

/** The matrix changed by the reflection before, and its product with the new vector. */
function productKernel(size: Size, kind: NumberKind, { maxLanes }: TargetProfile, settings: ElementSettings): Kernel {
  const { n, batch, padded } = size;
  const isAlone = maxLanes === 1;
  const each = isAlone ? CHUNK : COLUMNS;
  const chunks = Math.ceil(n / each);
  const k = new KernelBuilder(`tridiagonal product[${n}]`, batch * chunks, isAlone ? 1 : Math.min(maxLanes, 256));
  const field = new Field(k, kind, settings);
  const [from, to, before, now, w] = [false, true, false, false, false].map((isWritten) => field.buffer(isWritten));
  const count = k.buffer("i32", false);
  const y = field.buffer(true);
  const i = (value: number) => k.constant("i32", value);
  const step = k.binary("sub", k.load(count, i(0), "i32"), i(1));
  const member = k.binary("mul", k.binary("idiv", k.row, i(chunks)), i(padded));
  const first = k.binary("mul", k.binary("irem", k.row, i(chunks)), i(each));
  const vector = (buffer: number, index: Value) => field.load(buffer, k.binary("add", member, index));
  const at = (row: Value, column: Value) =>
    k.binary("add", k.binary("mul", k.binary("add", member, row), i(padded)), column);
  /** An element, changed and stored. */
  const changed = (place: Value, v: Num, beside: Num, cv: Num, cw: Num): Num => {
    const x = field.mulSub(beside, cv, field.mulSub(v, cw, field.load(from, place)));
    field.store(to, place, x);
    return x;
  };
  if (isAlone) {
    k.loop(CHUNK, [], (at0) => {
      const row = k.binary("add", first, at0);
      k.when(k.binary("and", k.compare("gt", row, step), k.compare("lt", row, i(n))), () => {
        const [v, beside] = [vector(before, row), vector(w, row)];
        const [total] = field.loop(padded / BLOCK, [field.zero], (block, [sum]) => {
          const begin = k.binary("mul", block, i(BLOCK));
          const isNeeded = k.compare("gt", k.binary("add", begin, i(BLOCK - 1)), step);
          const flat = (x: Num) => (x.im ? [x.re, x.im] : [x.re]);
          const found = k.when(
            isNeeded,
            () => {
              const [part] = field.loop(BLOCK, [field.zero], (column, [partial]) => {
                const c = k.binary("add", begin, column);
                const x = changed(at(row, c), v, beside, field.conj(vector(before, c)), field.conj(vector(w, c)));
                return [field.add(partial, field.mul(x, vector(now, c)))];
              });
              return flat(field.add(sum, part));
            },
            () => flat(sum),
          );
          return [{ re: found[0], im: found[1] ?? null }];
        });
        field.store(y, k.binary("add", member, row), total);
        return [];
      });
      return [];
    });
    return k.finish();
  }
  const groups = k.lanes / COLUMNS;
  const [group, own] = [k.binary("idiv", k.lane, i(COLUMNS)), k.binary("irem", k.lane, i(COLUMNS))];
  const column = k.binary("add", first, own);
  const isNeeded = k.compare("gt", k.binary("add", first, i(COLUMNS - 1)), step);
  const sums = arrayWorkspace(field, k.lanes);
  k.when(isNeeded, () => {
    const [cv, cw] = [field.conj(vector(before, column)), field.conj(vector(w, column))];
    const flat = (x: Num) => (x.im ? [x.re, x.im] : [x.re]);
    const begin = k.binary("add", k.binary("add", step, i(1)), group);
    const last = k.loop(
      Math.ceil(n / (groups * AT_ONCE)),
      [begin, ...flat(field.zero)],
      (_, [row0, re, im]) => {
        const rows = Array.from({ length: AT_ONCE }, (_r, at0) => k.binary("add", row0, i(at0 * groups)));
        const safe = rows.map((row) => k.binary("min", row, i(n - 1)));
        const isInside = rows.map((row) => k.compare("lt", row, i(n)));
        const given = safe.map((row) => field.load(from, at(row, column)));
        const [vs, ws, news] = [before, w, now].map((buffer) => safe.map((row) => vector(buffer, row)));
        let sum: Num = { re, im: im ?? null };
        rows.forEach((_row, r) => {
          const x = field.mulSub(ws[r], cv, field.mulSub(vs[r], cw, given[r]));
          field.store(to, at(safe[r], column), x, isInside[r]);
          const term = field.mul(field.conj(x), news[r]);
          sum = field.add(sum, field.select(isInside[r], term, field.zero));
        });
        return [k.binary("add", row0, i(groups * AT_ONCE)), ...flat(sum)];
      },
      { exitWhen: ([next]) => k.compare("ge", next, i(n)) },
    );
    sums.set(k.lane, { re: last[1], im: last[2] ?? null });
    k.barrier();
    k.when(k.binary("and", k.compare("eq", group, i(0)), k.compare("gt", column, step)), () => {
      const [total] = field.loop(groups, [field.zero], (g, [before0]) => [
        field.add(before0, sums.get(k.binary("add", k.binary("mul", g, i(COLUMNS)), own))),
      ]);
      field.store(y, k.binary("add", member, column), total);
      return [];
    });
    return [];
  });
  return k.finish();
}
