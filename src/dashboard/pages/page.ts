/** What a page of the dashboard is. */

/** A page that is shown. */
export interface Shown {
  readonly element: HTMLElement;
  /** Ends what it does in the background; absent: nothing. */
  readonly close?: () => void;
}

/** A page's line in the menu. */
export interface PageEntry {
  /** Its part of the address: `#/name`. */
  readonly name: string;
  readonly title: string;
  /** Path of its icon. */
  readonly icon: string;
  /** @param rest what follows the name in the address, decoded */
  show(rest: readonly string[]): Shown;
}

/** Goes to a page. */
export function goTo(...parts: readonly string[]): void {
  location.hash = `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** Calls `work` now and each `ms` while the page is in sight, one at a time. Returns what ends that. */
export function every(ms: number, work: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const turn = async (): Promise<void> => {
    if (!document.hidden) await work();
    if (!isOver) timer = setTimeout(() => void turn(), ms);
  };
  void turn();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
