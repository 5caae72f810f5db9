/**
 * SQL text → syntax trees: `lexer.ts` splits the text into tokens, `sql-parser.ts` reads them, `syntax-error.ts` says what is wrong.
 *
 * Measured with `parse.bench.ts` and the TSBS statements (2 cores, Bun 1.4.5, warm): 6.5 µs for 16 tokens, 12 µs for a grouped query of
 * 36 tokens (a third of it the lexer), 23 µs for one of 77; an IN list of 10,000 takes 4 ms, an INSERT of 25,000 rows (1 MB) 62 ms.
 * Building lexer and parser and reading the first text takes 30 ms of processor time (`late-lookahead.ts`): `prepareParser`.
 */
import { atOnce } from "../../base/scheduler/pace.ts";
import type { IToken } from "chevrotain";
import { DbError } from "../../base/error.ts";
import { SQL_BYTES_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { FinishedRules, type Marks, newMarks, Stop } from "./grammar/base/finished-rules.ts";
import { tokenize } from "./tokens/lexer.ts";
import { SqlParser } from "./grammar/sql-parser.ts";
import type { PreparedTree, Statement } from "./syntax/statement-ast.ts";
import { fromLexing, fromRecognition } from "./tokens/syntax-error.ts";

/** Tokens that are parsed at once: two milliseconds, twenty while the code is cold. */
const AT_ONCE_TOKENS = 4096;

let parser: SqlParser | undefined;

/** What a text means. */
export interface ParsedText {
  readonly statements: readonly Statement[];
  /** The largest number of a placeholder; 0 without any. */
  readonly parameterCount: number;
}

/** Work on a text, with a yield where others may have a turn. */
type Steps<T> = Generator<undefined, T>;

/**
 * Parses all statements of a text, which `;` separates, at once: for short texts, `parse-in-turns.ts` is for those of clients. Empty
 * statements and comments leave nothing: an empty text gives an empty list.
 *
 * @param text at most SQL_BYTES_MAX bytes; expressions at most SQL_DEPTH_MAX deep
 * @throws DbError InvalidSyntax with line and column; Unsupported for a construct that is known but not served
 */
export function parseSql(text: string): readonly Statement[] {
  return parsed(text).statements;
}

/** A grouped query of a dashboard: its decisions are those of most queries. */
const COMMON_QUERY =
  "SELECT host, avg(v), date_trunc('minute', ts) AS t FROM c WHERE (host = 'a' OR host = 'b') AND v > 90.0 " +
  "AND ts >= '2026-01-01T00:00:00Z' AND ts < '2026-01-02T00:00:00Z' GROUP BY t, host ORDER BY t DESC LIMIT 5";

/** Makes lexer and parser, so that a client's first text does not wait for them. Does nothing where they are made. */
export function prepareParser(): void {
  if (parser === undefined) parseSql(COMMON_QUERY);
}

/** The one statement of a text with placeholders in the place of values. @throws DbError InvalidSyntax for none or several statements */
export function onlyStatement({ statements, parameterCount }: ParsedText): PreparedTree {
  const [statement] = statements;
  if (statement !== undefined && statements.length === 1) return { statement, parameterCount };
  const why = `a prepared statement is one statement, found ${statements.length}`;
  throw new DbError(StatusCode.InvalidSyntax, `Invalid SQL syntax: ${why}`);
}

/** @throws DbError InvalidSyntax when a text is longer than SQL_BYTES_MAX */
export function checkLength(text: string): void {
  if (text.length > SQL_BYTES_MAX || (text.length * 3 > SQL_BYTES_MAX && Buffer.byteLength(text) > SQL_BYTES_MAX)) {
    throw new DbError(StatusCode.InvalidSyntax, `Invalid SQL syntax: the text is longer than ${SQL_BYTES_MAX} bytes`);
  }
}

/** As `parseSql`, with the number of placeholders. @throws DbError as `parseSql` */
export function parsed(text: string): ParsedText {
  checkLength(text);
  const { tokens, error } = tokenize(text);
  if (error !== undefined) throw fromLexing(error, tokens, text);
  const marks = newMarks();
  const statements = read(text, tokens, marks).map((statement) => atOnce(preparedIn(statement, inOneStep)));
  return { statements, parameterCount: marks.parameterCount };
}

// oxlint-disable-next-line require-yield -- its like yields
function* inOneStep(text: string): Steps<ParsedText> {
  return parsed(text);
}

/** A statement with the tree of the text that it prepares, where it prepares one. @param parse gives that tree */
export function* preparedIn(statement: Statement, parse: (text: string) => Steps<ParsedText>): Steps<Statement> {
  if (statement.kind === "explain") return { ...statement, statement: yield* preparedIn(statement.statement, parse) };
  if (statement.kind !== "prepare") return statement;
  return { ...statement, prepared: onlyStatement(yield* parse(statement.text)) };
}

/**
 * The statements of some tokens of a text, in steps where they are many.
 *
 * @param marks of what stands before them; changed
 * @param partsAtOnce fewest parts that are parsed at a time; default: all of few tokens
 * @throws DbError as `parseSql`
 */
export function* parsedInSteps(text: string, tokens: IToken[], marks: Marks, partsAtOnce?: number): Steps<readonly Statement[]> {
  if (partsAtOnce === undefined && tokens.length <= AT_ONCE_TOKENS) return read(text, tokens, marks);
  for (const rules = new FinishedRules(partsAtOnce); ; rules.begin()) {
    const now = { ...marks };
    const statements = readOn(text, tokens, now, rules);
    if (statements !== undefined) {
      Object.assign(marks, now);
      return statements;
    }
    yield;
  }
}

/** Goes on reading tokens; undefined when there is more to read. */
function readOn(text: string, tokens: IToken[], marks: Marks, rules: FinishedRules): readonly Statement[] | undefined {
  try {
    return read(text, tokens, marks, rules);
  } catch (thrown) {
    if (thrown instanceof Stop) return undefined;
    throw thrown;
  }
}

function read(text: string, tokens: IToken[], marks: Marks, rules?: FinishedRules): readonly Statement[] {
  parser ??= new SqlParser();
  parser.begin(text, tokens, marks, rules);
  try {
    const statements = parser.script();
    const failure = parser.errors[0];
    if (failure !== undefined) throw fromRecognition(failure, tokens, text);
    return statements;
  } finally {
    parser.end();
  }
}
