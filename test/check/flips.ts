/** Flips bits of a data directory, one at a time, and looks whether a check finds each, or had named its byte as one nobody reads. */
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { checkStore } from "../../src/tools/check/check-store.ts";
import type { Finding, UnusedBytes } from "../../src/tools/check/finding.ts";
import { seededRandom } from "../../bench/macro/random.ts";
import { rowsOf } from "../compat/rows.ts";
import { openLocalEngine } from "../engine/local-engine.ts";

/** What became of the flips. */
export interface FlipCount {
  found: number;
  /** Of those: found, and the file that has the bit was named. */
  named: number;
  unused: number;
  /** Neither, each as `file byte bit`. */
  readonly missed: string[];
  /** Flips of unused bytes after which an engine showed other rows, or did not open. */
  readonly used: string[];
  readonly byKind: Record<string, { found: number; unused: number }>;
}

/** What a check says of a directory. */
export async function checked(home: string): Promise<{ readonly findings: readonly Finding[]; readonly unused: readonly UnusedBytes[] }> {
  const findings: Finding[] = [];
  const unused: UnusedBytes[] = [];
  const sink = {
    finding: (found: Finding) => void findings.push(found),
    unused: (range: UnusedBytes) => void unused.push(range),
    note: () => undefined,
    read: () => undefined,
  };
  await checkStore({ home, logFolder: join(home, "wal"), isQuick: false }, sink);
  return { findings, unused };
}

/**
 * Half of the flips are of a file drawn first, so that small ones have their share; the others of a byte of all.
 *
 * @param opens whether an engine is opened where no reader should use the byte, and shows the same rows
 */
export async function flipBits(home: string, flips: number, seed: number, opens: boolean): Promise<FlipCount> {
  const random = seededRandom(seed);
  const { findings, unused } = await checked(home);
  if (findings.length > 0) throw new Error(`the directory is damaged before any flip: ${JSON.stringify(findings)}`);
  const want = opens ? await shownRows(home) : "";
  const files = filesOf(home);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const count: FlipCount = { found: 0, named: 0, unused: 0, missed: [], used: [], byKind: {} };
  for (let i = 0; i < flips; i++) {
    const { file, at } = i % 2 === 0 ? inFile(files[random.below(files.length)]!, random) : inAll(files, random.below(total));
    const bit = random.below(8);
    const path = join(home, file);
    const whole = readFileSync(path);
    const bytes = Buffer.from(whole);
    bytes[at] = bytes[at]! ^ (1 << bit);
    writeFileSync(path, bytes);
    const kind = (count.byKind[kindOf(file)] ??= { found: 0, unused: 0 });
    const found = (await checked(home)).findings;
    if (found.length > 0) {
      count.found++;
      kind.found++;
      if (found.some((one) => one.file === file)) count.named++;
    } else if (unused.some((range) => range.file === file && range.from <= at && at < range.to)) {
      count.unused++;
      kind.unused++;
      if (opens && (await shownRows(home)) !== want) count.used.push(`${file} byte ${at} bit ${bit}`);
    } else count.missed.push(`${file} byte ${at} bit ${bit}`);
    writeFileSync(path, whole);
  }
  return count;
}

/** The rows that an engine on a copy of the directory shows, or why there are none. */
async function shownRows(home: string): Promise<string> {
  const copy = `${home}.opened`;
  cpSync(home, copy, { recursive: true });
  try {
    const { engine } = await openLocalEngine(copy, { sync: "never", segmentBytes: 4096 });
    const rows = await rowsOf(engine);
    await engine.close();
    return rows;
  } catch (error) {
    return String(error);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

interface SizedFile {
  readonly file: string;
  readonly size: number;
}

function filesOf(home: string): readonly SizedFile[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ file: relative(home, path), size: statSync(path).size }))
    .filter(({ size }) => size > 0)
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

function inFile({ file, size }: SizedFile, random: ReturnType<typeof seededRandom>): { readonly file: string; readonly at: number } {
  return { file, at: random.below(size) };
}

function inAll(files: readonly SizedFile[], byte: number): { readonly file: string; readonly at: number } {
  let at = byte;
  for (const { file, size } of files) {
    if (at < size) return { file, at };
    at -= size;
  }
  throw new Error(`byte ${byte} lies in a file`);
}

function kindOf(file: string): string {
  if (file.endsWith(".parquet")) return "data file";
  return file.endsWith(".log") ? "log segment" : file.slice(file.lastIndexOf("/") + 1);
}
