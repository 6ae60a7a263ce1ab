/** Numbers and tensors as distribution functions take them: in one float dtype and on one device. */
import type { OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";

/** A number, numbers, or a tensor of them. */
export type Quantity = Tensor | number | readonly number[];

/** Options of distribution functions. */
export interface PlaceOptions {
  /** The device for numbers and arrays: that of the tensors among the arguments unless told. */
  readonly device?: string;
  /** The dtype of the result: f64 where an argument is f64, else f32. */
  readonly dtype?: "f32" | "f64";
}

export const PLACE: OptionKinds<PlaceOptions> = { device: "text", dtype: "dtype" };

/** A device, and a dtype to compute in. */
interface StatsPlace {
  readonly device: string | undefined;
  readonly dtype: "f32" | "f64";
}

/** The place that options name, or that the arguments have. */
function placeOf(operation: string, given: readonly unknown[], { device, dtype }: PlaceOptions): StatsPlace {
  if (dtype !== undefined && dtype !== "f32" && dtype !== "f64") {
    throw new ArgumentError(`${operation}: the option dtype is ${shown(dtype)}; it is "f32" or "f64".`);
  }
  const tensors = given.filter((each) => isTensor(each)) as Tensor[];
  return {
    device: device ?? tensors[0]?.device,
    dtype: dtype ?? (tensors.some((each) => each.dtype === "f64") ? "f64" : "f32"),
  };
}

/** Quantities as tensors of one place. */
export function quantitiesOf<N extends readonly Quantity[]>(
  operation: string,
  given: N,
  options: PlaceOptions,
): { readonly [K in keyof N]: Tensor } {
  const place = placeOf(operation, given, options);
  const made = given.map((each) => (isTensor(each) ? each.cast(place.dtype) : tensor(each as number[], place)));
  return made as unknown as { readonly [K in keyof N]: Tensor };
}
