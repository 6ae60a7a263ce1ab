/** Memory for the nodes that the tasks of a graph read and write: which slot each of them has. */
import { type Node, pendingInOrder } from "../../graph/node.js";
import { part } from "../../graph/primitives/bundle.js";
import { scatter } from "../../graph/primitives/scatter.js";
import type { Slot } from "../program/program.js";
import type { Group } from "../schedule/group.js";
import type { Task } from "../schedule/schedule.js";
import { ownedInput, viewed } from "../schedule/views.js";
import type { SlotOf } from "./assembly.js";

interface GraphSlots {
  /** The memory that a node is computed into. */
  readonly slotOf: SlotOf;
  /** The memory from which a routine or a loop reads a node; the node may be a view of it. */
  readonly inputOf: SlotOf;
  /** The parts of each bundle (an operation with several results) that are wanted. */
  readonly partsOf: (bundle: Node) => readonly Node[];
}

/** `known`: slots of leaves, added to. `rootSlot`: where a root goes. `make`: memory for another node. */
export function assignSlots(
  tasks: readonly Task[],
  roots: readonly Node[],
  known: Map<Node, Slot>,
  rootSlot: (root: number) => Slot,
  make: SlotOf,
): GraphSlots {
  const rootOf = new Map(roots.map((node, root) => [node, root]));
  const slotOf = (node: Node): Slot => {
    const slot = known.get(node);
    if (slot) return slot;
    const root = rootOf.get(node);
    const made = root === undefined ? make(node) : rootSlot(root);
    known.set(node, made);
    return made;
  };
  const computed = new Set(tasks.flatMap((task) => (task.kind === "routine" ? task.node : resultsOf(task.group))));
  const inputOf = (node: Node): Slot => slotOf(viewed(node, (at) => known.has(at) || computed.has(at)));
  const isFree = (node: Node) => computed.has(node) && !known.has(node) && !rootOf.has(node);
  shareScatters(tasks, roots, isFree, (source, node) => known.set(source, slotOf(node)));
  const parts = new Map<Node, Node[]>();
  for (const each of partsAmong(tasks)) parts.set(each.inputs[0], [...(parts.get(each.inputs[0]) ?? []), each]);
  return { slotOf, inputOf, partsOf: (bundle) => parts.get(bundle) ?? [] };
}

/** A scatter whose first input nobody else needs changes that memory in place. */
function shareScatters(
  tasks: readonly Task[],
  roots: readonly Node[],
  isFree: (node: Node) => boolean,
  share: (source: Node, node: Node) => void,
): void {
  const scatters = tasks.flatMap((task) => (task.kind === "routine" && isScatter(task.node) ? task.node : []));
  const order = scatters.length > 0 ? pendingInOrder(roots) : [];
  // The last first: its memory is then that of all that lead up to it.
  for (const node of scatters.reverse()) {
    const source = ownedInput(node, order);
    if (source && isFree(source)) share(source, node);
  }
}

const partsAmong = (tasks: readonly Task[]): Node[] =>
  tasks.flatMap((task) => (task.kind === "routine" && task.node.primitive === part ? task.node : []));

const isScatter = ({ primitive }: Node): boolean => primitive === scatter;

const resultsOf = ({ results }: Group): Node[] => results.map(({ node }) => node);
