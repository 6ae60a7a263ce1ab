/** Values of SciPy and of Python's colorsys, made by make-augment-cases.py. */
import { readFileSync } from "node:fs";

interface AugmentCases {
  readonly images: number[][][][];
  readonly maps: number[][][];
  readonly affine: readonly { readonly fill: string; readonly method: string; readonly result: unknown }[];
  readonly rotations: readonly { readonly degrees: number; readonly result: unknown }[];
  readonly hues: readonly { readonly share: number; readonly colors: number[][]; readonly moved: number[][] }[];
}

/** Tests run from dist/, the file lies beside the sources. */
const FILE = new URL("../../../../test/nn/augment/augment-cases.json", import.meta.url);

export const augmentCases = (): AugmentCases => JSON.parse(readFileSync(FILE, "utf8")) as AugmentCases;
