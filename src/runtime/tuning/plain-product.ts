/** Products as users name them to be measured: "64x512x512x512:bf16:nt". */
import type { ProductShape } from "../../compiler/tiles/product-shape.js";
import { DTYPES, type DType, isDType, isPacked } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { permuteNode } from "../../graph/build.js";
import { type DeviceHandle, Node } from "../../graph/node.js";
import { buffer } from "../../graph/primitives/leaf.js";
import type { MatmulPrecision } from "../../graph/product-precision.js";
import type { TimedProduct } from "./product-timer.js";

const FORM =
  /^(?:(\d+)[x×])?(\d+)[x×](\d+)[x×](\d+)(?::([a-z][a-z0-9]*\d[a-z0-9]*|bool)(?:-(high|fast))?)?(?::([nt]{2}))?$/;

/** The product that a text names: [batch×] rows × summands × columns, a dtype with a precision, and which operands are transposed. */
export function parseProduct(operation: string, text: string): ProductShape {
  const [, batch = "1", m, k, n, dtype = "f32", precision, orders = "nn"] = FORM.exec(text) ?? [];
  if (m === undefined) {
    throw new ArgumentError(
      `${operation}: "${text}" names no product; give rows, summands and columns, as in "4096x4096x4096:f32", with a batch ` +
        'before them and "nt" or "tn" for a transposed operand after: "64x512x512x512:bf16:nt".',
    );
  }
  if (!isDType(dtype) || DTYPES[dtype].kind === "complex" || isPacked(dtype)) {
    throw new ArgumentError(
      `${operation}: "${text}": a product of ${dtype} has no tiles; give a real dtype such as f32.`,
    );
  }
  if (precision !== undefined && dtype !== "f32") {
    throw new ArgumentError(`${operation}: "${text}": only products of f32 have a precision.`);
  }
  const extents = { batch: Number(batch), m: Number(m), k: Number(k), n: Number(n) };
  return { ...extents, dtype, precision: precision as MatmulPrecision | undefined, orders };
}

/** A product of operands that lie in memory as its orders say. */
export function plainProduct(shape: ProductShape, device: DeviceHandle): TimedProduct {
  const { batch, m, k, n, dtype, orders = "nn" } = shape;
  const operand = (rows: number, columns: number, order: string): Node =>
    order === "t"
      ? permuteNode(leaf([batch, columns, rows], dtype, device), [0, 2, 1])
      : leaf([batch, rows, columns], dtype, device);
  return { shape, operands: [operand(m, k, orders[0]), operand(k, n, orders[1])] };
}

const leaf = (shape: readonly number[], dtype: DType, device: DeviceHandle): Node =>
  new Node(buffer, { shape, dtype }, [], shape, dtype, device);
