/**
 * Builds the dashboard: its TypeScript and styles into few files, each beside its compressed forms, in `src/dashboard/gen`. Run by
 * `bun install` (script `prepare`), since the server sends the files as they are. The folder is made aside and renamed.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const SOURCE = join(import.meta.dir, "../src/dashboard");
const TARGET = join(SOURCE, "gen");
/** The page's programs: itself, and its thread. */
const PROGRAMS = ["main.ts", "api/answer-thread.ts"] as const;

/** Builds into `target`. @throws Error when the bundle fails */
export async function buildDashboard(target: string): Promise<void> {
  const built = await Bun.build({
    entrypoints: PROGRAMS.map((name) => join(SOURCE, name)),
    target: "browser",
    minify: true,
    naming: "[name]-[hash].[ext]",
    throw: true,
  });
  const work = `${target}.${process.pid}.tmp`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const names = new Map<string, string>();
  const keep = (name: string, bytes: Uint8Array): void => {
    writeFileSync(join(work, name), bytes);
    writeFileSync(join(work, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(work, `${name}.br`), brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  };
  for (const output of built.outputs) {
    const name = basename(output.path);
    const plain = name.replace(/-\w+(\.\w+)$/, "$1");
    names.set(plain, name);
    keep(name, new Uint8Array(await output.arrayBuffer()));
  }
  const icon = readFileSync(join(SOURCE, "icon.svg"));
  const iconName = `icon-${Bun.hash(icon).toString(36)}.svg`;
  keep(iconName, icon);
  const nameOf = (plain: string): string => {
    const name = names.get(plain);
    if (name === undefined) throw new Error(`cannot build the dashboard: the bundle has no ${plain}, but ${[...names.keys()].join(", ")}`);
    return `/dashboard/assets/${name}`;
  };
  const page = readFileSync(join(SOURCE, "index.html"), "utf8")
    .replace("{icon}", `/dashboard/assets/${iconName}`)
    .replace("{style}", nameOf("main.css"))
    .replace("{script}", nameOf("main.js"))
    .replace("{answers}", nameOf("answer-thread.js"));
  writeFileSync(join(work, "index.html"), page);
  rmSync(target, { recursive: true, force: true });
  renameSync(work, target);
}

if (import.meta.main) await buildDashboard(TARGET);
