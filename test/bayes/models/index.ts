/** All reference models. */
import { eightSchools } from "./eight-schools.js";
import { gpRegression } from "./gaussian-process.js";
import { gaussMix, regimeModel } from "./mixtures.js";
import type { ReferenceModel } from "./reference-model.js";
import { blr, earnHeight, kidscoreInteraction, kidscoreMomiq, kilpisjarvi, mesquite } from "./regressions.js";
import { arK, garch11, hmmExample } from "./time-series.js";

export const referenceModels: readonly ReferenceModel[] = [
  eightSchools,
  blr,
  kidscoreMomiq,
  kidscoreInteraction,
  earnHeight,
  mesquite,
  kilpisjarvi,
  arK,
  garch11,
  gaussMix,
  gpRegression,
  hmmExample,
  regimeModel,
];
