/** The linter's configuration finds what it is there for: each rule is shown a planted break, in a project of its own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./tidy/source-tree.ts";

const many = (line: string, count: number): string => `${line}\n`.repeat(count);

/** Breaks, by the rule that must find them. */
const BREAKS: Readonly<Record<string, string>> = {
  "import(no-cycle)":
    'import { other } from "./cycle-other.ts";\nexport const one: number = 1;\nexport const two: () => number = () => other;\n',
  "import(no-default-export)": "export default 1;\n",
  "typescript(no-floating-promises)": "async function f(): Promise<void> {}\nf();\n",
  "typescript(no-misused-promises)": "async function f(): Promise<boolean> {\n  return true;\n}\nif (f()) f.toString();\n",
  "typescript(switch-exhaustiveness-check)":
    'export function f(kind: "a" | "b"): number {\n  switch (kind) {\n    case "a":\n      return 1;\n  }\n  return 2;\n}\n',
  "typescript(only-throw-error)": 'throw "text";\n',
  "typescript(no-explicit-any)": "export const a: any = 1;\n",
  "typescript(consistent-type-imports)": 'import { Stats } from "node:fs";\nexport type S = Stats;\n',
  "typescript(no-non-null-assertion)": "export const f = (values: readonly number[]): number => values[0]!;\n",
  "typescript(return-await)": [
    "async function f(): Promise<void> {}",
    "export async function g(): Promise<void> {",
    "  try {",
    "    return f();",
    "  } catch (error) {",
    "    throw new Error(String(error));",
    "  }",
    "}",
    "",
  ].join("\n"),
  "typescript(no-implied-eval)": 'export const f: unknown = new Function("return 1");\n',
  "eslint(no-empty)": "try {\n  String(1);\n} catch {}\n",
  "eslint(no-console)": "console.log(1);\n",
  "eslint(max-depth)": [
    "export function f(a: boolean): void {",
    "  if (a) {",
    "    if (!a) {",
    "      if (a) {",
    "        if (!a) {",
    "          if (a) {",
    "            String(1);",
    "          }",
    "        }",
    "      }",
    "    }",
    "  }",
    "}",
    "",
  ].join("\n"),
  "eslint(max-lines)": many("String(1);", 801),
  "eslint(max-lines-per-function)": `export function f(): void {\n${many("  String(1);", 70)}}\n`,
  "eslint(eqeqeq)": "export const f = (a: number): boolean => a == 1;\n",
  "eslint(no-unused-vars)": "export function f(a: number): number {\n  return 1;\n}\n",
};

/** The same code where it is right. */
const ALLOWED: Readonly<Record<string, string>> = {
  "src/format/kernel.ts": BREAKS["typescript(no-non-null-assertion)"] ?? "",
  "src/storage/memtable/kernel.ts": BREAKS["typescript(no-non-null-assertion)"] ?? "",
  "src/query/kernels/kernel.ts": BREAKS["typescript(no-non-null-assertion)"] ?? "",
  "src/query/expression/emit.ts": BREAKS["typescript(no-implied-eval)"] ?? "",
  "src/db/long.test.ts": BREAKS["eslint(max-lines-per-function)"] ?? "",
  "src/db/a.bench.ts": BREAKS["eslint(no-console)"] ?? "",
  "src/db/intended.ts": "async function f(): Promise<void> {}\nvoid f(); // nobody waits for it\n",
};

/** A finding, as the linter's JSON has it. */
interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

let folder = "";
let findings: readonly Diagnostic[] = [];

const fileOf = (rule: string): string => `src/db/${rule.replace(/\W+/g, "-")}.ts`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-lint-"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const name of [".oxlintrc.json", "tsconfig.json", ".gitignore"]) await cp(join(ROOT, name), join(folder, name));
  for (const [rule, text] of Object.entries(BREAKS)) await Bun.write(join(folder, fileOf(rule)), text);
  for (const [path, text] of Object.entries(ALLOWED)) await Bun.write(join(folder, path), text);
  await Bun.write(
    join(folder, "src/db/cycle-other.ts"),
    `import { one } from "./${fileOf("import(no-cycle)").slice(7)}";\nexport const other: number = one;\n`,
  );
  await Bun.write(join(folder, "src/db/circle-a.ts"), 'import type { B } from "./circle-b.ts";\nexport type A = B | 1;\n');
  await Bun.write(join(folder, "src/db/circle-b.ts"), 'import { type A } from "./circle-a.ts";\nexport type B = A[];\n');
  const oxlint = join(ROOT, "node_modules/.bin/oxlint");
  const run = Bun.spawnSync([oxlint, "--type-aware", "--format=json", "src"], { cwd: folder, stdout: "pipe", stderr: "pipe" });
  findings = (JSON.parse(run.stdout.toString()) as { readonly diagnostics: readonly Diagnostic[] }).diagnostics;
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe("the linter", () => {
  test.each(Object.keys(BREAKS))("finds a planted break of %s", (rule) => {
    const codes = findings
      .filter(({ filename }) => filename === fileOf(rule))
      .map(({ code }) => code.replace("typescript-eslint", "typescript"));
    expect(codes).toContain(rule);
  });

  test("finds a circle of types alone", () => {
    const circles = findings.filter(({ code }) => code.includes("no-cycle")).map(({ filename }) => filename);
    expect(circles).toContain("src/db/circle-a.ts");
    expect(circles).toContain("src/db/circle-b.ts");
  });

  test.each(Object.keys(ALLOWED))("lets %s be", (path) => {
    expect(findings.filter(({ filename }) => filename === path)).toEqual([]);
  });
});
