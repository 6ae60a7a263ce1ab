/** The special functions of statistics. Integers become f32 first. */
import type { DType } from "../../core/dtype.js";
import type { ElementwisePrimitive } from "../../graph/primitive.js";
import { digamma, erf, erfc, erfInv, lgamma } from "../../graph/primitives/elementwise.js";
import { derive } from "../build.js";
import { Tensor } from "../tensor.js";
import { asFloat } from "./operands.js";

declare module "../tensor.js" {
  interface Tensor<D extends DType = DType> {
    /** The error function 2/√π ∫₀ˣ exp(-t²) dt. */
    erf(): Tensor;
    /** 1 - erf(x), accurate where that is tiny. */
    erfc(): Tensor;
    /** The inverse of erf; ±1 give ±infinity, beyond is NaN. */
    erfInv(): Tensor;
    /** log |Γ(x)|. */
    lgamma(): Tensor;
    /** The derivative of log Γ(x). */
    digamma(): Tensor;
  }
}

const applied = (primitive: ElementwisePrimitive) =>
  function (this: Tensor): Tensor {
    return new Tensor(derive(primitive, asFloat(primitive.name, this).node, {}));
  };

Tensor.prototype.erf = applied(erf);
Tensor.prototype.erfc = applied(erfc);
Tensor.prototype.erfInv = applied(erfInv);
Tensor.prototype.lgamma = applied(lgamma);
Tensor.prototype.digamma = applied(digamma);
