/**
 * Plans attention: the form and size of its tiles, or none, where the definition in products and a softmax is the better way.
 * A pure function of shape and device.
 */
import { DTYPES } from "../../../core/dtype.js";
import { productOf } from "../../../core/shape.js";
import type { Node } from "../../../graph/node.js";
import { attention, attentionGradient } from "../../../graph/primitives/attention.js";
import { MAX_I32 } from "../../ir/ir.js";
import type {
  AttentionTile,
  MatrixAttentionTile,
  SharedAttentionTile,
  TileProfile,
} from "../../target/tile-profile.js";
import { matrixDemands } from "./matrix-tiles.js";
import { type AttentionProblem, problemOf } from "./problem.js";
import { sharedNumbers } from "./shared-tiles.js";

/** The kernels of attention: the forward one, and those of the way back, for queries and for keys. */
export type AttentionPass = "forward" | "queries" | "keys";

const shared = (rows: number, columns: number, down: number, aside: number): SharedAttentionTile => ({
  ...{ kind: "shared", rows, columns, lanes: [down, aside] },
});

/**
 * Tiles in the order of preference: large ones read less from memory.
 * @internal for tests: every tile is run
 */
export const ATTENTION_TILES: readonly SharedAttentionTile[] = [
  shared(64, 32, 16, 8),
  shared(32, 32, 8, 8),
  shared(16, 16, 8, 8),
  shared(8, 8, 8, 8),
  shared(4, 4, 4, 4),
];

const tight = (...sizes: Parameters<typeof shared>): SharedAttentionTile => ({ ...shared(...sizes), isTight: true });

/**
 * The same for the forward kernel on devices whose subgroups are known: a row's lanes are in one (shared-forward.ts). On an H200,
 * f32, [8, 16, 1024, 64], causal, in µs: 676, 785, 839, 877; the first of ATTENTION_TILES 1046.
 * @internal for tests: every tile is run
 */
export const SUBGROUP_TILES: readonly SharedAttentionTile[] = [
  tight(64, 64, 16, 16),
  tight(64, 64, 16, 8),
  shared(64, 32, 16, 16),
  shared(64, 32, 16, 8),
  shared(32, 32, 8, 8),
  shared(16, 16, 8, 8),
];

/**
 * Rows and columns of tiles on matrix units, in the order of preference. On an H200, forward, bf16, [8, 16, 1024, 64], causal:
 * 64×32 161 µs, 32×32 188, 128×64 207, 128×32 229, 64×64 244. The way back with 64×64 took half the time of 64×32.
 */
const MATRIX_TILES = {
  forward: [
    [64, 32],
    [32, 32],
  ],
  queries: [
    [64, 64],
    [64, 32],
  ],
  keys: [
    [64, 64],
    [64, 32],
  ],
} as const;

/** Sums that a lane can keep in registers beside its scores. */
const MOST_SUMS = 80;

/**
 * Scores that software devices and CPUs rather keep in memory, for the sake of their fast products. More of them would fill
 * caches and memory.
 */
const FEW_SCORES = { registers: 1 << 24, panels: 1 << 24 } as const;

/**
 * The same for the way back on a GPU without matrix units for the dtype: on an H200 products of scores in memory took 3.8 ms
 * where the kernels took 7.0 (f32, [8, 16, 1024, 64]). Up to a gigabyte.
 */
const FEW_GRADIENT_SCORES = 1 << 28;

/** So few queries would leave most of a tile empty, and their scores take little memory: it still grows linearly. */
const FEW_QUERIES = 8;

/** Whether a node is an attention that no kernel computes: its definition does. */
export function isExpandedAttention(node: Node, tiles: TileProfile): boolean {
  if (node.primitive !== attention && node.primitive !== attentionGradient) return false;
  const problem = problemOf(node);
  const { batch, heads, queries, keys, depth, width } = problem;
  if (tiles.kind === "none" || batch * heads * queries * keys * depth * width === 0) return true;
  if ([...node.inputs, { shape: [batch, heads, queries, width] }].some(({ shape }) => productOf(shape) > MAX_I32))
    return true;
  if (tiles.attention) return tiles.attention === "definition";
  const few = fewScores(node, problem, tiles);
  if (queries <= FEW_QUERIES || batch * heads * queries * keys <= few) return true;
  const passes: readonly AttentionPass[] = node.primitive === attention ? ["forward"] : ["queries", "keys"];
  return passes.some((pass) => planAttention(problem, tiles, pass) === null);
}

function fewScores(node: Node, problem: AttentionProblem, tiles: TileProfile): number {
  if (tiles.kind !== "shared" && tiles.kind !== "none") return FEW_SCORES[tiles.kind];
  const isPlainGradient = node.primitive === attentionGradient && planMatrix(problem, tiles, "keys") === null;
  return isPlainGradient ? FEW_GRADIENT_SCORES : 0;
}

/** The tile of a kernel; null where none fits. */
export function planAttention(
  problem: AttentionProblem,
  tiles: TileProfile,
  pass: AttentionPass,
): AttentionTile | null {
  const forced = tiles.attention === "definition" ? undefined : tiles.attention;
  if (forced) return forced;
  if (tiles.kind === "panels") return { kind: "vectors" };
  const better = planMatrix(problem, tiles, pass) ?? planSubgroups(problem, tiles, pass);
  if (better) return better;
  return ATTENTION_TILES.find((tile) => fits(tile, problem, tiles, pass)) ?? null;
}

function planMatrix(problem: AttentionProblem, tiles: TileProfile, pass: AttentionPass): MatrixAttentionTile | null {
  const fragment = tiles.matrices?.shapes.find(({ operand }) => operand === problem.dtype);
  if (!tiles.matrices || !fragment) return null;
  const { subgroupSize } = tiles.matrices;
  const found = MATRIX_TILES[pass].map(
    ([rows, columns]) => ({ kind: "matrix", rows, columns, subgroupSize, fragment }) as const,
  );
  return (
    found.find((tile) => {
      const { isDivided, lanes, bytes } = matrixDemands(tile, problem, pass === "forward" ? "forward" : "back");
      return isDivided && lanes <= tiles.maxLanes && bytes <= tiles.sharedBytes;
    }) ?? null
  );
}

function planSubgroups(problem: AttentionProblem, tiles: TileProfile, pass: AttentionPass): SharedAttentionTile | null {
  const { kind, subgroupSize = 0 } = tiles;
  if (kind !== "shared" || pass !== "forward" || problem.type !== "f32") return null;
  const isInSubgroup = ({ lanes }: SharedAttentionTile) =>
    subgroupSize % lanes[1] === 0 && (lanes[0] * lanes[1]) % subgroupSize === 0;
  const found =
    subgroupSize > 0 && SUBGROUP_TILES.find((tile) => isInSubgroup(tile) && fits(tile, problem, tiles, pass));
  return found ? { ...found, subgroupSize } : null;
}

function fits(
  tile: SharedAttentionTile,
  { depth, width, type }: AttentionProblem,
  { sharedBytes, maxLanes }: TileProfile,
  pass: AttentionPass,
): boolean {
  const { rows, columns, lanes } = tile;
  const operands = {
    forward: [
      [rows, depth, false],
      [columns, depth, false],
      [columns, width, true],
    ],
    queries: [
      [rows, depth, false],
      [rows, width, false],
      [columns, depth, true],
      [columns, width, false],
    ],
    keys: [
      [rows, depth, false],
      [rows, width, false],
      [columns, depth, true],
      [columns, width, true],
    ],
  } as const;
  const summed = { forward: width, queries: depth, keys: depth + width }[pass];
  const sums = (rows / lanes[0]) * Math.ceil(summed / lanes[1]);
  const bytes = sharedNumbers(tile, operands[pass]) * DTYPES[type].bytes;
  return bytes <= sharedBytes && lanes[0] * lanes[1] <= maxLanes && sums <= MOST_SUMS;
}
