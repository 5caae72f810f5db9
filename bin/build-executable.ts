/**
 * Builds Varve as one file that needs neither Bun nor a source tree: `bun run bin/build-executable.ts [-o varve]`.
 *
 * The file is Bun's own executable with what the server needs inside, below the path `/$bunfs/root`:
 *
 * 1. the program, `src/main.ts` with all it imports (protobuf messages of `proto/gen`, packages, their WebAssembly);
 * 2. the script of each thread, a bundle of its own, under the path that it has below `src`;
 * 3. the built dashboard, under `dashboard/gen`.
 *
 * A bundle is one file, so a module's `import.meta.url` would be the bundle's. Here it is the module's place below `src`, so that
 * `threadScript("./merge-worker.ts", import.meta.url)` finds the thread's script and `new URL("./dashboard/gen", …)` the pages, as in the
 * source tree. A build takes 1 s of processor time; the file has 118 MB, of which Bun is 109.
 *
 * Neither `.env` nor `bunfig.toml` of the folder that it is started in is read: settings come from where the help says.
 */
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildDashboard } from "./build-dashboard.ts";

const ROOT = resolve(import.meta.dir, "..");
const SOURCE = join(ROOT, "src");
const DASHBOARD = join(SOURCE, "dashboard/gen");
/** Where Bun shows what an executable holds. */
const INSIDE = "file:///$bunfs/root";
/** How the code names the script of a thread. */
const THREAD = /threadScript\("(\.[^"]+\.ts)", import\.meta\.url\)/g;
/** How the program asks for its commit. */
const COMMIT = 'process.env["VARVE_COMMIT"]';
/** What the server takes of the dashboard's files; the rest of the folder is not there. */
const PAGES = "*.{html,js,css,svg,br,gz}";

/** Scripts of threads below `src`, in the order of their names. */
export function threadScripts(): readonly string[] {
  const files = [...new Bun.Glob("**/*.ts").scanSync({ cwd: SOURCE })].filter((path) => !/^dashboard\/|\.(?:test|bench)\.ts$/.test(path));
  const found = files.flatMap((path) =>
    [...readFileSync(join(SOURCE, path), "utf8").matchAll(THREAD)].map(([, script = ""]) => join(dirname(path), script)),
  );
  return [...new Set(found)].sort();
}

/** Builds the executable. @param target its path; one that is there is replaced once the new one is whole @throws Error when that fails */
async function buildExecutable(target: string, commit: string): Promise<void> {
  if (!existsSync(DASHBOARD)) await buildDashboard(DASHBOARD);
  const work = `${target}.${process.pid}.tmp`;
  try {
    await Bun.build({
      entrypoints: [join(SOURCE, "main.ts"), ...threadScripts().map((path) => join(SOURCE, path))],
      root: SOURCE,
      naming: { asset: "[dir]/[name].[ext]" },
      splitting: true,
      plugins: [{ name: "places", setup: (builder) => keepPlaces(builder, commit) }],
      compile: { outfile: work, autoloadDotenv: false, autoloadBunfig: false },
      throw: true,
    });
    renameSync(work, target);
  } finally {
    rmSync(work, { force: true });
  }
}

/** Gives each module its place below `src`, and the program its commit and the dashboard's files. */
function keepPlaces(build: Bun.PluginBuilder, commit: string): void {
  build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
    const inside = relative(SOURCE, path);
    if (inside.startsWith("..")) return undefined;
    const text = (await Bun.file(path).text()).replaceAll("import.meta.url", JSON.stringify(`${INSIDE}/${inside}`));
    const named = inside === "program.ts" ? text.replace(COMMIT, JSON.stringify(commit)) : text;
    return { loader: "ts", contents: inside === "main.ts" ? named + pages() : named };
  });
}

/** Lines that put the dashboard's files inside: exported, so that none is left out as unused. */
function pages(): string {
  const names = [...new Bun.Glob(PAGES).scanSync({ cwd: DASHBOARD })].sort();
  const lines = names.map((name, index) => `import page${index} from "./dashboard/gen/${name}" with { type: "file" };`);
  return `\n${lines.join("\n")}\nexport { ${names.map((_, index) => `page${index}`).join(", ")} };\n`;
}

/** The commit of the source tree, "unknown" where there is none to ask. */
function commitOf(): string {
  if (Bun.which("git") === null) return "unknown";
  const asked = Bun.spawnSync(["git", "-C", dirname(SOURCE), "rev-parse", "HEAD"], { stderr: "ignore" });
  return asked.success ? asked.stdout.toString().trim() : "unknown";
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { output: { type: "string", short: "o", default: "varve" } } });
  const target = resolve(values.output);
  await buildExecutable(target, commitOf());
  process.stdout.write(`${target}\n`);
}
