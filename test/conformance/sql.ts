/**
 * Reports how a server of this tree answers a folder of SQL cases, by topic:
 *
 *   bun test/conformance/sql.ts <folder> [--filter <part of a path>] [--failures <file>] [--codes]
 *
 * `--failures` writes one JSON line a failed case, `--codes` prints errors whose code is another one than expected.
 */
import { parseArgs } from "node:util";
import { TestServer } from "../support/server-process.ts";
import { readCaseFiles } from "./case-file.ts";
import { type Report, runCases } from "./runner.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { filter: { type: "string" }, failures: { type: "string" }, codes: { type: "boolean" } },
});
const [folder] = positionals;
if (folder === undefined) {
  process.stderr.write("usage: bun test/conformance/sql.ts <folder> [--filter <part of a path>] [--failures <file>] [--codes]\n");
  process.exit(2);
}
const files = await readCaseFiles(folder, new RegExp(values.filter ?? "."));
const server = await TestServer.start();
try {
  const report = await runCases(server, files);
  if (values.failures !== undefined)
    await Bun.write(values.failures, report.failures.map((finding) => `${JSON.stringify(finding)}\n`).join(""));
  process.stdout.write(tableOf(report));
  if (values.codes === true)
    for (const { file, line, sql, why } of report.otherCodes)
      process.stdout.write(`${file}:${line} ${sql.replaceAll(/\s+/g, " ")}\n  ${why}\n`);
  process.exitCode = report.failures.length === 0 ? 0 : 1;
} finally {
  await server.end();
}

/** A line a topic, and the sum. */
function tableOf({ topics }: Report): string {
  const rows = [...topics].map(
    ([topic, counts]) =>
      [topic, counts.pass, counts.fail, counts.skip, counts.sameCode, counts.otherCode, counts.cleanFiles, counts.files] as const,
  );
  const total = rows.reduce((sum, [, ...counts]) => sum.map((value, i) => value + (counts[i] ?? 0)), [0, 0, 0, 0, 0, 0, 0]);
  const line = (name: string, numbers: readonly number[]): string => {
    const [pass = 0, fail = 0, skip = 0, same = 0, other = 0, clean = 0, all = 0] = numbers;
    const share = pass + fail === 0 ? "" : `${((100 * pass) / (pass + fail)).toFixed(1)} %`;
    const cells = [pass, fail, skip].map((count) => String(count).padStart(7));
    const shares = [share.padStart(9), `${same}/${same + other}`.padStart(10), `${clean}/${all}`.padStart(9)];
    return `${[name.padEnd(36), ...cells, ...shares].join("")}\n`;
  };
  const head = `${"topic".padEnd(36)}   pass   fail   skip    share     codes    files\n`;
  return head + rows.map(([topic, ...counts]) => line(topic, counts)).join("") + line("all", total);
}
