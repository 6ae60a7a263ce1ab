/** What became of each tensor and each parameter when parameters were loaded: a value to look at, and to print. */
import { formatShape, type Shape } from "../../core/shape.js";

/** A tensor of a file that was to become a parameter, but does not fit. */
export interface Mismatch {
  /** The tensor's name in the file. */
  readonly name: string;
  /** The parameter's path. */
  readonly path: string;
  /** Shape and dtype of the tensor, and of the parameter. */
  readonly found: string;
  readonly wanted: string;
}

/** Lists of a report show so many names. */
const SHOWN = 12;

/** What `loadParameters` did. */
export class LoadReport {
  constructor(
    /** Parameters that were loaded, and the tensor of the file that each came from. */
    readonly matched: readonly { readonly path: string; readonly name: string }[],
    /** Parameters that the file has nothing for: they stay as they were. */
    readonly missing: readonly string[],
    /** Tensors of the file that no parameter has the name of. */
    readonly unexpected: readonly string[],
    /** Tensors that do not fit: their parameters stay as they were. */
    readonly mismatched: readonly Mismatch[],
    /** Tensors that `map` left out. */
    readonly ignored: readonly string[],
  ) {}

  /** Whether every parameter was loaded and every tensor used or left out on purpose. */
  get isComplete(): boolean {
    return this.missing.length + this.unexpected.length + this.mismatched.length === 0;
  }

  toString(): string {
    const lines = [`${this.matched.length} of ${this.wanted} parameters loaded`];
    const list = (title: string, names: readonly string[]) => {
      if (names.length === 0) return;
      const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
      lines.push(`${title}: ${names.slice(0, SHOWN).join(", ")}${more}`);
    };
    list("missing in the file", this.missing);
    list("unexpected in the file", this.unexpected);
    const misfits = this.mismatched.map(
      ({ name, path, found, wanted }) => `${path} is ${wanted}, but ${name} is ${found}`,
    );
    list("of another shape", misfits);
    list("left out", this.ignored);
    return lines.join("\n");
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  private get wanted(): number {
    return this.matched.length + this.missing.length + this.mismatched.length;
  }
}

/** A shape and a dtype as reports show them: f32 [3, 4]. */
export const shownKind = (dtype: string, shape: Shape): string => `${dtype} ${formatShape(shape)}`;
