/**
 * Rematerialisation: a layer whose inner values are not kept for the gradient but computed again on the way back (Chen et al.
 * 2016). Memory for time; parameters, paths and results are the same. Hooks see the layer's output, and not those inside it.
 */
import { checkpoint } from "../../transforms/custom.js";
import { checkLayer, type Definition, type Layer } from "./layer.js";
import { Scope } from "./scope.js";
import { emptyTree, finished, isSubtree, putAt, type VariableTree } from "./variables.js";

/** The same layer, computed again for the gradient: `model.replace("encoder", rematerialize)`. */
export function rematerialize<In, Out>(layer: Layer<In, Out>): Layer<In, Out> {
  checkLayer("rematerialize", layer);
  return layer.around(
    (run) => (scope, input) => (scope.isInitializing ? run(scope, input) : recomputed(run, scope, input)),
  );
}

/** State that the layer sets is a result of the function that is computed again: it has to leave it. */
function recomputed<In, Out>(run: Definition<In, Out>["run"], scope: Scope, input: In): Out {
  const again = checkpoint((x: In): [Out, VariableTree] => {
    const own = { ...scope.run, newState: emptyTree(), watchers: [] };
    const output = run(new Scope(own, scope.path, scope.kind, scope.inherited), x);
    return [output, finished(own.newState)];
  });
  const [output, state] = again(input);
  copyState(state, [], scope);
  return output;
}

function copyState(tree: VariableTree, path: readonly string[], scope: Scope): void {
  for (const [name, value] of Object.entries(tree)) {
    if (isSubtree(value)) copyState(value, [...path, name], scope);
    else putAt(scope.run.newState, path, name, value);
  }
}
