/** SHA-256 in hexadecimal digits: the keys of programs and kernels on disk. */
import { createHash } from "node:crypto";

export const sha256 = (contents: string | Uint8Array): string => createHash("sha256").update(contents).digest("hex");
