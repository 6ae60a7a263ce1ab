/** Where the time goes: `await profile(() => …)` gives a table per kernel and a trace for Perfetto. */
import type { Profile } from "../engines/profile.js";
import { backendFor, defaultDevice } from "./devices.js";

/** Runs `work` and times every kernel that runs on the device, the default one unless told. */
export function profile(work: () => unknown, options: { readonly device?: string } = {}): Promise<Profile> {
  return backendFor(options.device ?? defaultDevice()).profile(work);
}
