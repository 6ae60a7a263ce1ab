/**
 * Every row there is, in the order they run and are shown. A new family is a file here and a line below. The rows that
 * start processes come first: forking is slower once this process has touched gigabytes.
 */
import type { Row } from "../row.js";
import { bayesRows } from "./bayes.js";
import { compileRows } from "./compile.js";
import { contractionRows } from "./contractions.js";
import { dataRows } from "./data.js";
import { eventLoopRows } from "./event-loop.js";
import { everydayRows } from "./everyday.js";
import { garbageRows } from "./garbage.js";
import { layerRows } from "./layers.js";
import { learnRows } from "./learn.js";
import { linalgRows } from "./linalg.js";
import { modelRows } from "./models.js";
import { recordingRows } from "./recording.js";
import { sequenceRows } from "./sequences.js";
import { startRows } from "./start.js";
import { tensorRows } from "./tensors.js";
import { trainingRows } from "./training.js";
import { transferRows } from "./transfers.js";
import { transformRows } from "./transforms.js";

export const rows: readonly Row[] = [
  ...startRows,
  ...compileRows,
  ...everydayRows,
  ...recordingRows,
  ...transferRows,
  ...tensorRows,
  ...contractionRows,
  ...linalgRows,
  ...learnRows,
  ...dataRows,
  ...transformRows,
  ...garbageRows,
  ...trainingRows,
  ...sequenceRows,
  ...modelRows,
  ...layerRows,
  ...bayesRows,
  ...eventLoopRows,
];
