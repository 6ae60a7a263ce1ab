/** The machine-readable grammar that Khronos publishes, where it is installed. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Operand {
  readonly kind: string;
  readonly quantifier?: "?" | "*";
}

interface Grammar {
  readonly instructions: readonly { opname: string; opcode: number; operands?: Operand[]; aliases?: string[] }[];
  readonly operand_kinds?: readonly {
    kind: string;
    category: string;
    enumerants?: { enumerant: string; value: number | string; aliases?: string[]; parameters?: Operand[] }[];
  }[];
}

const FOLDER = process.env.SPIRV_HEADERS ?? "/usr/include/spirv/unified1";
/** For the `skip` of tests that need it. */
export const withoutGrammar = existsSync(join(FOLDER, "spirv.core.grammar.json"))
  ? false
  : "the SPIR-V grammar is not installed; it is in the package spirv-headers";

export function grammar(file: string): Grammar {
  return JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
}

/** Extensions that grammars before 2025 do not have yet. */
export const RECENT =
  /CooperativeMatrix|Replicate|BFloat16|Float8|FloatControls2|FPFastMathDefault|MaximallyReconverges|AllowContract|AllowReassoc|AllowTransform|WGSL|Slang|Zig/;
