/** `bin/bun.mjs` in a repository of its own, with a stand-in for npm and for the Bun that it installs. Needs no network. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./tidy/source-tree.ts";

/** A version that no real Bun has: the one on PATH must not be taken. */
const VERSION = "9.9.9";
const NODE = Bun.which("node");

/** Answers like Bun; notes installs; for `wait` it says so and ends with 7 on SIGTERM. */
const FAKE_BUN = `#!/bin/sh
case "$1" in
  --version) echo "\${FAKE_VERSION:-${VERSION}}" ;;
  install) sleep 0.1; echo "install $2" >> "$FAKE_LOG"; exit "\${FAKE_INSTALL_STATUS:-0}" ;;
  wait) trap 'echo term >> "$FAKE_LOG"; sleep 0.3; exit 7' TERM; echo ready; while :; do sleep 0.02; done ;;
  status) exit "$2" ;;
  die) kill -KILL $$ ;;
  *) echo "ran $*"; command -v bun ;;
esac
`;

/** Installs the stand-in where npm would put the package's executable. */
const FAKE_NPM = `#!/bin/sh
echo "npm" >> "$FAKE_LOG"
[ "$FAKE_NPM_STATUS" = "" ] || exit "$FAKE_NPM_STATUS"
while [ $# -gt 1 ]; do [ "$1" = --prefix ] && prefix=$2; shift; done
folder="$prefix/node_modules/\${1%@*}/bin"
sleep 0.1
mkdir -p "$folder" && cp "$FAKE_BUN" "$folder/bun"
`;

/** A fresh repository, cache and log. */
interface Place {
  readonly root: string;
  readonly cache: string;
  readonly log: string;
}

/** How the launcher ended. */
interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

let folder = "";

async function writeScript(path: string, text: string): Promise<void> {
  await Bun.write(path, text);
  await chmod(path, 0o755);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-launcher-"));
  await mkdir(join(folder, "path"));
  if (NODE !== null) await symlink(NODE, join(folder, "path/node"));
  await writeScript(join(folder, "path/npm"), FAKE_NPM);
  await writeScript(join(folder, "fake-bun"), FAKE_BUN);
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function freshPlace(): Promise<Place> {
  const root = await mkdtemp(join(folder, "repository-"));
  await Bun.write(join(root, "package.json"), JSON.stringify({ packageManager: `bun@${VERSION}` }));
  await Bun.write(join(root, "bun.lock"), "one");
  await mkdir(join(root, "bin"));
  await cp(join(ROOT, "bin/bun.mjs"), join(root, "bin/bun.mjs"));
  return { root, cache: join(root, "cache"), log: join(root, "log") };
}

function spawnLauncher(
  place: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Bun.Subprocess<"ignore", "pipe", "pipe"> {
  return Bun.spawn([NODE ?? "node", join(place.root, "bin/bun.mjs"), ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: {
      PATH: `${folder}/path:/usr/bin:/bin`,
      HOME: place.root,
      VARVE_CACHE: place.cache,
      FAKE_LOG: place.log,
      FAKE_BUN: join(folder, "fake-bun"),
      ...env,
    },
  });
}

async function launch(place: Place, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawnLauncher(place, args, env);
  const [out, err, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, out, err };
}

async function logOf(place: Place): Promise<readonly string[]> {
  return (await readFile(place.log, "utf8")).trim().split("\n").sort();
}

describe.skipIf(NODE === null || process.platform === "win32")("the launcher", () => {
  test("installs the pinned Bun into an empty cache, then the dependencies, then runs it", async () => {
    const place = await freshPlace();
    const ended = await launch(place, ["run", "x.ts", "--flag"]);
    expect(ended).toMatchObject({ status: 0, out: `ran run x.ts --flag\n${place.cache}/bun-${VERSION}/bun\n` });
    expect(await logOf(place)).toEqual(["install --frozen-lockfile", "npm"]);
    expect(await readdir(place.cache)).toEqual([`bun-${VERSION}`]);
  });

  test("does neither a second time", async () => {
    const place = await freshPlace();
    await launch(place, ["a"]);
    expect(await launch(place, ["b"])).toMatchObject({ status: 0, err: "" });
    expect(await logOf(place)).toEqual(["install --frozen-lockfile", "npm"]);
  });

  test("installs the dependencies again when the lock file changed", async () => {
    const place = await freshPlace();
    await launch(place, ["a"]);
    await Bun.write(join(place.root, "bun.lock"), "two");
    await launch(place, ["b"]);
    expect(await logOf(place)).toEqual(["install --frozen-lockfile", "install --frozen-lockfile", "npm"]);
  });

  test("takes the Bun on PATH when it is the pinned one", async () => {
    const place = await freshPlace();
    await mkdir(join(place.root, "own"));
    await cp(join(folder, "fake-bun"), join(place.root, "own/bun"));
    const ended = await launch(place, ["a"], { PATH: `${place.root}/own:${folder}/path:/usr/bin:/bin` });
    expect(ended.out).toBe(`ran a\n${place.root}/own/bun\n`);
    expect(await logOf(place)).toEqual(["install --frozen-lockfile"]);
  });

  test("lets two at once share an empty cache and one install", async () => {
    const place = await freshPlace();
    const both = await Promise.all([launch(place, ["a"]), launch(place, ["b"])]);
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    expect(await readdir(place.cache)).toEqual([`bun-${VERSION}`]);
    expect((await logOf(place)).filter((line) => line.startsWith("install"))).toHaveLength(1);
  });

  test("replaces a broken Bun in the cache", async () => {
    const place = await freshPlace();
    await writeScript(join(place.cache, `bun-${VERSION}/bun`), "#!/bin/sh\nexit 1\n");
    expect(await launch(place, ["a"])).toMatchObject({ status: 0, out: `ran a\n${place.cache}/bun-${VERSION}/bun\n` });
  });

  test("takes over the install lock of a launcher that died", async () => {
    const place = await freshPlace();
    const dead = Bun.spawnSync(["/bin/sh", "-c", "echo $$"]).stdout.toString().trim();
    await Bun.write(join(place.root, "node_modules/.varve-installing"), dead);
    expect(await launch(place, ["a"])).toMatchObject({ status: 0 });
  });

  test("refuses an installed Bun of another version, and leaves the cache empty", async () => {
    const place = await freshPlace();
    const ended = await launch(place, ["a"], { FAKE_VERSION: "9.9.8" });
    expect(ended.status).toBe(1);
    expect(ended.err).toContain("wanted 9.9.9, it answers 9.9.8");
    expect(await readdir(place.cache)).toEqual([]);
  });

  test("says what failed when npm or bun install does", async () => {
    const place = await freshPlace();
    const npmFailed = await launch(place, ["a"], { FAKE_NPM_STATUS: "3" });
    expect(npmFailed).toMatchObject({ status: 1, out: "" });
    expect(npmFailed.err).toContain("npm ended with 3");
    const installFailed = await launch(place, ["a"], { FAKE_INSTALL_STATUS: "4" });
    expect(installFailed).toMatchObject({ status: 1, out: "" });
    expect(installFailed.err).toContain("bun install ended with 4");
    expect(await launch(place, ["a"])).toMatchObject({ status: 0 });
  });

  test("ends with the child's status, and as a shell does when a signal ended it", async () => {
    const place = await freshPlace();
    expect(await launch(place, ["status", "42"])).toMatchObject({ status: 42 });
    expect(await launch(place, ["die"])).toMatchObject({ status: 137 });
  });

  test("passes SIGTERM on once, however often it comes at a time", async () => {
    const place = await freshPlace();
    const child = spawnLauncher(place, ["wait"]);
    const reader = child.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("ready\n");
    child.kill("SIGTERM");
    child.kill("SIGTERM");
    await Bun.sleep(50);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(7);
    expect((await logOf(place)).filter((line) => line === "term")).toHaveLength(1);
  });

  test("replaces the shell that npm starts, which would keep npm's SIGTERM to itself", async () => {
    const manifest = (await Bun.file(join(ROOT, "package.json")).json()) as { readonly scripts: Readonly<Record<string, string>> };
    for (const name of ["start", "test"]) expect(manifest.scripts[name]).toStartWith("exec node bin/bun.mjs ");
  });
});
