/** Eigenvalues of small Hermitian matrices, one matrix to a workgroup: a part of eigh.ts and tridiagonal.ts. */
import type { DType } from "../../../core/dtype.js";
import type { Node } from "../../node.js";
import type { RoutinePrimitive } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { inferBundle, partsOf } from "../bundle.js";

/** Inputs: Hermitian [.., n, n]. Parts: eigenvalues, rising, and eigenvectors as rows. */
const smallEigh: RoutinePrimitive = { name: "smallEigh", kind: "routine", takesComplex: true, infer: inferBundle };

export const realOf = (dtype: DType): DType => (dtype === "c64" ? "f32" : dtype === "c128" ? "f64" : dtype);

/** Eigenvalues and rows of eigenvectors, of [B, n, n]. */
export function smallEighNodes(g: GraphOps, a: Node): [Node, Node] {
  const [batch, n] = a.shape;
  const outputs = [
    { shape: [batch, n], dtype: realOf(a.dtype) },
    { shape: a.shape, dtype: a.dtype },
  ];
  return partsOf(g.move(smallEigh, [a], { outputs })) as [Node, Node];
}
