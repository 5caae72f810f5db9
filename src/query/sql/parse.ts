/**
 * SQL text → syntax trees: `lexer.ts` splits the text into tokens, `sql-parser.ts` reads them, `syntax-error.ts` says what is wrong.
 *
 * Measured with `parse.bench.ts` and the TSBS statements (2 cores, Bun 1.4.5, warm): 6.5 µs for 16 tokens, 12 µs for a grouped query of
 * 36 tokens (a third of it the lexer), 23 µs for one of 77; an IN list of 10,000 takes 4 ms, an INSERT of 25,000 rows (1 MB) 62 ms.
 * The first text pays 25 ms for building lexer and parser.
 */
import type { IToken } from "chevrotain";
import { DbError } from "../../base/error.ts";
import { SQL_BYTES_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { tokenize } from "./lexer.ts";
import { SqlParser } from "./sql-parser.ts";
import type { Statement } from "./statement-ast.ts";
import { fromLexing, fromRecognition } from "./syntax-error.ts";

let parser: SqlParser | undefined;

/**
 * Parses all statements of a text, which `;` separates. Empty statements and comments leave nothing: an empty text gives an empty list.
 *
 * @param text at most SQL_BYTES_MAX bytes; expressions at most SQL_DEPTH_MAX deep
 * @throws DbError InvalidSyntax with line and column; Unsupported for a construct that is known but not served
 */
export function parseSql(text: string): readonly Statement[] {
  return parsed(text).statements;
}

/** One statement with placeholders in the place of values. @throws DbError as `parseSql`; InvalidSyntax for none or several statements */
export function parsePrepared(text: string): { readonly statement: Statement; readonly parameterCount: number } {
  const { statements, parameterCount } = parsed(text);
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

function parsed(text: string): { readonly statements: readonly Statement[]; readonly parameterCount: number } {
  checkLength(text);
  const { tokens, error } = tokenize(text);
  if (error !== undefined) throw fromLexing(error, tokens, text);
  return parsedTokens(text, tokens);
}

/** The statements of some tokens of a text. @throws DbError as `parseSql` */
export function parsedTokens(
  text: string,
  tokens: IToken[],
): { readonly statements: readonly Statement[]; readonly parameterCount: number } {
  parser ??= new SqlParser();
  parser.begin(text, tokens);
  const statements = parser.script();
  const failure = parser.errors[0];
  if (failure !== undefined) throw fromRecognition(failure, tokens, text);
  return { statements, parameterCount: parser.parameterCount };
}
