/** Sums of terms, as log densities are, with as few operations as there can be. `Posterior` adds up its variables here. */
import { type Shape, sizeOf } from "../../core/shape.js";
import { scalarLike, type Tensor } from "../../tensor/index.js";
import { sumOfTerms, type Term } from "../numerics/terms.js";

export class Sum {
  private readonly parts: Tensor[] = [];
  private constant = 0;

  constructor(private readonly like: Tensor) {}

  /** Adds what the terms sum to over a shape. Those of fewer elements are summed by themselves and counted. */
  add(terms: readonly Term[], shape: Shape): void {
    const size = sizeOf(shape);
    const whole: Tensor[] = [];
    for (const term of terms) {
      if (typeof term === "number") this.constant += term * size;
      else if (term.size === size) whole.push(term);
      else this.parts.push(scaled(term.sum(), size / term.size));
    }
    if (whole.length > 0) this.parts.push((sumOfTerms(whole) as Tensor).sum());
  }

  total(): Tensor {
    if (this.parts.length === 0) return scalarLike(this.like, this.constant);
    const sum = this.parts.reduce((a, b) => a.add(b));
    return this.constant === 0 ? sum : sum.add(this.constant);
  }
}

const scaled = (x: Tensor, factor: number): Tensor => (factor === 1 ? x : x.mul(factor));
