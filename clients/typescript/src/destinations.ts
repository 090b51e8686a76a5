/** Destinations: receivers of all events. */
import { Resource } from "./administration.js";
import { pagesOf } from "./pages.js";
import type * as T from "./types.js";

function pathOf(id: string, steps = ""): string {
  return `/destinations/${encodeURIComponent(id)}${steps}`;
}

/** Receivers of all events of a project and environment, such as a SIEM or a bucket; with a viewer token those of its tenant. */
export class Destinations extends Resource {
  /** The destinations of the environment, oldest first. */
  async list(): Promise<T.Destination[]> {
    return (await this.call<T.ResponseOf<"list_destinations">>("GET", "/destinations")).destinations;
  }

  /** One destination, with its state. */
  async get(id: string): Promise<T.Destination> {
    return (await this.call<T.ResponseOf<"get_destination">>("GET", pathOf(id))).destination;
  }

  /** Creates a destination, which gets the events from now on. Only this response has the `signing_secret`, if the service made it. */
  async create(destination: T.NewDestination): Promise<T.Destination> {
    return (await this.call<T.ResponseOf<"create_destination">>("POST", "/destinations", { body: destination })).destination;
  }

  /** Changes what is given. `settings` need `credentials` too; `paused: false` also resumes a parked destination. */
  async update(id: string, change: T.DestinationChange): Promise<T.Destination> {
    return (await this.call<T.ResponseOf<"update_destination">>("PATCH", pathOf(id), { body: change })).destination;
  }

  /** Deletes a destination, and its list of events that were set aside. */
  async delete(id: string): Promise<void> {
    await this.call("DELETE", pathOf(id));
  }

  /** Sends a made-up record at once, also to a paused destination, and waits for the receiver. */
  test(id: string): Promise<T.DestinationAttempt> {
    return this.call("POST", pathOf(id, "/test"));
  }

  /** The next ten records, or the latest ten of the log, in the format of the destination or another one. Sends nothing. */
  preview(id: string, options: T.PreviewOptions = {}): Promise<T.DestinationPreview> {
    return this.call("GET", pathOf(id, "/preview"), { query: options });
  }

  /** Sends events of the past again, beside the main run. `dry_run` only counts them. */
  replay(id: string, range: T.ReplayRange = {}): Promise<T.ReplayResult> {
    return this.call("POST", pathOf(id, "/replay"), { body: range });
  }

  /** Stops the replay. The main run is not changed. */
  async stopReplay(id: string): Promise<void> {
    await this.call("DELETE", pathOf(id, "/replay"));
  }

  /** One page of the events that the receiver refused, by run and position. */
  listSetAside(id: string, filter: T.SetAsideFilter = {}): Promise<T.SetAsidePage> {
    return this.call("GET", pathOf(id, "/set-aside"), { query: filter });
  }

  /** All events that the receiver refused, by run and position. */
  async *iterateSetAside(id: string, filter: T.SetAsideFilter = {}): AsyncGenerator<T.SetAsideEvent, void, undefined> {
    for await (const page of pagesOf((cursor) => this.listSetAside(id, { limit: 100, ...filter, ...cursor }))) {
      yield* page.events;
    }
  }

  /** Sends events again that were set aside: up to ten, by default the first ones. Delivered events leave the list. */
  resendSetAside(id: string, events: T.SetAsideSelection = {}): Promise<T.ResendResult> {
    return this.call("POST", pathOf(id, "/set-aside/resend"), { body: events });
  }
}
