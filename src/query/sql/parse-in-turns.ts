/**
 * Long SQL texts → syntax trees, in steps of some milliseconds with turns for others in between. The trees and errors are those of
 * `parseSql`; of several errors the first is told.
 *
 *   text ─► stretches ─► tokens ─► whole statements, and whole rows of `INSERT … VALUES` ─► trees
 *
 * A stretch may end inside a token, so its last one is not taken: the next stretch begins there. Where a stretch has no more than one
 * token, as in a long comment, it is tried again with twice the length; the end of a long string is looked for (`long-strings.ts`). The
 * rows of a long INSERT are parsed some thousand tokens at a time, as statements of their own with the same head, and put together; so
 * tokens never pile up, which take ten times their text.
 *
 * An INSERT of 200,000 rows, 8 MB: 400 ms on the thread of all clients at once before; now in steps of 5 to 15 ms.
 */
import type { IToken, TokenType } from "chevrotain";
import { assert } from "../../base/assert.ts";
import type { Expression } from "./ast.ts";
import { ConstantLists } from "./constant-lists.ts";
import { tokensOf } from "./lexer.ts";
import { beginsString, longStringAt } from "./long-strings.ts";
import { checkLength, parsedTokens, parseSql } from "./parse.ts";
import type { Statement } from "./statement-ast.ts";
import { fromLexing, syntaxError } from "./syntax-error.ts";
import { withoutPromql } from "./tql-text.ts";
import { Comma, Dot, K, LeftParen, RightParen, Semicolon } from "./token.ts";

/** Characters from which a text is parsed in steps: half of that takes some milliseconds. */
const LONG_CHARACTERS = 64 * 1024;
/** Characters of a stretch. */
const STRETCH = 32 * 1024;
/** Tokens of an INSERT that are parsed at once. */
const ROWS_TOKENS = 8192;
/**
 * Most tokens of one statement, those of INSERT's rows and of long lists of constants left out. Reason: they are parsed at once, which
 * takes about 20 ms. Error: InvalidSyntax.
 */
const STATEMENT_TOKENS_MAX = 65_536;
/** What a string may begin with. */
const PREFIXES: ReadonlySet<string> = new Set(["e", "E", "u", "U", "x", "X"]);
/** Most statements of a text. Reason: each is a tree that is held until all have run. Error: InvalidSyntax. */
const STATEMENTS_MAX = 10_000;

type Row = readonly Expression[];

/** @param turn lets others have a turn when it is time @throws DbError InvalidSyntax, Unsupported */
export async function parseSqlInTurns(text: string, turn: () => Promise<void>): Promise<readonly Statement[]> {
  if (text.length < LONG_CHARACTERS) return parseSql(text);
  checkLength(text);
  if (withoutPromql(text).cuts.length > 0) return parseSql(text); // PromQL is cut from the whole text; such texts are short.
  const statements = new Statements(text);
  for (const tokens of stretches(text)) {
    for (const token of tokens) if (statements.take(token)) await turn();
    await turn();
  }
  return statements.end();
}

/** The tokens of a text, stretch by stretch. @throws DbError InvalidSyntax */
function* stretches(text: string): Generator<readonly IToken[]> {
  let from = 0;
  let line = 1;
  let column = 1;
  for (let length = STRETCH; from < text.length; ) {
    const isLast = from + length >= text.length;
    const { tokens, error } = tokensOf(isLast ? text.slice(from) : text.slice(from, from + length));
    for (const token of tokens) place(token, from, line, column);
    if (isLast) {
      if (error !== undefined) {
        const isFirstLine = error.line === 1;
        const at = { line: (error.line ?? 1) + line - 1, column: (error.column ?? 1) + (isFirstLine ? column - 1 : 0) };
        throw fromLexing({ ...error, ...at, offset: error.offset + from }, from === 0 ? tokens : [], text);
      }
      yield tokens;
      return;
    }
    const whole = wholeTokens(tokens);
    const last = tokens[whole];
    if (error !== undefined || last === undefined || whole === 0) {
      if (!beginsString(text, from)) {
        length *= 2;
        continue;
      }
      const finding = longStringAt(text, { offset: from, line, column });
      let found = finding.next();
      for (; found.done !== true; found = finding.next()) yield [];
      const { token, next } = found.value;
      yield [token];
      ({ offset: from, line, column } = next);
      length = STRETCH;
      continue;
    }
    yield tokens.slice(0, whole);
    from = last.startOffset;
    line = last.startLine ?? line;
    column = last.startColumn ?? column;
    length = STRETCH;
  }
}

/**
 * How many tokens of a stretch that was cut off are those of the text: all but the last, and none from the prefix of a string on, whose
 * end lies behind the cut: `E'it\'s |` is read as a name, a string and more.
 */
function wholeTokens(tokens: readonly IToken[]): number {
  const prefixed = tokens.findIndex((token, i) => {
    const next = tokens[i + 1];
    const isPrefix = PREFIXES.has(token.image) && next?.startOffset === token.startOffset + 1;
    return isPrefix && /^['&]/.test(next?.image ?? "");
  });
  return prefixed < 0 ? tokens.length - 1 : Math.min(prefixed, tokens.length - 1);
}

/** Counts a token's place from the beginning of the text instead of that of its stretch. */
function place(token: IToken, from: number, line: number, column: number): void {
  token.startOffset += from;
  if (token.startLine === undefined || token.startColumn === undefined) return;
  if (token.startLine === 1) token.startColumn += column - 1;
  token.startLine += line - 1;
}

/** Takes tokens one by one and parses statements as they are whole. */
class Statements {
  private readonly text: string;
  private readonly lists: ConstantLists = new ConstantLists();
  private readonly done: Statement[] = [];
  /** Of the statement that is being read, less the rows that were parsed. */
  private tokens: IToken[] = [];
  private depth = 0;
  /** Tokens up to VALUES, where the statement is an INSERT of rows. */
  private head: readonly IToken[] | undefined;
  /** The rows that were parsed, in an INSERT without the others. */
  private rows: Row[] = [];
  /** Where the last comma between rows stands among `tokens`. */
  private comma = -1;

  constructor(text: string) {
    this.text = text;
  }

  /** Takes a token. @returns whether something was parsed @throws DbError InvalidSyntax, Unsupported */
  take(token: IToken): boolean {
    const { tokens } = this;
    tokens.push(token);
    this.lists.take(tokens, () => this.head === undefined && !isInsertOfRows(tokens));
    if (tokens.length > STATEMENT_TOKENS_MAX) throw tooLong(token);
    const { tokenType } = token;
    if (tokenType === LeftParen) {
      if (this.depth++ === 0 && this.head === undefined && isInsertOfRows(tokens)) this.head = tokens.slice(0, -1);
    }
    if (tokenType === RightParen) this.depth--;
    else if (tokenType === Semicolon) {
      this.endStatement();
      return true;
    } else if (tokenType === Comma && this.depth === 0 && this.head !== undefined) this.comma = tokens.length - 1;
    if (this.head === undefined || tokens.length < ROWS_TOKENS + this.head.length || this.comma < 0) return false;
    this.endRows(this.head);
    return true;
  }

  /** All statements. @throws DbError InvalidSyntax, Unsupported */
  end(): readonly Statement[] {
    this.endStatement();
    return this.done;
  }

  private endStatement(): void {
    const { tokens, rows, text, done } = this;
    this.tokens = [];
    this.rows = [];
    this.head = undefined;
    this.comma = -1;
    this.depth = 0;
    for (const statement of parsedTokens(text, tokens).statements) {
      if (done.length >= STATEMENTS_MAX) throw tooMany(statement);
      done.push(rows.length === 0 ? statement : withRows(statement, rows));
    }
  }

  /** Parses the rows before the last comma. */
  private endRows(head: readonly IToken[]): void {
    const { tokens, comma, text } = this;
    const rest = tokens.splice(comma);
    const [statement] = parsedTokens(text, tokens).statements;
    for (const row of rowsOf(statement)) this.rows.push(row);
    this.tokens = [...head, ...rest.slice(1)];
    this.comma = -1;
  }
}

const QUERY_WORDS: readonly (TokenType | undefined)[] = [K.SELECT, K.WITH];
const BEFORE_NAMES: readonly (TokenType | undefined)[] = [K.INTO, K.TABLE, Dot];

/** Whether these tokens are `INSERT INTO t [(a, b)] VALUES (`. */
function isInsertOfRows(tokens: readonly IToken[]): boolean {
  const [first] = tokens;
  if (first?.tokenType !== K.INSERT && first?.tokenType !== K.REPLACE) return false;
  if (tokens.at(-2)?.tokenType !== K.VALUES || BEFORE_NAMES.includes(tokens.at(-3)?.tokenType)) return false;
  return !tokens.some(({ tokenType }) => QUERY_WORDS.includes(tokenType));
}

function rowsOf(statement: Statement | undefined): readonly Row[] {
  assert(statement?.kind === "insert" && statement.source.kind === "values", "INSERT … VALUES is an INSERT of rows");
  return statement.source.rows;
}

/** An INSERT with other rows before its own. */
function withRows(statement: Statement, rows: Row[]): Statement {
  for (const row of rowsOf(statement)) rows.push(row);
  assert(statement.kind === "insert", "what has rows is an INSERT");
  return { ...statement, source: { kind: "values", rows } };
}

function tooLong({ startLine = 1, startColumn = 1 }: IToken): Error {
  const why = `a statement has more than ${STATEMENT_TOKENS_MAX} words, names and signs, lists of constants and rows of INSERT left out`;
  return syntaxError(`${why}; split it, or put values into a table`, { line: startLine, column: startColumn });
}

function tooMany({ span }: Statement): Error {
  return syntaxError(`the text has more than ${STATEMENTS_MAX} statements; send several texts`, { line: span.line, column: span.column });
}
