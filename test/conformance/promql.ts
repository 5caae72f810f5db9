/**
 * Runs scripts of PromQL against the evaluator, without a server:
 *
 *   bun test/conformance/promql.ts <folder> [--tables <layout>|all]
 *
 * With --tables over tables of an engine whose samples lie as the layout says (`promql-store.ts`); all: one layout after the other.
 */
import { parseArgs } from "node:util";
import { runScripts } from "./promql-run.ts";
import { LAYOUTS, TableStore } from "./promql-store.ts";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { tables: { type: "string" } } });
const [folder] = positionals;
const layouts = values.tables === undefined ? [undefined] : LAYOUTS.filter((one) => values.tables === "all" || values.tables === one);
if (folder === undefined || layouts.length === 0) {
  process.stderr.write(`usage: bun test/conformance/promql.ts <folder> [--tables ${LAYOUTS.join("|")}|all]\n`);
  process.exit(2);
}
let isGood = true;
for (const layout of layouts) {
  let [passed, failed, skipped] = [0, 0, 0];
  const reports = layout === undefined ? await runScripts(folder) : await runScripts(folder, () => TableStore.open(layout));
  for (const report of reports) {
    for (const finding of report.findings) process.stdout.write(`${report.file}:${finding}\n`);
    process.stdout.write(`${report.file}: ${report.passed} passed, ${report.findings.length} failed, ${report.skipped} skipped\n`);
    passed += report.passed;
    failed += report.findings.length;
    skipped += report.skipped;
  }
  process.stdout.write(`${layout === undefined ? "" : `${layout}: `}${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  isGood &&= failed === 0;
}
process.exitCode = isGood ? 0 : 1;
