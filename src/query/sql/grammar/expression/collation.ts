/** Collations that a query may name: texts compare by their code points, so those that ask for that change nothing. */

/** Names that mean the order of code points: MySQL's, PostgreSQL's and DuckDB's. */
const BINARY: ReadonlySet<string> = new Set([
  "binary",
  "utf8_bin",
  "utf8mb3_bin",
  "utf8mb4_bin",
  "utf8mb4_0900_bin",
  "ascii_bin",
  "latin1_bin",
  "c",
  "posix",
  "c.utf8",
  "c.utf-8",
  "ucs_basic",
  "pg_c_utf8",
  "default",
]);

/** Names of collations that take letters of two sizes, or with and without accents, for the same, or that sort by a language. */
const FOLDING = /^(nocase|noaccent|nfc|unicode|icu_noaccent|und-x-icu)$|^[a-z]{2,3}[_-][a-z]|_(ci|ai|as|cs)$/;

/** What a name of a collation means here. */
export function collationNamed(name: string): "binary" | "folding" | "unknown" {
  const lower = name.toLowerCase();
  if (BINARY.has(lower)) return "binary";
  return FOLDING.test(lower) ? "folding" : "unknown";
}
