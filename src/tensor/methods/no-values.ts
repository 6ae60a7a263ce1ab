/**
 * What JavaScript does with lists and plain objects by itself, and not with tensors: a tensor's values may not be computed
 * yet, and are far away. Each of these would fail without a word on what to write instead.
 */
import { ArgumentError } from "../../core/errors.js";
import { Tensor } from "../tensor.js";

function toJSON(): never {
  throw new ArgumentError(
    "A tensor is no JSON: write await x.array() for its values, with x.shape and x.dtype beside it.",
  );
}

function iterate(): never {
  throw new ArgumentError(
    "A tensor is no list: write x.unstack() for the tensors along its first axis, or await x.data() for its numbers.",
  );
}

// Not declared as methods: TypeScript refuses these uses at compile time, which is better still.
Object.defineProperty(Tensor.prototype, "toJSON", { value: toJSON });
Object.defineProperty(Tensor.prototype, Symbol.iterator, { value: iterate });
