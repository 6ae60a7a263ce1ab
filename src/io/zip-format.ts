/**
 * The numbers of the zip format (PKWARE's APPNOTE 6.3), shared by the reader and the writer: signatures, flags, methods
 * and the sizes of the fixed parts.
 */
export const SIGNATURE = {
  localHeader: 0x04034b50,
  centralHeader: 0x02014b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  end64Locator: 0x07064b50,
} as const;

/** Bytes of each record before its variable parts. */
export const FIXED = { localHeader: 30, centralHeader: 46, end: 22, end64: 56, end64Locator: 20 } as const;

export const METHOD = { stored: 0, deflate: 8 } as const;

export const FLAG = {
  encrypted: 1,
  patched: 1 << 5,
  strongEncryption: 1 << 6,
  utf8: 1 << 11,
  masked: 1 << 13,
} as const;

/** Extra field with the 64-bit sizes. */
export const ZIP64_EXTRA = 0x0001;

/** The value of a 16- or 32-bit field whose true value stands in a 64-bit one. */
export const IN_ZIP64 = { u16: 0xffff, u32: 0xffffffff } as const;
