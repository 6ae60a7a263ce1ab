/**
 * Covariance functions as values: `sum(product(constant(2), rbf(3)), white(0.1))`. A kernel is plain data, the numbers that its parameters
 * start at and their bounds, so that options, files and messages hold it as it is. covariance.ts computes with it.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";

/** The kernels there are. */
export type KernelKind =
  | "constant"
  | "white"
  | "rbf"
  | "matern"
  | "rationalQuadratic"
  | "expSineSquared"
  | "periodic"
  | "dotProduct"
  | "sum"
  | "product"
  | "power";

/** A number, or one for each feature. */
export type PerFeature = number | readonly number[];

/** The least and the largest value of a parameter, or "fixed" for one that stays as it is. */
export type KernelBounds = readonly [least: number, most: number] | "fixed";

/** A kernel. The functions of `kernels` make them. */
export interface Kernel {
  readonly covariance: KernelKind;
  /** Numbers that parameters start at, above zero. */
  readonly values: Readonly<Record<string, PerFeature>>;
  readonly bounds: Readonly<Record<string, KernelBounds>>;
  /** The smoothness of a Matérn kernel. */
  readonly nu?: number;
  readonly exponent?: number;
  /** Kernels that this one is made of. */
  readonly parts: readonly Kernel[];
}

/** Bounds of a parameter that is told none. */
const BOUNDS: KernelBounds = [1e-5, 1e5];

/** Whether a value is a kernel of this family. */
export const isKernel = (value: unknown): value is Kernel =>
  typeof value === "object" && value !== null && "covariance" in value && "parts" in value;

function checkValue(operation: string, name: string, value: unknown, isPerFeature: boolean): void {
  const list = isPerFeature && Array.isArray(value) ? value : [value];
  const isRight =
    list.length > 0 && list.every((each) => typeof each === "number" && each > 0 && Number.isFinite(each));
  if (isRight) return;
  const what = isPerFeature ? "a number above zero, or a list of one for each feature" : "a number above zero";
  throw new ArgumentError(`${operation}: ${name} is ${shown(value)}; it is ${what}.`);
}

function checkBounds(operation: string, name: string, bounds: unknown): void {
  if (bounds === "fixed") return;
  if (Array.isArray(bounds) && bounds.length === 2 && bounds[0] > 0 && bounds[1] >= bounds[0]) return;
  throw new ArgumentError(
    `${operation}: ${name} is ${shown(bounds)}; it is a pair of numbers above zero, the least first, or "fixed".`,
  );
}

/** A kernel of parameters by name; those in `perFeature` may have one number for each feature. */
function basic(
  covariance: KernelKind,
  values: Readonly<Record<string, PerFeature>>,
  given: Readonly<Record<string, KernelBounds | undefined>>,
  perFeature: readonly string[] = [],
  more: { readonly nu?: number } = {},
): Kernel {
  const operation = `kernels.${covariance}`;
  const bounds: Record<string, KernelBounds> = {};
  for (const [name, value] of Object.entries(values)) {
    checkValue(operation, name, value, perFeature.includes(name));
    const bound = given[`${name}Bounds`] ?? BOUNDS;
    checkBounds(operation, `${name}Bounds`, bound);
    bounds[name] = bound;
  }
  return { covariance, values, bounds, ...more, parts: [] };
}

/** Bounds of `constant`. */
export interface ConstantBounds {
  readonly valueBounds?: KernelBounds;
}

/** The same covariance for all pairs: 1 unless told. As a factor it scales another kernel. */
export function constant(value = 1, bounds: ConstantBounds = {}): Kernel {
  checkOptions("kernels.constant", bounds, { valueBounds: "any" });
  return basic("constant", { value }, { ...bounds });
}

/** Bounds of `white`. */
export interface WhiteBounds {
  readonly noiseBounds?: KernelBounds;
}

/** Noise of a variance, 1 unless told, which a sample shares with none but itself. */
export function white(noise = 1, bounds: WhiteBounds = {}): Kernel {
  checkOptions("kernels.white", bounds, { noiseBounds: "any" });
  return basic("white", { noise }, { ...bounds });
}

/** Bounds of kernels with a length scale. */
export interface LengthScaleBounds {
  readonly lengthScaleBounds?: KernelBounds;
}

/** exp(−½ |(a − b) / lengthScale|²): functions that are smooth. Several length scales are one for each feature. */
export function rbf(lengthScale: PerFeature = 1, bounds: LengthScaleBounds = {}): Kernel {
  checkOptions("kernels.rbf", bounds, { lengthScaleBounds: "any" });
  return basic("rbf", { lengthScale }, { ...bounds }, ["lengthScale"]);
}

/** Options of `matern`. */
export interface MaternOptions extends LengthScaleBounds {
  /** The smoothness: 1.5 unless told. Half of an odd number (0.5, 1.5, 2.5 …), or Infinity for `rbf`. */
  readonly nu?: number;
}

/** Matérn's covariance: functions that have nu − ½ derivatives. */
export function matern(lengthScale: PerFeature = 1, options: MaternOptions = {}): Kernel {
  checkOptions("kernels.matern", options, { nu: "number", lengthScaleBounds: "any" });
  const { nu = 1.5, ...bounds } = options;
  if (nu !== Number.POSITIVE_INFINITY && !(nu > 0 && nu < 20 && Number.isInteger(nu - 0.5))) {
    throw new ArgumentError(
      `kernels.matern: nu is ${shown(nu)}; it is half of an odd number below 40, as in 0.5, 1.5 and 2.5, or Infinity.`,
    );
  }
  return basic("matern", { lengthScale }, { ...bounds }, ["lengthScale"], { nu });
}

/** Parameters of `rationalQuadratic`; both are 1 unless told. */
export interface RationalQuadraticOptions extends LengthScaleBounds {
  readonly lengthScale?: number;
  /** The larger, the closer the length scales that are mixed. */
  readonly alpha?: number;
  readonly alphaBounds?: KernelBounds;
}

/** (1 + |a − b|² / (2 alpha lengthScale²))^−alpha: a mixture of `rbf` with many length scales. */
export function rationalQuadratic(options: RationalQuadraticOptions = {}): Kernel {
  checkOptions("kernels.rationalQuadratic", options, {
    lengthScale: "any",
    alpha: "any",
    lengthScaleBounds: "any",
    alphaBounds: "any",
  });
  const { lengthScale = 1, alpha = 1, ...bounds } = options;
  return basic("rationalQuadratic", { lengthScale, alpha }, bounds);
}

/** Parameters of `expSineSquared`; both are 1 unless told. */
export interface ExpSineSquaredOptions extends LengthScaleBounds {
  readonly lengthScale?: number;
  readonly periodicity?: number;
  readonly periodicityBounds?: KernelBounds;
}

const PERIODIC = {
  lengthScale: "any",
  periodicity: "any",
  lengthScaleBounds: "any",
  periodicityBounds: "any",
} as const;

/** exp(−2 sin²(π |a − b| / periodicity) / lengthScale²): functions that repeat. */
export function expSineSquared(options: ExpSineSquaredOptions = {}): Kernel {
  checkOptions("kernels.expSineSquared", options, PERIODIC);
  const { lengthScale = 1, periodicity = 1, ...bounds } = options;
  return basic("expSineSquared", { lengthScale, periodicity }, bounds);
}

/** Parameters of `periodic`; both are 1 unless told. */
export interface PeriodicOptions extends LengthScaleBounds {
  readonly lengthScale?: PerFeature;
  readonly periodicity?: PerFeature;
  readonly periodicityBounds?: KernelBounds;
}

/** The product of `expSineSquared` over the features: functions that repeat along each feature, with a period of its own. */
export function periodic(options: PeriodicOptions = {}): Kernel {
  checkOptions("kernels.periodic", options, PERIODIC);
  const { lengthScale = 1, periodicity = 1, ...bounds } = options;
  return basic("periodic", { lengthScale, periodicity }, bounds, ["lengthScale", "periodicity"]);
}

/** Bounds of `dotProduct`. */
export interface DotProductBounds {
  readonly sigma0Bounds?: KernelBounds;
}

/** sigma0² + a·b: linear functions. */
export function dotProduct(sigma0 = 1, bounds: DotProductBounds = {}): Kernel {
  checkOptions("kernels.dotProduct", bounds, { sigma0Bounds: "any" });
  return basic("dotProduct", { sigma0 }, { ...bounds });
}

function combined(covariance: "sum" | "product", parts: readonly Kernel[]): Kernel {
  checkParts(`kernels.${covariance}`, parts);
  return { covariance, values: {}, bounds: {}, parts };
}

function checkParts(operation: string, parts: readonly unknown[]): void {
  if (parts.length === 0) throw new ArgumentError(`${operation}: takes one kernel at least.`);
  const wrong = parts.find((part) => !isKernel(part));
  if (wrong === undefined && parts.every((part) => part !== undefined)) return;
  throw new ArgumentError(`${operation}: ${shown(wrong)} is no kernel; for a number write kernels.constant(2).`);
}

/** The sum of kernels: of independent functions that are added. */
export const sum = (...parts: readonly Kernel[]): Kernel => combined("sum", parts);

/** The product of kernels, element by element. */
export const product = (...parts: readonly Kernel[]): Kernel => combined("product", parts);

/** A kernel to a power above zero, element by element. */
export function power(kernel: Kernel, exponent: number): Kernel {
  checkParts("kernels.power", [kernel]);
  checkValue("kernels.power", "the exponent", exponent, false);
  return { covariance: "power", values: {}, bounds: {}, exponent, parts: [kernel] };
}
