/**
 * The SPIR-V of the kernel catalogue, written with our assembler to the contract of the seeds: storage buffers at set 0,
 * inputs first and the output last, sizes in the push block, the operation as specialisation constant 0.
 * f32 and f64 come from the same code.
 */

import { spirvOps } from "../compiler/emit/spirv/scalar-ops.js";
import { divide, squareRoot } from "../compiler/math/correct-rounding.js";
import { exp } from "../compiler/math/exponential.js";
import { tanh } from "../compiler/math/hyperbolic.js";
import { log } from "../compiler/math/logarithm.js";
import { sigmoid } from "../compiler/math/logistic.js";
import { pow } from "../compiler/math/power.js";
import type { FunctionBuilder } from "../spirv/function/function-builder.js";
import type { Ref } from "../spirv/function/ref.js";
import type { Value } from "../spirv/function/value.js";
import { ModuleBuilder } from "../spirv/module/builder.js";
import type { ModuleOptions } from "../spirv/module/module-values.js";

export type CatalogueType = "f32" | "f64";
export type FloatControls = NonNullable<ModuleOptions["floatControls"]>;

/** Threads of the elementwise and reduction kernels. */
const THREADS = 256;
/** Rows and columns of the output each workgroup of `matmul` and `transpose2d` makes. */
export const MATMUL_TILE = 64;
export const TRANSPOSE_TILE = 32;

const elementType = (m: ModuleBuilder, type: CatalogueType) => (type === "f32" ? m.f32 : m.f64);

/** NaN wins, as in NumPy's maximum and minimum: the comparison is false for NaN, so test for it first. */
const larger = (f: FunctionBuilder, a: Value, b: Value) => f.select(f.or(f.isNan(a), f.greater(a, b)), a, b);
const smaller = (f: FunctionBuilder, a: Value, b: Value) => f.select(f.or(f.isNan(a), f.less(a, b)), a, b);

/** Index of a thread in a grid that may be wider than one dimension holds: rows of `stride` threads. */
function flatIndex(f: FunctionBuilder): Value {
  const id = f.builtin("GlobalInvocationId");
  const width = f.mul(f.builtin("NumWorkgroups").x, THREADS);
  return f.add(id.x, f.mul(id.y, width));
}

/** First row and column of the tile a workgroup makes of a matrix of n columns; tiles are numbered along the rows. */
function tileOrigin(f: FunctionBuilder, n: Value, tile: number): { row0: Value; column0: Value } {
  const group = f.builtin("WorkgroupId");
  const number = f.add(group.x, f.mul(group.y, f.builtin("NumWorkgroups").x));
  const tilesInRow = f.add(f.div(f.sub(n, 1), tile), 1);
  return { row0: f.mul(f.div(number, tilesInRow), tile), column0: f.mul(f.rem(number, tilesInRow), tile) };
}

/** Op codes 0–6: add, mul, sub, div, pow, max, min. */
export function binaryShader(type: CatalogueType, floatControls: FloatControls = {}): Uint32Array {
  const m = new ModuleBuilder({ noContraction: true, floatControls });
  const element = elementType(m, type);
  const a = m.storageBuffer(element, { binding: 0, writable: false, name: "a" });
  const b = m.storageBuffer(element, { binding: 1, writable: false, name: "b" });
  const out = m.storageBuffer(element, { binding: 2, name: "out" });
  const push = m.pushConstants([["n", m.u32]]);
  const op = m.specConstant(m.i32, 0, 0, "op");
  m.entry("main", { localSize: [THREADS] }, (f) => {
    const i = flatIndex(f);
    f.if(f.less(i, push.n), () => {
      const [x, y] = [a.load(i), b.load(i)];
      const k = spirvOps(f);
      const result = f.switch(
        op,
        [
          [0, () => f.add(x, y)],
          [1, () => f.mul(x, y)],
          [2, () => f.sub(x, y)],
          [3, () => divide(k, x, y, type)],
          [4, () => pow(k, x, y, type)],
          [5, () => larger(f, x, y)],
        ],
        () => smaller(f, x, y),
      );
      out.store(i, result);
    });
  });
  return m.build();
}

/** Op codes 0–12: exp, log, sqrt, abs, neg, sigmoid, tanh, relu, ceil, floor, sign, reciprocal, square. */
export function unaryShader(type: CatalogueType, floatControls: FloatControls = {}): Uint32Array {
  const m = new ModuleBuilder({ noContraction: true, floatControls });
  const element = elementType(m, type);
  const a = m.storageBuffer(element, { binding: 0, writable: false, name: "a" });
  const out = m.storageBuffer(element, { binding: 1, name: "out" });
  const push = m.pushConstants([["n", m.u32]]);
  const op = m.specConstant(m.i32, 0, 0, "op");
  const [zero, one, minusOne] = [0, 1, -1].map((value) => m.constant(element, value)) as [Value, Value, Value];
  m.entry("main", { localSize: [THREADS] }, (f) => {
    const i = flatIndex(f);
    f.if(f.less(i, push.n), () => {
      const x = a.load(i);
      const k = spirvOps(f);
      // Zero and NaN are their own sign.
      const sign = () => f.select(f.greater(x, zero), one, f.select(f.less(x, zero), minusOne, x));
      const result = f.switch(
        op,
        [
          [0, () => exp(k, x, type)],
          [1, () => log(k, x, type)],
          [2, () => squareRoot(k, x, type)],
          [3, () => f.abs(x)],
          [4, () => f.neg(x)],
          [5, () => sigmoid(k, x, type)],
          [6, () => tanh(k, x, type)],
          [7, () => f.select(f.less(x, zero), zero, x)],
          [8, () => f.ceil(x)],
          [9, () => f.floor(x)],
          [10, sign],
          [11, () => divide(k, one, x, type)],
        ],
        () => f.mul(x, x),
      );
      out.store(i, result);
    });
  });
  return m.build();
}

/**
 * Op codes 0–2: sum, max, min over the middle axis of (outer, reduce, inner). A workgroup makes one output from a chunk
 * of the axis: its threads stride over the chunk and then combine in shared memory, in an order that depends only on
 * the shape. With several chunks per output the caller reduces the partial results again.
 *
 * Push block: outer, reduce, inner, op, then the chunk length and the number of chunks.
 */
export function reduceShader(type: CatalogueType, floatControls: FloatControls = {}): Uint32Array {
  const m = new ModuleBuilder({ noContraction: true, floatControls });
  const element = elementType(m, type);
  const a = m.storageBuffer(element, { binding: 0, writable: false, name: "a" });
  const out = m.storageBuffer(element, { binding: 1, name: "out" });
  const push = m.pushConstants([
    ["outer", m.u32],
    ["reduce", m.u32],
    ["inner", m.u32],
    ["op", m.u32],
    ["chunk", m.u32],
    ["chunks", m.u32],
  ]);
  const op = m.specConstant(m.i32, 0, 0, "op");
  const shared = m.shared(m.array(element, THREADS), "partial");
  const identities = [0, -Infinity, Infinity].map((value) => m.constant(element, value)) as [Value, Value, Value];
  m.entry("main", { localSize: [THREADS] }, (f) => {
    const combine = (x: Value, y: Value) =>
      f.switch(
        op,
        [
          [0, () => f.add(x, y)],
          [1, () => larger(f, x, y)],
        ],
        () => smaller(f, x, y),
      );
    const [sum, max, min] = identities;
    const identity = f.select(f.equal(op, 0), sum, f.select(f.equal(op, 1), max, min));
    const group = f.builtin("WorkgroupId");
    const lane = f.builtin("LocalInvocationIndex");
    const slot = f.add(group.x, f.mul(group.y, f.builtin("NumWorkgroups").x));
    // (outer, chunks, inner), inner fastest
    const inner = f.rem(slot, push.inner);
    const rest = f.div(slot, push.inner);
    const chunk = f.rem(rest, push.chunks);
    const outer = f.div(rest, push.chunks);
    const isInside = f.less(outer, push.outer);
    const start = f.mul(chunk, push.chunk);
    const end = f.select(isInside, f.min(f.add(start, push.chunk), push.reduce), start);
    const base = f.add(f.mul(f.mul(outer, push.reduce), push.inner), inner);
    const mine = f.fold(f.add(start, lane), end, THREADS, identity, (r, total) =>
      combine(total, a.load(f.add(base, f.mul(r, push.inner)))),
    );
    shared.store(lane, mine);
    for (let half = THREADS / 2; half >= 1; half /= 2) {
      f.workgroupBarrier();
      f.if(f.less(lane, half), () => {
        shared.store(lane, combine(shared.load(lane), shared.load(f.add(lane, half))));
      });
    }
    f.if(f.and(f.equal(lane, 0), isInside), () => out.store(slot, shared.load(0)));
  });
  return m.build();
}

const DEPTH = 16;
const SIDE = 16;
/** Elements of a thread along each axis of its tile. */
const PER = MATMUL_TILE / SIDE;
/** One column of padding keeps the threads of a subgroup on different banks. */
const PITCH = MATMUL_TILE + 1;

/** Operands and shared tiles of a product, and where the workgroup's tile of the result begins. */
interface MatmulTiles {
  readonly m: ModuleBuilder;
  readonly sizes: { readonly m: Value; readonly n: Value; readonly k: Value };
  readonly a: Ref;
  readonly b: Ref;
  readonly tileA: Ref;
  readonly tileB: Ref;
  readonly zero: Value;
  readonly row0: Value;
  readonly column0: Value;
}

/**
 * C (m×n) = A (m×k) · B (k×n), row-major. 16×16 threads make a 64×64 tile, 4×4 elements each, through shared tiles of
 * depth 16. Elements outside the matrices are read as zero and not written.
 */
export function matmulShader(type: CatalogueType, floatControls: FloatControls = {}): Uint32Array {
  const m = new ModuleBuilder({ floatControls });
  const element = elementType(m, type);
  const a = m.storageBuffer(element, { binding: 0, writable: false, name: "a" });
  const b = m.storageBuffer(element, { binding: 1, writable: false, name: "b" });
  const out = m.storageBuffer(element, { binding: 2, name: "out" });
  const push = m.pushConstants([
    ["m", m.u32],
    ["n", m.u32],
    ["k", m.u32],
  ]);
  const tileA = m.shared(m.array(element, DEPTH * PITCH), "tileA");
  const tileB = m.shared(m.array(element, DEPTH * PITCH), "tileB");
  const zero = m.constant(element, 0);
  m.entry("main", { localSize: [SIDE, SIDE] }, (f) => {
    const local = f.builtin("LocalInvocationId");
    const lane = f.builtin("LocalInvocationIndex");
    const { row0, column0 } = tileOrigin(f, push.n, MATMUL_TILE);
    const tiles: MatmulTiles = { m, sizes: push, a, b, tileA, tileB, zero, row0, column0 };
    const initial = Array.from({ length: PER * PER }, () => zero);
    const sums = f.fold(m.constant(m.u32, 0), push.k, DEPTH, initial, (k0, totals) => {
      loadTiles(f, tiles, lane, k0);
      f.workgroupBarrier();
      const next = addTiles(f, tiles, local, totals);
      f.workgroupBarrier();
      return next;
    });
    sums.forEach((sum, i) => {
      const row = f.add(row0, f.add(local.y, Math.floor(i / PER) * SIDE));
      const column = f.add(column0, f.add(local.x, (i % PER) * SIDE));
      f.if(f.and(f.less(row, push.m), f.less(column, push.n)), () => {
        out.store(f.add(f.mul(row, push.n), column), sum);
      });
    });
  });
  return m.build();
}

const inTile = (f: FunctionBuilder, depth: Value, position: Value): Value => f.add(f.mul(depth, PITCH), position);

/** A thread's part of loading both tiles, from step k0 of the summation on. */
function loadTiles(f: FunctionBuilder, tiles: MatmulTiles, lane: Value, k0: Value): void {
  const { sizes, a, b, tileA, tileB, zero, row0, column0 } = tiles;
  const guarded = (isInside: Value, load: () => Value) => f.if(isInside, load, () => zero);
  for (let i = 0; i < PER; i++) {
    const linear = f.add(lane, i * SIDE * SIDE);
    // A is read along k, B along n: both ways neighbouring threads read neighbouring elements.
    const [kA, rowA] = [f.rem(linear, DEPTH), f.div(linear, DEPTH)];
    const [row, kOfA] = [f.add(row0, rowA), f.add(k0, kA)];
    const hasA = f.and(f.less(row, sizes.m), f.less(kOfA, sizes.k));
    tileA.store(
      inTile(f, kA, rowA),
      guarded(hasA, () => a.load(f.add(f.mul(row, sizes.k), kOfA))),
    );
    const [columnB, kB] = [f.rem(linear, MATMUL_TILE), f.div(linear, MATMUL_TILE)];
    const [column, kOfB] = [f.add(column0, columnB), f.add(k0, kB)];
    const hasB = f.and(f.less(column, sizes.n), f.less(kOfB, sizes.k));
    tileB.store(
      inTile(f, kB, columnB),
      guarded(hasB, () => b.load(f.add(f.mul(kOfB, sizes.n), column))),
    );
  }
}

/** Adds the products of the two tiles to a thread's totals. */
function addTiles(f: FunctionBuilder, { m, tileA, tileB }: MatmulTiles, local: Value, totals: readonly Value[]) {
  return f.fold(m.constant(m.u32, 0), m.constant(m.u32, DEPTH), 1, totals, (depth, state) => {
    const column = (i: number) => f.add(local.x, i * SIDE);
    const row = (i: number) => f.add(local.y, i * SIDE);
    const as = Array.from({ length: PER }, (_, i) => tileA.load(inTile(f, depth, row(i))));
    const bs = Array.from({ length: PER }, (_, i) => tileB.load(inTile(f, depth, column(i))));
    return state.map((total, i) => f.add(total, f.mul(as[Math.floor(i / PER)] as Value, bs[i % PER] as Value)));
  });
}

/** B (n×m) = Aᵀ of A (m×n), through a shared tile so that both sides are read and written along rows. */
export function transposeShader(type: CatalogueType, floatControls: FloatControls = {}): Uint32Array {
  const ROWS = 8;
  const m = new ModuleBuilder({ floatControls });
  const element = elementType(m, type);
  const a = m.storageBuffer(element, { binding: 0, writable: false, name: "a" });
  const out = m.storageBuffer(element, { binding: 1, name: "out" });
  const push = m.pushConstants([
    ["m", m.u32],
    ["n", m.u32],
  ]);
  const tile = m.shared(m.array(element, TRANSPOSE_TILE * (TRANSPOSE_TILE + 1)), "tile");
  m.entry("main", { localSize: [TRANSPOSE_TILE, ROWS] }, (f) => {
    const local = f.builtin("LocalInvocationId");
    const { row0, column0 } = tileOrigin(f, push.n, TRANSPOSE_TILE);
    for (let step = 0; step < TRANSPOSE_TILE; step += ROWS) {
      const y = f.add(local.y, step);
      const [row, column] = [f.add(row0, y), f.add(column0, local.x)];
      f.if(f.and(f.less(row, push.m), f.less(column, push.n)), () => {
        tile.store(f.add(f.mul(y, TRANSPOSE_TILE + 1), local.x), a.load(f.add(f.mul(row, push.n), column)));
      });
    }
    f.workgroupBarrier();
    for (let step = 0; step < TRANSPOSE_TILE; step += ROWS) {
      const y = f.add(local.y, step);
      const [row, column] = [f.add(column0, y), f.add(row0, local.x)];
      f.if(f.and(f.less(row, push.n), f.less(column, push.m)), () => {
        out.store(f.add(f.mul(row, push.m), column), tile.load(f.add(f.mul(local.x, TRANSPOSE_TILE + 1), y)));
      });
    }
  });
  return m.build();
}
