/** Integrals and differential equations: `import { integrate } from "pumice/learn"`. Whole integrations are loops on the device. */
export { check } from "./check.js";
export type { RangeOptions } from "./integrand.js";
export { type OdeMethod, type OdeOptions, type OdeSolution, odeSolve } from "./ode.js";
export { type QuadOptions, type Quadrature, quad } from "./quad.js";
export { type GaussLegendreOptions, gaussLegendre, type RombergOptions, romberg } from "./rules.js";
export { cumulativeSimpson, cumulativeTrapezoid, type SampleOptions, simpson, trapezoid } from "./samples.js";
