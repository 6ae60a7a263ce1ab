/**
 * The tilings that a product may have on a device, as a pure function of its shape and the device's limits. The rule of
 * plan.ts chooses among the known ones; a search (runtime/tuning) times the most promising of all.
 */
import type { RegisterTile, TileProfile } from "../target/tile-profile.js";
import { matrixCandidates } from "./matrix-candidates.js";
import { panelCandidates } from "./panel-candidates.js";
import type { Candidate, ProductShape } from "./product-shape.js";
import { sharedCandidates } from "./shared-candidates.js";

/** A thread's tile by itself. The first one is the rule's; the others only a search tries. */
const REGISTER_TILES: readonly (readonly [rows: number, columns: number])[] = [
  [4, 4],
  [2, 8],
  [4, 8],
  [8, 4],
  [2, 4],
  [1, 8],
];

/** The candidates that the rule compares. */
export function knownCandidates(shape: ProductShape, profile: TileProfile): Candidate[] {
  return candidatesOf(shape, profile, false).filter(({ isKnown }) => isKnown);
}

/** All candidates, the shortest estimated time first. */
export function allCandidates(shape: ProductShape, profile: TileProfile): Candidate[] {
  return candidatesOf(shape, profile, true).sort((x, y) => x.estimate - y.estimate);
}

function candidatesOf(shape: ProductShape, profile: TileProfile, isSearch: boolean): Candidate[] {
  switch (profile.kind) {
    case "none":
      return [];
    case "shared": {
      const onUnits = matrixCandidates(shape, profile, isSearch);
      return onUnits.length > 0 ? onUnits : sharedCandidates(shape, profile, isSearch);
    }
    case "panels":
      return panelCandidates(shape, profile);
    case "registers":
      return REGISTER_TILES.map(([rows, columns], at) => {
        const tile: RegisterTile = { kind: "registers", rows, columns };
        return { tile, length: shape.k, estimate: at, isKnown: at === 0 };
      });
  }
}
