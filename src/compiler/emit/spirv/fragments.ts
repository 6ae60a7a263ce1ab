/** Fragments of the loop-nest language as cooperative matrices of SPIR-V: a variable each, which the driver keeps in registers. */

import type { FunctionBuilder } from "../../../spirv/function/function-builder.js";
import type { Ref } from "../../../spirv/function/ref.js";
import type { Value } from "../../../spirv/function/value.js";
import type { ModuleBuilder } from "../../../spirv/module/builder.js";
import type { MatrixType } from "../../../spirv/module/types.js";
import type { FragmentDeclaration, FragmentStatement, Value as IRValue, Kernel } from "../../ir/ir.js";

const USES = { left: "A", right: "B", sum: "accumulator" } as const;

/** Words of a vector in shared memory: the unit that places of fragments are counted in. */
const WORDS = 4;

/** Declares the types of a kernel's fragments, before any function: they change the memory model of the module. */
export function declareFragments(m: ModuleBuilder, { fragments = [] }: Kernel): (f: FunctionBuilder) => Fragments {
  const typeOf = ({ use, dtype, rows, columns }: FragmentDeclaration): MatrixType =>
    m.matrix(m[dtype], rows, columns, USES[use]);
  const types = fragments.map(typeOf);
  return (f) => new Fragments(f, types);
}

export class Fragments {
  private readonly registers: readonly Ref[];

  constructor(
    private readonly f: FunctionBuilder,
    private readonly types: readonly MatrixType[],
  ) {
    this.registers = types.map((type, i) => f.variable(type, undefined, `m${i}`));
  }

  /** Writes a statement. `arrays`: shared memory in vectors of words. `set`: keeps the value of a result. */
  write(
    statement: FragmentStatement,
    arrays: readonly { readonly place: Ref }[],
    get: (value: IRValue) => Value,
    set: (result: IRValue, value: Value) => void,
  ): void {
    const { f, types, registers } = this;
    switch (statement.kind) {
      case "fillFragment": {
        const { fragment, value } = statement;
        registers[fragment].store(f.module.constant(types[fragment], value));
        break;
      }
      case "loadFragment":
      case "storeFragment": {
        const { fragment, array, index, pitch, isByColumns } = statement;
        const place = arrays[array].place.at(f.shiftRight(get(index), Math.log2(WORDS)));
        const access = { stride: pitch / WORDS, layout: isByColumns ? "columnMajor" : "rowMajor" } as const;
        if (statement.kind === "storeFragment") f.matrix.store(place, registers[fragment].load(), access);
        else registers[fragment].store(f.matrix.load(types[fragment], place, access));
        break;
      }
      case "multiplyFragments": {
        const { left, right, sum } = statement;
        const product = f.matrix.mulAdd(registers[left].load(), registers[right].load(), registers[sum].load());
        registers[sum].store(product);
        break;
      }
      case "addFragments": {
        const { to, from } = statement;
        registers[to].store(f.add(registers[to].load(), registers[from].load()));
        break;
      }
      case "getElements": {
        const whole = registers[statement.fragment].load();
        statement.results.forEach((result, at) => {
          set(result, f.extract(whole, at));
        });
        break;
      }
      case "setElements":
        statement.values.forEach((value, at) => {
          registers[statement.fragment].store(at, get(value));
        });
        break;
    }
  }
}
