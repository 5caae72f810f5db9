/**
 * Runs Bun of the version this repository pins, for people who have only Node and npm: `node bin/bun.mjs <arguments of bun>`.
 *
 * 1. Finds a Bun of exactly that version: on PATH, else in the cache directory, else installs it there from npm.
 * 2. Runs `bun install --frozen-lockfile` unless that was done for this very lock file.
 * 3. Runs Bun with the arguments given, passes signals on, and ends with its status.
 *
 * The cache is `$VARVE_CACHE`, else `$XDG_CACHE_HOME/varve`, else `~/.cache/varve`. A version is complete or absent in it: it is
 * prepared in a directory of its own and renamed into place, so two launchers at once do not disturb each other.
 * The platform's package (`@oven/bun-linux-x64`, …) is installed by its name, since npm may be told to skip the install scripts by which
 * the package `bun` fetches it. Plain Node 20 and no dependencies: nothing is installed yet when this runs.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { constants as osConstants, homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** Folders from whose files `bun install` makes their folder `gen` (script `prepare`): protobuf messages, the dashboard. */
const GENERATED_FROM = ["proto", join("src", "dashboard")];
const EXECUTABLE = process.platform === "win32" ? "bun.exe" : "bun";

/** A second signal of the same kind within this time is the terminal's or npm's copy of the first; a later one is meant. */
const SIGNAL_COPY_MS = 1_000;
/** How long one launcher waits for another's `bun install` before it gives up. */
const INSTALL_WAIT_MS = 300_000;

/** Something outside went wrong; printed as one line. */
class LaunchError extends Error {}

/** The exact Bun version of package.json's `packageManager`. */
function pinnedVersion() {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const match = /^bun@(\d+\.\d+\.\d+)$/.exec(manifest.packageManager ?? "");
  if (match === null) throw new LaunchError(`cannot read the Bun version: package.json has packageManager ${manifest.packageManager}`);
  return match[1];
}

/** What `<path> --version` prints, or the reason why it could not be asked. */
function versionOf(path) {
  const run = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 30_000 });
  if (run.error !== undefined) return { version: undefined, why: run.error.message };
  if (run.status !== 0) return { version: undefined, why: `exit status ${run.status ?? run.signal}: ${run.stderr.trim()}` };
  return { version: run.stdout.trim(), why: "" };
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // absent or not ours to run: the next place is asked
  }
}

function findOnPath(version) {
  for (const directory of (process.env.PATH ?? "").split(delimiter)) {
    if (directory === "") continue;
    const path = join(directory, EXECUTABLE);
    if (isExecutable(path) && versionOf(path).version === version) return path;
  }
  return undefined;
}

function cacheDirectory() {
  if (process.env.VARVE_CACHE) return resolve(process.env.VARVE_CACHE);
  if (process.env.XDG_CACHE_HOME) return join(resolve(process.env.XDG_CACHE_HOME), "varve");
  return join(homedir(), ".cache", "varve");
}

/** npm's name of the package with Bun's executable for this machine. */
function platformPackage() {
  const system = { linux: "linux", android: "linux", darwin: "darwin", win32: "windows", freebsd: "freebsd" }[process.platform];
  const processor = { x64: "x64", arm64: "aarch64" }[process.arch];
  if (system === undefined || processor === undefined) {
    throw new LaunchError(`cannot install Bun: it has no build for ${process.platform} on ${process.arch}`);
  }
  let flavour = "";
  if (process.platform === "android") flavour = "-android";
  if (process.platform === "linux" && process.report.getReport().header.glibcVersionRuntime === undefined) flavour = "-musl";
  return `@oven/bun-${system}-${processor}${flavour}`;
}

/** npm's command: the one that runs us, else the one on PATH. */
function npmCommand() {
  const script = process.env.npm_execpath;
  if (script?.endsWith("npm-cli.js") && existsSync(script)) return { command: process.execPath, first: [script], shell: false };
  return { command: "npm", first: [], shell: process.platform === "win32" };
}

function installBun(version, target) {
  const name = platformPackage();
  process.stderr.write(`varve: installing Bun ${version} (${name}, about 40 MB) into ${target}, once\n`);
  mkdirSync(dirname(target), { recursive: true });
  const work = mkdtempSync(`${target}.tmp-`);
  try {
    const npm = npmCommand();
    const options = ["--prefix", work, "--global=false", "--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
    const run = spawnSync(npm.command, [...npm.first, "install", ...options, "--loglevel=error", `${name}@${version}`], {
      cwd: work,
      stdio: ["ignore", "ignore", "inherit"],
      shell: npm.shell,
    });
    if (run.error !== undefined) throw new LaunchError(`cannot install Bun ${version}: npm did not start: ${run.error.message}`);
    if (run.status !== 0) throw new LaunchError(`cannot install Bun ${version}: npm ended with ${run.status ?? run.signal} (see above)`);
    const found = versionOf(join(work, "node_modules", name, "bin", EXECUTABLE));
    if (found.version !== version) {
      throw new LaunchError(`cannot use the installed Bun: wanted ${version}, it answers ${found.version ?? found.why}`);
    }
    moveIntoPlace(join(work, "node_modules", name, "bin"), target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Renames `from` to `target`, unless another launcher was first with a good one; a broken one is put aside. */
function moveIntoPlace(from, target) {
  try {
    renameSync(from, target);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "EPERM"].includes(error.code)) throw error;
    if (versionOf(join(target, EXECUTABLE)).version !== undefined) return;
    rmSync(target, { recursive: true, force: true });
    renameSync(from, target);
  }
}

function findBun() {
  const version = pinnedVersion();
  const onPath = findOnPath(version);
  if (onPath !== undefined) return onPath;
  const target = join(cacheDirectory(), `bun-${version}`);
  const cached = join(target, EXECUTABLE);
  if (!isExecutable(cached) || versionOf(cached).version !== version) installBun(version, target);
  return cached;
}

/** Names the lock file, the manifest and what is made into files by content; a stamp of this text says that an install was made. */
function lockDigest() {
  const hash = createHash("sha256");
  const names = ["package.json", "bun.lock", ...GENERATED_FROM.flatMap(sourcesIn)];
  for (const name of names)
    hash
      .update(name)
      .update("\0")
      .update(readFileSync(join(ROOT, name)))
      .update("\0");
  return hash.digest("hex");
}

/** Files of a folder that say what is made; none where the folder is not. */
function sourcesIn(folder) {
  if (!existsSync(join(ROOT, folder))) return [];
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => /\.(?:proto|yaml|ts|css|html|svg)$/.test(name) && !/^gen\b/.test(name) && !name.endsWith(".test.ts"))
    .sort()
    .map((name) => join(folder, name));
}

/** Whether everything was made that has something to be made from. */
function isGenerated() {
  return GENERATED_FROM.every((folder) => !existsSync(join(ROOT, folder)) || existsSync(join(ROOT, folder, "gen")));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Takes the install lock, or waits for its holder. The lock of a launcher that died is taken over. */
async function takeInstallLock(path) {
  const deadline = performance.now() + INSTALL_WAIT_MS;
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx" });
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const holder = existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
    if (holder > 0 && !isAlive(holder)) rmSync(path, { force: true });
    else if (performance.now() > deadline) throw new LaunchError(`cannot install dependencies: process ${holder} holds ${path}; remove it`);
    else await new Promise((wake) => setTimeout(wake, 100));
  }
}

/** Installs the locked dependencies unless the stamp says that this lock file is installed. */
async function installDependencies(bun, environment) {
  const modules = join(ROOT, "node_modules");
  const stamp = join(modules, ".varve-lock");
  const digest = lockDigest();
  const isDone = () => existsSync(stamp) && readFileSync(stamp, "utf8") === digest && isGenerated();
  if (isDone()) return;
  mkdirSync(modules, { recursive: true });
  const lock = join(modules, ".varve-installing");
  await takeInstallLock(lock);
  try {
    if (isDone()) return; // another launcher did it while this one waited
    const run = spawnSync(bun, ["install", "--frozen-lockfile"], { cwd: ROOT, env: environment, stdio: ["ignore", 2, 2] });
    if (run.status !== 0)
      throw new LaunchError(`cannot install dependencies: bun install ended with ${run.status ?? run.signal} (see above)`);
    writeFileSync(stamp, digest);
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Passes signals to the child, each once. At a terminal, Ctrl-C reaches the child by itself (it is in our process group), so SIGINT is
 * only waited out there: passing it on would be a second one, which a server takes for "now, without a clean stop".
 */
function forwardSignals(send) {
  const lastAt = new Map();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      const isCopy = performance.now() - (lastAt.get(signal) ?? Number.NEGATIVE_INFINITY) < SIGNAL_COPY_MS;
      lastAt.set(signal, performance.now());
      if (isCopy || (signal === "SIGINT" && process.stdin.isTTY)) return;
      send(signal);
    });
  }
}

function runBun(bun, args, environment) {
  forwardSignals((signal) => child.kill(signal)); // before the child runs, so that no signal finds the launcher unprepared
  const child = spawn(bun, args, { stdio: "inherit", env: environment });
  child.on("error", (error) => {
    process.stderr.write(`varve: cannot run ${bun}: ${error.message}\n`);
    process.exitCode = 1;
  });
  // A shell's convention for a child that a signal ended, so that callers see 143 for SIGTERM.
  child.on("exit", (status, signal) => process.exit(status ?? 128 + (osConstants.signals[signal] ?? 0)));
}

try {
  const bun = findBun();
  const environment = { ...process.env, PATH: [dirname(bun), process.env.PATH ?? ""].join(delimiter) };
  await installDependencies(bun, environment);
  runBun(bun, process.argv.slice(2), environment);
} catch (error) {
  process.stderr.write(`varve: ${error instanceof LaunchError ? error.message : error.stack}\n`);
  process.exitCode = 1;
}
