/**
 * The arithmetic of specialisation constants: what `OpSpecConstantOp` may compute on whole numbers and booleans. A
 * module's array lengths and workgroup sizes can be such expressions, and their limits are checked with the values.
 */
import { Op } from "./enumerants.js";

/** The result before it is cut to its type, or undefined for another operation. Booleans are 0 and 1. */
export function integerOperation(op: number, bits: bigint, operands: readonly bigint[]): bigint | undefined {
  const [a = 0n, b = 0n, c = 0n] = operands;
  const unsigned = (n: bigint) => BigInt.asUintN(Number(bits), n);
  const signed = (n: bigint) => BigInt.asIntN(Number(bits), n);
  const truth = (claim: boolean) => (claim ? 1n : 0n);
  const shift = unsigned(b) < bits ? unsigned(b) : bits;
  switch (op) {
    case Op.SConvert:
    case Op.UConvert:
      return a;
    case Op.SNegate:
      return -a;
    case Op.Not:
      return ~a;
    case Op.IAdd:
      return a + b;
    case Op.ISub:
      return a - b;
    case Op.IMul:
      return a * b;
    case Op.UDiv:
      return unsigned(b) === 0n ? undefined : unsigned(a) / unsigned(b);
    case Op.SDiv:
      return signed(b) === 0n ? undefined : signed(a) / signed(b);
    case Op.UMod:
      return unsigned(b) === 0n ? undefined : unsigned(a) % unsigned(b);
    case Op.SRem:
      return signed(b) === 0n ? undefined : signed(a) % signed(b);
    case Op.SMod:
      return signed(b) === 0n ? undefined : ((signed(a) % signed(b)) + signed(b)) % signed(b);
    case Op.ShiftLeftLogical:
      return a << shift;
    case Op.ShiftRightLogical:
      return unsigned(a) >> shift;
    case Op.ShiftRightArithmetic:
      return signed(a) >> shift;
    case Op.BitwiseOr:
    case Op.LogicalOr:
      return a | b;
    case Op.BitwiseAnd:
    case Op.LogicalAnd:
      return a & b;
    case Op.BitwiseXor:
      return a ^ b;
    case Op.LogicalNot:
      return truth(a === 0n);
    case Op.IEqual:
    case Op.LogicalEqual:
      return truth(unsigned(a) === unsigned(b));
    case Op.INotEqual:
    case Op.LogicalNotEqual:
      return truth(unsigned(a) !== unsigned(b));
    case Op.ULessThan:
      return truth(unsigned(a) < unsigned(b));
    case Op.ULessThanEqual:
      return truth(unsigned(a) <= unsigned(b));
    case Op.UGreaterThan:
      return truth(unsigned(a) > unsigned(b));
    case Op.UGreaterThanEqual:
      return truth(unsigned(a) >= unsigned(b));
    case Op.SLessThan:
      return truth(signed(a) < signed(b));
    case Op.SLessThanEqual:
      return truth(signed(a) <= signed(b));
    case Op.SGreaterThan:
      return truth(signed(a) > signed(b));
    case Op.SGreaterThanEqual:
      return truth(signed(a) >= signed(b));
    case Op.Select:
      return a !== 0n ? b : c;
    default:
      return undefined;
  }
}
