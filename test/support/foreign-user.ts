/** Files of other users: only root can make them. */
import { lchownSync } from "node:fs";

/** A user who is neither root nor the one that runs the tests. */
export const STRANGER = 54_321;

/** The `skip` option of a test that gives files to another user: false for root, else the reason. */
export const onlyRoot: string | false =
  process.geteuid?.() === 0
    ? false
    : "only root can give files to another user; run the tests as root to have this one";

/** The `skip` option of a test about owners, modes, links and pipes. */
export const onlyUnix: string | false =
  process.platform === "win32" ? "Windows has no owners and modes of files, and no pipes with names" : false;

export const giveAway = (path: string): void => lchownSync(path, STRANGER, STRANGER);
