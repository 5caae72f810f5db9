import type { ShareLimits } from "../../table/shared-scan.ts";

/**
 * When a scan goes to workers. A thread reads 20 to 60 million values a second and a query of 10 columns 3 to 10 million rows, so the
 * smallest that goes takes tens of milliseconds here; sending it costs one or two. Parts are small enough that another query soon has its
 * turn, and large enough that what each part costs (finding runs, groups that are put together) stays a few per cent.
 */
export const SHARE_LIMITS: ShareLimits = { rowsMin: 200_000, partRows: 500_000, partsMax: 256 };
