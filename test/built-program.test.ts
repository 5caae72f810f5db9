import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUILD_FOLDER, type BuildSources, builtProgram, SOURCES_FILE, sourceFile } from "../src/built-program.ts";

let root = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "varve-built-"));
  mkdirSync(join(root, BUILD_FOLDER), { recursive: true });
  mkdirSync(join(root, "src"));
});
afterAll(() => rmSync(root, { recursive: true }));

/** What is run after a build of two files, and then `change`. */
function runAfter(change: () => void, told: Partial<BuildSources> = {}): string | undefined {
  for (const name of ["a.ts", "b.ts"]) {
    writeFileSync(join(root, "src", name), `export const ${name[0]} = 1;\n`);
    utimesSync(join(root, "src", name), 1_700_000_000, 1_700_000_000.25);
  }
  const files = ["src/a.ts", "src/b.ts"].map((path) => sourceFile(root, path) ?? [path, 0, 0]);
  writeFileSync(join(root, BUILD_FOLDER, SOURCES_FILE), JSON.stringify({ bun: Bun.version, root, files, ...told }));
  change();
  return builtProgram(root);
}

const touched = (path: string, text: string, seconds: number): void => {
  writeFileSync(join(root, path), text);
  utimesSync(join(root, path), seconds, seconds);
};

test("a build runs while all it was made of is as it was, to the second", () => {
  const built = join(root, BUILD_FOLDER, "program.js");
  expect(runAfter(() => undefined)).toBe(built);
  expect(runAfter(() => touched("src/a.ts", "export const a = 2;\n", 1_700_000_000.75))).toBe(built); // images keep whole seconds
  expect(runAfter(() => touched("src/c.ts", "export const c = 1;\n", 1_800_000_000))).toBe(built); // nothing of it reads that file
});

test("sources run where anything is another", () => {
  expect(runAfter(() => touched("src/b.ts", "export const b = 1;\n", 1_700_000_001))).toBeUndefined();
  expect(runAfter(() => touched("src/b.ts", "export const b = 1;\n", 1_600_000_000))).toBeUndefined(); // an older file came over it
  expect(runAfter(() => touched("src/b.ts", "export const b = 11;\n", 1_700_000_000))).toBeUndefined();
  expect(runAfter(() => rmSync(join(root, "src/a.ts")))).toBeUndefined();
  expect(runAfter(() => undefined, { bun: "1.0.0" })).toBeUndefined();
  expect(runAfter(() => undefined, { root: "/elsewhere" })).toBeUndefined();
  expect(runAfter(() => rmSync(join(root, BUILD_FOLDER, SOURCES_FILE)))).toBeUndefined();
});
