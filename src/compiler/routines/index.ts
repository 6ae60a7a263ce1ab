/** The routines by the name of their primitive. */

import type { Routine } from "../target/routine.js";
import { attentionGradientRoutine, attentionRoutine } from "./attention/attention.js";
import { cumulateRoutine } from "./cumulate.js";
import { dftRoutine } from "./fft/fft.js";
import { joinRoutine } from "./join.js";
import { choleskyRoutine } from "./linalg/cholesky.js";
import { compactWyRoutine } from "./linalg/compact-wy.js";
import { francisRoutine } from "./linalg/francis.js";
import { householderRoutine } from "./linalg/householder.js";
import { jacobiEighRoutine } from "./linalg/jacobi-eigh.js";
import { jacobiSvdRoutine } from "./linalg/jacobi-svd.js";
import { luRoutine } from "./linalg/lu.js";
import { rankOneRoutine } from "./linalg/rank-one.js";
import { solveLowerRoutine } from "./linalg/solve-lower.js";
import { steppedQrRoutine } from "./linalg/stepped-qr.js";
import { triangularVectorsRoutine } from "./linalg/triangular-vectors.js";
import { tridiagonalRoutine } from "./linalg/tridiagonal.js";
import { scatterRoutine } from "./scatter.js";
import { argsortAtRoutine } from "./select.js";
import { argsortRoutine, searchSortedRoutine } from "./sort.js";
import { sortRowsRoutine } from "./sort-rows.js";

export const routines: Readonly<Record<string, Routine>> = {
  cholesky: choleskyRoutine,
  solveLower: solveLowerRoutine,
  argsort: argsortRoutine,
  attention: attentionRoutine,
  attentionGradient: attentionGradientRoutine,
  argsortAt: argsortAtRoutine,
  compactWy: compactWyRoutine,
  cumulate: cumulateRoutine,
  francis: francisRoutine,
  householder: householderRoutine,
  jacobiEigh: jacobiEighRoutine,
  jacobiSvd: jacobiSvdRoutine,
  dft: dftRoutine,
  join: joinRoutine,
  lu: luRoutine,
  rankOne: rankOneRoutine,
  scatter: scatterRoutine,
  searchSorted: searchSortedRoutine,
  sortRows: sortRowsRoutine,
  triangularVectors: triangularVectorsRoutine,
  steppedQr: steppedQrRoutine,
  tridiagonal: tridiagonalRoutine,
};
