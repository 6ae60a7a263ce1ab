/**
 * Parameters and state beside the model that they belong to: what may be given as such, and whether names and shapes fit. A file has
 * no input, so that only what the layers say of themselves is compared: names of parts, and shapes that follow from options.
 */
import { ArgumentError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isPlainObject } from "../../io/trees/json.js";
import { isTensor } from "../../tensor/index.js";
import type { AnyLayer } from "../core/layer.js";
import type { Variables, VariableTree } from "../core/variables.js";
import { makerOf } from "./registry.js";

/** What functions of files take: the result of `init`, of `train`, or anything else with parameters. */
export interface GivenVariables {
  readonly params: VariableTree;
  readonly state?: VariableTree;
}

/** Parameters and state of what was given. */
export function variablesGiven(operation: string, given: GivenVariables): Variables {
  const { params, state = {} } = (typeof given === "object" && given !== null ? given : {}) as Partial<GivenVariables>;
  if (isPlainObject(params) && isPlainObject(state)) return { params, state };
  throw new ArgumentError(
    `${operation}: takes the variables that init or train gave, { params, state }, not ${shown(given)}.`,
  );
}

/** Layers that have parts, and no variables of their own. */
const CONTAINERS = ["sequential", "block", "cond"];

type Expected = { readonly [name: string]: readonly (number | null)[] };

/** The parameters of layers whose options tell their shapes. A null is any extent. */
const PARAMETERS: Readonly<Record<string, (options: Readonly<Record<string, unknown>>) => Expected>> = {
  dense: ({ units, useBias = true }) => ({
    weights: [null, units as number],
    ...(useBias === true && { biases: [units as number] }),
  }),
  embedding: ({ count, features }) => ({ weights: [count as number, features as number] }),
};

/** Throws, by path, where variables are not those of the model. */
export function checkFits(model: AnyLayer, { params, state }: Variables, fail: (message: string) => Error): void {
  walk(model, params, state, [], true);

  function walk(
    layer: AnyLayer,
    own: VariableTree,
    kept: VariableTree,
    path: readonly string[],
    isUsed: boolean,
  ): void {
    const isContainer = CONTAINERS.includes(layer.kind) && !makerOf(layer.kind);
    if (isContainer) {
      checkParts(layer, own, "params", path);
      checkParts(layer, kept, "state", path);
    }
    const expected = makerOf(layer.kind) || !Object.hasOwn(PARAMETERS, layer.kind) ? undefined : PARAMETERS[layer.kind];
    // A part that a block never calls has no parameters.
    if (expected && (isUsed || Object.keys(own).length > 0)) checkOwn(layer, own, expected(layer.options), path);
    for (const [name, part] of Object.entries(layer.parts)) {
      const isAlways = isUsed && layer.kind === "sequential";
      walk(part, below(own, name, "params", path), below(kept, name, "state", path), [...path, name], isAlways);
    }
  }

  function below(tree: VariableTree, name: string, of: string, path: readonly string[]): VariableTree {
    const found = Object.hasOwn(tree, name) ? tree[name] : {};
    if (!isTensor(found) && isPlainObject(found)) return found as VariableTree;
    throw fail(`${[of, ...path, name].join(".")} is ${shown(found)}, not the variables of a layer`);
  }

  function checkParts(layer: AnyLayer, tree: VariableTree, of: string, path: readonly string[]): void {
    const strange = Object.keys(tree).find((name) => !Object.hasOwn(layer.parts, name));
    if (strange === undefined) return;
    const where = path.length > 0 ? `"${path.join(".")}"` : "the model";
    const names = Object.keys(layer.parts).join(", ");
    throw fail(`${[of, ...path, strange].join(".")} belongs to no layer; the parts of ${where} are ${names}`);
  }

  function checkOwn(layer: AnyLayer, own: VariableTree, expected: Expected, path: readonly string[]): void {
    const at = (name: string) => ["params", ...path, name].join(".");
    for (const [name, shape] of Object.entries(expected)) {
      const found = Object.hasOwn(own, name) ? own[name] : undefined;
      if (!isTensor(found)) throw fail(`${at(name)} is missing, which ${layer.kind} has`);
      const isRight =
        found.rank === shape.length && shape.every((extent, i) => (extent ?? found.shape[i]) === found.shape[i]);
      if (isRight) continue;
      const wanted = `[${shape.map((extent) => extent ?? "any").join(", ")}]`;
      throw fail(`${at(name)} has shape ${formatShape(found.shape)}, but ${layer.kind} needs ${wanted}`);
    }
    const strange = Object.keys(own).find((name) => !Object.hasOwn(expected, name));
    if (strange !== undefined) throw fail(`${at(strange)} is no parameter of ${layer.kind}`);
  }
}
