/**
 * A server whose ingest threads break: `bun faulty-server.ts <threads' program> <flags of a server>`. Runs as the real one does, but for
 * the program of its threads.
 */
import { readFileSync } from "node:fs";
import { RootLog } from "../../src/base/log.ts";
import { loadSettings } from "../../src/config/load.ts";
import { startStandalone } from "../../src/standalone.ts";
import { SHARDS } from "./server-process.ts";

const [script = "", ...argv] = process.argv.slice(2);
const startup = loadSettings({ argv, env: SHARDS, readFile: (path) => readFileSync(path) });
if (startup.kind !== "start") throw new Error("flags of a server are wanted");
const log = new RootLog(startup.settings.logging.level);
await startStandalone(
  startup.settings,
  log,
  (error) => {
    log.logger("main").error({ error: error.message }, "a broken invariant");
    process.exit(1);
  },
  new URL(script, import.meta.url).href,
);
