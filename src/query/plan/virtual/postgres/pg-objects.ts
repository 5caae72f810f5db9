/**
 * What functions ask `pg_catalog` by number: names, definitions, comments, sizes. Made for one statement; each part is computed when it is
 * first asked for, of the catalogue as it is then.
 */
import type { CatalogText, NumberedObjects } from "../../../function/signature/environment.ts";
import { namesOf, quoteIdentifier } from "../../../function/text/identifier.ts";
import { declaredType, type NumberedKind, typeName, typeNumber } from "../../../postgres-types.ts";
import type { TableStatistics } from "../../../../table/catalog.ts";
import { operatorOid, PG_OPERATORS, pgFunctions, type PgFunction } from "./pg-functions.ts";
import { COLLATIONS } from "./pg-fixed.ts";
import { constraintTexts, indexTexts } from "./pg-keys.ts";
import { CATALOG_NAME } from "../../../../table/reserved-names.ts";
import { databaseOid, OWNER_OID, PG_CATALOG } from "./pg-oids.ts";
import type { PgRelation } from "./pg-relations.ts";
import { OWNER } from "./pg-server.ts";

/** What numbers of one kind are looked up in, both ways. */
interface Names {
  /** By how SQL writes them. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly written: ReadonlyMap<number, string>;
}

/** See the file header. */
export class PgObjects implements NumberedObjects {
  private readonly read: () => readonly PgRelation[];
  private readonly database: string;
  private readonly names = new Map<NumberedKind, Names>();
  private readonly texts = new Map<CatalogText, ReadonlyMap<string, string>>();
  private all: readonly PgRelation[] | undefined;
  private byOid: ReadonlyMap<number, PgRelation> | undefined;

  /** @param read all relations now @param database the current one, whose names need no qualifier */
  constructor(read: () => readonly PgRelation[], database: string) {
    this.read = read;
    this.database = database;
  }

  numberOf(kind: NumberedKind, name: string): number | undefined {
    if (kind === "regtype") {
      const plain = name.replace(/^\s*pg_catalog\./, "").trim();
      return typeNumber(plain.toLowerCase()) ?? (plain.includes('"') ? typeNumber(namesOf(name).at(-1) ?? "") : undefined);
    }
    const { numbers } = this.namesOf(kind);
    const exact = numbers.get(name);
    if (exact !== undefined || kind === "regoper" || kind === "regoperator" || kind === "regprocedure") return exact;
    const [first, ...rest] = namesOf(name);
    const parts = first === CATALOG_NAME && rest.length > 1 ? rest : [first ?? "", ...rest];
    const known = numbers.get(keyOf(parts));
    return known ?? (parts[0] === PG_CATALOG && parts.length > 1 && kind !== "regclass" ? numbers.get(keyOf(parts.slice(1))) : undefined);
  }

  nameOf(kind: NumberedKind, oid: number): string | undefined {
    return kind === "regtype" ? typeName(oid) : this.namesOf(kind).written.get(oid);
  }

  textOf(what: CatalogText, oid: number, part: number): string | undefined {
    let known = this.texts.get(what);
    if (known === undefined) this.texts.set(what, (known = new Map(this.textsOf(what))));
    return known.get(`${oid}.${part}`);
  }

  isVisible(oid: number): boolean | undefined {
    const relation = this.relationOf(oid);
    return relation && this.isNear(relation.database);
  }

  bytesOf(oid: number): number | undefined {
    const relation = this.relationOf(oid);
    if (relation === undefined) return undefined;
    return relation.oid === oid && relation.table !== undefined ? sizeOf(relation.table.statistics()) : 0;
  }

  allBytes(): number {
    return this.relations().reduce((sum, { table }) => sum + (table === undefined ? 0 : sizeOf(table.statistics())), 0);
  }

  /** The relation of a number, or the one whose index has it. */
  private relationOf(oid: number): PgRelation | undefined {
    this.byOid ??= new Map(
      this.relations().flatMap((each) => [[each.oid, each] as const, ...each.indexes.map((index) => [index.oid, each] as const)]),
    );
    return this.byOid.get(oid);
  }

  /** Whether relations of a database need no qualifier. */
  private isNear(database: string): boolean {
    return database === this.database || database === PG_CATALOG;
  }

  private relations(): readonly PgRelation[] {
    return (this.all ??= this.read());
  }

  private namesOf(kind: NumberedKind): Names {
    const known = this.names.get(kind);
    if (known !== undefined) return known;
    const numbers = new Map<string, number>();
    const written = new Map<number, string>();
    for (const { name, oid, key } of this.named(kind)) {
      for (const each of key) if (!numbers.has(each)) numbers.set(each, oid);
      written.set(oid, name);
    }
    const made = { numbers, written };
    this.names.set(kind, made);
    return made;
  }

  private *named(kind: NumberedKind): Iterable<{ readonly oid: number; readonly name: string; readonly key: readonly string[] }> {
    switch (kind) {
      case "regclass":
        yield* this.relationNames();
        return;
      case "regnamespace":
        for (const name of new Set([PG_CATALOG, ...this.relations().map(({ database }) => database)]))
          yield { oid: databaseOid(name), name: quoteIdentifier(name), key: [keyOf([name])] };
        return;
      case "regrole":
        yield { oid: OWNER_OID, name: OWNER, key: [keyOf([OWNER])] };
        return;
      case "regcollation":
        for (const [oid, name] of COLLATIONS) yield { oid, name: quoteIdentifier(name), key: [keyOf([name])] };
        return;
      case "regproc":
        for (const { oid, name } of pgFunctions()) yield { oid, name, key: [keyOf([name])] };
        return;
      case "regprocedure":
        for (const each of pgFunctions()) {
          const name = `${each.name}(${each.args.map((type) => typeName(type) ?? type).join(",")})`;
          yield { oid: each.oid, name, key: [name, `${each.name}(${each.args.map((type) => typeName(type) ?? type).join(", ")})`] };
        }
        return;
      case "regoper":
      case "regoperator":
        for (const operator of PG_OPERATORS) {
          const [name, left, right] = operator;
          const full = `${name}(${left === 0 ? "NONE" : typeName(left)},${typeName(right)})`;
          yield { oid: operatorOid(operator), name: kind === "regoper" ? name : full, key: [kind === "regoper" ? name : full] };
        }
        return;
      default: // there is no full-text configuration of PostgreSQL
    }
  }

  /** Relations of the current database and of `pg_catalog` have short names, too. */
  private *relationNames(): Iterable<{ readonly oid: number; readonly name: string; readonly key: readonly string[] }> {
    for (const near of [true, false]) {
      for (const { oid, database, name, indexes } of this.relations()) {
        if (this.isNear(database) !== near) continue;
        for (const each of [{ oid, name }, ...indexes]) {
          const full = `${quoteIdentifier(database)}.${quoteIdentifier(each.name)}`;
          const key = [keyOf([database, each.name]), ...(near ? [keyOf([each.name])] : [])];
          yield { oid: each.oid, name: near ? quoteIdentifier(each.name) : full, key };
        }
      }
    }
  }

  /** Texts by number and part. */
  private *textsOf(what: CatalogText): Iterable<[string, string]> {
    if (what === "function" || what === "function-arguments" || what === "function-result") {
      for (const each of pgFunctions()) yield [`${each.oid}.0`, functionText(what, each)];
      return;
    }
    if (what === "comment") for (const operator of PG_OPERATORS) yield [`${operatorOid(operator)}.0`, operator[4]];
    for (const relation of this.relations()) yield* relationTexts(what, relation);
  }
}

const keyOf = (parts: readonly string[]): string => parts.map((part) => JSON.stringify(part)).join(".");

const sizeOf = ({ memoryBytes, fileBytes }: TableStatistics): number => memoryBytes + fileBytes;

function* relationTexts(what: CatalogText, relation: PgRelation): Iterable<[string, string]> {
  const { oid, comment, columns, view } = relation;
  switch (what) {
    case "comment":
      if (comment !== undefined) yield [`${oid}.0`, comment];
      for (const [i, column] of columns.entries()) if (column.comment !== undefined) yield [`${oid}.${i + 1}`, column.comment];
      return;
    case "view":
      if (view !== undefined) yield [`${oid}.0`, ` ${view.query.trim()};`];
      return;
    case "index":
      for (const [index, text, names] of indexTexts(relation)) {
        yield [`${index}.0`, text];
        for (const [i, name] of names.entries()) yield [`${index}.${i + 1}`, name];
      }
      return;
    case "constraint":
      for (const [constraint, text] of constraintTexts(relation)) yield [`${constraint}.0`, text];
      return;
    default: // functions belong to no relation
  }
}

const VOLATILITY = { i: "IMMUTABLE", s: "STABLE", v: "VOLATILE" } as const;

function functionText(what: CatalogText, { name, args, result, isVariadic, isStrict, volatility }: PgFunction): string {
  const types = args.map((type) => declaredType(type, -1));
  const listed = [...types, ...(isVariadic ? ['VARIADIC "any"'] : [])].join(", ");
  if (what === "function-arguments") return listed;
  const returned = declaredType(result, -1);
  if (what === "function-result") return returned;
  const strict = isStrict ? " STRICT" : "";
  return (
    `CREATE OR REPLACE FUNCTION pg_catalog.${quoteIdentifier(name)}(${listed})\n RETURNS ${returned}\n LANGUAGE internal\n` +
    ` ${VOLATILITY[volatility]} PARALLEL SAFE${strict}\nAS $function$${name}$function$\n`
  );
}
