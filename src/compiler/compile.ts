/**
 * The compiler's table of contents: every pass that a graph goes through, in order. A graph is rewritten (rewrite/), cut
 * into tasks (schedule/), lowered to kernels in the loop-nest language (lower/, tiles/, routines/), and the kernels are
 * emitted by the target (emit/) and put together as the steps of a program (steps/, program/). The runtime calls `compile`;
 * functions inside hand-written kernels (inline/) start from `rewrite` alone.
 */
import { isPacked } from "../core/dtype.js";
import { isUnaligned, repeatsAmong } from "../graph/contiguous-slice.js";
import type { Node } from "../graph/node.js";
import { part } from "../graph/primitives/bundle.js";
import { branching } from "../graph/primitives/control/choice.js";
import { scan } from "../graph/primitives/control/scan.js";
import { whileLoop } from "../graph/primitives/control/while.js";
import { isWhole } from "./ir/ir.js";
import { lowerGroup } from "./lower/lower-group.js";
import { keepRepeatedValues } from "./lower/repeated-values.js";
import { describeGroup } from "./print/formula.js";
import { inPlaceOf } from "./program/in-place.js";
import { planMemory } from "./program/memory-plan.js";
import { overlapped } from "./program/overlap.js";
import { type Program, type Slot, type Step, withSteps, writtenLater } from "./program/program.js";
import { removeComplex } from "./rewrite/complex.js";
import { expandComposites } from "./rewrite/expand.js";
import { chooseImplementations } from "./rewrite/implementations.js";
import { copyLeaves } from "./rewrite/leaves.js";
import { mergeEqual } from "./rewrite/merge-equal.js";
import { packed } from "./rewrite/packed.js";
import { dropRecomputeMarks } from "./rewrite/recompute.js";
import { selectInBands } from "./rewrite/row-bands.js";
import { separateRoots } from "./rewrite/separate-roots.js";
import { splitReductions } from "./rewrite/split-reductions.js";
import { viewTransforms } from "./rewrite/transform-views.js";
import { findAttention } from "./rewrite/written-attention.js";
import type { Group } from "./schedule/group.js";
import { keyOfGroup } from "./schedule/group-key.js";
import { schedule } from "./schedule/schedule.js";
import { withoutViews } from "./schedule/views.js";
import { Assembly, type CompileBody, type StepPasses } from "./steps/assembly.js";
import { branchSteps } from "./steps/branch-steps.js";
import { behindGate, markUnaligned } from "./steps/kernel-passes.js";
import { scanSteps, whileSteps } from "./steps/loop-steps.js";
import { routineSteps } from "./steps/routine-steps.js";
import { SharedKernels } from "./steps/shared-kernels.js";
import { assignSlots } from "./steps/slots.js";
import type { TargetProfile } from "./target/profile.js";
import type { LoadKernel, Recordable, Target } from "./target/target.js";
import type { TileProfile } from "./target/tile-profile.js";
import { describeProduct, lowerProduct } from "./tiles/product.js";
import { lowerTransposed } from "./tiles/transpose.js";

/**
 * Compiles the graph behind `roots` for a target. `given`: the leaves of the graph, then the constants that are to be data
 * (rewrite/given-numbers.ts, rewrite/given-places.ts). `load` makes emitted kernels ready to run. `recordable`: the program is recorded once and run
 * many times. `shared`: kernels of other programs for this target.
 */
export function compile<Code>(
  roots: readonly Node[],
  given: readonly Node[],
  target: Target,
  load: LoadKernel<Code>,
  recordable: Recordable | null = null,
  shared = new SharedKernels<Code>(),
): Program<Code> {
  const assembly = new Assembly(target, load, recordable, shared, passes);
  const graph = rewrite(roots, given, target.profile.tiles, true, target.profile);
  const leafSlots = slotsOfLeaves(graph.leaves, given, target.profile.alignment);
  const steps = compileGraph(assembly, graph, leafSlots, (root) => assembly.make(graph.roots[root], root));
  const leaves = graph.leaves.map(({ shape, dtype }) => ({ shape, dtype }));
  shared.trim();
  return withSteps({ made: assembly.made, leaves }, steps);
}

/**
 * The last passes of a program that is recorded and run many times: the order of its steps, the memory between them, and the
 * results that may overwrite arguments. `onOffer`: bytes of the arguments that the caller gives away, -1 for the others.
 */
export function planProgram<Code>(program: Program<Code>, { profile }: Target, onOffer: readonly number[]) {
  const ordered = profile.isConcurrent ? overlapped(program) : { program, plan: planMemory(program) };
  return { ...ordered, inPlace: inPlaceOf(ordered.program, onOffer) };
}

/** A graph as the scheduler takes it: real numbers, small primitives, nothing twice. It shares no node with the caller's. */
interface RewrittenGraph {
  readonly roots: readonly Node[];
  /** Stand for the program's arguments, in their order. */
  readonly leaves: readonly Node[];
  /** Nodes to be computed into memory although a kernel could compute them on the way. */
  readonly stored: ReadonlySet<Node>;
}

/**
 * Graph → graph. `arePacked`: leaves and roots are tensors, in which integers narrower than a byte are packed. `profile`:
 * how routines run on the device; null inside larger kernels, which run none.
 *
 * Two rewrites are no passes of their own, because they look at a node's inputs after those are rewritten: `simpler`
 * (rewrite/simplify.ts) folds constants and reductions of repeated values as `expandComposites` and `chooseImplementations`
 * copy each node; `expandComplex` (rewrite/complex.ts) runs in every pass that copies, inside `rewriteNodes`.
 */
export function rewrite(
  roots: readonly Node[],
  given: readonly Node[],
  tiles: TileProfile,
  arePacked = false,
  profile: Pick<TargetProfile, "sort" | "bandBytes"> | null = null,
): RewrittenGraph {
  const { copies, places, memory } = copyLeaves(given, arePacked);
  const expanded = expandComposites(roots, copies, tiles, places);
  const real = removeComplex(expanded).map((root) =>
    arePacked && isPacked(root.dtype) ? packed(root, root.dtype) : root,
  );
  const single = mergeEqual(real);
  const viewing = viewTransforms(single.roots);
  const attentive = findAttention(viewing, tiles);
  const banded = profile ? selectInBands(attentive, profile.bandBytes) : attentive;
  const chosen = chooseImplementations(banded, tiles, profile?.sort ?? null);
  const merged = mergeEqual(chosen.roots);
  const plain = dropRecomputeMarks(merged.roots);
  const stored = [...chosen.stored].map((node) => plain.copies.get(merged.keptFor(node)) as Node);
  return { roots: separateRoots(plain.roots), leaves: memory, stored: new Set(stored) };
}

/** Graph → steps. `slots`: those of the leaves. `rootSlot` says where a root goes. */
function compileGraph<Code>(
  assembly: Assembly<Code>,
  graph: RewrittenGraph,
  slots: Map<Node, Slot>,
  rootSlot: (root: number) => Slot,
): Step<Code>[] {
  const { target } = assembly;
  const { roots, stored } = splitReductions(withoutViews(graph.roots), graph.stored, target.profile.split);
  const tasks = schedule(roots, target.profile, stored);
  const { slotOf, inputOf, partsOf } = assignSlots(tasks, roots, slots, rootSlot, (node) => assembly.make(node));
  const stepsOf = (node: Node): Step<Code>[] => {
    switch (node.primitive) {
      case part:
        return []; // The bundle computes its parts.
      case scan:
        return scanSteps(assembly, node, partsOf(node), slotOf, inputOf, rewrite);
      case whileLoop:
        return whileSteps(assembly, node, partsOf(node), slotOf, inputOf);
      case branching:
        return branchSteps(assembly, node, partsOf(node), slotOf, inputOf);
      default:
        return routineSteps(assembly, node, partsOf(node), slotOf, inputOf);
    }
  };
  return tasks.flatMap((task) => {
    if (task.kind === "routine") return stepsOf(task.node);
    const { kernel, buffers, formula } = lowerOnce(assembly, task.group);
    return [assembly.kernel(kernel, buffers.map(slotOf), formula)];
  });
}

/** Fused group → kernel: the one there is for a group that computes the same. */
function lowerOnce<Code>({ target, shared: { lowered } }: Assembly<Code>, group: Group) {
  const { key, nodes } = keyOfGroup(group);
  const known = lowered.get(key);
  if (known) return { ...known, buffers: known.buffers.map((at) => nodes[at]) };
  const made = lowerTask(group, target);
  lowered.set(key, { ...made, buffers: made.buffers.map((node) => nodes.indexOf(node)) });
  return made;
}

/** Fused group → kernel. Every kernel is then placed and emitted, as `passes` says. */
function lowerTask(group: Group, { settings, profile }: Target) {
  const lower = group.product ? lowerProduct : group.transposed ? lowerTransposed : lowerGroup;
  const { kernel, buffers } = lower(group, nameOf(group), settings);
  const formula = writtenLater(() =>
    [describeGroup(group, buffers, kernel.buffers), ...describeProduct(group)].join("\n"),
  );
  return { kernel: keepRepeatedValues(kernel, profile.rowCacheBytes), buffers, formula };
}

/** The graph of a loop's or branch's body goes through the same passes. */
const compileBody: CompileBody = (assembly, parameters, results, parameterSlots, rootSlot) => {
  const { profile } = assembly.target;
  const graph = rewrite(results, parameters, profile.tiles, false, profile);
  const slots = new Map(graph.leaves.map((leaf, i) => [leaf, parameterSlots[i]]));
  return compileGraph(assembly, graph, slots, rootSlot);
};

/**
 * Kernel → code. `Assembly.kernel` calls these for fused groups and for the kernels of routines.
 * @internal for tests: an assembly without a graph
 */
export const passes: StepPasses = {
  compileBody,
  place(kernel, slots, gate) {
    const gated = gate ? behindGate(kernel, gate.value) : kernel;
    return markUnaligned(gated, slots);
  },
  emit: (kernel, isIndirect, target) =>
    isWhole(kernel) ? target.encode(kernel, isIndirect) : kernel.encode(kernel, isIndirect),
};

function slotsOfLeaves(leaves: readonly Node[], given: readonly Node[], alignment: number): Map<Node, Slot> {
  const repeats = repeatsAmong(given);
  const memory = given.filter((leaf) => !repeats.has(leaf));
  return new Map(
    leaves.map((leaf, index) => {
      const isApart = index < memory.length && isUnaligned(memory[index], alignment);
      return [leaf, { from: "leaf", index, ...(isApart && { isUnaligned: true }) }];
    }),
  );
}

/** A kernel's name: its results, of many the first two. */
function nameOf({ results }: Group): string {
  const names = results.map(({ node: { primitive, shape } }) => `${primitive.name}[${shape.join("×")}]`);
  return names.length <= 3 ? names.join(" + ") : `${names.slice(0, 2).join(" + ")} + ${names.length - 2} more`;
}
