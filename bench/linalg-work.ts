/**
 * Factorisations and equations as the rows measure them. Inputs as in bench/tensor-work.ts; each result is multiplied back. The
 * rows are in bench/rows/linalg.ts, the peers' side in bench/peers/linalg.py.
 */
import { type DType, eye, linalg, type Tensor } from "../src/index.js";
import { centred, type Work } from "./tensor-work.js";

/** Relative distance, in the largest absolute value, that residuals stay below. */
const residualIn = (dtype: DType): number => (dtype === "f64" ? 1e-11 : 1e-3);

async function checkClose(what: string, found: Tensor, expected: Tensor): Promise<void> {
  const distance = (await found.sub(expected).abs().max().item()) as number;
  const size = (await expected.abs().max().item()) as number;
  if (!(distance <= residualIn(expected.dtype) * size)) throw new Error(`${what}: the residual is ${distance / size}`);
}

/** Symmetric matrices with eigenvalues from 1 to about 3. */
function positive(device: string, shape: readonly number[], dtype?: DType): Tensor {
  const n = shape.at(-1) as number;
  const m = centred(device, shape, 0, dtype);
  return m.matmul(m.mT).div(n).mul(3).add(eye(n, { device, dtype })).realize();
}

export function choleskyFactors(device: string, shape: readonly number[], dtype?: DType): Work {
  const a = positive(device, shape, dtype);
  return {
    inputs: [a],
    compute: () => linalg.cholesky(a),
    check: async ([l]) => checkClose("cholesky", (l as Tensor).matmul((l as Tensor).mT), a),
  };
}

export function triangularSolution(device: string, n: number, sides: number): Work {
  const a = positive(device, [n, n]);
  const b = centred(device, [n, sides], 1);
  return {
    inputs: [a, b],
    compute: () => linalg.triangularSolve(a, b),
    check: async ([x]) => checkClose("triangularSolve", a.tril().matmul(x as Tensor), b),
  };
}

/** Peers choose signs of their own, so elements are not compared; products and orthonormal columns are checked. */
export function orthogonalFactors(device: string, shape: readonly number[], dtype?: DType): Work {
  const a = centred(device, shape, 0, dtype);
  return {
    inputs: [a],
    isComparable: false,
    compute: () => {
      const { q, r } = linalg.qr(a);
      return [q, r];
    },
    check: async ([q, r]) => {
      await checkClose("qr", (q as Tensor).matmul(r as Tensor), a);
      await checkOrthonormal("qr", q as Tensor);
    },
  };
}

export function eigenvectors(device: string, shape: readonly number[], dtype?: DType): Work {
  const a = positive(device, shape, dtype);
  return {
    inputs: [a],
    isComparable: false,
    compute: () => {
      const { eigenvalues, eigenvectors } = linalg.eigh(a);
      return [eigenvalues, eigenvectors];
    },
    check: async ([values, vectors]) => {
      const v = vectors as Tensor;
      await checkClose("eigh", v.mul((values as Tensor).expandDims(-2)).matmul(v.mT), a);
      await checkOrthonormal("eigh", v);
    },
  };
}

export function singularVectors(device: string, shape: readonly number[], dtype?: DType): Work {
  const a = centred(device, shape, 0, dtype);
  return {
    inputs: [a],
    isComparable: false,
    compute: () => {
      const { u, s, vh } = linalg.svd(a);
      return [u, s, vh];
    },
    check: async ([u, s, vh]) => {
      await checkClose("svd", (u as Tensor).mul((s as Tensor).expandDims(-2)).matmul(vh as Tensor), a);
      await checkOrthonormal("svd", u as Tensor);
    },
  };
}

export function inverses(device: string, shape: readonly number[]): Work {
  const a = positive(device, shape);
  return {
    inputs: [a],
    compute: () => linalg.inv(a),
    check: async ([x]) => checkClose("inv", a.matmul(x as Tensor), identities(a)),
  };
}

/** The identity matrices of as many rows. */
const identities = ({ shape, device, dtype }: Tensor): Tensor =>
  eye(shape.at(-1) as number, { device, dtype }).broadcastTo([...shape]);

async function checkOrthonormal(what: string, columns: Tensor): Promise<void> {
  const products = columns.mT.matmul(columns);
  await checkClose(`${what}, orthonormal columns`, products, identities(products));
}

/** `shape`: that of the matrices. */
export function solution(device: string, shape: readonly number[], sides: number, dtype?: DType): Work {
  const a = positive(device, shape, dtype);
  const b = centred(device, [...shape.slice(0, -1), sides], 1, dtype);
  return {
    inputs: [a, b],
    compute: () => linalg.solve(a, b),
    check: async ([x]) => checkClose("solve", a.matmul(x as Tensor), b),
  };
}
