/** The entries of a posterior's plan: its variables as they are known before anything is sampled. Users see them, too. */
import type { Shape } from "../../core/shape.js";
import type { Range } from "../arguments/parameter.js";
import type { Outline } from "./outline.js";

export interface Latent {
  readonly kind: "latent";
  readonly name: string;
  /** Whether the name was made up, because the function does not return the variable. */
  readonly isAnonymous: boolean;
  readonly distribution: string;
  /** The shape of the value. */
  readonly shape: Shape;
  /** The shape of its free numbers, which start at `offset` of the flat vector. */
  readonly freeShape: Shape;
  readonly offset: number;
  /** The range of its elements, ends included, if it does not depend on sampled values. */
  readonly range?: Range;
}

export interface Observed {
  readonly kind: "observed";
  readonly name: string;
  readonly distribution: string;
  readonly shape: Shape;
}

export interface Deterministic {
  readonly kind: "deterministic";
  readonly name: string;
  readonly shape: Shape;
}

export interface Plan {
  /** By number of the variable; absent for those that nothing depends on, such as components of mixtures. */
  readonly variables: ReadonlyMap<number, Latent | Observed>;
  /** For those that are observed in part, by the same numbers: their missing values as latent variables. */
  readonly imputed: ReadonlyMap<number, Latent>;
  /** For each of them, which terms of its density depend on what is sampled. */
  readonly dependent: ReadonlyMap<number, readonly boolean[]>;
  /** The variables for which samplers may use the short terms. */
  readonly short: ReadonlySet<number>;
  /** The variables whose values or parameters may lie outside of where they belong, which only the density can tell. */
  readonly unsure: ReadonlyMap<number, Unsure>;
  readonly deterministic: readonly Deterministic[];
  /** Names of flat variables that nothing pins down. */
  readonly improper: readonly string[];
  /** The variables that every run of the function makes. */
  readonly outline: Outline;
  /** Length of the flat vector. */
  readonly dim: number;
}

/** The parts of a variable that may lie outside. */
export interface Unsure {
  readonly areValues: boolean;
  /** Parameters, by number. */
  readonly parameters: readonly number[];
}
