/** The factor of a small matrix on the host: of a metric that chains are told to start with, of a covariance that is known. */

/** The lower triangle L with L·Lᵀ = matrix [dim, dim]; null where there is none. */
export function choleskyFactor(matrix: ArrayLike<number>, dim: number): Float64Array | null {
  const factor = new Float64Array(dim * dim);
  for (let row = 0; row < dim; row++) {
    for (let column = 0; column <= row; column++) {
      let rest = matrix[row * dim + column];
      for (let j = 0; j < column; j++) rest -= factor[row * dim + j] * factor[column * dim + j];
      if (row === column && !(rest > 0)) return null;
      factor[row * dim + column] = row === column ? Math.sqrt(rest) : rest / factor[column * dim + column];
    }
  }
  return factor;
}
