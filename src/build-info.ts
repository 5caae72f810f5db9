/** What the build knows of itself, for clients that ask. */
import { hostname } from "node:os";
import type { Role } from "./config/role.ts";
import type { BuildInfo } from "./server/http/options.ts";
import { VERSION } from "./version.ts";

/** See the file header. */
export function buildInfo(role: Role = "standalone"): BuildInfo {
  return {
    product: "Varve",
    app: `greptime-${role}`,
    version: VERSION,
    commit: process.env["VARVE_COMMIT"] ?? "unknown",
    branch: "",
    runtime: `bun ${Bun.version}`,
    hostname: hostname(),
  };
}
