/** Derivatives given by hand: results that bring their own rules. */
import { UnsupportedError } from "../../core/errors.js";
import { makeNode } from "../build.js";
import { abstractInOrder, makePlaceholder } from "../function.js";
import type { Node } from "../node.js";
import type { BatchedInput, CompositePrimitive } from "../primitive.js";
import type { GraphOps } from "../vocabulary.js";
import { inferBundle, outputOf, partsOf } from "./bundle.js";

/** Maps arguments, results, and tangents or cotangents of one side to those of the other; null stands for zero. */
type CustomRule = (
  args: readonly Node[],
  results: readonly Node[],
  changes: readonly (Node | null)[],
) => readonly (Node | null)[];

/** The derivative rules of a `custom` node. */
export interface CustomRules {
  readonly jvp: CustomRule | null;
  readonly vjp: CustomRule;
  /** The rules for a batch of members; `isBatched` lists the arguments, then the results. */
  batch(isBatched: readonly boolean[], size: number): CustomRules;
}

/** Results with custom derivatives. Inputs: results, arguments. Params: results, their number. */
const custom: CompositePrimitive = {
  name: "custom",
  kind: "composite",
  infer: inferBundle,
  expand: (_g, { params }, inputs) => inputs.slice(0, params.results as number),
  bundle: {
    jvp: (g, node, tangents) => {
      const count = node.params.results as number;
      const { jvp } = rulesOf(node);
      const args = node.inputs.slice(count);
      const results = node.inputs.slice(0, count);
      if (jvp) return jvp(args, results, tangents.slice(count));
      const seeds = results.map(makePlaceholder);
      return transposed(g, "vjp", seeds, rulesOf(node).vjp(args, results, seeds), tangents.slice(count));
    },
    vjp: (_g, node, cotangents) => {
      const count = node.params.results as number;
      const results = node.inputs.slice(0, count);
      return [...results.map(() => null), ...rulesOf(node).vjp(node.inputs.slice(count), results, cotangents)];
    },
    batch: (g, node, inputs, size) => {
      const count = node.params.results as number;
      const whole = ({ node: each, isBatched }: BatchedInput) =>
        isBatched ? each : g.broadcast(each, [size, ...each.shape]);
      const results = inputs.slice(0, count).map(whole);
      const isBatched = inputs.map((input, i) => i < count || input.isBatched);
      const own = rulesOf(node).batch([...isBatched.slice(count), ...isBatched.slice(0, count)], size);
      const parts = customNode(
        results,
        inputs.slice(count).map((input) => input.node),
        own,
      );
      return parts.map((each) => ({ node: each, isBatched: true }));
    },
  },
};

/**
 * The transpose of a rule that is linear in `seeds`: from cotangents of its results to cotangents of the seeds. It is the
 * derivative of the rule.
 */
export function transposed(
  g: GraphOps,
  rule: "vjp" | "jvp",
  seeds: readonly Node[],
  made: readonly (Node | null)[],
  changes: readonly (Node | null)[],
): (Node | null)[] {
  const moving = made.flatMap((node, i) => (node && changes[i] ? [{ node, change: changes[i] }] : []));
  const turned = g.pullBack(
    moving.map(({ node }) => node),
    moving.map(({ change }) => change),
    seeds,
  );
  const present = turned.filter((node) => node !== null);
  if (abstractInOrder(present, seeds).length === 0) return turned;
  const [way, other, by] = rule === "vjp" ? ["Forward", "jvp", "cotangent"] : ["Reverse", "vjp", "tangent"];
  throw new UnsupportedError(
    `customGradient: ${way} mode would use the ${rule} turned around, but the ${rule} is not linear in the ${by} (it clips or ` +
      `compares it, say); give a ${other}, too.`,
  );
}

/** An attachment, not a parameter: rules do not affect the program that a node compiles to. */
const rulesOf = (node: Node): CustomRules => node.attachment as CustomRules;

export function customNode(results: readonly Node[], args: readonly Node[], own: CustomRules): Node[] {
  if (results.length === 0) return [];
  const params = { results: results.length, outputs: results.map(outputOf) };
  const node = makeNode(custom, [...results, ...args], params, results[0].device);
  node.attachment = own;
  return partsOf(node);
}
