/**
 * What tables take from their database (contract query.md 1.4).
 *
 * | option                    | when                                                             |
 * |---------------------------|------------------------------------------------------------------|
 * | `ttl`, `compaction.*`     | looked up whenever they matter, where the table has none of its own |
 * | all others                | copied when the table is created, where it does not say otherwise  |
 */
type Options = Readonly<Record<string, string>>;

/** Options of a table that is created with `own` in a database of these options. */
export function optionsFromDatabase(own: Options, database: Options): Options {
  const copied = Object.entries(database).filter(([key]) => key !== "ttl" && !key.startsWith("compaction."));
  return { ...Object.fromEntries(copied), ...own };
}
