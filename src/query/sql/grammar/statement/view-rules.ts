/** CREATE VIEW, DROP VIEW, and what CREATE TABLE says of partitions (contract query.md 1.4, 1.7). */
import type { IToken } from "chevrotain";
import { type Rule, spanOf } from "../base/base-rules.ts";
import type { PartitionClause } from "../../syntax/definition-ast.ts";
import type { Statement } from "../../syntax/statement-ast.ts";
import { K, LeftParen, RightParen } from "../../tokens/token.ts";
import { WriteRules } from "./write-rules.ts";

/** Views and partitions. */
export abstract class ViewRules extends WriteRules {
  /** `VIEW [IF NOT EXISTS] name [(columns)] AS query`, behind CREATE [OR REPLACE]. */
  protected readonly createView: Rule<[start?: IToken, orReplace?: boolean], Statement> = this.rule(
    "createView",
    (start, orReplace = false) => {
      const word = this.CONSUME(K.VIEW);
      const ifNotExists = this.SUBRULE(this.ifNotExists);
      const name = this.SUBRULE(this.objectName);
      const columns = this.OPTION2(() => this.SUBRULE(this.nameList)) ?? [];
      this.CONSUME(K.AS);
      const query = this.SUBRULE(this.query);
      return { kind: "create-view", name, orReplace, ifNotExists, columns, query, span: spanOf(start ?? word) };
    },
  );

  /** `VIEW [IF EXISTS] a, b`, behind DROP. */
  protected readonly dropView: Rule<[start?: IToken], Statement> = this.rule("dropView", (start) => {
    const word = this.CONSUME(K.VIEW);
    const ifExists = this.SUBRULE(this.ifExists);
    const names = this.list("a view name", () => this.SUBRULE(this.objectName));
    return { kind: "drop-view", names, ifExists, span: spanOf(start ?? word) };
  });

  /** `PARTITION ON COLUMNS (a, b) (a < 1, a >= 1)`; commas may trail. */
  protected readonly partitions: Rule<[], PartitionClause> = this.rule("partitions", () => {
    const start = this.CONSUME(K.PARTITION);
    this.words(K.ON, K.COLUMNS);
    const columns = this.SUBRULE(this.nameList);
    this.CONSUME(LeftParen);
    const rules = this.OPTION(() => this.items((step) => this.subrule(step, this.expression))) ?? [];
    this.CONSUME(RightParen);
    return { columns, rules, span: spanOf(start) };
  });
}
