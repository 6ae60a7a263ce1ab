/**
 * The arithmetic of specialisation constants: the operations of `OpSpecConstantOp` on whole numbers and booleans. A
 * module's array lengths and workgroup sizes can be such expressions, and their limits are checked with the values.
 */
import { Op } from "../enumerants.js";

/** Operands of an operation, with the width of the first. Booleans are 0 and 1. */
interface Operands {
  readonly a: bigint;
  readonly b: bigint;
  readonly c: bigint;
  readonly unsigned: (n: bigint) => bigint;
  readonly signed: (n: bigint) => bigint;
  /** The distance of a shift, cut to the width. */
  readonly distance: bigint;
}

const truth = (claim: boolean): bigint => (claim ? 1n : 0n);

/** Undefined where the operation is: a division by zero. */
const OPERATIONS: Readonly<Record<number, (operands: Operands) => bigint | undefined>> = {
  // They extend by the instruction's sign, not by that of the operand's type.
  [Op.SConvert]: ({ a, signed }) => signed(a),
  [Op.UConvert]: ({ a, unsigned }) => unsigned(a),
  [Op.SNegate]: ({ a }) => -a,
  [Op.Not]: ({ a }) => ~a,
  [Op.IAdd]: ({ a, b }) => a + b,
  [Op.ISub]: ({ a, b }) => a - b,
  [Op.IMul]: ({ a, b }) => a * b,
  [Op.UDiv]: ({ a, b, unsigned }) => (unsigned(b) === 0n ? undefined : unsigned(a) / unsigned(b)),
  [Op.SDiv]: ({ a, b, signed }) => (signed(b) === 0n ? undefined : signed(a) / signed(b)),
  [Op.UMod]: ({ a, b, unsigned }) => (unsigned(b) === 0n ? undefined : unsigned(a) % unsigned(b)),
  [Op.SRem]: ({ a, b, signed }) => (signed(b) === 0n ? undefined : signed(a) % signed(b)),
  [Op.SMod]: ({ a, b, signed }) => (signed(b) === 0n ? undefined : ((signed(a) % signed(b)) + signed(b)) % signed(b)),
  [Op.ShiftLeftLogical]: ({ a, distance }) => a << distance,
  [Op.ShiftRightLogical]: ({ a, unsigned, distance }) => unsigned(a) >> distance,
  [Op.ShiftRightArithmetic]: ({ a, signed, distance }) => signed(a) >> distance,
  [Op.BitwiseOr]: ({ a, b }) => a | b,
  [Op.LogicalOr]: ({ a, b }) => a | b,
  [Op.BitwiseAnd]: ({ a, b }) => a & b,
  [Op.LogicalAnd]: ({ a, b }) => a & b,
  [Op.BitwiseXor]: ({ a, b }) => a ^ b,
  [Op.LogicalNot]: ({ a }) => truth(a === 0n),
  [Op.IEqual]: ({ a, b, unsigned }) => truth(unsigned(a) === unsigned(b)),
  [Op.LogicalEqual]: ({ a, b, unsigned }) => truth(unsigned(a) === unsigned(b)),
  [Op.INotEqual]: ({ a, b, unsigned }) => truth(unsigned(a) !== unsigned(b)),
  [Op.LogicalNotEqual]: ({ a, b, unsigned }) => truth(unsigned(a) !== unsigned(b)),
  [Op.ULessThan]: ({ a, b, unsigned }) => truth(unsigned(a) < unsigned(b)),
  [Op.ULessThanEqual]: ({ a, b, unsigned }) => truth(unsigned(a) <= unsigned(b)),
  [Op.UGreaterThan]: ({ a, b, unsigned }) => truth(unsigned(a) > unsigned(b)),
  [Op.UGreaterThanEqual]: ({ a, b, unsigned }) => truth(unsigned(a) >= unsigned(b)),
  [Op.SLessThan]: ({ a, b, signed }) => truth(signed(a) < signed(b)),
  [Op.SLessThanEqual]: ({ a, b, signed }) => truth(signed(a) <= signed(b)),
  [Op.SGreaterThan]: ({ a, b, signed }) => truth(signed(a) > signed(b)),
  [Op.SGreaterThanEqual]: ({ a, b, signed }) => truth(signed(a) >= signed(b)),
  [Op.Select]: ({ a, b, c }) => (a !== 0n ? b : c),
};

/** The result before it is cut to its type, or undefined for an operation that is not in the table. */
export function integerOperation(op: number, bits: bigint, operands: readonly bigint[]): bigint | undefined {
  const [a = 0n, b = 0n, c = 0n] = operands;
  const unsigned = (n: bigint) => BigInt.asUintN(Number(bits), n);
  const signed = (n: bigint) => BigInt.asIntN(Number(bits), n);
  const distance = unsigned(b) < bits ? unsigned(b) : bits;
  return OPERATIONS[op]?.({ a, b, c, unsigned, signed, distance });
}
