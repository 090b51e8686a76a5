/** How people read actions: icons, labels and sentences in the place of what programs call them. */
import { html, nothing, type ReactiveControllerHost, svg, type TemplateResult } from "lit";
import type { Api } from "../shared/api.js";
import { ICONS } from "../shared/icons.js";
import { type ReadableAction, sentenceOf } from "../shared/sentence.js";
import type { AuditEvent } from "../shared/types.js";
import { visible } from "../shared/visible.js";

/** An icon by its name, beside a text that says the same. */
export function icon(name: string | null | undefined): TemplateResult | typeof nothing {
  const path = name && Object.hasOwn(ICONS, name) ? ICONS[name] : undefined;
  return path
    ? html`<svg viewBox="0 0 16 16" width="14" height="14" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round" stroke-linecap="round" aria-hidden="true">${svg`<path d=${path}></path>`}</svg>`
    : nothing;
}

/** What people read of an event in the place of its action. A value keeps the direction of its text to itself. */
export function readable(label: ReadableAction, event: AuditEvent): TemplateResult {
  return html`${sentenceOf(label, event).map(({ text, isValue }) => (isValue ? html`<bdi>${visible(text)}</bdi>` : visible(text)))}`;
}

/** The same as text alone. */
export function textOf(label: ReadableAction, event: AuditEvent): string {
  return visible(sentenceOf(label, event).map(({ text }) => text).join(""));
}

/** The labels for the reader. Until they are there, and without them, the actions themselves are shown. */
export class ActionLabels {
  private labels = new Map<string, ReadableAction>();
  private reads = 0;

  constructor(private readonly host: ReactiveControllerHost) {}

  get isEmpty(): boolean {
    return this.labels.size === 0;
  }

  of(event: AuditEvent): ReadableAction | undefined {
    return event.action === undefined ? undefined : this.labels.get(event.action);
  }

  /** Reads the labels in a language. Those of the same reader are shown meanwhile. */
  async read(api: Api, language: string, isSameReader: boolean): Promise<void> {
    const read = ++this.reads;
    if (!isSameReader) this.labels = new Map();
    if (!api.connection.credential) return;
    // Events are shown without labels too, so a failure here is none of the list.
    const found = await api.get<{ labels: ReadableAction[] }>("/actions/labels", { language }).catch(() => undefined);
    if (read !== this.reads || !found) return;
    this.labels = new Map(found.labels.map((label) => [label.action, label]));
    this.host.requestUpdate();
  }
}
