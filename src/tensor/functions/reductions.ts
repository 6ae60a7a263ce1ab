/** Functions that reduce or order the elements along axes: `sum(x, { axis: 0 })` is `x.sum({ axis: 0 })`. */
import type { DType } from "../../core/dtype.js";
import type { SumOptions } from "../methods/reductions.js";
import type { Joined, Members } from "../methods/sets.js";
import type { RunningOptions } from "../methods/standard-names.js";
import type { UniqueOf, UniqueOptions } from "../methods/uniqueness.js";
import type { SumOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { ofMethod } from "./of-method.js";

type Summing = <D extends DType, T extends DType = SumOf<D>>(x: Tensor<D>, options?: SumOptions<T>) => Tensor<T>;

/** The sum over some axes, or over all. */
export const sum = ofMethod("sum") as Summing;
/** The product over some axes, or over all. */
export const prod = ofMethod("prod") as Summing;
/** The largest element; NaN wins. */
export const max = ofMethod("max");
/** The smallest element; NaN wins. */
export const min = ofMethod("min");
/** Whether all elements differ from zero. */
export const all = ofMethod("all");
/** Whether any element differs from zero. */
export const any = ofMethod("any");
/** The mean over some axes, or over all. */
export const mean = ofMethod("mean");
/** The mean of squared deviations; `correction: 1` divides by n - 1. */
export const variance = ofMethod("variance");
/** Another name of `variance`. */
const named = ofMethod("var");

export { named as var };
/** The standard deviation: the root of `variance`. */
export const std = ofMethod("std");
/** Position of the largest element. */
export const argmax = ofMethod("argmax");
/** Position of the smallest element. */
export const argmin = ofMethod("argmin");
/** The number of elements that differ from zero. */
export const countNonzero = ofMethod("countNonzero");
/** log Σ exp, without overflow. */
export const logsumexp = ofMethod("logsumexp");
/** exp(x) divided by its sum along an axis, the last unless told. */
export const softmax = ofMethod("softmax");
/** The p-norm over the axes together, as of one long vector. */
export const norm = ofMethod("norm");
/** The covariance matrix of columns. */
export const covariance = ofMethod("covariance");
/** The matrix of correlation coefficients of columns. */
export const corrcoef = ofMethod("corrcoef");
/** The middle element, or the mean of the two middle ones. */
export const median = ofMethod("median");
/** The most frequent element. */
export const mode = ofMethod("mode");
/** The element below which a share of the elements lies, from 0 to 1. */
export const quantile = ofMethod("quantile");
/** The same for shares from 0 to 100. */
export const percentile = ofMethod("percentile");

/** The sum without NaN. */
export const nanSum = ofMethod("nanSum");
/** The product without NaN. */
export const nanProd = ofMethod("nanProd");
/** The largest element that is not NaN. */
export const nanMax = ofMethod("nanMax");
/** The smallest element that is not NaN. */
export const nanMin = ofMethod("nanMin");
/** Position of the largest element that is not NaN. */
export const nanArgmax = ofMethod("nanArgmax");
/** Position of the smallest element that is not NaN. */
export const nanArgmin = ofMethod("nanArgmin");
/** The mean of what is not NaN. */
export const nanMean = ofMethod("nanMean");
/** The variance of what is not NaN. */
export const nanVariance = ofMethod("nanVariance");
/** The standard deviation of what is not NaN. */
export const nanStd = ofMethod("nanStd");
/** The median of what is not NaN. */
export const nanMedian = ofMethod("nanMedian");
/** The quantiles of what is not NaN. */
export const nanQuantile = ofMethod("nanQuantile");
/** The percentiles of what is not NaN. */
export const nanPercentile = ofMethod("nanPercentile");
/** Running sums in which NaN counts as 0. */
export const nanCumsum = ofMethod("nanCumsum");
/** Running products in which NaN counts as 1. */
export const nanCumprod = ofMethod("nanCumprod");

/** Running sums. */
export const cumsum = ofMethod("cumsum");
/** Running products. */
export const cumprod = ofMethod("cumprod");
/** The largest so far. */
export const cummax = ofMethod("cummax");
/** The smallest so far. */
export const cummin = ofMethod("cummin");
type Running = <D extends DType, T extends DType = SumOf<D>>(x: Tensor<D>, options?: RunningOptions<T>) => Tensor<T>;
/** Running sums along an axis, with the options of the array API. */
export const cumulativeSum = ofMethod("cumulativeSum") as Running;
/** Running products along an axis, with the options of the array API. */
export const cumulativeProd = ofMethod("cumulativeProd") as Running;
/** The difference of neighbours along an axis. */
export const diff = ofMethod("diff");

/** Elements in order along an axis. */
export const sort = ofMethod("sort");
/** Positions that would sort along an axis. */
export const argsort = ofMethod("argsort");
/** The k largest along an axis, and where they are. */
export const topK = ofMethod("topK");
/** A copy in which the element at place k is the one that sorting would put there. */
export const partition = ofMethod("partition");
/** Positions that would partition along an axis. */
export const argpartition = ofMethod("argpartition");
/** The number of elements of a sorted tensor before each value. */
export const searchSorted = ofMethod("searchSorted");

/** The distinct elements, with their places and counts. */
export const unique = ofMethod("unique") as <D extends DType, O extends UniqueOptions = UniqueOptions>(
  x: Tensor<D>,
  options?: O,
) => UniqueOf<D, O>;
/** The distinct elements with their places and counts; every NaN is distinct. */
export const uniqueAll = ofMethod("uniqueAll");
/** The distinct elements and how often each occurs; every NaN is distinct. */
export const uniqueCounts = ofMethod("uniqueCounts");
/** The distinct elements, and which of them each element is; every NaN is distinct. */
export const uniqueInverse = ofMethod("uniqueInverse");
/** The distinct elements; every NaN is distinct. */
export const uniqueValues = ofMethod("uniqueValues");
/** Whether each element is among some values. */
export const isin = ofMethod("isin");

type SetFunction = <D extends DType, M extends Members>(x: Tensor<D>, other: M) => Tensor<Joined<D, M>>;

/** The distinct elements of both. */
export const union1d = ofMethod("union1d") as SetFunction;
/** The distinct elements that both have. */
export const intersect1d = ofMethod("intersect1d") as SetFunction;
/** The distinct elements of the first that the second does not have. */
export const setdiff1d = ofMethod("setdiff1d");
/** The distinct elements that one of both has. */
export const setxor1d = ofMethod("setxor1d") as SetFunction;
