/** Gives `Tensor` the methods that are not part of its core. Whoever offers tensors to users imports this file. */
import "./arithmetic.js";
import "./contraction.js";
import "./conv.js";
import "./cumulative.js";
import "./movement.js";
import "./ordering.js";
import "./reductions.js";
import "./special.js";
import "./window.js";
import "./scatter.js";
import "./selection.js";
import "./indexing.js";
