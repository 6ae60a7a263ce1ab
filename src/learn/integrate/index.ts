/** Integrals and differential equations: `import { integrate } from "pumice/learn"`. Whole integrations are loops on the device. */
export { check, type OdeMethod, type OdeOptions, type OdeSolution, odeSolve } from "./ode.js";
export { cumulativeSimpson, cumulativeTrapezoid, type SampleOptions, simpson, trapezoid } from "./samples.js";
