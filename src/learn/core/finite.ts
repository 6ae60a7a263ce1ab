/**
 * The check that samples and targets are finite numbers, with the place of the first that is not. One small kernel and one number
 * read; a model fitted to NaN would be NaN everywhere, and nobody would know why.
 */
import { ArgumentError } from "../../core/errors.js";
import type { Tensor } from "../../tensor/index.js";
import type { Features } from "./samples.js";

/** Throws where a matrix or vector has NaN or an infinity, unless missing values are promised to be handled. */
export async function checkFinite(
  operation: string,
  what: string,
  x: Tensor,
  { features, allowsMissing = false }: { readonly features?: Features; readonly allowsMissing?: boolean } = {},
): Promise<void> {
  const remedy = "fill missing values first, as with simpleImputer(), or leave those rows out";
  const bad = allowsMissing ? x.isInf() : x.isFinite().logicalNot();
  await checkNone(operation, what, x, bad as Tensor, remedy, features);
}

/** Throws where a matrix or vector has a value that is not wanted, with the place of the first. */
export async function checkNone(
  operation: string,
  what: string,
  x: Tensor,
  isBad: Tensor,
  remedy: string,
  features?: Features,
): Promise<void> {
  if (x.size === 0) return;
  const bad = isBad.flatten();
  if (!(await bad.any().item())) return;
  const place = Number(await bad.argmax().item());
  const value = await x.flatten().at(place).item();
  const width = x.rank > 1 ? (x.shape[1] as number) : 1;
  const [row, column] = [Math.floor(place / width), place % width];
  const name = features?.names ? `"${features.names[column]}"` : String(column);
  throw new ArgumentError(
    `${operation}: ${what} ${x.rank > 1 ? `in row ${row}, column ${name}` : `${row}`} is ${value}; ` + `${remedy}.`,
  );
}
