/**
 * Puts together what is known of each row when all has run: our summary, the share of the limit, each peer's figure and
 * the ratio to it, and whether the targets are met. Pure; what it returns is what `--json` writes and table.ts prints.
 */
import type { PeerFigure } from "./peers.js";
import { describeTarget, isMet, type Row, ratioTo } from "./row.js";
import { type Summary, summarise } from "./statistics.js";

/** What running one row gave. */
export interface Outcome {
  readonly row: Row;
  readonly samples: readonly number[];
  /** Part of the row's limit that the median reaches, where the row has one. */
  readonly share: number | null;
  readonly notes: readonly string[];
  /** Elements of the result that the row showed; empty where it shows none. */
  readonly values: readonly number[];
  /** How close a peer's elements must be to them. */
  readonly closeness: Closeness;
  /** Why there are no samples. */
  readonly error: string | null;
  readonly seconds: number;
}

export interface PeerResult {
  readonly label: string;
  readonly row: string;
  readonly summary: Summary | null;
  /** Above 1: ours is faster. */
  readonly ratio: number | null;
  /** Why there is no figure. */
  readonly missing: string | null;
  readonly samples: readonly number[];
}

export interface Result {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly better: Row["better"];
  readonly summary: Summary | null;
  readonly share: number | null;
  readonly peers: readonly PeerResult[];
  /** `met` is null where the target speaks of a peer or limit without a figure. */
  readonly targets: readonly { readonly text: string; readonly met: boolean | null }[];
  readonly notes: readonly string[];
  readonly error: string | null;
  readonly seconds: number;
  readonly samples: readonly number[];
}

/** `figures` is missing when no peers were asked; targets are judged only where they were set: on a GPU. */
export function resultOf(
  { row, samples, share, notes, values, closeness, error, seconds }: Outcome,
  figures: ReadonlyMap<string, PeerFigure> | undefined,
  isJudged: boolean,
): Result {
  const summary = samples.length > 0 ? summarise(samples) : null;
  const peers = Object.entries(figures ? (row.peers ?? {}) : {}).map(([label, name]) =>
    peerResult(row, summary, { values, closeness }, label, name, figures?.get(name)),
  );
  const ratios = new Map(peers.flatMap(({ label, ratio }) => (ratio === null ? [] : [[label, ratio] as const])));
  const targets = (row.targets ?? []).map((target) => ({
    text: describeTarget(target, row.unit),
    met: summary && isJudged ? isMet(target, { value: summary.median, share, ratios }) : null,
  }));
  const { name, title, unit, better } = row;
  return { name, title, unit, better, summary, share, peers, targets, notes, error, seconds, samples };
}

function peerResult(
  { unit, better }: Row,
  ours: Summary | null,
  shown: Shown,
  label: string,
  row: string,
  figure: PeerFigure | undefined,
): PeerResult {
  const nothing = { label, row, summary: null, ratio: null, samples: [] };
  if (!figure) return { ...nothing, missing: "not asked" };
  if ("absent" in figure) return { ...nothing, missing: `absent: ${figure.absent}` };
  if ("error" in figure) return { ...nothing, missing: figure.error };
  if (figure.unit !== unit) return { ...nothing, missing: `measured in ${figure.unit}, the row is in ${unit}` };
  const different = differenceOf(shown, figure.values ?? []);
  if (different) return { ...nothing, missing: different };
  const summary = summarise(figure.samples);
  const ratio = ours && ratioTo(better, ours.median, summary.median);
  return { label, row, summary, ratio, missing: null, samples: figure.samples };
}

/** How far an element may be from the right one, as a part of it; one that is smaller than `floor` counts as that large. */
export interface Closeness {
  readonly relative: number;
  readonly floor: number;
}

/** Sums in another order differ by less; wrong answers by more. */
export const CLOSE: Closeness = { relative: 1e-3, floor: 1e-3 };

export const isClose = (a: number, b: number, { relative, floor }: Closeness = CLOSE): boolean =>
  Math.abs(a - b) <= relative * Math.max(floor, Math.abs(b));

type Shown = Pick<Outcome, "values" | "closeness">;

/** In what a peer's result differs from ours, or null: the time of another computation is no peer of our time. */
function differenceOf({ values: ours, closeness }: Shown, theirs: readonly number[]): string | null {
  if (ours.length === 0 || theirs.length === 0) return null;
  const at = ours.findIndex((value, i) => !isClose(theirs[i] ?? Number.NaN, value, closeness));
  return at < 0 ? null : `its result differs from ours: ${theirs[at]} where ours is ${ours[at]}`;
}
