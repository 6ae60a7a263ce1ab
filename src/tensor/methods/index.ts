/** Gives `Tensor` the methods that are not part of its core. Whoever offers tensors to users imports this file. */
import type { DType } from "../../core/dtype.js";
import "./arithmetic.js";
import "./averages.js";
import "./axes.js";
import "./contraction.js";
import "./conv.js";
import "./cumulative.js";
import "./movement.js";
import "./no-values.js";
import "./ordering.js";
import "./printing.js";
import "./reductions.js";
import "./special.js";
import "./taking.js";
import "./window.js";
import "./scatter.js";
import "./selection.js";
import "./indexing.js";

declare module "../tensor.js" {
  // The compiler loses sight of a class's symbol-named methods once another module adds to the class; `using` needs this one.
  interface Tensor<D extends DType> {
    [Symbol.dispose](): void;
  }
}
