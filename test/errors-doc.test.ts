/** `docs/errors.md` shows every code as the server has it. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { httpStatusOf, StatusCode, statusMeaningOf, statusNameOf } from "../src/base/status-code.ts";
import { ROOT } from "./tidy/source-tree.ts";

test("every code has one sentence, and the document shows them all", async () => {
  const rows = Object.values(StatusCode).map((code) => {
    expect(statusMeaningOf(code)).toMatch(/^[A-Z][^.]{20,}\.$/);
    return `| ${code} | ${statusNameOf(code)} | ${httpStatusOf(code)} | ${statusMeaningOf(code)} |`;
  });
  const text = await Bun.file(join(ROOT, "docs/errors.md")).text();
  expect(text.split("\n").filter((line) => /^\| \d/.test(line))).toEqual(rows);
});

test("the README leads to it", async () => {
  expect(await Bun.file(join(ROOT, "README.md")).text()).toContain("(docs/errors.md)");
});
