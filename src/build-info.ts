/** What the build knows of itself, for clients that ask. */
import { hostname } from "node:os";
import type { BuildInfo } from "./server/http/options.ts";
import { VERSION } from "./version.ts";

/** See the file header. */
export function buildInfo(): BuildInfo {
  return {
    product: "Varve",
    app: "greptime-standalone",
    version: VERSION,
    commit: process.env["VARVE_COMMIT"] ?? "unknown",
    branch: "",
    runtime: `bun ${Bun.version}`,
    hostname: hostname(),
  };
}
