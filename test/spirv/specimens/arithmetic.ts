/** Every arithmetic operation on every type it takes, scalars and vectors. */
import type { FunctionBuilder, ModuleBuilder, ScalarType, Type, Value } from "../../../src/spirv/index.js";
import { kernel, type Specimen } from "./specimen.js";

const INTS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"] as const;
const FLOATS = ["f16", "f32", "f64"] as const;
const SHAPES = [1, 2, 3, 4] as const;

/** `element` as it is, or a vector of it. */
function shaped(m: ModuleBuilder, element: ScalarType, length: number): Type {
  return length === 1 ? element : m.vec(element, length);
}

/** Three values of a type that no compiler knows. */
function unknowns(f: FunctionBuilder, type: Type): [Value, Value, Value] {
  const place = f.variable(type);
  return [place.load(), place.load(), place.load()];
}

export function integerOperations(f: FunctionBuilder, type: Type, signed: boolean): Value[] {
  const [a, b, c] = unknowns(f, type);
  const results = [
    f.add(a, b),
    f.sub(a, 1),
    f.mul(3, b),
    f.div(a, b),
    f.rem(a, b),
    f.mod(a, b),
    f.neg(a),
    f.not(a),
    f.and(a, b),
    f.or(a, b),
    f.xor(a, b),
    f.shiftLeft(a, 3),
    f.shiftRight(a, b),
    f.shiftRightLogical(a, 1),
    f.select(f.less(a, b), a, b),
    f.select(true, a, 0),
    f.equal(a, b),
    f.notEqual(a, b),
    f.lessEqual(a, b),
    f.greater(a, b),
    f.greaterEqual(a, 0),
    ...f.mulExtended(a, b),
  ];
  if (!signed) results.push(...f.addCarry(a, b), ...f.subBorrow(a, c));
  return results;
}

export function floatOperations(f: FunctionBuilder, type: Type): Value[] {
  const [a, b, c] = unknowns(f, type);
  return [
    f.add(a, b),
    f.sub(a, 0.5),
    f.mul(2, b),
    f.div(a, b),
    f.rem(a, b),
    f.mod(a, b),
    f.neg(a),
    f.abs(a),
    f.sign(a),
    f.floor(a),
    f.ceil(a),
    f.trunc(a),
    f.roundEven(a),
    f.fract(a),
    f.sqrt(a),
    f.inverseSqrt(a),
    f.min(a, b),
    f.max(a, b),
    f.minNumber(a, b),
    f.maxNumber(a, 1),
    f.fma(a, b, c),
    f.clamp(a, 0, c),
    f.equal(a, b),
    f.notEqual(a, b),
    f.less(a, b),
    f.lessEqual(a, b),
    f.greater(a, b),
    f.greaterEqual(a, b),
    f.equalUnordered(a, b),
    f.notEqualOrdered(a, b),
    f.lessUnordered(a, b),
    f.lessEqualUnordered(a, b),
    f.greaterUnordered(a, b),
    f.greaterEqualUnordered(a, b),
    f.isNan(a),
    f.isInf(a),
    f.select(f.less(a, b), a, b),
    f.select(f.less(f.module.constant(f.module.i32, 1), 2), a, 1),
  ];
}

function bits32(f: FunctionBuilder, type: Type, signed: boolean): void {
  const [a, b] = unknowns(f, type);
  f.bitCount(a);
  f.bitReverse(a);
  f.bitExtract(a, 4, 8);
  f.bitInsert(a, b, 4, 8);
  f.findLowBit(a);
  f.findHighBit(a);
  f.min(a, b);
  f.max(a, 7);
  f.clamp(a, 1, b);
  if (signed) {
    f.abs(a);
    f.sign(a);
  }
}

function booleans(f: FunctionBuilder, m: ModuleBuilder): void {
  for (const length of SHAPES) {
    const [a, b] = unknowns(f, shaped(m, m.bool, length));
    f.and(a, b);
    f.or(a, true);
    f.xor(a, b);
    f.not(a);
    f.equal(a, b);
    f.notEqual(a, b);
    f.select(a, b, f.not(b));
    if (length > 1) {
      f.any(a);
      f.all(a);
    }
  }
}

function conversions(f: FunctionBuilder, m: ModuleBuilder): void {
  const names = ["bool", ...INTS, ...FLOATS] as const;
  for (const from of names) {
    for (const length of [1, 3]) {
      const [a] = unknowns(f, shaped(m, m[from], length));
      for (const to of names) f.convert(a, m[to]);
    }
  }
  f.quantizeToHalf(f.variable(m.f32).load());
  f.convert(2.5, m.f64);
}

function bitcasts(f: FunctionBuilder, m: ModuleBuilder): void {
  const pairs: [Type, Type][] = [
    [m.f32, m.u32],
    [m.f32, m.i32],
    [m.f64, m.vec(m.u32, 2)],
    [m.u64, m.vec(m.u32, 2)],
    [m.f64, m.i64],
    [m.vec(m.f16, 2), m.u32],
    [m.u16, m.f16],
    [m.vec(m.f64, 2), m.vec(m.u32, 4)],
    [m.vec(m.u8, 4), m.i32],
  ];
  for (const [one, other] of pairs) {
    f.bitcast(f.variable(one).load(), other);
    f.bitcast(f.variable(other).load(), one);
  }
}

function composites(f: FunctionBuilder, m: ModuleBuilder): void {
  const [x, y] = unknowns(f, m.f32);
  const vec3 = f.vector(x, y, 1);
  const vec4 = f.construct(m.vec(m.f32, 4), x, 2, 3, y);
  f.extract(vec4, 3);
  f.insert(vec4, 5, 2);
  f.extractDynamic(vec4, f.convert(x, m.u32));
  f.insertDynamic(vec4, y, 1);
  f.shuffle(vec3, vec4, [0, 6, 2]);
  f.splat(m.vec(m.f32, 3), x);
  f.splat(m.vec(m.f32, 3), 7);
  f.dot(vec3, f.mul(vec3, 2));
  f.scale(vec3, 0.25);
  f.add(f.add(f.add(vec4.x, vec4.y), vec4.z), vec4.w);
  const pair = m.struct([
    ["first", m.vec(m.f32, 3)],
    ["second", m.array(m.i32, 3)],
  ]);
  const made = f.construct(pair, vec3, m.constant(m.array(m.i32, 3), [1, -2, 3]));
  f.extract(made, "second", 1);
  f.extract(f.insert(made, -1, "second", 0), 0, 2);
  f.undefined(pair);
  m.zero(pair);
}

function glsl(f: FunctionBuilder, m: ModuleBuilder): void {
  const [x, y] = unknowns(f, m.f32);
  for (const name of ["Sin", "Cos", "Exp2", "Log", "Tanh", "Degrees"] as const) f.glsl(name, [x]);
  f.glsl("Pow", [x, 2]);
  f.glsl("Atan2", [x, y]);
  f.glsl("FMix", [x, y, 0.5]);
  const two = f.vector(x, y);
  f.glsl("UnpackHalf2x16", [f.glsl("PackHalf2x16", [two], m.u32)], m.vec(m.f32, 2));
  f.glsl("PackDouble2x32", [f.bitcast(m.constant(m.f64, 0.1), m.vec(m.u32, 2))], m.f64);
  f.glsl("Length", [two], m.f32);
  f.glsl("Ldexp", [x, m.constant(m.i32, 3)]);
}

function packedDots(f: FunctionBuilder, m: ModuleBuilder): void {
  const [i] = unknowns(f, m.i32);
  const [u] = unknowns(f, m.u32);
  f.dotPacked(i, i);
  f.dotPacked(u, u, u);
  f.dotPacked(i, u);
  f.dotPacked(u, i, i);
}

export const arithmetic: readonly Specimen[] = [
  kernel("integer arithmetic, 32 and 64 bits", (f, m) => {
    for (const name of ["i32", "u32", "i64", "u64"] as const) {
      for (const n of SHAPES) integerOperations(f, shaped(m, m[name], n), m[name].signed);
    }
  }),
  kernel("integer arithmetic, 8 and 16 bits", (f, m) => {
    for (const name of ["i8", "u8", "i16", "u16"] as const) {
      for (const n of SHAPES) integerOperations(f, shaped(m, m[name], n), m[name].signed);
    }
  }),
  kernel("float arithmetic", (f, m) => {
    for (const name of FLOATS) for (const n of SHAPES) floatOperations(f, shaped(m, m[name], n));
  }),
  kernel("float arithmetic without contraction, SPIR-V 1.3", (f, m) => void floatOperations(f, m.vec(m.f32, 4)), {
    noContraction: true,
    version: [1, 3],
  }),
  kernel("bit fields, counts, integer minima", (f, m) => {
    for (const name of ["i32", "u32"] as const)
      for (const n of SHAPES) bits32(f, shaped(m, m[name], n), m[name].signed);
  }),
  kernel("boolean logic", booleans),
  kernel("conversions between all pairs", conversions),
  kernel("bitcasts", bitcasts),
  kernel("composites", composites),
  kernel("GLSL.std.450", glsl),
  kernel("packed dot products, SPIR-V 1.6", packedDots, { version: [1, 6] }),
  kernel("packed dot products by extension", packedDots, { version: [1, 5] }),
  kernel("constants of every scalar type", (f, m) => {
    for (const name of INTS) f.variable(m[name], 100);
    for (const x of [0, -0, 1, 0.1, -2.5, 1e-40, 3e38, Infinity, -Infinity, NaN]) {
      for (const name of FLOATS) f.variable(m[name], x);
    }
    f.variable(m.i8, -128);
    f.variable(m.i16, -32768);
    f.variable(m.i64, -(2n ** 63n));
    f.variable(m.u64, 2n ** 64n - 1n);
    f.variable(m.bool, false);
    f.variable(m.f32).store(m.bits(m.f32, 0x7f800001));
    f.variable(m.f64).store(m.bits(m.f64, 1, 0xfff00000));
    f.variable(m.vec(m.u32, 3)).store(m.constant(m.vec(m.u32, 3), [1, 2, 3]));
  }),
];
