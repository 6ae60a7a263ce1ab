/** scikit-learn's clusters by density, which make-cluster-cases.py writes. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Metric } from "../../../src/learn/index.js";

interface Case {
  readonly set: string;
  readonly minSamples: number;
  readonly labels: readonly number[];
}

export interface DbscanCase extends Case {
  readonly eps: number;
  readonly metric: Metric;
  readonly p: number | null;
  readonly weights: readonly number[] | null;
  readonly cores: readonly number[];
}

export interface OpticsCase extends Case {
  readonly options: {
    readonly xi?: number;
    readonly eps?: number;
    readonly max_eps?: number;
    readonly metric?: Metric;
    readonly cluster_method?: "xi" | "dbscan";
    readonly predecessor_correction?: boolean;
    readonly min_cluster_size?: number;
  };
  readonly ordering: readonly number[];
  readonly predecessor: readonly number[];
  /** null for infinity. */
  readonly reachability: readonly (number | null)[];
  readonly coreDistances: readonly (number | null)[];
}

interface ClusterCases {
  readonly sets: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly dbscan: readonly DbscanCase[];
  readonly optics: readonly OpticsCase[];
}

export const clusterCases = (): ClusterCases =>
  JSON.parse(readFileSync(resolve("test/learn/cluster/cluster-cases.json"), "utf8"));

/** Labels renamed in the order of their first samples, as clusters here are numbered; -1 stays. */
export function inFirstOrder(labels: readonly number[]): number[] {
  const names = new Map<number, number>();
  return labels.map((label) => {
    if (label === -1) return -1;
    if (!names.has(label)) names.set(label, names.size);
    return names.get(label) as number;
  });
}
