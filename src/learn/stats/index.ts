/** Statistics: `import { stats } from "pumice/learn"`. Distribution functions. */
export type { PlaceOptions, Quantity } from "./operands.js";
export {
  betainc,
  chiSquareCdf,
  chiSquareSf,
  fCdf,
  fSf,
  gammainc,
  gammaincc,
  kolmogorovCdf,
  kolmogorovSf,
  normalCdf,
  normalSf,
  tCdf,
  tSf,
} from "./tails.js";
