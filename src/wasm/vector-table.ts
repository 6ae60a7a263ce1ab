/**
 * The 128-bit vector instructions without memory access, as data; see scalar-table.ts for how to read a row. This is the
 * SIMD of WebAssembly 2.0: its results are the same on every machine. Those of the relaxed extension are not; of it only the
 * multiply-add is here, in a table of its own.
 */
// biome-ignore format: a table of numbers reads best in rows
export const VECTOR = {
  "i>v": { "i8x16.splat": 0xfd0f, "i16x8.splat": 0xfd10, "i32x4.splat": 0xfd11 },
  "l>v": { "i64x2.splat": 0xfd12 },
  "f>v": { "f32x4.splat": 0xfd13 },
  "d>v": { "f64x2.splat": 0xfd14 },
  "v>i": {
    "v128.any_true": 0xfd53, "i8x16.all_true": 0xfd63, "i8x16.bitmask": 0xfd64, "i16x8.all_true": 0xfd83,
    "i16x8.bitmask": 0xfd84, "i32x4.all_true": 0xfda3, "i32x4.bitmask": 0xfda4, "i64x2.all_true": 0xfdc3,
    "i64x2.bitmask": 0xfdc4,
  },
  "vvv>v": { "v128.bitselect": 0xfd52 },
  "vi>v": {
    "i8x16.shl": 0xfd6b, "i8x16.shr_s": 0xfd6c, "i8x16.shr_u": 0xfd6d, "i16x8.shl": 0xfd8b, "i16x8.shr_s": 0xfd8c,
    "i16x8.shr_u": 0xfd8d, "i32x4.shl": 0xfdab, "i32x4.shr_s": 0xfdac, "i32x4.shr_u": 0xfdad, "i64x2.shl": 0xfdcb,
    "i64x2.shr_s": 0xfdcc, "i64x2.shr_u": 0xfdcd,
  },
  "v>v": {
    "v128.not": 0xfd4d,
    "i8x16.abs": 0xfd60, "i8x16.neg": 0xfd61, "i8x16.popcnt": 0xfd62,
    "i16x8.abs": 0xfd80, "i16x8.neg": 0xfd81, "i16x8.extadd_pairwise_i8x16_s": 0xfd7c,
    "i16x8.extadd_pairwise_i8x16_u": 0xfd7d, "i16x8.extend_low_i8x16_s": 0xfd87, "i16x8.extend_high_i8x16_s": 0xfd88,
    "i16x8.extend_low_i8x16_u": 0xfd89, "i16x8.extend_high_i8x16_u": 0xfd8a,
    "i32x4.abs": 0xfda0, "i32x4.neg": 0xfda1, "i32x4.extadd_pairwise_i16x8_s": 0xfd7e,
    "i32x4.extadd_pairwise_i16x8_u": 0xfd7f, "i32x4.extend_low_i16x8_s": 0xfda7, "i32x4.extend_high_i16x8_s": 0xfda8,
    "i32x4.extend_low_i16x8_u": 0xfda9, "i32x4.extend_high_i16x8_u": 0xfdaa, "i32x4.trunc_sat_f32x4_s": 0xfdf8,
    "i32x4.trunc_sat_f32x4_u": 0xfdf9, "i32x4.trunc_sat_f64x2_s_zero": 0xfdfc, "i32x4.trunc_sat_f64x2_u_zero": 0xfdfd,
    "i64x2.abs": 0xfdc0, "i64x2.neg": 0xfdc1, "i64x2.extend_low_i32x4_s": 0xfdc7, "i64x2.extend_high_i32x4_s": 0xfdc8,
    "i64x2.extend_low_i32x4_u": 0xfdc9, "i64x2.extend_high_i32x4_u": 0xfdca,
    "f32x4.abs": 0xfde0, "f32x4.neg": 0xfde1, "f32x4.sqrt": 0xfde3, "f32x4.ceil": 0xfd67, "f32x4.floor": 0xfd68,
    "f32x4.trunc": 0xfd69, "f32x4.nearest": 0xfd6a, "f32x4.convert_i32x4_s": 0xfdfa, "f32x4.convert_i32x4_u": 0xfdfb,
    "f32x4.demote_f64x2_zero": 0xfd5e,
    "f64x2.abs": 0xfdec, "f64x2.neg": 0xfded, "f64x2.sqrt": 0xfdef, "f64x2.ceil": 0xfd74, "f64x2.floor": 0xfd75,
    "f64x2.trunc": 0xfd7a, "f64x2.nearest": 0xfd94, "f64x2.convert_low_i32x4_s": 0xfdfe,
    "f64x2.convert_low_i32x4_u": 0xfdff, "f64x2.promote_low_f32x4": 0xfd5f,
  },
  "vv>v": {
    "v128.and": 0xfd4e, "v128.andnot": 0xfd4f, "v128.or": 0xfd50, "v128.xor": 0xfd51,
    "i8x16.swizzle": 0xfd0e, "i8x16.eq": 0xfd23, "i8x16.ne": 0xfd24, "i8x16.lt_s": 0xfd25, "i8x16.lt_u": 0xfd26,
    "i8x16.gt_s": 0xfd27, "i8x16.gt_u": 0xfd28, "i8x16.le_s": 0xfd29, "i8x16.le_u": 0xfd2a, "i8x16.ge_s": 0xfd2b,
    "i8x16.ge_u": 0xfd2c, "i8x16.narrow_i16x8_s": 0xfd65, "i8x16.narrow_i16x8_u": 0xfd66, "i8x16.add": 0xfd6e,
    "i8x16.add_sat_s": 0xfd6f, "i8x16.add_sat_u": 0xfd70, "i8x16.sub": 0xfd71, "i8x16.sub_sat_s": 0xfd72,
    "i8x16.sub_sat_u": 0xfd73, "i8x16.min_s": 0xfd76, "i8x16.min_u": 0xfd77, "i8x16.max_s": 0xfd78,
    "i8x16.max_u": 0xfd79, "i8x16.avgr_u": 0xfd7b,
    "i16x8.eq": 0xfd2d, "i16x8.ne": 0xfd2e, "i16x8.lt_s": 0xfd2f, "i16x8.lt_u": 0xfd30, "i16x8.gt_s": 0xfd31,
    "i16x8.gt_u": 0xfd32, "i16x8.le_s": 0xfd33, "i16x8.le_u": 0xfd34, "i16x8.ge_s": 0xfd35, "i16x8.ge_u": 0xfd36,
    "i16x8.q15mulr_sat_s": 0xfd82, "i16x8.narrow_i32x4_s": 0xfd85, "i16x8.narrow_i32x4_u": 0xfd86, "i16x8.add": 0xfd8e,
    "i16x8.add_sat_s": 0xfd8f, "i16x8.add_sat_u": 0xfd90, "i16x8.sub": 0xfd91, "i16x8.sub_sat_s": 0xfd92,
    "i16x8.sub_sat_u": 0xfd93, "i16x8.mul": 0xfd95, "i16x8.min_s": 0xfd96, "i16x8.min_u": 0xfd97, "i16x8.max_s": 0xfd98,
    "i16x8.max_u": 0xfd99, "i16x8.avgr_u": 0xfd9b, "i16x8.extmul_low_i8x16_s": 0xfd9c,
    "i16x8.extmul_high_i8x16_s": 0xfd9d, "i16x8.extmul_low_i8x16_u": 0xfd9e, "i16x8.extmul_high_i8x16_u": 0xfd9f,
    "i32x4.eq": 0xfd37, "i32x4.ne": 0xfd38, "i32x4.lt_s": 0xfd39, "i32x4.lt_u": 0xfd3a, "i32x4.gt_s": 0xfd3b,
    "i32x4.gt_u": 0xfd3c, "i32x4.le_s": 0xfd3d, "i32x4.le_u": 0xfd3e, "i32x4.ge_s": 0xfd3f, "i32x4.ge_u": 0xfd40,
    "i32x4.add": 0xfdae, "i32x4.sub": 0xfdb1, "i32x4.mul": 0xfdb5, "i32x4.min_s": 0xfdb6, "i32x4.min_u": 0xfdb7,
    "i32x4.max_s": 0xfdb8, "i32x4.max_u": 0xfdb9, "i32x4.dot_i16x8_s": 0xfdba, "i32x4.extmul_low_i16x8_s": 0xfdbc,
    "i32x4.extmul_high_i16x8_s": 0xfdbd, "i32x4.extmul_low_i16x8_u": 0xfdbe, "i32x4.extmul_high_i16x8_u": 0xfdbf,
    "i64x2.add": 0xfdce, "i64x2.sub": 0xfdd1, "i64x2.mul": 0xfdd5, "i64x2.eq": 0xfdd6, "i64x2.ne": 0xfdd7,
    "i64x2.lt_s": 0xfdd8, "i64x2.gt_s": 0xfdd9, "i64x2.le_s": 0xfdda, "i64x2.ge_s": 0xfddb,
    "i64x2.extmul_low_i32x4_s": 0xfddc, "i64x2.extmul_high_i32x4_s": 0xfddd, "i64x2.extmul_low_i32x4_u": 0xfdde,
    "i64x2.extmul_high_i32x4_u": 0xfddf,
    "f32x4.eq": 0xfd41, "f32x4.ne": 0xfd42, "f32x4.lt": 0xfd43, "f32x4.gt": 0xfd44, "f32x4.le": 0xfd45,
    "f32x4.ge": 0xfd46, "f32x4.add": 0xfde4, "f32x4.sub": 0xfde5, "f32x4.mul": 0xfde6, "f32x4.div": 0xfde7,
    "f32x4.min": 0xfde8, "f32x4.max": 0xfde9, "f32x4.pmin": 0xfdea, "f32x4.pmax": 0xfdeb,
    "f64x2.eq": 0xfd47, "f64x2.ne": 0xfd48, "f64x2.lt": 0xfd49, "f64x2.gt": 0xfd4a, "f64x2.le": 0xfd4b,
    "f64x2.ge": 0xfd4c, "f64x2.add": 0xfdf0, "f64x2.sub": 0xfdf1, "f64x2.mul": 0xfdf2, "f64x2.div": 0xfdf3,
    "f64x2.min": 0xfdf4, "f64x2.max": 0xfdf5, "f64x2.pmin": 0xfdf6, "f64x2.pmax": 0xfdf7,
  },
} as const;

/** Instructions that name a lane; the lane follows the operands. */
// biome-ignore format: a table of numbers reads best in rows
export const LANE = {
  "v>i": {
    "i8x16.extract_lane_s": 0xfd15, "i8x16.extract_lane_u": 0xfd16, "i16x8.extract_lane_s": 0xfd18,
    "i16x8.extract_lane_u": 0xfd19, "i32x4.extract_lane": 0xfd1b,
  },
  "v>l": { "i64x2.extract_lane": 0xfd1d },
  "v>f": { "f32x4.extract_lane": 0xfd1f },
  "v>d": { "f64x2.extract_lane": 0xfd21 },
  "vi>v": { "i8x16.replace_lane": 0xfd17, "i16x8.replace_lane": 0xfd1a, "i32x4.replace_lane": 0xfd1c },
  "vl>v": { "i64x2.replace_lane": 0xfd1e },
  "vf>v": { "f32x4.replace_lane": 0xfd20 },
  "vd>v": { "f64x2.replace_lane": 0xfd22 },
} as const;

/** a·b + c, rounded once or twice, as the machine likes. Engines before WebAssembly 3.0 do not have it. */
export const RELAXED = {
  "vvv>v": { "f32x4.relaxed_madd": 0xfd105, "f64x2.relaxed_madd": 0xfd107 },
} as const;

/** Takes sixteen lanes, 0 to 31, of two vectors end to end. */
export const SHUFFLE = { "vv>v": { "i8x16.shuffle": 0xfd0d } } as const;
