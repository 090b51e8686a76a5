/** The last searches of a reader. They are in the storage of this browser and nowhere else. */
const KEPT_MAX = 6;
const LENGTH_MIN = 2;

const keyOf = (owner: string): string => `audit-log-searches ${owner}`;

/** The newest first. Without a storage, which a browser may refuse, there are none. */
export function recentSearches(owner: string): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(owner)) ?? "[]");
    return Array.isArray(kept) ? kept.filter((text) => typeof text === "string").slice(0, KEPT_MAX) : [];
  } catch {
    return [];
  }
}

export function rememberSearch(owner: string, search: string): void {
  const text = search.trim();
  if (text.length < LENGTH_MIN) return;
  const kept = [text, ...recentSearches(owner).filter((one) => one !== text)].slice(0, KEPT_MAX);
  try {
    localStorage.setItem(keyOf(owner), JSON.stringify(kept));
  } catch {
    // Refused or full: nothing is remembered.
  }
}

export function forgetSearches(owner: string): void {
  try {
    localStorage.removeItem(keyOf(owner));
  } catch {
    // Refused: nothing is there.
  }
}
