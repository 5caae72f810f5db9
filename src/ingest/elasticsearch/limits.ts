/** Most tables of one bulk request. Reason: each is a write of its own. Ends in a refused request. */
export const BULK_TABLES_MAX = 1024;
