/**
 * What the process does: reads the command line, starts a server, ends it on a signal. `main.ts` runs it.
 *
 * Exit status: 0 after SIGINT or SIGTERM, 1 when the server cannot start or had to stop, 2 for a wrong command line. A second signal
 * ends the process at once. SIGHUP reads accounts and certificates again; when the terminal of the process was closed, it ends it.
 *
 * Only a server loads the server: help and refusals of a command line or file take 0.04 s of processor time from sources instead of 0.29 s,
 * and 0.07 s from a build, whose bytecode is read as a whole.
 */
import { readFileSync } from "node:fs";
import { AssertionError, bugText } from "./base/assert.ts";
import { DbError, errorText } from "./base/error.ts";
import { armFailPoints, FAIL_POINTS_VARIABLE } from "./base/process/fail-point.ts";
import { ServiceManager } from "./base/process/service-manager.ts";
import { isTerminalGone } from "./base/process/terminal.ts";
import { type Logger, RootLog } from "./base/log.ts";
import { textLogWriter } from "./base/text-log.ts";
import { printLogFilter } from "./base/text/log-filter.ts";
import { ConfigError } from "./config/config-error.ts";
import { versionText } from "./config/help.ts";
import type { Role } from "./config/role.ts";
import type { Settings } from "./config/settings.ts";
import { loadSettings, type Start, type Startup } from "./config/load.ts";
import { firstLine, hashPassword } from "./db/auth/hash-password.ts";
import type { RunningServer } from "./running-server.ts";
import { PRIVATE_UMASK } from "./storage/private-folder.ts";
import { runTool } from "./tools/run-tool.ts";
import { TOOLS } from "./tools/tools.ts";
import type { Rehearsal } from "./rehearsal.ts";
import { VERSION } from "./version.ts";

async function main(): Promise<void> {
  const [name, ...args] = process.argv.slice(2);
  const tool = TOOLS.find((candidate) => candidate.name === name);
  if (tool !== undefined) return await runTool(tool, args);
  const startup = loadSettings({ argv: process.argv.slice(2), env: process.env, readFile: (path) => readFileSync(path), tools: TOOLS });
  if (startup.kind === "start") await serve(startup);
  else process.stdout.write(`${(await answer(startup)).trimEnd()}\n`);
}

/** What a command that is not a server prints. */
async function answer(command: Exclude<Startup, Start>): Promise<string> {
  switch (command.kind) {
    case "help":
      return command.text;
    case "version":
      return versionText({ version: VERSION, commit: process.env["VARVE_COMMIT"] ?? "unknown", branch: "" }, command.isLong);
    case "hash-password": {
      const password = command.request.password ?? firstLine(await Bun.stdin.text());
      return hashPassword(password, command.request);
    }
  }
}

async function serve({ role, settings, warnings }: Start): Promise<void> {
  process.umask(PRIVATE_UMASK); // All threads have it: data, logs, spilled rows and copies are for this user alone.
  const filter = settings.logging.level;
  if (filter.level === "off" && filter.targets.size > 0) {
    // Said past the log, which may be silent only because a level was misspelt: an unknown word is a target.
    process.stderr.write(`varve: warning: logging.level "${printLogFilter(filter)}" names targets only, so the rest of the log is off\n`);
  }
  const log = new RootLog(filter, await textLogWriter(settings.logging.format));
  const logger = log.logger("main");
  const manager = ServiceManager.of(process.env, logger);
  manager?.starting();
  const asked = Promise.withResolvers<void>();
  let isStopping = false;
  const stop = (why: string): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    logger.info({ why }, "stopping");
    manager?.stopping();
    asked.resolve();
  };
  let reload = async (): Promise<void> => logger.info({}, "nothing to reload: the server starts, and reads what is there");
  const hadTerminal = process.stdin.isTTY || process.stderr.isTTY;
  process.on("SIGHUP", () => {
    if (isStopping) return;
    if (isTerminalGone(hadTerminal)) return stop("SIGHUP");
    logger.info({}, "reloading");
    void reload(); // never rejects
  });
  process.on("SIGINT", () => stop("SIGINT"));
  process.on("SIGTERM", () => stop("SIGTERM"));
  const bug = (error: unknown): void => {
    logger.error({ error: bugText(error) }, "a broken invariant: stopping, since the state in memory can no longer be trusted");
    process.exit(1); // Without a flush: everything acknowledged is in the log.
  };
  process.on("uncaughtException", bug);
  process.on("unhandledRejection", bug);
  const armed = armFailPoints(process.env[FAIL_POINTS_VARIABLE]);
  if (armed.length > 0) logger.warn({ armed }, "fail points are armed: this server is made to die or fail, for a test");
  // Only now, so that whoever reads them may send a signal.
  for (const warning of warnings) logger.warn({}, warning);
  const { server, rehearse } = await startRole(role, settings, log, bug);
  manager?.ready(`ready at ${server.url}`);
  let failure: string | undefined;
  void server.over?.then((why) => {
    failure = why;
    logger.error({ why }, "the server cannot go on");
    if (!isStopping) stop(why);
  });
  reload = async () => {
    manager?.reloading();
    await server.reload();
    if (!isStopping) manager?.ready(`ready at ${server.url}`);
  };
  // Fail points count what the server itself does.
  const isRehearsed = settings.query.rehearses && armed.length === 0;
  const rehearsal = isRehearsed ? await rehearse(logger) : undefined;
  await asked.promise; // A signal during the start is obeyed once the start is through.
  rehearsal?.stop();
  await rehearsal?.over; // Tens of milliseconds: it may hold a file open.
  await end(server, logger, () => (failure === undefined ? 0 : 1));
}

/** A server of a role, and how its statements are rehearsed. */
interface Started {
  readonly server: RunningServer;
  readonly rehearse: (logger: Logger) => Promise<Rehearsal | undefined>;
}

/** Loads the program of a role, and starts it. @throws DbError */
async function startRole(role: Role, settings: Settings, log: RootLog, onBug: (error: Error) => void): Promise<Started> {
  const none = (): Promise<undefined> => Promise.resolve(undefined);
  switch (role) {
    case "standalone": {
      const server = await (await import("./standalone.ts")).startStandalone(settings, log, onBug);
      return { server, rehearse: async (logger) => (await import("./rehearsal.ts")).rehearse(settings, logger, server) };
    }
    case "frontend":
      return { server: await (await import("./frontend.ts")).startFrontend(settings, log, onBug), rehearse: none };
    case "datanode":
      return { server: await (await import("./datanode.ts")).startDatanode(settings, log, onBug), rehearse: none };
  }
}

async function end(server: RunningServer, logger: Logger, statusOf: () => number): Promise<never> {
  try {
    await server.stop();
  } catch (error) {
    const text = errorText(error);
    logger.error({ error: text }, "cannot stop cleanly; the log has every acknowledged row");
    process.exit(1);
  }
  process.exit(statusOf());
}

/** Runs until there is nothing left to do. @throws AssertionError for a bug in a tool or a start */
export async function run(): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    const message = errorText(error);
    process.stderr.write(`varve: ${error instanceof DbError || error instanceof ConfigError ? message : `cannot start: ${message}`}\n`);
    process.exit(error instanceof ConfigError ? error.exitCode : 1);
  }
}
