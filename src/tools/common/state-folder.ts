/** Where tools keep what they remember. */
import { join } from "node:path";

/** Where state of tools lies; undefined: this user has no folder. Source: XDG Base Directory Specification 0.8. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const given = env["XDG_STATE_HOME"];
  if (given?.startsWith("/") === true) return join(given, "varve"); // Others are to be ignored, says the specification.
  const home = env["HOME"];
  return home === undefined || home === "" ? undefined : join(home, ".local/state/varve");
}
