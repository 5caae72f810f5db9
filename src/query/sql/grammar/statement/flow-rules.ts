/** CREATE FLOW (contract query.md 1.7). */
import type { IToken } from "chevrotain";
import type { Query, Tql } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import type { CreateFlow } from "../../syntax/definition-ast.ts";
import { K } from "../../tokens/token.ts";
import { ViewRules } from "./view-rules.ts";

/** Flows. */
export abstract class FlowRules extends ViewRules {
  /** `FLOW [IF NOT EXISTS] f SINK TO t [EXPIRE AFTER e] [EVAL INTERVAL e] [COMMENT 's'] [WITH (…)] AS query`, behind CREATE. */
  protected readonly createFlow: Rule<[start?: IToken, orReplace?: boolean], CreateFlow> = this.rule(
    "createFlow",
    (start, orReplace = false) => {
      const word = this.CONSUME(K.FLOW);
      const ifNotExists = this.SUBRULE(this.ifNotExists);
      const name = this.SUBRULE(this.objectName);
      this.words(K.SINK, K.TO);
      const sink = this.SUBRULE2(this.objectName);
      const expireAfter = this.OPTION(this.after([K.EXPIRE, K.AFTER], () => this.SUBRULE(this.expression)));
      const evalInterval = this.OPTION2(this.after([K.EVAL, K.INTERVAL], () => this.SUBRULE2(this.expression)));
      const comment = this.OPTION3(this.after(K.COMMENT, () => this.SUBRULE(this.stringValue)));
      const options = this.OPTION4(() => this.SUBRULE(this.withOptions)) ?? {};
      this.CONSUME(K.AS);
      const query = this.SUBRULE(this.queryOrTql);
      const span = spanOf(start ?? word);
      return { kind: "create-flow", name, orReplace, ifNotExists, sink, expireAfter, evalInterval, comment, options, query, span };
    },
  );

  /** A query, or TQL. */
  protected readonly queryOrTql: Rule<[], Query | Tql> = this.rule("queryOrTql", () =>
    this.choose<Query | Tql>({
      ERR_MSG: "a query",
      DEF: [{ ALT: () => this.SUBRULE(this.tql) }, { ALT: () => this.SUBRULE(this.query) }],
    }),
  );
}
