/** SHOW of what the server has: columns, indexes, regions, views, flows, engines, character sets, statements (contract query.md 1.8). */
import type { IToken } from "chevrotain";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { AlterRules } from "./alter-rules.ts";
import type { ObjectName } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import type { ListingKind, ShowFilter, ShowListing } from "../../syntax/show-ast.ts";
import { K, NumberText } from "../../tokens/token.ts";

/** Lists of which FULL shows more. */
const HAS_FULL: ReadonlySet<ListingKind> = new Set(["columns", "processlist"]);

/** The answer to LIKE where there are several names to compare with. */
function likeRefused({ startLine, startColumn }: IToken): DbError {
  const where = `at Line: ${startLine ?? 1}, Column: ${startColumn ?? 1}`;
  return new DbError(StatusCode.Unsupported, `SQL statement is not supported, keyword: like ${where}`);
}

/** Listings. */
export abstract class ListRules extends AlterRules {
  /** What follows `SHOW [FULL]`. */
  protected readonly listing: Rule<[start?: IToken | undefined, full?: boolean], ShowListing> = this.rule("listing", (start, full) => {
    const first = this.LA(1);
    const list = this.choose<Pick<ShowListing, "what" | "table" | "database">>({
      ERR_MSG: "DATABASES or TABLES",
      DEF: [
        { ALT: () => this.SUBRULE(this.listOfTable) },
        { ALT: () => this.SUBRULE(this.listOfDatabase) },
        { ALT: () => ({ what: this.SUBRULE(this.listOfServer), table: undefined, database: undefined }) },
      ],
    });
    const refused = this.LA(1);
    const filter = this.SUBRULE(this.showFilter);
    this.ACTION(() => {
      if (full === true && !HAS_FULL.has(list.what)) this.fail("FULL goes with DATABASES, TABLES, COLUMNS and PROCESSLIST", first);
      if (filter?.kind === "like" && (list.what === "index" || list.what === "regions")) throw likeRefused(refused);
    });
    return { kind: "show-listing", ...list, full: full === true, filter, span: spanOf(start ?? first) };
  });

  /** `COLUMNS FROM table [FROM database]` and the like. */
  private readonly listOfTable: Rule<[], Pick<ShowListing, "what" | "table" | "database">> = this.rule("listOfTable", () => {
    const what: ListingKind = this.meaningOf("COLUMNS, INDEX or REGION", {
      columns: [K.COLUMNS, K.FIELDS],
      index: [K.INDEX, K.INDEXES, K.KEYS],
      regions: [K.REGION, K.REGIONS],
    });
    this.OR2({ ERR_MSG: "'{FROM | IN} table'", DEF: [{ ALT: () => this.CONSUME(K.FROM) }, { ALT: () => this.CONSUME(K.IN) }] });
    const table: ObjectName = this.SUBRULE(this.objectName);
    return { what, table, database: this.SUBRULE(this.fromDatabase) };
  });

  /** `VIEWS [FROM database]` and `TABLE STATUS [FROM database]`. */
  private readonly listOfDatabase: Rule<[], Pick<ShowListing, "what" | "table" | "database">> = this.rule("listOfDatabase", () => {
    const what = this.choose<ListingKind>({
      ERR_MSG: "VIEWS or TABLE STATUS",
      DEF: [
        { ALT: () => this.choice(this.CONSUME(K.VIEWS), "views") },
        { ALT: this.after(K.TABLE, () => this.choice(this.CONSUME(K.STATUS), "table-status")) },
      ],
    });
    return { what, table: undefined, database: this.SUBRULE(this.fromDatabase) };
  });

  private readonly listOfServer: Rule<[], ListingKind> = this.rule("listOfServer", () =>
    this.choose<ListingKind>({
      ERR_MSG: "what to show",
      DEF: [
        { ALT: () => this.choice(this.CONSUME(K.FLOWS), "flows") },
        { ALT: this.after(K.FLOW, () => this.choice(this.CONSUME(K.STATUS), "flow-status")) },
        { ALT: () => this.choice(this.CONSUME(K.ENGINES), "engines") },
        { ALT: () => this.choice(this.CONSUME(K.CHARSET), "charset") },
        { ALT: this.after(K.CHARACTER, () => this.choice(this.CONSUME(K.SET), "charset")) },
        { ALT: () => this.choice(this.CONSUME(K.COLLATION), "collation") },
        { ALT: () => this.choice(this.CONSUME(K.PROCESSLIST), "processlist") },
        { ALT: () => this.choice(this.CONSUME2(K.STATUS), "status") },
        { ALT: () => this.choice(this.CONSUME(K.SEARCH_PATH), "search-path") },
      ],
    }),
  );

  /** `FROM database`, when it is there. */
  protected readonly fromDatabase: Rule<[], string | undefined> = this.rule("fromDatabase", () => {
    return this.OPTION(() => {
      this.OR([{ ALT: () => this.CONSUME(K.FROM) }, { ALT: () => this.CONSUME(K.IN) }]);
      return this.SUBRULE(this.databaseName);
    });
  });

  /** `LIKE 'pattern'` or `WHERE …`, when it is there. */
  protected readonly showFilter: Rule<[], ShowFilter> = this.rule("showFilter", () => {
    return this.OPTION(() =>
      this.choose<ShowFilter>({
        ERR_MSG: "LIKE or WHERE",
        DEF: [
          { ALT: this.after(K.LIKE, () => ({ kind: "like", pattern: this.SUBRULE(this.stringValue) })) },
          { ALT: this.after(K.WHERE, () => ({ kind: "where", expression: this.SUBRULE(this.expression) })) },
        ],
      }),
    );
  });

  /** `KILL 'id'`, `KILL [QUERY] 5`. */
  protected readonly kill: Rule<[], { readonly kind: "kill"; readonly id: string; readonly span: ReturnType<typeof spanOf> }> = this.rule(
    "kill",
    () => {
      const start = this.CONSUME(K.KILL);
      this.OPTION(() => this.CONSUME(K.QUERY));
      const id = this.OR({
        ERR_MSG: "the id of a statement, as SHOW PROCESSLIST lists it",
        DEF: [{ ALT: () => this.SUBRULE(this.stringValue) }, { ALT: () => this.CONSUME(NumberText).image }],
      });
      return { kind: "kill", id, span: spanOf(start) };
    },
  );
}
