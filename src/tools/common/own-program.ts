import { resolve } from "node:path";

/** This program, for it to be started anew: a single-file build is all of it. */
export const OWN_PROGRAM: readonly string[] = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, resolve(import.meta.dir, "../../main.ts")];
