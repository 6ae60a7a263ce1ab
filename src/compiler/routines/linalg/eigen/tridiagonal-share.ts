/** How the lanes of a workgroup share the rest of a matrix that tridiagonal-end.ts keeps in registers, and how much of it there can be. */
import type { TargetProfile } from "../../../target/profile.js";
import { bytesOf, type NumberKind } from "../field.js";
import { arrayBytes } from "../workspace.js";

/** Lanes of a workgroup; fewer where software takes their turns. */
const [LANES, SOFTWARE_LANES] = [512, 128];
/** Lanes of a team, at most. */
const TEAM = 8;
/** Columns of a lane that are neighbours. */
export const QUAD = 4;
/** Registers of a lane that hold the matrix: a GPU has 128 for each of 512 lanes. Software takes seconds to compile as many. */
const [REGISTERS, SOFTWARE_REGISTERS] = [72, 32];
/** Neighbours, at most, that add numbers among themselves: as many as a subgroup of a GPU has. Software has no more than a team. */
const NEAR = 32;

/** The work of a lane: `held` rows, every `teams`-th, and in each `quads` times four columns. */
export interface Share {
  readonly lanes: number;
  readonly team: number;
  readonly teams: number;
  readonly held: number;
  readonly quads: number;
  /** Neighbours that add numbers among themselves: a subgroup, or a part of one. */
  readonly near: number;
  /** Rows and columns that all lanes have, with those of zeros beyond the rest. */
  readonly padded: number;
}

/** How the lanes of a device share so many rows and columns. */
export function shareOf(rows: number, { hasSlowBarriers, tiles }: TargetProfile): Share {
  const lanes = 2 ** Math.floor(Math.log2(Math.min(tiles.maxLanes, hasSlowBarriers ? SOFTWARE_LANES : LANES)));
  const team = Math.max(1, Math.min(TEAM, lanes / QUAD));
  const teams = lanes / team;
  const unit = Math.max(teams, QUAD * team);
  const padded = Math.max(1, Math.ceil(rows / unit)) * unit;
  const near = hasSlowBarriers ? team : Math.min(NEAR, lanes);
  return { lanes, team, teams, held: padded / teams, quads: padded / (QUAD * team), near, padded };
}

/** Rows of the rest that one kernel reduces; 0 where there is none. */
export function endRows(n: number, kind: NumberKind, profile: TargetProfile): number {
  if (profile.maxLanes === 1) return 0;
  const unit = shareOf(1, profile).padded;
  let most = 0;
  while (isPossible(most + unit, kind, profile)) most += unit;
  return Math.min(n, most);
}

function isPossible(rows: number, kind: NumberKind, profile: TargetProfile): boolean {
  const { held, quads, padded, lanes, near, team } = shareOf(rows, profile);
  const registers = (held * quads * QUAD * bytesOf(kind)) / 4;
  return (
    registers <= (profile.hasSlowBarriers ? SOFTWARE_REGISTERS : REGISTERS) &&
    (3 * padded + 1 + team + lanes / near) * bytesOf(kind) <= arrayBytes(profile)
  );
}
