/**
 * SQL texts of any length → syntax trees, in steps of some milliseconds with turns for others in between. The trees and errors are those
 * of `parseSql`; of several errors the first is told.
 *
 *   text ─► stretches ─► tokens ─► whole statements, and whole rows of `INSERT … VALUES` ─► trees
 *          (stretches.ts)          (constant-lists.ts)                                      (finished-rules.ts)
 *
 * The rows of a long INSERT are parsed some thousand tokens at a time, as statements of their own with the same head, and put together;
 * so tokens never pile up, which take ten times their text. What tokens and trees take is counted before it is made (`syntax-size.ts`).
 *
 * An INSERT of 200,000 rows, 8 MB: 400 ms on the thread of all clients at once before; now in steps of 5 to 15 ms.
 */
import type { IToken, TokenType } from "chevrotain";
import { assert } from "../../base/assert.ts";
import type { Expression } from "./syntax/ast.ts";
import { ConstantLists } from "./constant-lists.ts";
import { type Marks, newMarks } from "./grammar/finished-rules.ts";
import { checkLength, parsed, type ParsedText, parsedInSteps, preparedIn } from "./parse.ts";
import type { Statement } from "./syntax/statement-ast.ts";
import { stretches } from "./tokens/stretches.ts";
import { syntaxError } from "./tokens/syntax-error.ts";
import { type HoldBytes, SyntaxSize } from "./syntax-size.ts";
import { Comma, Dot, K, LeftParen, RightParen, Semicolon } from "./tokens/token.ts";

/** Characters up to which a text is parsed at once: some milliseconds while the code is cold. */
const AT_ONCE_CHARACTERS = 2048;
/** Tokens of an INSERT that are parsed at once. */
const ROWS_TOKENS = 2048;
/**
 * Most tokens of one statement, those of INSERT's rows and of long lists of constants left out. Reason: going on where the parser stopped
 * costs some milliseconds for that many. Error: InvalidSyntax.
 */
const STATEMENT_TOKENS_MAX = 65_536;
/** Most statements of a text. Reason: each is a tree that is held until all have run. Error: InvalidSyntax. */
const STATEMENTS_MAX = 10_000;

type Row = readonly Expression[];
/** Work on a text, with a yield where others may have a turn. */
type Steps<T> = Generator<undefined, T>;

/** How a text is parsed beside other work. */
export interface ParsePace {
  /** Lets others have a turn when it is time. */
  turn(): Promise<void>;
  /** Counts what the trees of a long text take. Default: nobody counts. */
  readonly hold?: HoldBytes;
}

/** @throws DbError InvalidSyntax, Unsupported; what `hold` throws */
export async function parseInTurns(text: string, pace: ParsePace): Promise<ParsedText> {
  const steps = parseInSteps(text, pace.hold);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pace.turn();
  }
}

/** @param hold counts what tokens and trees take @throws DbError InvalidSyntax, Unsupported; what `hold` throws */
export function* parseInSteps(text: string, hold: HoldBytes = () => undefined): Steps<ParsedText> {
  if (text.length <= AT_ONCE_CHARACTERS) return parsed(text);
  const { statements, parameterCount } = yield* readInSteps(text, new SyntaxSize(hold));
  const known: Statement[] = [];
  for (const statement of statements) known.push(yield* preparedIn(statement, (inner) => parseInSteps(inner, hold)));
  return { statements: known, parameterCount };
}

function* readInSteps(text: string, size: SyntaxSize): Steps<ParsedText> {
  checkLength(text);
  size.addText(text);
  const statements = new Statements(text, size);
  for (const tokens of stretches(text)) {
    for (const token of tokens ?? []) if (statements.take(token)) yield* statements.parse();
    yield;
  }
  return yield* statements.end();
}

/** Takes tokens one by one and parses statements as they are whole. */
class Statements {
  private readonly text: string;
  private readonly size: SyntaxSize;
  private readonly marks: Marks = newMarks();
  private readonly lists: ConstantLists = new ConstantLists();
  private readonly done: Statement[] = [];
  /** Of the statement that is being read, less the rows that were parsed. */
  private tokens: IToken[] = [];
  private depth = 0;
  private hasQuery = false;
  /** Tokens up to VALUES, where the statement is an INSERT of rows. */
  private head: readonly IToken[] | undefined;
  /** The rows that were parsed, in an INSERT without the others. */
  private rows: Row[] = [];
  /** Where the last comma between rows stands among `tokens`. */
  private comma = -1;

  constructor(text: string, size: SyntaxSize) {
    this.text = text;
    this.size = size;
  }

  /** Takes a token. @returns whether something is to be parsed @throws DbError InvalidSyntax; what counts memory throws */
  take(token: IToken): boolean {
    const { tokens, size } = this;
    const { tokenType } = token;
    size.add(token);
    tokens.push(token);
    this.hasQuery ||= tokenType === K.SELECT || tokenType === K.WITH;
    this.lists.take(tokens, () => this.head === undefined && !this.isInsertOfRows());
    size.hold(tokens.length);
    if (tokens.length > STATEMENT_TOKENS_MAX) throw tooLong(token);
    if (tokenType === LeftParen) {
      if (this.depth++ === 0 && this.head === undefined && this.isInsertOfRows()) this.head = tokens.slice(0, -1);
    }
    if (tokenType === RightParen) this.depth--;
    else if (tokenType === Semicolon) return true;
    else if (tokenType === Comma && this.depth === 0 && this.head !== undefined) this.comma = tokens.length - 1;
    return this.head !== undefined && tokens.length >= ROWS_TOKENS + this.head.length && this.comma >= 0;
  }

  /** Whether the tokens are `INSERT INTO t [(a, b)] VALUES (`. */
  private isInsertOfRows(): boolean {
    const { tokens, hasQuery } = this;
    const type = tokens[0]?.tokenType;
    if (hasQuery || (type !== K.INSERT && type !== K.REPLACE)) return false;
    return tokens.at(-2)?.tokenType === K.VALUES && !BEFORE_NAMES.includes(tokens.at(-3)?.tokenType);
  }

  /** Parses what is whole. @throws DbError InvalidSyntax, Unsupported */
  *parse(): Steps<void> {
    const { tokens, head } = this;
    if (head === undefined || tokens.at(-1)?.tokenType === Semicolon) yield* this.endStatement();
    else yield* this.endRows(head);
    yield;
  }

  /** All statements. @throws DbError InvalidSyntax, Unsupported */
  *end(): Steps<ParsedText> {
    yield* this.endStatement();
    return { statements: this.done, parameterCount: this.marks.parameterCount };
  }

  private *endStatement(): Steps<void> {
    const { tokens, rows, text, done, marks } = this;
    this.tokens = [];
    this.rows = [];
    this.head = undefined;
    this.comma = -1;
    this.depth = 0;
    this.hasQuery = false;
    for (const statement of yield* parsedInSteps(text, tokens, marks)) {
      if (done.length >= STATEMENTS_MAX) throw tooMany(statement);
      done.push(rows.length === 0 ? statement : withRows(statement, rows));
    }
  }

  /** Parses the rows before the last comma. */
  private *endRows(head: readonly IToken[]): Steps<void> {
    const { tokens, comma, text, marks } = this;
    const rest = tokens.splice(comma);
    const [statement] = yield* parsedInSteps(text, tokens, marks);
    for (const row of rowsOf(statement)) this.rows.push(row);
    this.tokens = [...head, ...rest.slice(1)];
    this.comma = -1;
  }
}

const BEFORE_NAMES: readonly (TokenType | undefined)[] = [K.INTO, K.TABLE, Dot];

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
