/** Texts that ask for much before anything is planned: long strings, comments, blanks and lists, and each way into the parser. */

/** A text that asks for much. */
export interface HostileStatement {
  readonly name: string;
  readonly sql: string;
}

/** Numbered parts with something between them. */
export function repeated(count: number, part: (i: number) => string, separator: string): string {
  return Array.from({ length: count }, (_, i) => part(i)).join(separator);
}

/** Texts at a scale: 1 is what the server takes at most. */
export function hostileTexts(scale: number): readonly HostileStatement[] {
  const of = (count: number): number => Math.max(100, Math.round(count * scale));
  return [
    { name: "a string of 15 MB", sql: `SELECT length('${"x".repeat(of(15_000_000))}')` },
    { name: "a name of 15 MB", sql: `SELECT ${"x".repeat(of(15_000_000))}` },
    { name: "a comment of 15 MB", sql: `SELECT /* ${"x".repeat(of(15_000_000))} */ 1` },
    { name: "quotes of 15 MB", sql: `SELECT '${"''".repeat(of(7_500_000))}'` },
    { name: "blanks of 15 MB", sql: `SELECT ${" ".repeat(of(15_000_000))} 1` },
    { name: "lines of 15 MB", sql: `SELECT ${"\n".repeat(of(15_000_000))} FROM` },
    { name: "line comments of 15 MB", sql: `SELECT ${"--x\n".repeat(of(3_700_000))} 1` },
    { name: "block comments of 15 MB", sql: `SELECT ${"/**/".repeat(of(3_700_000))} 1` },
    { name: "a line comment of 15 MB", sql: `SELECT --${"x".repeat(of(15_000_000))}\n 1` },
    { name: "an open comment of 15 MB", sql: `SELECT /*${"x*".repeat(of(7_500_000))}` },
    { name: "E'…' of 15 MB", sql: `SELECT length(E'${"x".repeat(of(15_000_000))}')` },
    { name: "E'…' of 15 MB of escapes", sql: `SELECT length(E'${"\\n".repeat(of(7_500_000))}')` },
    { name: "U&'…' of 15 MB of escapes", sql: `SELECT length(U&'${"\\00e4".repeat(of(3_000_000))}')` },
    { name: "$$…$$ of 15 MB", sql: `SELECT length($$${"x".repeat(of(15_000_000))}$$)` },
    { name: "dollar tags of 15 MB", sql: `SELECT ${repeated(of(1_000_000), (i) => `$a${i}$`, " , ")}` },
    { name: "x'…' of 15 MB", sql: `SELECT length(x'${"00".repeat(of(7_500_000))}')` },
    { name: "b'…' of 15 MB", sql: `SELECT length(b'${"01".repeat(of(7_500_000))}')` },
    { name: "a quoted name of 15 MB", sql: `SELECT "${"x".repeat(of(15_000_000))}"` },
    { name: "a string of 15 MB of lines", sql: `SELECT length('${"x\n".repeat(of(7_500_000))}')` },
    { name: "an open string of 15 MB", sql: `SELECT '${"x''".repeat(of(5_000_000))}` },
    { name: "INTERVAL of 15 MB", sql: `SELECT INTERVAL '${"1 day ".repeat(of(2_500_000))}'` },
    { name: "names of 10 MB", sql: `SELECT ${repeated(of(300), (i) => `${"x".repeat(32_000)}${i}`, ", ")} FROM hostile` },
    { name: "digits of 30 KB and a letter", sql: `SELECT ${"9".repeat(of(30_000))}x` },
    { name: "operators of 4 MB", sql: `SELECT u&x${"+ u&x".repeat(of(800_000))}` },
    { name: "TQL of 15 MB", sql: `TQL EVAL (0, 10, '5s') ${"up + ".repeat(of(3_000_000))} up` },
    { name: "open TQLs of 10 MB", sql: "(TQL EVAL ".repeat(of(1_000_000)) },
    { name: "TQLs of 8,000", sql: "TQL EVAL (0, 10, '5s') up;".repeat(of(8000)) },
    { name: "lines of minus in TQL", sql: `TQL EVAL (0, 10, '5s') ${"-".repeat(of(60_000))}` },
    { name: "TQL as a string in 15 MB", sql: `SELECT 'tql', length('${"x''".repeat(of(4_000_000))}')` },
    { name: "PREPARE of 60,000 tokens", sql: `PREPARE p FROM 'SELECT ${repeated(of(15_000), (i) => `usage + ${i}`, ", ")}'` },
    {
      name: "CREATE VIEW of 4,000 columns",
      sql: `CREATE VIEW wide AS SELECT ${repeated(of(4000), (i) => `usage + ${i} AS c${i}`, ", ")} FROM hostile`,
    },
    { name: "a view of 4,000 columns", sql: "SELECT count(*) FROM wide" },
    { name: "COPY of 4,000 columns", sql: `COPY (SELECT ${repeated(of(4000), (i) => `usage + ${i}`, ", ")} FROM hostile) TO 'none.csv'` },
    {
      name: "CREATE TABLE of 10,000 columns",
      sql: `CREATE TABLE wide_table (${repeated(of(10_000), (i) => `c${i} BIGINT`, ", ")}, ts TIMESTAMP TIME INDEX)`,
    },
    { name: "DROP TABLE of 30,000", sql: `DROP TABLE IF EXISTS ${repeated(of(30_000), (i) => `nosuch${i}`, ", ")}` },
    {
      name: "GROUP BY of 16,000 and ROLLUP",
      sql: `SELECT 1 FROM hostile GROUP BY ${repeated(of(16_000), (i) => `c${i}`, ", ")}, ROLLUP (a)`,
    },
    { name: "digits of 1 MB", sql: `SELECT ${"9".repeat(of(1_000_000))}` },
  ];
}
