/** Writes what `bun bench capacity` says into `docs/cluster-capacity.md`, below its own words: `bun bench/capacity/write-page.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capacityText, PAGE_OPTIONS } from "./report.ts";

const PAGE = join(import.meta.dir, "../../docs/cluster-capacity.md");
const MARK = "<!-- Made by bench/capacity/write-page.ts. -->\n\n";

/** The page with new tables. */
export function capacityPage(page: string): string {
  const at = page.indexOf(MARK);
  if (at < 0) throw new Error(`cannot write ${PAGE}: its mark is gone`);
  return page.slice(0, at) + MARK + capacityText(PAGE_OPTIONS);
}

if (import.meta.main) writeFileSync(PAGE, capacityPage(readFileSync(PAGE, "utf8")));
