/**
 * Tall panels in the registers of one workgroup: the columns that a factorisation in steps takes at a time. A lane has whole rows
 * of the panel, one below another in distances of `lanes`. `PanelGrid` is what the kernels of stepped-lu.ts and stepped-qr.ts agree on.
 */
import type { ElementSettings } from "../../elements/elements.js";
import type { TargetProfile } from "../../target/profile.js";
import type { TileProfile } from "../../target/tile-profile.js";
import { bytesOf, type NumberKind } from "./field.js";
import { totalNumbers } from "./lane-totals.js";
import { powerOfTwo } from "./workspace.js";

/** Columns of a strip of the rest that is reflected at a time (block-reflection.ts). */
export const STRIP = 16;

/** The lanes of a workgroup, the rows of each, and the columns of a panel. */
export interface PanelGrid {
  readonly lanes: number;
  readonly perLane: number;
  readonly width: number;
  /** Lanes of a workgroup that has a tile of the rest. */
  readonly tileLanes: number;
}

/** The shape that suits a factorisation: lanes at most, words of a panel that a lane has, and columns at most. */
interface PanelLimits {
  readonly lanes: number;
  readonly words: number;
  readonly width: number;
}

const LU: PanelLimits = { lanes: 256, words: 128, width: 16 };
/** Agreeing costs lanes more than work of their own, so few lanes have many rows. */
const QR: PanelLimits = { lanes: 256, words: 128, width: 16 };
/** Narrower panels spend their time on starting kernels. */
const LEAST_WIDTH = 4;

/** The panels of LU factors of m rows; null on devices that would not gain by them, and for matrices that are too tall. */
export const luPanelFor = (m: number, kind: NumberKind, tiles: TileProfile): PanelGrid | null =>
  panelFor(m, kind, tiles, LU);

/** The same for reflections. */
export const qrPanelFor = (m: number, kind: NumberKind, tiles: TileProfile): PanelGrid | null =>
  panelFor(m, kind, tiles, QR);

/** Columns of matrices that are one panel, and words of it that a lane may have: there are few lanes, so many registers. */
const ALONE = { columns: 32, words: 128 } as const;

/** A whole matrix as one panel, of which there may be thousands; null where it is too large. */
export function luAloneFor(m: number, n: number, kind: NumberKind, tiles: TileProfile): PanelGrid | null {
  if (tiles.kind !== "shared" || n > ALONE.columns || m === 0 || n === 0) return null;
  const lanes = Math.min(256, tiles.maxLanes, Math.max(ALONE.columns, powerOfTwo(m)));
  const [perLane, width] = [Math.ceil(m / lanes), LEAST_WIDTH * Math.ceil(n / LEAST_WIDTH)];
  return width <= lanes && perLane * width * (bytesOf(kind) / 4) <= ALONE.words
    ? { lanes, perLane, width, tileLanes: lanes }
    : null;
}

function panelFor(m: number, kind: NumberKind, tiles: TileProfile, most: PanelLimits): PanelGrid | null {
  if (tiles.kind !== "shared" || tiles.maxLanes < most.width) return null;
  const lanes = Math.max(most.width, Math.min(most.lanes, tiles.maxLanes, powerOfTwo(m)));
  const perLane = Math.ceil(m / lanes);
  let { width } = most;
  while (width * perLane * (bytesOf(kind) / 4) > most.words) width /= 2;
  if (width < LEAST_WIDTH || sharedNumbers(lanes, width) * bytesOf(kind) > tiles.sharedBytes) return null;
  return { lanes, perLane, width, tileLanes: Math.min(256, tiles.maxLanes) };
}

/** Numbers in shared memory: for sums over lanes (lane-totals.ts), or for products of a strip (block-reflection.ts). */
const sharedNumbers = (lanes: number, width: number): number =>
  Math.max(totalNumbers(lanes, width), 8 * lanes + 2 * STRIP * width) + width * (width + 2);

/** Settings of kernels whose results are within n·ε anyway: the device's own division, where it is good to an ulp or two. */
export const quickDivision = (settings: ElementSettings, { hasNativeDivision }: TargetProfile): ElementSettings =>
  hasNativeDivision ? { ...settings, division: "native" } : settings;
