/** Erasures of persons from the log of one project and environment. */
import { Resource } from "./administration.js";
import { pagesOf } from "./pages.js";
import type * as T from "./types.js";

function pathOf(id: string, step = ""): string {
  return `/erasures/${encodeURIComponent(id)}${step}`;
}

/** Takes a person out of stored events, while the log still verifies: requested, listed by the service, confirmed, and carried out after a grace period. */
export class Erasures extends Resource {
  /** Newest first. Cancelled ones are not listed. */
  async list(): Promise<T.Erasure[]> {
    return (await this.call<{ erasures: T.Erasure[] }>("GET", "/erasures")).erasures;
  }

  /** One erasure, with its state and what it cannot reach. */
  get(id: string): Promise<T.Erasure> {
    return this.#erasure("GET", pathOf(id));
  }

  /**
   * Begins to list the events that name a person. Nothing is erased before `confirm`. `ids` match whole values; `texts`, such as names
   * and addresses, match words. `ticket` enters the log for ever: no name, no address.
   */
  request(erasure: T.NewErasure): Promise<T.Erasure> {
    return this.#erasure("POST", "/erasures", erasure);
  }

  /** One page of the events of the list, with the parts that go. */
  listEvents(id: string, filter: T.ErasureEventFilter = {}): Promise<T.ErasureEventPage> {
    return this.call("GET", pathOf(id, "/events"), { query: filter });
  }

  /** All events of the list, with the parts that go. */
  async *iterateEvents(id: string, filter: T.ErasureEventFilter = {}): AsyncGenerator<T.ErasureEvent, void, undefined> {
    for await (const page of pagesOf((cursor) => this.listEvents(id, { limit: 100, ...filter, ...cursor }))) {
      yield* page.events;
    }
  }

  /** Takes events out of the list, up to 100 by their positions. The digest is another one then. */
  exclude(id: string, seqs: readonly number[]): Promise<T.Erasure> {
    return this.#erasure("POST", pathOf(id, "/exclude"), { seqs });
  }

  /** Plans the erasure of the list that has this `digest`. It is carried out after the grace period. */
  confirm(id: string, digest: string): Promise<T.Erasure> {
    return this.#erasure("POST", pathOf(id, "/confirm"), { digest });
  }

  /** Cancels the erasure, which is possible until the end of the grace period. Its list is deleted. */
  async cancel(id: string): Promise<void> {
    await this.call("DELETE", pathOf(id));
  }

  async #erasure(method: "GET" | "POST", path: string, body?: unknown): Promise<T.Erasure> {
    return (await this.call<{ erasure: T.Erasure }>(method, path, { body })).erasure;
  }
}
