/** A page of a list. */
export interface Page {
  readonly cursor: string | null;
  readonly has_more: boolean;
}

/** All pages, each read when it is asked for. */
export async function* pagesOf<T extends Page>(
  read: (cursor: { cursor?: string }) => Promise<T>,
): AsyncGenerator<T, void, undefined> {
  for (let cursor: { cursor?: string } = {}; ; ) {
    const page = await read(cursor);
    yield page;
    if (!page.has_more || page.cursor === null) {
      return;
    }
    cursor = { cursor: page.cursor };
  }
}
