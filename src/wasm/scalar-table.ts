/**
 * The numeric instructions on i32, i64, f32 and f64, as data: operand and result types, then opcode by name.
 *
 * A signature is spelled with a letter per value, operands before the ">" and the result after it: i is i32, l is i64,
 * f is f32, d is f64, v is v128. Opcodes past one byte carry their prefix: 0xfc00 is 0xfc followed by 0, 0xfd105 is 0xfd
 * followed by 0x105. Names are those of the specification; the function builder offers each as a method (`f.i32.add`), typed
 * from these rows.
 */
// biome-ignore format: a table of numbers reads best in rows
export const SCALAR = {
  "i>i": {
    "i32.eqz": 0x45, "i32.clz": 0x67, "i32.ctz": 0x68, "i32.popcnt": 0x69, "i32.extend8_s": 0xc0, "i32.extend16_s": 0xc1,
  },
  "ii>i": {
    "i32.eq": 0x46, "i32.ne": 0x47, "i32.lt_s": 0x48, "i32.lt_u": 0x49, "i32.gt_s": 0x4a, "i32.gt_u": 0x4b,
    "i32.le_s": 0x4c, "i32.le_u": 0x4d, "i32.ge_s": 0x4e, "i32.ge_u": 0x4f,
    "i32.add": 0x6a, "i32.sub": 0x6b, "i32.mul": 0x6c, "i32.div_s": 0x6d, "i32.div_u": 0x6e, "i32.rem_s": 0x6f,
    "i32.rem_u": 0x70, "i32.and": 0x71, "i32.or": 0x72, "i32.xor": 0x73, "i32.shl": 0x74, "i32.shr_s": 0x75,
    "i32.shr_u": 0x76, "i32.rotl": 0x77, "i32.rotr": 0x78,
  },
  "l>i": { "i64.eqz": 0x50, "i32.wrap_i64": 0xa7 },
  "ll>i": {
    "i64.eq": 0x51, "i64.ne": 0x52, "i64.lt_s": 0x53, "i64.lt_u": 0x54, "i64.gt_s": 0x55, "i64.gt_u": 0x56,
    "i64.le_s": 0x57, "i64.le_u": 0x58, "i64.ge_s": 0x59, "i64.ge_u": 0x5a,
  },
  "l>l": {
    "i64.clz": 0x79, "i64.ctz": 0x7a, "i64.popcnt": 0x7b, "i64.extend8_s": 0xc2, "i64.extend16_s": 0xc3,
    "i64.extend32_s": 0xc4,
  },
  "ll>l": {
    "i64.add": 0x7c, "i64.sub": 0x7d, "i64.mul": 0x7e, "i64.div_s": 0x7f, "i64.div_u": 0x80, "i64.rem_s": 0x81,
    "i64.rem_u": 0x82, "i64.and": 0x83, "i64.or": 0x84, "i64.xor": 0x85, "i64.shl": 0x86, "i64.shr_s": 0x87,
    "i64.shr_u": 0x88, "i64.rotl": 0x89, "i64.rotr": 0x8a,
  },
  "ff>i": { "f32.eq": 0x5b, "f32.ne": 0x5c, "f32.lt": 0x5d, "f32.gt": 0x5e, "f32.le": 0x5f, "f32.ge": 0x60 },
  "dd>i": { "f64.eq": 0x61, "f64.ne": 0x62, "f64.lt": 0x63, "f64.gt": 0x64, "f64.le": 0x65, "f64.ge": 0x66 },
  "f>f": {
    "f32.abs": 0x8b, "f32.neg": 0x8c, "f32.ceil": 0x8d, "f32.floor": 0x8e, "f32.trunc": 0x8f, "f32.nearest": 0x90,
    "f32.sqrt": 0x91,
  },
  "ff>f": {
    "f32.add": 0x92, "f32.sub": 0x93, "f32.mul": 0x94, "f32.div": 0x95, "f32.min": 0x96, "f32.max": 0x97,
    "f32.copysign": 0x98,
  },
  "d>d": {
    "f64.abs": 0x99, "f64.neg": 0x9a, "f64.ceil": 0x9b, "f64.floor": 0x9c, "f64.trunc": 0x9d, "f64.nearest": 0x9e,
    "f64.sqrt": 0x9f,
  },
  "dd>d": {
    "f64.add": 0xa0, "f64.sub": 0xa1, "f64.mul": 0xa2, "f64.div": 0xa3, "f64.min": 0xa4, "f64.max": 0xa5,
    "f64.copysign": 0xa6,
  },
  // conversions; the plain truncations trap on NaN and out of range, those called trunc_sat saturate
  "f>i": {
    "i32.trunc_f32_s": 0xa8, "i32.trunc_f32_u": 0xa9, "i32.trunc_sat_f32_s": 0xfc00, "i32.trunc_sat_f32_u": 0xfc01,
    "i32.reinterpret_f32": 0xbc,
  },
  "d>i": {
    "i32.trunc_f64_s": 0xaa, "i32.trunc_f64_u": 0xab, "i32.trunc_sat_f64_s": 0xfc02, "i32.trunc_sat_f64_u": 0xfc03,
  },
  "i>l": { "i64.extend_i32_s": 0xac, "i64.extend_i32_u": 0xad },
  "f>l": {
    "i64.trunc_f32_s": 0xae, "i64.trunc_f32_u": 0xaf, "i64.trunc_sat_f32_s": 0xfc04, "i64.trunc_sat_f32_u": 0xfc05,
  },
  "d>l": {
    "i64.trunc_f64_s": 0xb0, "i64.trunc_f64_u": 0xb1, "i64.trunc_sat_f64_s": 0xfc06, "i64.trunc_sat_f64_u": 0xfc07,
    "i64.reinterpret_f64": 0xbd,
  },
  "i>f": { "f32.convert_i32_s": 0xb2, "f32.convert_i32_u": 0xb3, "f32.reinterpret_i32": 0xbe },
  "l>f": { "f32.convert_i64_s": 0xb4, "f32.convert_i64_u": 0xb5 },
  "d>f": { "f32.demote_f64": 0xb6 },
  "i>d": { "f64.convert_i32_s": 0xb7, "f64.convert_i32_u": 0xb8 },
  "l>d": { "f64.convert_i64_s": 0xb9, "f64.convert_i64_u": 0xba, "f64.reinterpret_i64": 0xbf },
  "f>d": { "f64.promote_f32": 0xbb },
} as const;
