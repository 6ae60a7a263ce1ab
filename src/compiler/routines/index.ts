/** The routines by the name of their primitive. */

import type { Routine } from "../target/routine.js";
import { attentionGradientRoutine, attentionRoutine } from "./attention/attention.js";
import { cumulateRoutine } from "./cumulate.js";
import { dftRoutine } from "./fft/fft.js";
import { joinRoutine } from "./join.js";
import { choleskyRoutine } from "./linalg/cholesky/cholesky.js";
import { bidiagonalRoutine } from "./linalg/eigen/bidiagonal.js";
import { francisRoutine } from "./linalg/eigen/francis.js";
import { jacobiSvdRoutine } from "./linalg/eigen/jacobi-svd.js";
import { rankOneRoutine } from "./linalg/eigen/rank-one.js";
import { smallEighRoutine } from "./linalg/eigen/small-eigh.js";
import { triangularVectorsRoutine } from "./linalg/eigen/triangular-vectors.js";
import { tridiagonalRoutine } from "./linalg/eigen/tridiagonal.js";
import { luRoutine } from "./linalg/lu/lu.js";
import { luSubstitutionRoutine } from "./linalg/lu/lu-substitution.js";
import { compactWyRoutine } from "./linalg/qr/compact-wy.js";
import { householderRoutine } from "./linalg/qr/householder.js";
import { reflectedColumnsRoutine } from "./linalg/qr/reflected-columns.js";
import { steppedQrRoutine } from "./linalg/qr/stepped-qr.js";
import { solveLowerRoutine } from "./linalg/triangular/solve-lower.js";
import { scatterRoutine } from "./scatter.js";
import { argsortAtRoutine } from "./select.js";
import { argsortRoutine, searchSortedRoutine } from "./sort.js";
import { sortRowsRoutine } from "./sort-rows.js";
import { bestSplitsRoutine } from "./trees/best-splits.js";
import { partedRowsRoutine, partTotalsRoutine } from "./trees/exact-parts.js";
import { sortedSplitsRoutine } from "./trees/exact-splits.js";
import { histogramRoutine } from "./trees/histogram.js";
import { nodesOfRowsRoutine, rootRowsRoutine, routeRowsRoutine } from "./trees/rows.js";
import { treeLeavesRoutine } from "./trees/walk.js";

export const routines: Readonly<Record<string, Routine>> = {
  cholesky: choleskyRoutine,
  solveLower: solveLowerRoutine,
  argsort: argsortRoutine,
  attention: attentionRoutine,
  attentionGradient: attentionGradientRoutine,
  argsortAt: argsortAtRoutine,
  bidiagonal: bidiagonalRoutine,
  compactWy: compactWyRoutine,
  cumulate: cumulateRoutine,
  francis: francisRoutine,
  householder: householderRoutine,
  smallEigh: smallEighRoutine,
  jacobiSvd: jacobiSvdRoutine,
  dft: dftRoutine,
  join: joinRoutine,
  lu: luRoutine,
  luSubstitution: luSubstitutionRoutine,
  rankOne: rankOneRoutine,
  reflectedColumns: reflectedColumnsRoutine,
  scatter: scatterRoutine,
  searchSorted: searchSortedRoutine,
  sortRows: sortRowsRoutine,
  triangularVectors: triangularVectorsRoutine,
  steppedQr: steppedQrRoutine,
  tridiagonal: tridiagonalRoutine,
  bestSplits: bestSplitsRoutine,
  nodeHistogram: histogramRoutine,
  partedRows: partedRowsRoutine,
  partTotals: partTotalsRoutine,
  sortedSplits: sortedSplitsRoutine,
  rootRows: rootRowsRoutine,
  routeRows: routeRowsRoutine,
  nodesOfRows: nodesOfRowsRoutine,
  treeLeaves: treeLeavesRoutine,
};
