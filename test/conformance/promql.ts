/**
 * Runs scripts of PromQL against the evaluator, without a server:
 *
 *   bun test/conformance/promql.ts <folder>
 */
import { runScripts } from "./promql-run.ts";

const [, , folder] = process.argv;
if (folder === undefined) {
  process.stderr.write("usage: bun test/conformance/promql.ts <folder>\n");
  process.exit(2);
}
let [passed, failed, skipped] = [0, 0, 0];
for (const report of await runScripts(folder)) {
  for (const finding of report.findings) process.stdout.write(`${report.file}:${finding}\n`);
  process.stdout.write(`${report.file}: ${report.passed} passed, ${report.findings.length} failed, ${report.skipped} skipped\n`);
  passed += report.passed;
  failed += report.findings.length;
  skipped += report.skipped;
}
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = failed === 0 ? 0 : 1;
