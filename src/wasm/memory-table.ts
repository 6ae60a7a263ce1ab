/**
 * The instructions that touch memory, as data; see scalar-table.ts for how to read a row. Each has, beside its opcode, the
 * number of bytes it accesses, which is also its natural alignment. Every address is an i32 taken as unsigned.
 */
// biome-ignore format: a table of numbers reads best in rows
export const LOAD = {
  "i>i": {
    "i32.load": [0x28, 4], "i32.load8_s": [0x2c, 1], "i32.load8_u": [0x2d, 1], "i32.load16_s": [0x2e, 2],
    "i32.load16_u": [0x2f, 2],
  },
  "i>l": {
    "i64.load": [0x29, 8], "i64.load8_s": [0x30, 1], "i64.load8_u": [0x31, 1], "i64.load16_s": [0x32, 2],
    "i64.load16_u": [0x33, 2], "i64.load32_s": [0x34, 4], "i64.load32_u": [0x35, 4],
  },
  "i>f": { "f32.load": [0x2a, 4] },
  "i>d": { "f64.load": [0x2b, 8] },
  "i>v": {
    "v128.load": [0xfd00, 16], "v128.load8x8_s": [0xfd01, 8], "v128.load8x8_u": [0xfd02, 8],
    "v128.load16x4_s": [0xfd03, 8], "v128.load16x4_u": [0xfd04, 8], "v128.load32x2_s": [0xfd05, 8],
    "v128.load32x2_u": [0xfd06, 8], "v128.load8_splat": [0xfd07, 1], "v128.load16_splat": [0xfd08, 2],
    "v128.load32_splat": [0xfd09, 4], "v128.load64_splat": [0xfd0a, 8], "v128.load32_zero": [0xfd5c, 4],
    "v128.load64_zero": [0xfd5d, 8],
  },
} as const;

// biome-ignore format: a table of numbers reads best in rows
export const STORE = {
  "ii>": { "i32.store": [0x36, 4], "i32.store8": [0x3a, 1], "i32.store16": [0x3b, 2] },
  "il>": { "i64.store": [0x37, 8], "i64.store8": [0x3c, 1], "i64.store16": [0x3d, 2], "i64.store32": [0x3e, 4] },
  "if>": { "f32.store": [0x38, 4] },
  "id>": { "f64.store": [0x39, 8] },
  "iv>": { "v128.store": [0xfd0b, 16] },
} as const;

/** One lane of a vector from or to memory: address, vector, lane. */
// biome-ignore format: a table of numbers reads best in rows
export const LANE_LOAD = {
  "iv>v": {
    "v128.load8_lane": [0xfd54, 1], "v128.load16_lane": [0xfd55, 2], "v128.load32_lane": [0xfd56, 4],
    "v128.load64_lane": [0xfd57, 8],
  },
} as const;

// biome-ignore format: a table of numbers reads best in rows
export const LANE_STORE = {
  "iv>": {
    "v128.store8_lane": [0xfd58, 1], "v128.store16_lane": [0xfd59, 2], "v128.store32_lane": [0xfd5a, 4],
    "v128.store64_lane": [0xfd5b, 8],
  },
} as const;

/** Sequentially consistent accesses of shared memory. Their addresses must be aligned, or they trap. */
// biome-ignore format: a table of numbers reads best in rows
export const ATOMIC = {
  "ii>i": {
    "memory.atomic.notify": [0xfe00, 4], "i32.atomic.rmw.add": [0xfe1e, 4], "i32.atomic.rmw8.add_u": [0xfe20, 1],
    "i32.atomic.rmw16.add_u": [0xfe21, 2], "i32.atomic.rmw.sub": [0xfe25, 4], "i32.atomic.rmw8.sub_u": [0xfe27, 1],
    "i32.atomic.rmw16.sub_u": [0xfe28, 2], "i32.atomic.rmw.and": [0xfe2c, 4], "i32.atomic.rmw8.and_u": [0xfe2e, 1],
    "i32.atomic.rmw16.and_u": [0xfe2f, 2], "i32.atomic.rmw.or": [0xfe33, 4], "i32.atomic.rmw8.or_u": [0xfe35, 1],
    "i32.atomic.rmw16.or_u": [0xfe36, 2], "i32.atomic.rmw.xor": [0xfe3a, 4], "i32.atomic.rmw8.xor_u": [0xfe3c, 1],
    "i32.atomic.rmw16.xor_u": [0xfe3d, 2], "i32.atomic.rmw.xchg": [0xfe41, 4], "i32.atomic.rmw8.xchg_u": [0xfe43, 1],
    "i32.atomic.rmw16.xchg_u": [0xfe44, 2],
  },
  "iil>i": {
    "memory.atomic.wait32": [0xfe01, 4],
  },
  "ill>i": {
    "memory.atomic.wait64": [0xfe02, 8],
  },
  "i>i": {
    "i32.atomic.load": [0xfe10, 4], "i32.atomic.load8_u": [0xfe12, 1], "i32.atomic.load16_u": [0xfe13, 2],
  },
  "i>l": {
    "i64.atomic.load": [0xfe11, 8], "i64.atomic.load8_u": [0xfe14, 1], "i64.atomic.load16_u": [0xfe15, 2],
    "i64.atomic.load32_u": [0xfe16, 4],
  },
  "ii>": {
    "i32.atomic.store": [0xfe17, 4], "i32.atomic.store8": [0xfe19, 1], "i32.atomic.store16": [0xfe1a, 2],
  },
  "il>": {
    "i64.atomic.store": [0xfe18, 8], "i64.atomic.store8": [0xfe1b, 1], "i64.atomic.store16": [0xfe1c, 2],
    "i64.atomic.store32": [0xfe1d, 4],
  },
  "il>l": {
    "i64.atomic.rmw.add": [0xfe1f, 8], "i64.atomic.rmw8.add_u": [0xfe22, 1], "i64.atomic.rmw16.add_u": [0xfe23, 2],
    "i64.atomic.rmw32.add_u": [0xfe24, 4], "i64.atomic.rmw.sub": [0xfe26, 8], "i64.atomic.rmw8.sub_u": [0xfe29, 1],
    "i64.atomic.rmw16.sub_u": [0xfe2a, 2], "i64.atomic.rmw32.sub_u": [0xfe2b, 4], "i64.atomic.rmw.and": [0xfe2d, 8],
    "i64.atomic.rmw8.and_u": [0xfe30, 1], "i64.atomic.rmw16.and_u": [0xfe31, 2], "i64.atomic.rmw32.and_u": [0xfe32, 4],
    "i64.atomic.rmw.or": [0xfe34, 8], "i64.atomic.rmw8.or_u": [0xfe37, 1], "i64.atomic.rmw16.or_u": [0xfe38, 2],
    "i64.atomic.rmw32.or_u": [0xfe39, 4], "i64.atomic.rmw.xor": [0xfe3b, 8], "i64.atomic.rmw8.xor_u": [0xfe3e, 1],
    "i64.atomic.rmw16.xor_u": [0xfe3f, 2], "i64.atomic.rmw32.xor_u": [0xfe40, 4], "i64.atomic.rmw.xchg": [0xfe42, 8],
    "i64.atomic.rmw8.xchg_u": [0xfe45, 1], "i64.atomic.rmw16.xchg_u": [0xfe46, 2],
    "i64.atomic.rmw32.xchg_u": [0xfe47, 4],
  },
  "iii>i": {
    "i32.atomic.rmw.cmpxchg": [0xfe48, 4], "i32.atomic.rmw8.cmpxchg_u": [0xfe4a, 1],
    "i32.atomic.rmw16.cmpxchg_u": [0xfe4b, 2],
  },
  "ill>l": {
    "i64.atomic.rmw.cmpxchg": [0xfe49, 8], "i64.atomic.rmw8.cmpxchg_u": [0xfe4c, 1],
    "i64.atomic.rmw16.cmpxchg_u": [0xfe4d, 2], "i64.atomic.rmw32.cmpxchg_u": [0xfe4e, 4],
  },
} as const;

/** Bulk memory operations, and the memory's size in pages of 64 KiB. The bytes that follow the opcode name memory 0. */
// biome-ignore format: a table of numbers reads best in rows
export const BULK = {
  ">i": { "memory.size": [0x3f, 1] },
  "i>i": { "memory.grow": [0x40, 1] },
  "iii>": { "memory.copy": [0xfc0a, 2], "memory.fill": [0xfc0b, 1] },
  ">": { "atomic.fence": [0xfe03, 1] },
} as const;
