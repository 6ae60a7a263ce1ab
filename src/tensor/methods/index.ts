/** Gives `Tensor` the methods that are not part of its core. Whoever offers tensors to users imports this file. */
import "./arithmetic.js";
import "./cumulative.js";
import "./contraction.js";
import "./movement.js";
import "./reductions.js";
import "./special.js";
import "./ordering.js";
