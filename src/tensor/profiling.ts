/** Profiles: `await profile(() => …)` gives a table of times per kernel and a trace for Perfetto. */

import { checkFunction, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { Profile } from "../runtime/backend.js";
import { backendFor } from "./devices.js";

/** Runs `work` and times every kernel that runs on the device, the default one unless told. */
export function profile(work: () => unknown, options: { readonly device?: string } = {}): Promise<Profile> {
  checkCount("profile", 2, arguments);
  checkFunction("profile", work);
  checkOptions("profile", options, { device: "text" });
  return backendFor(options.device, "profile").profile(work);
}
