/** Sylvester's equation, by the Schur forms of both matrices (Bartels and Stewart 1972). Leading axes are batches. */

import { checkCount } from "../core/arity.js";
import { isComplex } from "../core/dtype.js";
import { ShapeError } from "../core/errors.js";
import { promote } from "../core/promotion.js";
import { broadcastShapes, formatShape } from "../core/shape.js";
import { arange, checkOneDevice, schurFactors, type Tensor, where } from "../tensor/index.js";
import { scan } from "../transforms/control.js";
import { customGradient } from "../transforms/custom.js";
import { stopGradient } from "../transforms/grad.js";
import { adjointOf, checkMatrices, checkSquare, workDTypes } from "./arguments.js";
import { triangularSolve } from "./triangular.js";

/**
 * x with a·x + x·b = c, for a of [.., m, m], b of [.., n, n] and c of [.., m, n]; leading axes broadcast. There is one unless an
 * eigenvalue of a is the negative of one of b: then it is inf or NaN.
 */
export function solveSylvester(a: Tensor, b: Tensor, c: Tensor): Tensor {
  checkCount("linalg.solveSylvester", 3, arguments);
  checkSquare("solveSylvester", a, "the first matrix");
  checkSquare("solveSylvester", b, "the second matrix");
  checkMatrices("solveSylvester", c, "the right side");
  checkOneDevice("linalg.solveSylvester", [a.node, b.node, c.node]);
  const [m, n] = [a.shape.at(-1) as number, b.shape.at(-1) as number];
  if (c.shape.at(-2) !== m || c.shape.at(-1) !== n) {
    throw new ShapeError(
      `linalg.solveSylvester: the right side is ${formatShape(c.shape)}; beside ${formatShape(a.shape)} and ` +
        `${formatShape(b.shape)} it has ${m} rows and ${n} columns.`,
    );
  }
  const { work, result } = workDTypes(promote(promote(a.dtype, b.dtype), c.dtype));
  const name = "linalg.solveSylvester";
  const leads = [a, b, c].map(({ shape }) => shape.slice(0, -2));
  const batch = broadcastShapes(name, broadcastShapes(name, leads[0], leads[1]), leads[2]);
  const spread = (x: Tensor): Tensor => x.cast(work).broadcastTo([...batch, ...x.shape.slice(-2)]);
  if (batch.includes(0) || m * n === 0) return spread(c).cast(result);
  return solution(spread(a), spread(b), spread(c)).cast(result);
}

/** The derivative is another solution: a·dx + dx·b = dc - da·x - x·db. */
function solution(a: Tensor, b: Tensor, c: Tensor): Tensor {
  const solver = customGradient((left: Tensor, right: Tensor, side: Tensor) => bySchur(left, right, side), {
    jvp: ([da, db, dc], left, right, side) => {
      const x = solution(left, right, side);
      return solution(left, right, dc.sub(da.matmul(x)).sub(x.matmul(db)));
    },
    vjp: (ct, _x, left, right, side) => {
      const x = solution(left, right, side);
      const w = solution(left.mT, right.mT, ct);
      return [w.matmul(x.mT).neg(), x.mT.matmul(w).neg(), w];
    },
  });
  return solver(a, b, c);
}

/** With a = Z T Zᴴ and b = W S Wᴴ: T·Y + Y·S = Zᴴ c W, a column of Y after the other. */
function bySchur(a: Tensor, b: Tensor, c: Tensor): Tensor {
  const [[t, z], [s, w]] = [schurFactors(stopGradient(a)), schurFactors(stopGradient(b))];
  const side = adjointOf(z).matmul(c.cast(t.dtype)).matmul(w);
  const [m, n] = side.shape.slice(-2);
  const { device, dtype } = side;
  const isDiagonal = arange(m, { device }).expandDims(1).equal(arange(m, { device }));
  const columns = arange(n, { device });
  const picked = (x: Tensor, j: Tensor) => where(columns.equal(j), x, 0).sum({ axis: -1 }).cast(dtype);
  const [y] = scan(
    (known: Tensor, j: Tensor) => {
      const own = picked(s, j);
      const rest = picked(side, j).sub(known.matmul(own.expandDims(-1)).squeeze(-1));
      const value = where(columns.equal(j), own, 0).sum({ axis: -1 }).cast(dtype).expandDims([-2, -1]);
      const shifted = t.add(where(isDiagonal, value, 0).cast(dtype));
      const next = triangularSolve(shifted, rest.expandDims(-1), { lower: false });
      return [where(columns.equal(j), next, known).cast(dtype), null] as const;
    },
    side.mul(0),
    columns,
  );
  const x = z.matmul(y).matmul(adjointOf(w));
  return (isComplex(c.dtype) ? x : x.real()) as Tensor;
}
