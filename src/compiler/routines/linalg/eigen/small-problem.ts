/** A small Hermitian matrix in work: the memory that the parts of small-eigh.ts share, and pass on to each other. */
import type { Value } from "../../../ir/ir.js";
import type { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { Field } from "../field.js";
import type { Workspace } from "../workspace.js";

/** Element (row, column) of both matrices lies at column · padded + row: neighbouring lanes have neighbours. */
export interface SmallProblem {
  readonly k: KernelBuilder;
  readonly field: Field;
  readonly n: number;
  /** Rows and columns with those of zeros that make them a multiple of what a lane reads at once. */
  readonly padded: number;
  readonly a: Workspace;
  readonly z: Workspace;
  /** Arrays of the diagonal of the tridiagonal matrix and of what is beside it, both of `padded` numbers. */
  readonly diagonal: number;
  readonly beside: number;
  /** Elements of this size are lost in the rounding of the matrix. */
  readonly lost: Value;
}
