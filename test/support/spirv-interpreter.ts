/**
 * Runs one invocation of a SPIR-V module in JavaScript: 32-bit integers, floats, booleans, vectors, structured control
 * flow, calls, variables and storage buffers. A validator says that a module is well formed; this says what it computes,
 * without a GPU, and by a reading of the words that shares nothing with the code that wrote them.
 */
import assert from "node:assert/strict";
import { GlslStd450, Op } from "../../src/spirv/enumerants.js";

type Scalar = number | boolean;
type Data = Scalar | Data[];

interface Pointer {
  readonly object: Data[];
  readonly key: number;
}

interface NumberType {
  readonly kind: "int" | "uint" | "float" | "double" | "other";
}

interface Instruction {
  readonly op: number;
  readonly args: readonly number[];
}

interface Routine {
  readonly parameters: number[];
  readonly blocks: Map<number, Instruction[]>;
  entry: number;
}

/** Steps after which a kernel is taken to hang. */
const STEP_LIMIT = 100_000;

/** Runs an entry point over buffers given by binding; they are changed in place. */
export function interpret(
  words: Uint32Array,
  buffers: Record<number, number[]>,
  builtIns: Record<number, Data> = {},
): void {
  new Interpreter(words, buffers, builtIns).run();
}

class Interpreter {
  private readonly values = new Map<number, Data | Pointer>();
  private readonly types = new Map<number, NumberType>();
  private readonly routines = new Map<number, Routine>();
  private readonly bindings = new Map<number, number>();
  private readonly builtInCodes = new Map<number, number>();
  private main = 0;
  private steps = 0;

  constructor(
    words: Uint32Array,
    private readonly buffers: Record<number, number[]>,
    private readonly builtIns: Record<number, Data>,
  ) {
    let routine: Routine | undefined;
    let block: Instruction[] | undefined;
    for (let at = 5; at < words.length; at += words[at] >>> 16) {
      const args = Array.from(words.subarray(at + 1, at + (words[at] >>> 16)));
      const op = words[at] & 0xffff;
      if (op === Op.Function) {
        routine = { parameters: [], blocks: new Map(), entry: 0 };
        this.routines.set(args[1], routine);
      } else if (routine && op === Op.FunctionParameter) routine.parameters.push(args[1]);
      else if (routine && op === Op.Label) {
        block = [];
        routine.blocks.set(args[0], block);
        routine.entry ||= args[0];
      } else if (routine && block && op !== Op.FunctionEnd) block.push({ op, args });
      else if (op !== Op.FunctionEnd) this.declare(op, args);
    }
  }

  run(): void {
    this.call(this.main, []);
  }

  private declare(op: number, args: readonly number[]): void {
    switch (op) {
      case Op.EntryPoint:
        this.main ||= args[1];
        return;
      case Op.Decorate:
        if (args[1] === 33) this.bindings.set(args[0], args[2]);
        if (args[1] === 11) this.builtInCodes.set(args[0], args[2]);
        return;
      case Op.TypeInt:
        this.types.set(args[0], { kind: args[2] ? "int" : "uint" });
        return;
      case Op.TypeFloat:
        this.types.set(args[0], { kind: args[1] === 64 ? "double" : "float" });
        return;
      case Op.TypeVector:
        this.types.set(args[0], this.typeOf(args[1]));
        return;
      case Op.Constant:
      case Op.SpecConstant:
        this.values.set(args[1], this.literal(args[0], args[2], args[3]));
        return;
      case Op.ConstantTrue:
      case Op.ConstantFalse:
        this.values.set(args[1], op === Op.ConstantTrue);
        return;
      case Op.ConstantComposite:
        this.values.set(
          args[1],
          args.slice(2).map((id) => this.data(id)),
        );
        return;
      case Op.Variable: {
        const binding = this.bindings.get(args[1]);
        const code = this.builtInCodes.get(args[1]);
        let content: Data = [];
        if (binding !== undefined) content = [this.buffers[binding]];
        else if (code !== undefined) content = this.builtIns[code];
        this.values.set(args[1], { object: [content], key: 0 });
        return;
      }
    }
  }

  private call(id: number, args: readonly (Data | Pointer)[]): Data {
    const routine = this.routines.get(id);
    assert(routine, `no function %${id}`);
    for (const [i, parameter] of routine.parameters.entries()) this.values.set(parameter, args[i]);
    let previous = 0;
    let label = routine.entry;
    for (;;) {
      const block = routine.blocks.get(label);
      assert(block, `no block %${label}`);
      // All phis of a block read the values from before it.
      const phis = block.filter((i) => i.op === Op.Phi);
      const incoming = phis.map(({ args: a }) => this.data(a[a.indexOf(previous, 2) - 1]));
      for (const [i, phi] of phis.entries()) this.values.set(phi.args[1], incoming[i]);
      let next: number | undefined;
      for (const instruction of block) {
        assert(++this.steps < STEP_LIMIT, "the kernel does not end");
        const { op, args: a } = instruction;
        if (op === Op.Return) return [];
        if (op === Op.ReturnValue) return this.data(a[0]);
        assert(op !== Op.Unreachable, `reached the unreachable block %${label}`);
        if (op === Op.Branch) next = a[0];
        else if (op === Op.BranchConditional) next = this.data(a[0]) ? a[1] : a[2];
        else if (op === Op.Switch) next = this.switchTarget(a);
        else if (op !== Op.Phi) this.execute(op, a);
      }
      assert(next !== undefined, `block %${label} has no end`);
      previous = label;
      label = next;
    }
  }

  private switchTarget(a: readonly number[]): number {
    const selector = Number(this.data(a[0])) >>> 0;
    for (let i = 2; i < a.length; i += 2) if (a[i] === selector) return a[i + 1];
    return a[1];
  }

  private execute(op: number, a: readonly number[]): void {
    switch (op) {
      case Op.SelectionMerge:
      case Op.LoopMerge:
        return;
      case Op.Store: {
        const { object, key } = this.pointer(a[0]);
        object[key] = this.data(a[1]);
        return;
      }
    }
    this.values.set(a[1], this.evaluate(op, a));
  }

  private evaluate(op: number, a: readonly number[]): Data | Pointer {
    const [type] = a;
    switch (op) {
      case Op.Variable:
        return { object: [[]], key: 0 };
      case Op.Undef:
        return NaN;
      case Op.Load: {
        const { object, key } = this.pointer(a[2]);
        return object[key];
      }
      case Op.AccessChain:
        return a.slice(3).reduce((at: Pointer, id): Pointer => {
          return { object: at.object[at.key] as Data[], key: Number(this.data(id)) };
        }, this.pointer(a[2]));
      case Op.FunctionCall: {
        const saved = new Map(this.values);
        const result = this.call(
          a[2],
          a.slice(3).map((id) => this.values.get(id) ?? NaN),
        );
        for (const [id, value] of saved) this.values.set(id, value);
        return result;
      }
      case Op.CompositeExtract:
        return a.slice(3).reduce((part, index) => (part as Data[])[index], this.data(a[2]));
      case Op.CompositeConstruct:
        return a.slice(2).map((id) => this.data(id));
      case Op.ExtInst:
        return this.map(type, (...xs) => glsl(a[3], xs), a.slice(4));
      default: {
        const compute = OPERATIONS[op];
        assert(compute, `the interpreter does not know opcode ${op}`);
        return this.map(type, compute, a.slice(2));
      }
    }
  }

  /** Applies an operation to scalars, or component by component. */
  private map(type: number, compute: (...xs: number[]) => Scalar, ids: readonly number[]): Data {
    const operands = ids.map((id) => this.data(id));
    const [first] = operands;
    const kind = this.types.get(type)?.kind ?? "other";
    if (!Array.isArray(first)) return wrap(compute(...operands.map(Number)), kind);
    return first.map((_, i) => wrap(compute(...operands.map((o) => Number((o as Data[])[i]))), kind));
  }

  private literal(type: number, low: number, high: number): number {
    const { kind } = this.typeOf(type);
    const view = new DataView(new ArrayBuffer(8));
    view.setUint32(0, low, true);
    view.setUint32(4, high ?? 0, true);
    if (kind === "float") return view.getFloat32(0, true);
    if (kind === "double") return view.getFloat64(0, true);
    return kind === "int" ? low | 0 : low;
  }

  private typeOf(id: number): NumberType {
    return this.types.get(id) ?? { kind: "other" };
  }

  private data(id: number): Data {
    const value = this.values.get(id);
    assert(value !== undefined, `%${id} has no value here`);
    assert(typeof value !== "object" || Array.isArray(value), `%${id} is a pointer`);
    return value;
  }

  private pointer(id: number): Pointer {
    const value = this.values.get(id);
    assert(value !== undefined && typeof value === "object" && !Array.isArray(value), `%${id} is not a pointer`);
    return value;
  }
}

function wrap(x: Scalar, kind: NumberType["kind"]): Scalar {
  if (typeof x === "boolean" || kind === "other" || kind === "double") return kind === "other" ? Boolean(x) : x;
  if (kind === "float") return Math.fround(x);
  return kind === "int" ? x | 0 : x >>> 0;
}

const OPERATIONS: { readonly [op: number]: (...xs: number[]) => Scalar } = {
  [Op.IAdd]: (a, b) => a + b,
  [Op.FAdd]: (a, b) => a + b,
  [Op.ISub]: (a, b) => a - b,
  [Op.FSub]: (a, b) => a - b,
  [Op.IMul]: (a, b) => Math.imul(a, b),
  [Op.FMul]: (a, b) => a * b,
  [Op.FDiv]: (a, b) => a / b,
  [Op.UDiv]: (a, b) => Math.trunc(a / b),
  [Op.SDiv]: (a, b) => Math.trunc(a / b),
  [Op.UMod]: (a, b) => a % b,
  [Op.SRem]: (a, b) => a % b,
  [Op.SMod]: (a, b) => ((a % b) + b) % b,
  [Op.SNegate]: (a) => -a,
  [Op.FNegate]: (a) => -a,
  [Op.Not]: (a) => ~a,
  [Op.BitwiseAnd]: (a, b) => a & b,
  [Op.BitwiseOr]: (a, b) => a | b,
  [Op.BitwiseXor]: (a, b) => a ^ b,
  [Op.ShiftLeftLogical]: (a, b) => a << b,
  [Op.ShiftRightLogical]: (a, b) => a >>> b,
  [Op.ShiftRightArithmetic]: (a, b) => a >> b,
  [Op.LogicalAnd]: (a, b) => Boolean(a && b),
  [Op.LogicalOr]: (a, b) => Boolean(a || b),
  [Op.LogicalNot]: (a) => !a,
  [Op.LogicalEqual]: (a, b) => a === b,
  [Op.LogicalNotEqual]: (a, b) => a !== b,
  [Op.IEqual]: (a, b) => a === b,
  [Op.INotEqual]: (a, b) => a !== b,
  [Op.ULessThan]: (a, b) => a < b,
  [Op.SLessThan]: (a, b) => a < b,
  [Op.FOrdLessThan]: (a, b) => a < b,
  [Op.ULessThanEqual]: (a, b) => a <= b,
  [Op.SLessThanEqual]: (a, b) => a <= b,
  [Op.FOrdLessThanEqual]: (a, b) => a <= b,
  [Op.UGreaterThan]: (a, b) => a > b,
  [Op.SGreaterThan]: (a, b) => a > b,
  [Op.FOrdGreaterThan]: (a, b) => a > b,
  [Op.UGreaterThanEqual]: (a, b) => a >= b,
  [Op.SGreaterThanEqual]: (a, b) => a >= b,
  [Op.FOrdGreaterThanEqual]: (a, b) => a >= b,
  [Op.FOrdEqual]: (a, b) => a === b,
  [Op.FUnordNotEqual]: (a, b) => a !== b,
  [Op.FUnordLessThan]: (a, b) => !(a >= b),
  [Op.IsNan]: (a) => Number.isNaN(a),
  [Op.Select]: (c, a, b) => (c ? a : b),
  [Op.ConvertSToF]: (a) => a,
  [Op.ConvertUToF]: (a) => a,
  [Op.ConvertFToS]: (a) => Math.trunc(a),
  [Op.ConvertFToU]: (a) => Math.trunc(a),
  [Op.FConvert]: (a) => a,
  [Op.Bitcast]: (a) => a,
};

function glsl(code: number, xs: readonly number[]): number {
  switch (code) {
    case GlslStd450.FAbs:
    case GlslStd450.SAbs:
      return Math.abs(xs[0]);
    case GlslStd450.Sqrt:
      return Math.sqrt(xs[0]);
    case GlslStd450.Floor:
      return Math.floor(xs[0]);
    case GlslStd450.UMin:
    case GlslStd450.SMin:
    case GlslStd450.FMin:
      return Math.min(...xs);
    case GlslStd450.UMax:
    case GlslStd450.SMax:
    case GlslStd450.FMax:
      return Math.max(...xs);
    default:
      assert.fail(`the interpreter does not know GLSL.std.450 ${code}`);
  }
}
