/**
 * The rules of the repository as a program. Each rule runs over the real files, and over planted ones that break it: a rule that
 * cannot fail is no rule.
 */
import { describe, expect, test } from "bun:test";
import { bannedTokens } from "./tidy/banned-tokens.ts";
import { codeOf } from "./tidy/code-text.ts";
import { undocumentedExports } from "./tidy/doc-comments.ts";
import { strayNames } from "./tidy/file-names.ts";
import { messageLooks } from "./tidy/error-texts.ts";
import { formatPapers, ingestFiles, readmes } from "./tidy/folders.ts";
import { layerBreaks } from "./tidy/layers.ts";
import { type Manifest, packageBreaks, RUNTIME_REASONS, unusedPackages } from "./tidy/packages.ts";
import { roomBreaks } from "./tidy/rooms.ts";
import { longFiles, longLines, sizeSpread } from "./tidy/sizes.ts";
import { planted, ROOT, readTree, type SourceFile } from "./tidy/source-tree.ts";

/** What servers see of queries. */
const FACE = [
  "connection-client.ts, statement-result.ts, connection.ts, kept-statements.ts, prepared-query.ts",
  "session-settings.ts, postgres-settings.ts, language-facts.ts",
].join(", ");

const tree = await readTree();

/** The findings of a rule on planted files. */
function check(rule: (files: readonly SourceFile[]) => readonly string[], files: readonly SourceFile[], want: readonly string[]): void {
  expect(rule(files)).toEqual([...want]);
}

test("the tree holds the repository's files and no installed ones", () => {
  const paths = tree.map((file) => file.path);
  expect(paths).toContain("package.json");
  expect(paths).toContain("src/base/clock.ts");
  expect(paths).toContain("test/tidy.test.ts");
  expect(paths.filter((path) => path.includes("node_modules"))).toEqual([]);
});

describe("rooms", () => {
  test("imports inside layers point down", () => {
    expect(roomBreaks(tree)).toEqual([]);
  });

  test("a planted import up, sideways, or from the top is found; contracts, tests and imports down are fine", () => {
    check(
      roomBreaks,
      [planted("src/query/expression/a.ts", 'import type { N } from "../operator/contract/node.ts";')],
      ["src/query/expression/a.ts: src/query/expression must not import operator/contract/node.ts"],
    );
    check(
      roomBreaks,
      [planted("src/query/operator/join/a.ts", 'import { a } from "../fill/a.ts";\nimport { r } from "../run.ts";')],
      [
        "src/query/operator/join/a.ts: src/query/operator/join must not import fill/a.ts",
        "src/query/operator/join/a.ts: src/query/operator/join must not import run.ts",
      ],
    );
    check(
      roomBreaks,
      [planted("src/query/new/a.ts", "")],
      ["src/query/new/a.ts: new is no room of src/query; give it a rank in test/tidy/rooms.ts"],
    );
    check(
      roomBreaks,
      [
        planted("src/query/plan/a.ts", 'import { a } from "../operator/run.ts";\nimport type { S } from "../system-facts.ts";'),
        planted("src/query/operator/join/a.test.ts", 'import { a } from "../fill/a.ts";'),
        planted("src/query/a.ts", 'import { a } from "./statement/a.ts";'),
      ],
      [],
    );
  });
});

describe("layers", () => {
  test("imports point down the layer DAG", () => {
    expect(layerBreaks(tree)).toEqual([]);
  });

  test("a planted import up, sideways, or from main is found, types too", () => {
    check(
      layerBreaks,
      [planted("src/base/a.ts", 'import type { B } from "../column/b.ts";')],
      ["src/base/a.ts: base must not import column"],
    );
    check(
      layerBreaks,
      [planted("src/storage/wal/a.ts", 'export { q } from "../../query/q.ts";')],
      ["src/storage/wal/a.ts: storage must not import query"],
    );
    check(
      layerBreaks,
      [planted("src/query/a.ts", 'const m = await import("../engine/e.ts");')],
      ["src/query/a.ts: query must not import engine"],
    );
    check(
      layerBreaks,
      [planted("src/server/a.ts", 'import { p } from "../query/plan/p.ts"; import type { R } from "../query/statement-result.ts";')],
      [`src/server/a.ts: server may import ${FACE} of query, not plan/p.ts`],
    );
    check(layerBreaks, [planted("src/db/a.ts", 'import "../engine/e.ts";')], ["src/db/a.ts: db must not import engine"]);
    check(
      layerBreaks,
      [planted("src/server/a.ts", 'import { s } from "../config/settings.ts";')],
      ["src/server/a.ts: server must not import config"],
    );
    check(
      layerBreaks,
      [planted("src/config/a.ts", 'import { c } from "../column/c.ts";')],
      ["src/config/a.ts: config must not import column"],
    );
    check(layerBreaks, [planted("src/table/a.ts", 'import { m } from "../main.ts";')], ["src/table/a.ts: table must not import main.ts"]);
    check(
      layerBreaks,
      [planted("src/table/a.ts", 'import { m } from "../../test/support/m.ts";')],
      ["src/table/a.ts: table must not import test/"],
    );
    check(
      layerBreaks,
      [planted("src/storage/a.ts", 'new Worker(new URL("../engine/w.ts", import.meta.url));')],
      ["src/storage/a.ts: storage must not import engine"],
    );
    expect(layerBreaks([planted("src/extra/a.ts", "")])).toHaveLength(1);
  });

  test("imports down, within a folder, and of test support by tests are fine", () => {
    check(layerBreaks, [planted("src/engine/a.ts", 'import { w } from "../storage/wal/w.ts";', 'import { x } from "./x.ts";')], []);
    check(layerBreaks, [planted("src/table/a.test.ts", 'import { m } from "../../test/support/m.ts";')], []);
    check(layerBreaks, [planted("src/main.ts", 'import { s } from "./server/http/server.ts";')], []);
  });
});

describe("sizes", () => {
  test("lines fit their width", () => {
    expect(longLines(tree)).toEqual([]);
  });

  test("files stay below the hard stop, and recorded numbers only fall", () => {
    expect(longFiles(tree)).toEqual([]);
  });

  test("most files are small", () => {
    expect(sizeSpread(tree)).toEqual([]);
  });

  test("planted long lines, long files and stale records are found", () => {
    const lines = (count: number): SourceFile => planted("src/base/a.ts", ...Array.from({ length: count }, () => "x();"));
    check(longLines, [planted("src/base/a.ts", "y".repeat(140), "x".repeat(141))], ["src/base/a.ts:2: 141 characters, at most 140"]);
    check(longLines, [planted("src/base/a.ts", `// see https://example.org/${"x".repeat(141)}`)], []);
    check((files) => longFiles(files, {}), [lines(800)], []);
    check((files) => longFiles(files, {}), [lines(801)], ["src/base/a.ts: 801 lines, at most 800; split it by its nouns"]);
    check((files) => longFiles(files, { "src/base/a.ts": 900 }), [lines(900)], []);
    check(
      (files) => longFiles(files, { "src/base/a.ts": 900 }),
      [lines(850)],
      ["src/base/a.ts: now 850 lines; lower its number 900 in sizes.ts"],
    );
    check(
      (files) => longFiles(files, { "src/base/gone.ts": 900 }),
      [lines(1)],
      ["src/base/gone.ts: is gone; remove its number in sizes.ts"],
    );
    expect(sizeSpread([lines(151)])).toHaveLength(1);
    expect(sizeSpread([lines(401)])).toHaveLength(2);
    expect(sizeSpread([])).toEqual([]);
  });
});

describe("banned tokens", () => {
  test("none is used", () => {
    expect(bannedTokens(tree)).toEqual([]);
  });

  const rejects: readonly (readonly [path: string, line: string])[] = [
    ["src/db/a.ts", "const t = Date.now();"],
    ["src/db/a.ts", "const t = new Date();"],
    ["src/db/a.ts", "const t = performance.now();"],
    ["src/db/a.test.ts", "const t = Date.now();"],
    ["src/db/a.ts", 'console.log("x");'],
    ["src/db/a.ts", `// ${"FIX"}ME: later`],
    ["src/db/README.md", `${"TO"}DO: write this`],
    ["src/db/a.test.ts", 'test.only("a", () => {});'],
    ["src/db/a.test.ts", 'describe.only("a", () => {});'],
    ["src/db/a.test.ts", "const r = Math.random();"],
    ["src/db/a.ts", "void close().catch(() => {});"],
    ["src/db/a.ts", "void close().catch((error) => undefined);"],
    ["src/db/README.md", "see /work/main/src"],
    ["src/db/a.ts", 'new Intl.DateTimeFormat("en", { timeZone });'],
    ["src/value/a.ts", "const day = Date.parse(text) / DAY_MILLIS;"],
    ["src/db/a.ts", 'new Date(millis).toISOString().replace("T", " ")'],
    ["src/db/a.ts", "date.setUTCFullYear(year, month, day);"],
  ];
  test.each(rejects)("in a planted %s: %s", (path, line) => {
    expect(bannedTokens([planted(path, line)])).toHaveLength(1);
  });

  const accepts: readonly (readonly [path: string, line: string])[] = [
    ["src/base/clock.ts", "const t = Date.now();"],
    ["src/db/a.bench.ts", "const t = performance.now(); console.log(t);"],
    ["test/a.test.ts", "const deadline = Date.now() + 1000;"],
    ["src/db/a.ts", "const t = new Date(millis);"],
    ["src/base/text/time-zone.ts", 'new Intl.DateTimeFormat("en", { timeZone });'],
    ["src/db/a.test.ts", "Date.parse(text)"],
    ["src/db/a.ts", "// Date.now() would tie this to the machine."],
    ["src/db/a.ts", 'throw new Error("console.log is not here");'],
    ["src/db/a.ts", "void close().catch((error: unknown) => log.warn({ error }, text));"],
  ];
  test.each(accepts)("not in a planted %s: %s", (path, line) => {
    check(bannedTokens, [planted(path, line)], []);
  });
});

describe("messages of errors", () => {
  test("are looked into by nobody", () => {
    expect(messageLooks(tree)).toEqual([]);
  });

  const rejects: readonly string[] = [
    'return error.message.startsWith("cannot");',
    'const why = thrown.message.replace(/^Failed: /, "");',
    'if (cause.message?.includes("deeper")) return;',
    'const ofBytes = ({ message }: DbError): boolean => message.endsWith("bytes");',
    'const first = errorText(error).split("\\n")[0];',
    "if (String(thrown).match(/no such/)) return;",
    "if (/nested deeper/.test(error.message)) return;",
    'if (error.message === "the end") return;',
    "if (END !== error.message) return;",
    "switch (error.message) {",
    "const known = REASONS.get(error.message);",
  ];
  test.each(rejects)("a planted look is found: %s", (line) => {
    expect(messageLooks([planted("src/db/a.ts", line)], {})).toHaveLength(1);
  });

  const accepts: readonly string[] = [
    "throw restated(error, `cannot go on: ${error.message}`);",
    'if (error.code === StatusCode.Cancelled && "code" in cause && cause.code === "ENOENT") return;',
    "switch (message.kind) {",
    "this.message.read(reader, end);",
    "memory.hold(series.message.length);",
    'if (typeof message !== "string") return;',
    '// error.message.startsWith("x") would break',
  ];
  test.each(accepts)("others are fine: %s", (line) => {
    expect(messageLooks([planted("src/db/a.ts", line)], {})).toEqual([]);
  });

  test("a planted look in a test is fine, and an exception that nobody needs is found", () => {
    expect(messageLooks([planted("src/db/a.test.ts", rejects[0] ?? "")], {})).toEqual([]);
    expect(messageLooks([planted("src/db/a.ts", rejects[0] ?? "")], { "src/db/a.ts": "a reason" })).toEqual([]);
    expect(messageLooks([planted("src/db/a.ts", "")], { "src/db/a.ts": "a reason" })).toHaveLength(1);
  });
});

describe("code text", () => {
  const cases: readonly (readonly [text: string, want: string])[] = [
    ["a // b", "a     "],
    ["a /* b\n c */ d", "a     \n      d"],
    ['a("// b") // c', "a(      )     "],
    ["a('\\'b') + c", "a(     ) + c"],
    ["`a ${b + `c`} d` + e", "     b +         + e"],
    ["`${ { a: '}' } }` + e", `${"   "} { a: ${"   "} } ${"  "} + e`],
    ['x = /[/"]/.test(y) // z', "x =       .test(y)     "],
    ["x = a / b / c;", "x = a / b / c;"],
    ["return /`/u", "return    u"],
  ];
  test.each(cases)("of %s", (text, want) => {
    expect(codeOf(text)).toBe(want);
  });
});

describe("doc comments", () => {
  test("every export has one", () => {
    expect(undocumentedExports(tree)).toEqual([]);
  });

  test("a planted export without one is found", () => {
    check(undocumentedExports, [planted("src/base/a.ts", "export const a = 1;")], ["src/base/a.ts:1: a has no doc comment"]);
    check(
      undocumentedExports,
      [planted("src/base/a.ts", "// Not a doc comment.", "export function b(): void {}")],
      ["src/base/a.ts:2: b has no doc comment"],
    );
    check(
      undocumentedExports,
      [planted("src/base/a.ts", "/* Nor this. */", "export class C {}")],
      ["src/base/a.ts:2: C has no doc comment"],
    );
    check(
      undocumentedExports,
      [planted("src/base/a.ts", "/** A. */", "", "export async function d(): Promise<void> {}")],
      ["src/base/a.ts:3: d has no doc comment"],
    );
  });

  test("a planted header or family covers its own alone", () => {
    check(
      undocumentedExports,
      [planted("src/base/a-b.ts", "/** What AB is. */", "import x;", "export class Other {}")],
      ["src/base/a-b.ts:3: Other has no doc comment"],
    );
    check(
      undocumentedExports,
      [planted("src/base/a.ts", "/** Letters. */", "export const a = 1;", "", "export const b = 2;")],
      ["src/base/a.ts:4: b has no doc comment"],
    );
  });

  test("documented exports, companion types, overloads, lists and tests are fine", () => {
    check(undocumentedExports, [planted("src/base/a.ts", "/**", " * A.", " */", "export interface A {}")], []);
    check(undocumentedExports, [planted("src/base/a.ts", "/** A. */", "export const A = {};", "export type A = keyof typeof A;")], []);
    check(undocumentedExports, [planted("src/base/a.ts", "/** A. */", "export function a(x: 1): 1;", "export function a(x: 2): 2;")], []);
    check(undocumentedExports, [planted("src/base/a.ts", 'export { a } from "./b.ts";')], []);
    check(undocumentedExports, [planted("src/base/a.test.ts", "export const a = 1;")], []);
    check(undocumentedExports, [planted("src/base/a.ts", "/** Letters. */", "export const a = 1;", "export const b = 2;")], []);
    check(undocumentedExports, [planted("src/base/a-b.ts", "/** What AB is. */", "import x;", "export class AB {", "}")], []);
  });
});

describe("folders", () => {
  test("every folder of three files has a short README", () => {
    expect(readmes(tree)).toEqual([]);
  });

  test("codec folders describe their bytes", () => {
    expect(formatPapers(tree)).toEqual([]);
  });

  test("every protocol has its four files", () => {
    expect(ingestFiles(tree)).toEqual([]);
  });

  test("planted folders without their papers are found", () => {
    const files = (...paths: readonly string[]): readonly SourceFile[] => paths.map((path) => planted(path, ""));
    check(readmes, files("src/db/a.ts", "src/db/b.ts", "src/db/c.ts"), ["src/db: 3 files and no README.md"]);
    check(readmes, files("src/db/a.ts", "src/db/b.ts", "src/db/b.test.ts"), []);
    check(readmes, [planted("src/db/README.md", ...Array.from({ length: 61 }, () => "x"))], ["src/db/README.md: 61 lines, at most 60"]);
    check(formatPapers, files("src/format/parquet/page/a.ts"), ["src/format/parquet: has no FORMAT.md"]);
    check(formatPapers, files("src/storage/wal/record.ts"), ["src/storage/wal: record.ts lays out bytes, but there is no FORMAT.md"]);
    check(formatPapers, files("src/storage/wal/record.ts", "src/storage/wal/FORMAT.md", "src/storage/cache/cache.ts"), []);
    check(ingestFiles, files("src/ingest/loki/decode.ts", "src/ingest/loki/decode.test.ts", "src/ingest/loki/README.md"), [
      "src/ingest/loki: has no decode.bench.ts",
    ]);
    check(ingestFiles, files("src/ingest/common/rows.ts"), []);
  });
});

describe("names of files", () => {
  test("in READMEs and comments are of files that are there", () => {
    expect(strayNames(tree)).toEqual([]);
  });

  test("planted ones of files that are gone are found, and only in prose", () => {
    const there = planted("src/db/auth/user.ts");
    check(strayNames, [planted("src/db/README.md", "", "See `users.ts`.")], ["src/db/README.md:2: there is no users.ts"]);
    check(strayNames, [planted("src/db/a.ts", "/** As in auth/users.ts. */")], ["src/db/a.ts:1: there is no auth/users.ts"]);
    check(strayNames, [planted("src/db/a.ts", "a(); // see users.ts")], ["src/db/a.ts:1: there is no users.ts"]);
    check(strayNames, [planted("src/db/a.ts", 'import { a } from "./users.ts";', 'const path = "users.ts";')], []);
    check(strayNames, [there, planted("src/db/README.md", "`user.ts`, `auth/user.ts`, `../db/auth/user.ts`, `…-rules.ts`")], []);
  });
});

describe("packages", () => {
  test("dependencies are exact and allowed", async () => {
    const manifest = (await Bun.file(`${ROOT}/package.json`).json()) as Manifest;
    expect(packageBreaks(manifest)).toEqual([]);
    for (const reason of Object.values(RUNTIME_REASONS)) expect(reason.length).toBeGreaterThan(20);
  });

  test("the server imports each of them, but for those that are excepted", async () => {
    expect(unusedPackages((await Bun.file(`${ROOT}/package.json`).json()) as Manifest, tree)).toEqual([]);
  });

  test("planted dependencies that nobody, or only a test, imports are found, and exceptions that are not true", () => {
    const files = [
      planted("src/a.ts", 'import { a } from "used/part.js";', '// import { b } from "remarked";', 'load.resolve("loaded");'),
      planted("src/a.test.ts", 'import type { c } from "@scope/tested";'),
    ];
    const unused = (names: readonly string[], excepted: Parameters<typeof unusedPackages>[2] = {}): readonly string[] =>
      unusedPackages({ dependencies: Object.fromEntries(names.map((name) => [name, "1.0.0"])) }, files, excepted);
    expect(unused(["used", "loaded"])).toEqual([]);
    expect(unused(["remarked"])).toEqual(["remarked: is imported by nobody; test/tidy/packages.ts says by server"]);
    expect(unused(["@scope/tested"])).toEqual(["@scope/tested: is imported by tests; test/tidy/packages.ts says by server"]);
    expect(unused(["@scope/tested"], { "@scope/tested": { by: "tests", why: "an oracle" } })).toEqual([]);
    expect(unused(["used"], { used: { by: "nobody", why: "later" } })).toHaveLength(1);
    expect(unused([], { gone: { by: "nobody", why: "later" } })).toEqual(["gone: is excepted but is no dependency"]);
  });

  test("this Bun is the pinned one, here and in the image", async () => {
    const manifest = (await Bun.file(`${ROOT}/package.json`).json()) as Manifest;
    expect(manifest.packageManager).toBe(`bun@${Bun.version}`);
    expect(await Bun.file(`${ROOT}/Dockerfile`).text()).toContain(`FROM oven/bun:${Bun.version}-`);
  });

  test("planted ranges, strangers and stale reasons are found", () => {
    const good: Manifest = { packageManager: "bun@1.2.3", engines: { bun: "1.2.3" }, dependencies: { pino: "1.0.0" } };
    const reasons = { pino: "log" };
    const checkManifest = (change: Partial<Manifest>, want: readonly string[]): void => {
      expect(packageBreaks({ ...good, ...change }, reasons)).toEqual([...want]);
    };
    checkManifest({}, []);
    checkManifest({ devDependencies: { duckdb: "1.5.6-r.1" } }, []);
    checkManifest({ devDependencies: { knip: "^6.0.0" } }, ["knip: ^6.0.0 is no exact version"]);
    checkManifest({ devDependencies: { knip: "latest" } }, ["knip: latest is no exact version"]);
    checkManifest({ dependencies: { pino: "1.0.0", left: "1.0.0" } }, ["left: no reason in test/tidy/packages.ts"]);
    checkManifest({ dependencies: {} }, ["pino: has a reason but is no dependency"]);
    checkManifest({ engines: { bun: "1.2.4" } }, ["engines.bun: 1.2.4 is not that of packageManager, 1.2.3"]);
    expect(packageBreaks({ ...good, packageManager: "bun@^1.2.3" }, reasons)).toHaveLength(2);
  });
});
