/**
 * Extents that `init` was not told: null in the shape of an input. Parameters must not depend on them, or they would have the shape of an
 * example that nobody meant. Initialising runs are lazy, so a few more with other extents show it for nothing. `init` calls this.
 */
import { ShapeError } from "../../core/errors.js";
import { formatShape, type Shape, sameShape } from "../../core/shape.js";
import { type InputSpec, nullsOf } from "./input-spec.js";
import { findAt, isSubtree, pathText, type VariableTree } from "./variables.js";

/** The extent that stands for null, and the one where windows do not fit into it. */
export const SMALL = 1;
export const WIDE = 224;

/** Other extents, in runs that are compared with the first: the batch takes one, and strides hide small differences of others. */
const OTHERS = { none: [], batch: [2], others: [2, 256, 512] } as const;

interface Made {
  readonly params: VariableTree;
  readonly newState: VariableTree;
}

/** Throws where the shape of a parameter or of state depends on an extent that is null. `run` initialises with another extent. */
export function checkIndependent(
  input: InputSpec,
  made: Made,
  run: (extent: number) => Made & { readonly kinds: ReadonlyMap<string, string> },
): void {
  for (const extent of OTHERS[nullsOf(input)]) {
    let other: ReturnType<typeof run>;
    try {
      other = run(extent);
    } catch {
      // The model does not take this extent, and so tells nothing. The first run has passed.
      continue;
    }
    for (const [what, before, after] of [
      ["parameter", made.params, other.params],
      ["state", made.newState, other.newState],
    ] as const) {
      for (const { path, shape } of shapesIn(before)) {
        const found = findAt(after, path);
        if (found === undefined || isSubtree(found) || sameShape(found.shape, shape)) continue;
        throw dependent(what, path, [shape, found.shape], other.kinds);
      }
    }
  }
}

function dependent(
  what: "parameter" | "state",
  path: readonly string[],
  [shape, other]: readonly [Shape, Shape],
  kinds: ReadonlyMap<string, string>,
): ShapeError {
  const place = pathText(path.slice(0, -1));
  const kind = kinds.get(place) ?? "layer";
  const label = place === "" ? kind : `${kind} "${place}"`;
  return new ShapeError(
    `${label}: the shape of its ${what} "${path.at(-1)}" depends on an extent of the input that is null ` +
      `(${formatShape(shape)} or ${formatShape(other)}, for example); give it, as in [null, 784].`,
  );
}

const shapesIn = (
  tree: VariableTree,
  path: readonly string[] = [],
): { readonly path: readonly string[]; readonly shape: Shape }[] =>
  Object.entries(tree).flatMap(([name, value]) =>
    isSubtree(value) ? shapesIn(value, [...path, name]) : [{ path: [...path, name], shape: value.shape }],
  );
