/** Histograms, splits and ways through trees in plain JavaScript: what the kernels of trees must give. */

export interface BinnedRows {
  /** Codes by feature and row. */
  readonly codes: readonly (readonly number[])[];
  readonly slots: readonly number[];
  readonly gradients: readonly number[];
  readonly hessians: readonly number[] | null;
}

/** Four features to a word. */
export function packedCodes(codes: readonly (readonly number[])[]): Uint32Array {
  const rows = codes[0]!.length;
  const words = Math.ceil(codes.length / 4);
  const packed = new Uint32Array(words * rows);
  codes.forEach((column, f) => {
    column.forEach((code, row) => {
      const at = (f >> 2) * rows + row;
      packed[at] = packed[at]! + code * 2 ** (8 * (f & 3));
    });
  });
  return packed;
}

/** [slots, features, channels, 256], flat. */
export function histogramOracle({ codes, slots, gradients, hessians }: BinnedRows, count: number): Float64Array {
  const channels = hessians ? 3 : 2;
  const features = 4 * Math.ceil(codes.length / 4);
  const sums = new Float64Array(count * features * 256 * channels);
  slots.forEach((slot, row) => {
    if (slot < 0) return;
    for (let f = 0; f < features; f++) {
      const added = [gradients[row]!, ...(hessians ? [hessians[row]!] : []), 1];
      added.forEach((value, channel) => {
        const at = ((slot * features + f) * channels + channel) * 256 + (codes[f]?.[row] ?? 0);
        sums[at] = sums[at]! + value;
      });
    }
  });
  return sums;
}
