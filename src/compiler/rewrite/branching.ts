/**
 * Choices of which only one branch is computed. The default is to compute all branches and select element by element, which
 * fuses with the operations around it and is best for short branches. Long branches get kernels of their own instead, and
 * the kernels of branches not taken end at once. `expandComposites` asks for every choice.
 */
import { isComplex, realDType } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import type { GraphFunction } from "../../graph/function.js";
import { inputsFirst, Node } from "../../graph/node.js";
import { type Output, outputsOf, part } from "../../graph/primitives/bundle.js";
import { branching } from "../../graph/primitives/control/choice.js";
import type { ScanParams } from "../../graph/primitives/control/scan.js";
import { whileLoop } from "../../graph/primitives/control/while.js";
import { dot, matrixProduct } from "../../graph/primitives/dot.js";
import { complexOfMemory, memoryOfComplex } from "./complex.js";

/** Element operations from which on separate kernels pay. */
const WORTH_IT = 1 << 18;

/** True if a choice has a scalar index and long branches. */
export function isWorthBranching(choice: Node): boolean {
  const [index] = choice.inputs;
  const branches = choice.params.branches as readonly GraphFunction[];
  if (index.shape.length > 0 || branches.length < 2) return false;
  return branches.reduce((sum, branch) => sum + costOf(branch), 0) >= WORTH_IT;
}

/** The parts of the choice, as results of a `branching`. Complex numbers go in and come out as they lie in memory. */
export function branched(choice: Node, inputs: readonly Node[]): Node[] {
  const own = (node: Node) => {
    node.isAbstract = true;
    return node;
  };
  const { params, shape, dtype, device } = choice;
  const given = inputs.map((input) => (isComplex(input.dtype) ? memoryOfComplex(input) : input));
  const bundle = own(new Node(branching, params, given, shape, dtype, device));
  return outputsOf(choice).map((output, i) => {
    const of = (lies: Output) => own(new Node(part, { index: i }, [bundle], lies.shape, lies.dtype, device));
    if (!isComplex(output.dtype)) return of(output);
    return complexOfMemory(of({ shape: [...output.shape, 2], dtype: realDType(output.dtype) }));
  });
}

/** The approximate number of element operations of a function; infinite for a while loop. */
function costOf({ parameters, results }: GraphFunction): number {
  const given = new Set(parameters);
  let sum = 0;
  for (const node of inputsFirst(results, ({ inputs }) => inputs)) if (!given.has(node)) sum += costOfNode(node);
  return sum;
}

function costOfNode({ primitive, params, shape, inputs }: Node): number {
  if (primitive === whileLoop) return Number.POSITIVE_INFINITY;
  if (params.branches) return Math.max(...(params.branches as readonly GraphFunction[]).map(costOf));
  if (params.body) return ((params as unknown as ScanParams).length ?? 1) * costOf(params.body as GraphFunction);
  if (primitive === dot || primitive === matrixProduct)
    return sizeOf(shape) * inputs[0].shape[inputs[0].shape.length - 1];
  return Math.max(sizeOf(shape), ...inputs.map((input) => sizeOf(input.shape)));
}
