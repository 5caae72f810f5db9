/** The logical tables that share a region. Their ids are the values of its first tag column. */
export interface SharedTables {
  /** Ids of those that exist, as the tag's text. Rows of others are dropped tables': flushes and merges leave them out. */
  liveIds(): readonly string[];
}
