/**
 * Cuts of a tree of merges, and cophenetic distances: functions of the linkage matrix that agglomerative clusters learn, or of one from
 * SciPy. They follow references from row to row, so they read the matrix.
 */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { checkTensor, type Tensor, tensor } from "../../tensor/index.js";
import { hostValues } from "../neighbors/within.js";
import type { Merges } from "./linkage.js";

/** Where a tree is cut: one of the two. */
export interface CutOptions {
  /** The number of clusters that are left: those before the last merges. */
  readonly nClusters?: number;
  /** Merges at this distance or above it are not made, and none above such a merge. */
  readonly distanceThreshold?: number;
}

const CUT: OptionKinds<CutOptions> = { nClusters: "number", distanceThreshold: "number" };

/** Throws unless one of the two ways to cut is told, or none. */
export function checkCut(operation: string, { nClusters, distanceThreshold }: CutOptions): void {
  if (nClusters !== undefined && distanceThreshold !== undefined) {
    throw new ArgumentError(
      `${operation}: nClusters is ${nClusters} and distanceThreshold ${distanceThreshold}; a tree is cut by one of them.`,
    );
  }
  if (nClusters !== undefined && !(Number.isSafeInteger(nClusters) && nClusters >= 1)) {
    throw new ArgumentError(`${operation}: nClusters is ${shown(nClusters)}; it is a whole number from 1 on.`);
  }
  if (distanceThreshold === undefined || distanceThreshold >= 0) return;
  throw new ArgumentError(`${operation}: distanceThreshold is ${distanceThreshold}; it is a distance, 0 or more.`);
}

/** The cluster of each sample, numbered in the order of their first samples. */
export function cutLabels(operation: string, merges: Merges, cut: CutOptions): Int32Array {
  const count = merges.length / 4 + 1;
  const { nClusters = 2, distanceThreshold } = cut;
  if (distanceThreshold === undefined && nClusters > count) {
    throw new ArgumentError(`${operation}: nClusters is ${nClusters}, and there are ${count} samples.`);
  }
  const isMade = new Uint8Array(2 * count - 1).fill(1, 0, count);
  const parents = new Int32Array(2 * count - 1).fill(-1);
  for (let k = 0; k < count - 1; k++) {
    const [a, b, distance] = [merges[4 * k], merges[4 * k + 1], merges[4 * k + 2]] as [number, number, number];
    const isBelow = distanceThreshold === undefined ? k < count - nClusters : distance < distanceThreshold;
    if (!isBelow || !isMade[a] || !isMade[b]) continue;
    isMade[count + k] = 1;
    parents[a] = count + k;
    parents[b] = count + k;
  }
  return labelsByTop(parents, count);
}

/** Numbers of the tops of a forest whose parents stand behind their children. */
function labelsByTop(parents: Int32Array, count: number): Int32Array {
  const tops = new Int32Array(parents.length);
  for (let node = parents.length - 1; node >= 0; node--) {
    const parent = parents[node] as number;
    tops[node] = parent < 0 ? node : (tops[parent] as number);
  }
  const numbers = new Int32Array(parents.length).fill(-1);
  let next = 0;
  return Int32Array.from({ length: count }, (_, i) => {
    const top = tops[i] as number;
    if ((numbers[top] as number) < 0) numbers[top] = next++;
    return numbers[top] as number;
  });
}

/** The merges of a linkage matrix. */
async function mergesFrom(operation: string, linkage: Tensor): Promise<Merges> {
  checkLinkage(operation, linkage);
  return checkedMerges(operation, await hostValues(linkage.cast(linkage.dtype === "f64" ? "f64" : "f32") as Tensor));
}

/** Throws unless a tensor has the shape of a linkage matrix. */
export function checkLinkage(operation: string, linkage: Tensor): void {
  checkTensor(operation, "linkage", linkage);
  if (linkage.rank === 2 && linkage.shape[1] === 4) return;
  throw new ShapeError(`${operation}: a linkage is [samples - 1, 4], not of shape ${formatShape(linkage.shape)}.`);
}

/** Throws unless rows name only clusters that are there before them, and each once. */
export function checkedMerges(operation: string, merges: Merges): Merges {
  const count = merges.length / 4 + 1;
  const isTaken = new Uint8Array(2 * count - 1);
  for (let k = 0; k < count - 1; k++) {
    for (const part of [merges[4 * k] as number, merges[4 * k + 1] as number]) {
      if (!Number.isInteger(part) || part < 0 || part >= count + k || isTaken[part]) {
        throw new ArgumentError(`${operation}: row ${k} of the linkage merges cluster ${part}, which is not there.`);
      }
      isTaken[part] = 1;
    }
  }
  return merges;
}

/** The cluster of each sample where a tree of merges is cut, [samples], i32, numbered in the order of their first samples. */
export async function cutTree(linkage: Tensor, options: CutOptions): Promise<Tensor> {
  checkOptions("cutTree", options, CUT);
  checkCut("cutTree", options);
  const labels = cutLabels("cutTree", await mergesFrom("cutTree", linkage), options);
  return tensor(labels, { device: linkage.device }) as Tensor;
}

/** The distance of the merge that brought each pair of samples together, [samples, samples]. */
export async function copheneticDistances(linkage: Tensor): Promise<Tensor> {
  const merges = await mergesFrom("copheneticDistances", linkage);
  const count = merges.length / 4 + 1;
  const distances = new Float64Array(count * count);
  const members: Int32Array[] = Array.from({ length: count }, (_, i) => Int32Array.of(i));
  for (let k = 0; k < count - 1; k++) {
    const parts = [merges[4 * k] as number, merges[4 * k + 1] as number] as const;
    const [left, right] = parts.map((part) => members[part] as Int32Array) as [Int32Array, Int32Array];
    for (const a of left) {
      for (const b of right) {
        distances[a * count + b] = merges[4 * k + 2] as number;
        distances[b * count + a] = merges[4 * k + 2] as number;
      }
    }
    const both = new Int32Array(left.length + right.length);
    both.set(left);
    both.set(right, left.length);
    members.push(both);
    for (const part of parts) members[part] = new Int32Array(0);
  }
  const { device, dtype } = linkage;
  return tensor(distances, { device, dtype: dtype === "f64" ? "f64" : "f32", shape: [count, count] }) as Tensor;
}
