/**
 * The values a dispatch gives to a compute invocation, with the type and the capability of each.
 */
import { Capability } from "../enumerants.js";

interface BuiltInValue {
  /** Components of a vector of u32; 1 for a scalar. */
  readonly components: 1 | 3 | 4;
  readonly capability?: number;
}

const SUBGROUP: BuiltInValue = { components: 1, capability: Capability.GroupNonUniform };
const MASK: BuiltInValue = { components: 4, capability: Capability.GroupNonUniformBallot };

const ROWS = {
  NumWorkgroups: { components: 3 },
  WorkgroupId: { components: 3 },
  LocalInvocationId: { components: 3 },
  GlobalInvocationId: { components: 3 },
  LocalInvocationIndex: { components: 1 },
  SubgroupSize: SUBGROUP,
  NumSubgroups: SUBGROUP,
  SubgroupId: SUBGROUP,
  SubgroupLocalInvocationId: SUBGROUP,
  SubgroupEqMask: MASK,
  SubgroupGeMask: MASK,
  SubgroupGtMask: MASK,
  SubgroupLeMask: MASK,
  SubgroupLtMask: MASK,
} satisfies Record<string, BuiltInValue>;

/** The name of a built-in value, such as "GlobalInvocationId". */
export type BuiltInName = keyof typeof ROWS;

export const BUILT_INS: { readonly [name in BuiltInName]: BuiltInValue } = ROWS;
