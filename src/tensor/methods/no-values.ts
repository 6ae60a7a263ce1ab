/**
 * Refusals: JavaScript turns lists and plain objects into JSON and loops over them by itself, but not tensors, whose
 * values may not be computed yet. Each refusal says what to write instead.
 *
 * The types of `Tensor` do not declare these methods, so that TypeScript refuses the uses at compile time.
 */
import { ArgumentError } from "../../core/errors.js";

export class NoValueMethods {
  toJSON(): never {
    throw new ArgumentError(
      "A tensor is no JSON: write await x.array() for its values, with x.shape and x.dtype beside it.",
    );
  }

  [Symbol.iterator](): never {
    throw new ArgumentError(
      "A tensor is no list: write x.unstack() for the tensors along its first axis, or await x.data() for its numbers.",
    );
  }
}
