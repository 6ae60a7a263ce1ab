/**
 * `tune`: measures how products of matrices run best on a device, and keeps what it finds on disk, for this process and later
 * ones. `pumice tune` calls it; PUMICE_TUNE=1 does the same for the products of a program, as it compiles them.
 */
import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import { parseProduct, plainProduct } from "../runtime/tuning/plain-product.js";
import { backendFor } from "./devices.js";

/** Options of `tune`. */
export interface TuneOptions {
  /** The device; the default one unless told. */
  device?: string;
  /** Called before each product is measured, with its name, its number from 0 on, and how many there are. */
  onProgress?: (product: string, number: number, count: number) => void;
}

/** The measurements of one product. Times are milliseconds. */
export interface TunedProduct {
  readonly product: string;
  /** The best tiling found, and the one used until now, in words; both "" where there is nothing to choose. */
  readonly tiling: string;
  readonly before: string;
  readonly milliseconds: number;
  readonly millisecondsBefore: number;
  /** The number of tilings that were timed. */
  readonly tried: number;
}

/**
 * Times the tilings of each product and keeps the best. A product is named by its rows, summands and columns, and by its dtype:
 * "4096x4096x4096:f32"; with a batch before them, and "nt" or "tn" after for a transposed operand: "64x512x512x512:bf16:nt".
 * Blocks while a product is measured, seconds each.
 */
export async function tune(products: readonly string[], options: TuneOptions = {}): Promise<TunedProduct[]> {
  checkCount("tune", 2, arguments);
  checkOptions("tune", options, { device: "text", onProgress: "function" });
  if (!Array.isArray(products) || products.some((each) => typeof each !== "string")) {
    throw new ArgumentError(
      `tune: the products are a list of texts such as ["4096x4096x4096:f32"], not ${shown(products)}.`,
    );
  }
  const shapes = products.map((each) => parseProduct("tune", each));
  const backend = backendFor(options.device, "tune");
  const found: TunedProduct[] = [];
  for (const [number, shape] of shapes.entries()) {
    options.onProgress?.(products[number], number, products.length);
    // Progress that was reported may show first.
    await new Promise((resolve) => setTimeout(resolve));
    const finding = backend.tune(plainProduct(shape, backend));
    const { tiling = "", before = "", milliseconds = 0, millisecondsBefore = 0, tried = 0 } = finding ?? {};
    found.push({ product: products[number], tiling, before, milliseconds, millisecondsBefore, tried });
  }
  return found;
}
