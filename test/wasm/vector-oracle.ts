/** What the vector instructions mean: sixteen bytes to sixteen bytes (or to an i32), lane by lane. */
import { LANES, type LaneShape } from "../../src/wasm/types.js";
import { floatComparisons, floatOperations, integerOracles, type Lane, saturate } from "./scalar-oracle.js";

/** Operands are bytes for a v128 and a lane for a scalar; the result likewise. */
export type VectorOracle = (...operands: never[]) => Uint8Array | Lane;

const SHAPES = Object.keys(LANES) as LaneShape[];
const INTEGER_SHAPES = SHAPES.filter((shape) => !LANES[shape].isFloat);

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, 16);

/** The lanes of a vector: bigints for integers of every width, numbers for floats. */
export function lanesOf(shape: LaneShape, bytes: Uint8Array, isSigned = true): Lane[] {
  const { count, bytes: size, isFloat } = LANES[shape];
  const view = viewOf(bytes);
  return Array.from({ length: count }, (_, i) => {
    const at = i * size;
    if (isFloat) return size === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true);
    let value = 0n;
    for (let b = size - 1; b >= 0; b--) value = (value << 8n) | BigInt(view.getUint8(at + b));
    return isSigned ? BigInt.asIntN(size * 8, value) : value;
  });
}

export function fromLanes(shape: LaneShape, lanes: readonly Lane[]): Uint8Array {
  const { bytes: size, isFloat } = LANES[shape];
  const bytes = new Uint8Array(16);
  const view = viewOf(bytes);
  lanes.forEach((lane, i) => {
    const at = i * size;
    if (isFloat && size === 4) view.setFloat32(at, lane as number, true);
    else if (isFloat) view.setFloat64(at, lane as number, true);
    else for (let b = 0; b < size; b++) view.setUint8(at + b, Number((BigInt(lane) >> BigInt(8 * b)) & 255n));
  });
  return bytes;
}

const table = new Map<string, VectorOracle>();
const add = (name: string, oracle: (...operands: never[]) => Uint8Array | Lane) => table.set(name, oracle);

/** Lane-wise integer arithmetic; results wrap to the lane by `fromLanes`. */
const integerLanes: Record<string, (a: bigint, b: bigint) => bigint> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  neg: (a) => -a,
  abs: (a) => (a < 0n ? -a : a),
};
const ordered: Record<string, (a: bigint, b: bigint) => boolean> = {
  lt: (a, b) => a < b,
  gt: (a, b) => a > b,
  le: (a, b) => a <= b,
  ge: (a, b) => a >= b,
};
const clampTo = (bits: number, isSigned: boolean, x: bigint): bigint => {
  const low = isSigned ? -(1n << BigInt(bits - 1)) : 0n;
  const high = isSigned ? (1n << BigInt(bits - 1)) - 1n : (1n << BigInt(bits)) - 1n;
  return x < low ? low : x > high ? high : x;
};

function lanewise(shape: LaneShape, isSigned: boolean, f: (a: Lane, b: Lane) => Lane) {
  return (a: Uint8Array, b?: Uint8Array): Uint8Array => {
    const right = b && lanesOf(shape, b, isSigned);
    return fromLanes(
      shape,
      lanesOf(shape, a, isSigned).map((lane, i) => f(lane, right?.[i] as Lane)),
    );
  };
}
/** All ones where the comparison holds. */
function comparison(shape: LaneShape, isSigned: boolean, test: (a: Lane, b: Lane) => boolean) {
  const { bytes, count } = LANES[shape];
  const mask = `i${bytes * 8}x${count}` as LaneShape satisfies LaneShape;
  return (a: Uint8Array, b: Uint8Array): Uint8Array => {
    const right = lanesOf(shape, b, isSigned);
    return fromLanes(
      mask,
      lanesOf(shape, a, isSigned).map((lane, i) => (test(lane, right[i] as Lane) ? -1n : 0n)),
    );
  };
}

for (const shape of INTEGER_SHAPES) {
  const { count, bytes } = LANES[shape];
  const bits = bytes * 8;
  for (const [name, f] of Object.entries(integerLanes)) {
    add(`${shape}.${name}`, lanewise(shape, true, f as (a: Lane, b: Lane) => Lane));
  }
  add(
    `${shape}.eq`,
    comparison(shape, true, (a, b) => a === b),
  );
  add(
    `${shape}.ne`,
    comparison(shape, true, (a, b) => a !== b),
  );
  for (const isSigned of [true, false]) {
    const s = isSigned ? "s" : "u";
    for (const [name, test] of Object.entries(ordered)) {
      add(`${shape}.${name}_${s}`, comparison(shape, isSigned, test as (a: Lane, b: Lane) => boolean));
    }
    add(
      `${shape}.min_${s}`,
      lanewise(shape, isSigned, (a, b) => (a < b ? a : b)),
    );
    add(
      `${shape}.max_${s}`,
      lanewise(shape, isSigned, (a, b) => (a > b ? a : b)),
    );
    const saturated = (f: (a: bigint, b: bigint) => bigint) =>
      lanewise(shape, isSigned, (a, b) => clampTo(bits, isSigned, f(a as bigint, b as bigint)));
    add(
      `${shape}.add_sat_${s}`,
      saturated((a, b) => a + b),
    );
    add(
      `${shape}.sub_sat_${s}`,
      saturated((a, b) => a - b),
    );
    add(`${shape}.shr_${s}`, (v: Uint8Array, n: number) =>
      lanewise(shape, isSigned, (a) => (a as bigint) >> BigInt(n & (bits - 1)))(v),
    );
  }
  add(`${shape}.shl`, (v: Uint8Array, n: number) =>
    lanewise(shape, true, (a) => (a as bigint) << BigInt(n & (bits - 1)))(v),
  );
  add(
    `${shape}.avgr_u`,
    lanewise(shape, false, (a, b) => ((a as bigint) + (b as bigint) + 1n) / 2n),
  );
  add(`${shape}.all_true`, (v: Uint8Array) => Number(lanesOf(shape, v).every((lane) => lane !== 0n)));
  add(`${shape}.bitmask`, (v: Uint8Array) =>
    lanesOf(shape, v).reduce((mask: number, lane, i) => mask | (lane < 0n ? 1 << i : 0), 0),
  );
  add(`${shape}.splat`, (x: Lane) => fromLanes(shape, new Array<Lane>(count).fill(x)));
}
for (const shape of ["f32x4", "f64x2"] as const) {
  for (const [name, f] of Object.entries(floatOperations)) {
    add(`${shape}.${name}`, lanewise(shape, true, f as (a: Lane, b: Lane) => Lane));
  }
  for (const [name, f] of Object.entries(floatComparisons)) {
    add(`${shape}.${name}`, comparison(shape, true, f as (a: Lane, b: Lane) => boolean));
  }
  add(
    `${shape}.pmin`,
    lanewise(shape, true, (a, b) => (b < a ? b : a)),
  );
  add(
    `${shape}.pmax`,
    lanewise(shape, true, (a, b) => (a < b ? b : a)),
  );
  add(`${shape}.splat`, (x: number) => fromLanes(shape, new Array<Lane>(LANES[shape].count).fill(x)));
}

const bitwise = (f: (a: number, b: number, c: number) => number) => (a: Uint8Array, b?: Uint8Array, c?: Uint8Array) =>
  a.map((byte, i) => f(byte, b?.[i] as number, c?.[i] as number));
add(
  "v128.not",
  bitwise((a) => ~a),
);
add(
  "v128.and",
  bitwise((a, b) => a & b),
);
add(
  "v128.andnot",
  bitwise((a, b) => a & ~b),
);
add(
  "v128.or",
  bitwise((a, b) => a | b),
);
add(
  "v128.xor",
  bitwise((a, b) => a ^ b),
);
add(
  "v128.bitselect",
  bitwise((a, b, mask) => (a & mask) | (b & ~mask)),
);
add("v128.any_true", (v: Uint8Array) => Number(v.some((byte) => byte !== 0)));
add("i8x16.swizzle", (v: Uint8Array, lanes: Uint8Array) => lanes.map((lane) => (lane < 16 ? (v[lane] as number) : 0)));
add("i8x16.popcnt", (v: Uint8Array) => v.map((byte) => integerOracles.i32.popcnt?.(byte, 0) as number));
add(
  "i16x8.q15mulr_sat_s",
  lanewise("i16x8", true, (a, b) => clampTo(16, true, ((a as bigint) * (b as bigint) + 0x4000n) >> 15n)),
);
add("i32x4.dot_i16x8_s", (a: Uint8Array, b: Uint8Array) => {
  const [x, y] = [lanesOf("i16x8", a) as bigint[], lanesOf("i16x8", b) as bigint[]];
  const product = (i: number) => (x[i] as bigint) * (y[i] as bigint);
  return fromLanes(
    "i32x4",
    [0, 1, 2, 3].map((i) => product(2 * i) + product(2 * i + 1)),
  );
});

// from one width to the next
const WIDER: [narrow: LaneShape, wide: LaneShape][] = [
  ["i8x16", "i16x8"],
  ["i16x8", "i32x4"],
  ["i32x4", "i64x2"],
];
for (const [narrow, wide] of WIDER) {
  const half = LANES[wide].count;
  const bits = LANES[narrow].bytes * 8;
  for (const isSigned of [true, false]) {
    const s = isSigned ? "s" : "u";
    for (const [part, from] of [
      ["low", 0],
      ["high", half],
    ] as const) {
      const cut = (v: Uint8Array) => lanesOf(narrow, v, isSigned).slice(from, from + half) as bigint[];
      add(`${wide}.extend_${part}_${narrow}_${s}`, (v: Uint8Array) => fromLanes(wide, cut(v)));
      add(`${wide}.extmul_${part}_${narrow}_${s}`, (a: Uint8Array, b: Uint8Array) => {
        const right = cut(b);
        return fromLanes(
          wide,
          cut(a).map((lane, i) => lane * (right[i] as bigint)),
        );
      });
    }
    add(`${wide}.extadd_pairwise_${narrow}_${s}`, (v: Uint8Array) => {
      const lanes = lanesOf(narrow, v, isSigned) as bigint[];
      return fromLanes(
        wide,
        Array.from({ length: half }, (_, i) => (lanes[2 * i] as bigint) + (lanes[2 * i + 1] as bigint)),
      );
    });
    add(`${narrow}.narrow_${wide}_${s}`, (a: Uint8Array, b: Uint8Array) =>
      fromLanes(
        narrow,
        [...lanesOf(wide, a), ...lanesOf(wide, b)].map((lane) => clampTo(bits, isSigned, lane as bigint)),
      ),
    );
  }
}

// between floats and integers
for (const isSigned of [true, false]) {
  const s = isSigned ? "s" : "u";
  const toInteger = (x: Lane) => saturate(x as number, 32, isSigned);
  add(`i32x4.trunc_sat_f32x4_${s}`, (v: Uint8Array) => fromLanes("i32x4", lanesOf("f32x4", v).map(toInteger)));
  add(`i32x4.trunc_sat_f64x2_${s}_zero`, (v: Uint8Array) =>
    fromLanes("i32x4", [...lanesOf("f64x2", v).map(toInteger), 0n, 0n]),
  );
  add(`f32x4.convert_i32x4_${s}`, (v: Uint8Array) => fromLanes("f32x4", lanesOf("i32x4", v, isSigned).map(Number)));
  add(`f64x2.convert_low_i32x4_${s}`, (v: Uint8Array) =>
    fromLanes("f64x2", lanesOf("i32x4", v, isSigned).slice(0, 2).map(Number)),
  );
}
add("f32x4.demote_f64x2_zero", (v: Uint8Array) => fromLanes("f32x4", [...lanesOf("f64x2", v), 0, 0]));
add("f64x2.promote_low_f32x4", (v: Uint8Array) => fromLanes("f64x2", lanesOf("f32x4", v).slice(0, 2)));

export const vectorOracles: ReadonlyMap<string, VectorOracle> = table;
