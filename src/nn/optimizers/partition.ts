/** Parameters in groups, each with an optimiser of its own; masks; and parameters that stay as they are. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, zerosLike } from "../../tensor/index.js";
import { unflatten } from "../../transforms/trees.js";
import {
  besideParams,
  checkOptimizer,
  describedOptimizer,
  type FlatParams,
  flatParams,
  type Optimizer,
  type OptimizerState,
  printedAs,
  stateIn,
} from "./optimizer.js";
import { type Labels, labelled, type Mask, selected } from "./selection.js";

/** The parameters of a group, by path. */
type Group = Record<string, Tensor>;

/**
 * An optimiser for each group of parameters. Labels are a function of the path, or a tree that may end early:
 * `partition((path) => (path.endsWith("biases") ? "noDecay" : "decay"), { decay: adamw(1e-3), noDecay: adam(1e-3) })`.
 */
export function partition(labels: Labels, groups: Readonly<Record<string, Optimizer>>): Optimizer {
  if (typeof groups !== "object" || groups === null) {
    throw new ArgumentError(
      `partition: groups are optimisers by label, as { decay: adamw(1e-3) }, not ${shown(groups)}.`,
    );
  }
  for (const each of Object.values(groups)) checkOptimizer("partition", each);
  const labelsOf = (flat: FlatParams) => checkedLabels(labelled("partition", labels, flat), groups, flat);
  const parts = Object.entries(groups).map(([name, each]) => `${name}: ${describedOptimizer(each)}`);
  return printedAs(`partition({ ${parts.join(", ")} })`, grouped("partition", labelsOf, groups));
}

/** A transform for some parameters only; gradients of the others pass as they are. */
export function mask(transform: Optimizer, only: Mask): Optimizer {
  checkOptimizer("mask", transform);
  const labelsOf = (flat: FlatParams) => selected("mask", only, flat).map(String);
  return printedAs(
    `mask(${describedOptimizer(transform)})`,
    grouped("mask", labelsOf, { true: transform, false: identity() }),
  );
}

/** Updates of zero: parameters of this group stay as they are. */
export function freeze(): Optimizer {
  return printedAs("freeze()", {
    init: () => ({}),
    update: (gradients, state, params) => {
      const flat = flatParams("freeze", params);
      besideParams("freeze", "the gradients", flat, gradients);
      return [
        unflatten(
          flat.structure,
          flat.leaves.map((leaf) => zerosLike(leaf)),
        ) as typeof params,
        state,
      ];
    },
  });
}

/** Changes nothing. */
export const identity = (): Optimizer =>
  printedAs("identity()", { init: () => ({}), update: (gradients, state) => [gradients, state] });

function grouped(
  operation: string,
  labelsOf: (params: FlatParams) => string[],
  groups: Readonly<Record<string, Optimizer>>,
): Optimizer {
  const members = (flat: FlatParams, labels: readonly string[], values: readonly Tensor[], name: string): Group =>
    Object.fromEntries(flat.paths.flatMap((path, i) => (labels[i] === name ? [[path, values[i] as Tensor]] : [])));
  return {
    init(params) {
      const flat = flatParams(operation, params);
      const labels = labelsOf(flat);
      const entries = Object.entries(groups).map(([name, each]) => [
        name,
        each.init(members(flat, labels, flat.leaves, name)),
      ]);
      return Object.fromEntries(entries) as OptimizerState;
    },
    update(gradients, state, params, extras) {
      const flat = flatParams(operation, params);
      const labels = labelsOf(flat);
      const given = besideParams(operation, "the gradients", flat, gradients);
      const found: Group = {};
      const next: Record<string, OptimizerState> = {};
      for (const [name, each] of Object.entries(groups)) {
        const [own, mine] = [members(flat, labels, given, name), members(flat, labels, flat.leaves, name)];
        const [updates, after] = each.update(own, stateIn(operation, state, name), mine, extras);
        Object.assign(found, updates);
        next[name] = after;
      }
      return [
        unflatten(
          flat.structure,
          flat.paths.map((path) => found[path] as Tensor),
        ) as typeof params,
        next,
      ];
    },
  };
}

function checkedLabels(labels: string[], groups: Readonly<Record<string, Optimizer>>, flat: FlatParams): string[] {
  const wrong = labels.findIndex((label) => !Object.hasOwn(groups, label));
  if (wrong < 0) return labels;
  throw new ArgumentError(
    `partition: the parameter ${flat.paths[wrong]} has the label "${labels[wrong]}"; there are ${Object.keys(groups).join(", ")}.`,
  );
}
