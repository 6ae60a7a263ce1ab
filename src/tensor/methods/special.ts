/**
 * Functions of one number beyond the everyday ones: inverses of the trigonometric and hyperbolic functions, the special
 * functions of statistics (integers become f32 first), and counts of the bits of integers.
 */
import type { DType } from "../../core/dtype.js";
import type { ElementwisePrimitive } from "../../graph/primitive.js";
import * as E from "../../graph/primitives/elementwise.js";
import { derive } from "../build.js";
import type { FloatOf } from "../result-dtypes.js";
import { Tensor } from "../tensor.js";
import { asFloat } from "./operands.js";

declare module "../tensor.js" {
  interface Tensor<D extends DType = DType> {
    asin(): Tensor<FloatOf<D>>;
    acos(): Tensor<FloatOf<D>>;
    atan(): Tensor<FloatOf<D>>;
    asinh(): Tensor<FloatOf<D>>;
    acosh(): Tensor<FloatOf<D>>;
    atanh(): Tensor<FloatOf<D>>;
    /** The cube root, of negative numbers too. */
    cbrt(): Tensor<FloatOf<D>>;
    /** The error function 2/√π ∫₀ˣ exp(-t²) dt. */
    erf(): Tensor<FloatOf<D>>;
    /** 1 - erf(x), accurate where that is tiny. */
    erfc(): Tensor<FloatOf<D>>;
    /** The inverse of erf; ±1 give ±infinity, beyond is NaN. */
    erfInv(): Tensor<FloatOf<D>>;
    /** log |Γ(x)|. */
    lgamma(): Tensor<FloatOf<D>>;
    /** The derivative of log Γ(x). */
    digamma(): Tensor<FloatOf<D>>;
    /** The derivative of digamma. */
    trigamma(): Tensor<FloatOf<D>>;
    /** How many bits of each integer are ones. */
    popcount(): Tensor<D>;
    /** How many zero bits come before the first one; the width for 0. */
    countLeadingZeros(): Tensor<D>;
  }
}

const applied = (primitive: ElementwisePrimitive) =>
  function (this: Tensor): Tensor {
    return new Tensor(derive(primitive, asFloat(primitive.name, this).node, {}));
  };

Tensor.prototype.asin = applied(E.asin);
Tensor.prototype.acos = applied(E.acos);
Tensor.prototype.atan = applied(E.atan);
Tensor.prototype.asinh = applied(E.asinh);
Tensor.prototype.acosh = applied(E.acosh);
Tensor.prototype.atanh = applied(E.atanh);
Tensor.prototype.cbrt = applied(E.cbrt);
Tensor.prototype.erf = applied(E.erf);
Tensor.prototype.erfc = applied(E.erfc);
Tensor.prototype.erfInv = applied(E.erfInv);
Tensor.prototype.lgamma = applied(E.lgamma);
Tensor.prototype.digamma = applied(E.digamma);
Tensor.prototype.trigamma = applied(E.trigamma);

Tensor.prototype.popcount = function () {
  return new Tensor(derive(E.popcount, this.node, {})) as typeof this;
};

Tensor.prototype.countLeadingZeros = function () {
  return new Tensor(derive(E.countLeadingZeros, this.node, {})) as typeof this;
};
