/** A frontend of a cluster, wired from its settings. */
import { DbError } from "./base/error.ts";
import type { RootLog } from "./base/log.ts";
import { StatusCode } from "./base/status-code.ts";
import { openClusterParts } from "./cluster-parts.ts";
import type { Settings } from "./config/settings.ts";
import type { RunningServer } from "./running-server.ts";

/**
 * Starts a frontend and resolves when it is ready.
 *
 * @param onBug called when a broken invariant was met: the process should end
 * @throws DbError with one line for the operator
 */
export async function startFrontend(settings: Settings, log: RootLog, onBug: (error: Error) => void): Promise<RunningServer> {
  const { port } = await openClusterParts(settings, "frontend", log);
  void onBug; // Nothing runs yet.
  await port.close();
  throw new DbError(StatusCode.Unsupported, "cannot start a frontend: NATS is as it must be, but this version has no more of it yet");
}
